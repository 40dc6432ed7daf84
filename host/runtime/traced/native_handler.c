/*
 * The handlers of native sites, one for each calling convention of functions (breakpoint's
 * native.h), and the frames from which they call bodies (native_call.h).
 *
 * This file is compiled with -O2 in all modes and without the code that sanitizers add, as a
 * handler's frame must be gone when the body runs; and with -fexceptions, as a native frame must
 * notice unwinding (SConscript).
 */
#include "native_call.h"

#include "host/runtime/thread_stack.h"

/* Attributes of a function that ends with a jump, or whose stack pointer does not change. */
#define PLAIN __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

#define FRAME struct th_native_frame frame __attribute__((cleanup(unwind)))

static PLAIN void unwind(struct th_native_frame *frame)
{
    if (!frame->over)
        th_traced_native_frame_unwound(frame);
}

/* The stack pointer before the call of the enclosing function. */
#define BEFORE_CALL ((uintptr_t)__builtin_dwarf_cfa())

/* --- (env, argc, argv) ----------------------------------------------------------------------- */

typedef th_term nif_body(th_env *env, int argc, const th_term argv[]);

static PLAIN th_term frame_nif(th_env *env, int argc, const th_term argv[],
                               struct th_native *native)
{
    FRAME;
    th_term answer;

    th_traced_native_frame_begin(&frame, th_stack_pointer());
    answer = ((nif_body *)native->body)(env, argc, argv);
    th_traced_native_frame_over(&frame, answer);
    return answer;
}

static PLAIN bool meet_nif(const struct th_native *native, int argc, const th_term argv[],
                           uintptr_t at)
{
    return th_traced_native_met(native, argc, argv, at);
}

static PLAIN th_term tell_nif(th_env *env, int argc, const th_term argv[], struct th_native *native)
{
    if (__builtin_expect(meet_nif(native, argc, argv, BEFORE_CALL), 0))
        return frame_nif(env, argc, argv, native);
    return ((nif_body *)native->body)(env, argc, argv);
}

static PLAIN th_term handle_nif(th_env *env, int argc, const th_term argv[],
                                struct th_native *native)
{
    if (th_traced_native_may_pass(native))
        return ((nif_body *)native->body)(env, argc, argv);
    return tell_nif(env, argc, argv, native);
}

/* --- (env, terms) ---------------------------------------------------------------------------- */

#define TERMS(...) __VA_ARGS__

/*
 * tell_N is separate, so that a call without a listener saves no register. meet_N is separate,
 * because a function that has passed on the address of its own array cannot end with a jump. RECORD
 * declares the last parameter; NATIVE_ is the struct th_native that it stands for.
 */
#define HANDLER(N, PARAMETERS, ARGUMENTS, VALUES, RECORD, NATIVE_)                \
    typedef th_term body_##N(th_env *env PARAMETERS);                             \
    static PLAIN bool meet_##N(struct th_native *native, uintptr_t at PARAMETERS) \
    {                                                                             \
        const th_term argv[] = {VALUES};                                          \
                                                                                  \
        return th_traced_native_met(native, -1, argv, at);                        \
    }                                                                             \
    static PLAIN th_term frame_##N(th_env *env PARAMETERS, RECORD)                \
    {                                                                             \
        FRAME;                                                                    \
        th_term answer;                                                           \
                                                                                  \
        th_traced_native_frame_begin(&frame, th_stack_pointer());                 \
        answer = ((body_##N *)(NATIVE_)->body)(env ARGUMENTS);                    \
        th_traced_native_frame_over(&frame, answer);                              \
        return answer;                                                            \
    }                                                                             \
    static PLAIN th_term tell_##N(th_env *env PARAMETERS, RECORD)                 \
    {                                                                             \
        if (__builtin_expect(meet_##N(NATIVE_, BEFORE_CALL ARGUMENTS), 0))        \
            return frame_##N(env ARGUMENTS, record);                              \
        return ((body_##N *)(NATIVE_)->body)(env ARGUMENTS);                      \
    }                                                                             \
    static PLAIN th_term handle_##N(th_env *env PARAMETERS, RECORD)               \
    {                                                                             \
        if (th_traced_native_may_pass(NATIVE_))                                   \
            return ((body_##N *)(NATIVE_)->body)(env ARGUMENTS);                  \
        return tell_##N(env ARGUMENTS, record);                                   \
    }

#define POINTER struct th_native *record
#define P1 , th_term a
#define P2 P1, th_term b
#define P3 P2, th_term c
#define P4 P3, th_term d
#define P5 P4, th_term e
#define A1 , a
#define A2 A1, b
#define A3 A2, c
#define A4 A3, d
#define A5 A4, e

HANDLER(0, , , 0, POINTER, record)
HANDLER(1, P1, A1, TERMS(a), POINTER, record)
HANDLER(2, P2, A2, TERMS(a, b), POINTER, record)
HANDLER(3, P3, A3, TERMS(a, b, c), POINTER, record)
HANDLER(4, P4, A4, TERMS(a, b, c, d), POINTER, record)
HANDLER(5, P5, A5, TERMS(a, b, c, d, e), double record, th_native_of(record))

void *const th_traced_native_handlers[TH_NATIVE_FORMS] = {
    [TH_NATIVE_TERMS_0] = handle_0, [TH_NATIVE_TERMS_1] = handle_1, [TH_NATIVE_TERMS_2] = handle_2,
    [TH_NATIVE_TERMS_3] = handle_3, [TH_NATIVE_TERMS_4] = handle_4, [TH_NATIVE_TERMS_5] = handle_5,
    [TH_NATIVE_NIF] = handle_nif,
};

/* Burns instructions in each trace callback: the state is the number of turns of a loop of two instructions. With
 * the state {crash, TAG} the trace callback crashes at the tag; only sends are wanted with the state sends. */
#include <erl_tracer.h>

#include <stdlib.h>

TH_TRACER_ENABLED(generic)
{
    (void)tracee;
    if (state == TH_TRACER_ATOM(env, sends) && tag != TH_TRACER_ATOM(env, send))
        return TH_TRACER_ATOM(env, discard);
    return TH_TRACER_ATOM(env, trace);
}

static void burn(unsigned turns)
{
    if (turns)
#if defined(__x86_64__)
        __asm__ volatile("1: decl %0\n\tjnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
        __asm__ volatile("1: subs %w0, %w0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#endif
}

TH_TRACER_TRACE(generic)
{
    const ERL_NIF_TERM *parts;
    unsigned turns;
    int arity;

    (void)tracee;
    (void)term;
    (void)opts;
    if (enif_get_uint(env, state, &turns))
        burn(turns);
    else if (enif_get_tuple(env, state, &arity, &parts) && arity == 2 && parts[1] == tag)
        abort();
}

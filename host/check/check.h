/*
 * The checker: catches what a library does that the NIF API forbids and a BEAM does not notice.
 *
 * While it is on (th_check_start()), the functions of the API report to it what they give out and
 * take back, and runtime/ each call that begins and ends. It finds:
 *   - a result, or a reason raised, that is nothing at all, is no term, or has a part in another
 *     environment: that of an earlier call, of enif_alloc_env(), of another thread's call;
 *   - an environment that is used after its call;
 *   - memory, binaries, environments, resources, locks that are given back twice, to the wrong
 *     function, or by who never had them: what is asked for is then not done;
 *   - memory that is written to after it was freed;
 *   - a call that changes the bytes of its arguments, or returns while it holds a lock;
 *   - locks that are taken again by who has them, or given up by who has not;
 *   - terms of an environment that is gone, given to the functions that read terms or make them;
 *   - terms made in the environment of a message that was sent, before it is cleared;
 *   - at the end, what was never given back.
 * Callbacks of tracers are looked at as calls are; that one sends to its tracee is a finding, too.
 * Each finding is one line on stderr with the function and its arguments,
 * and is counted; after the tenth of one kind in one function they are only counted.
 *
 * While it is off it costs one predicted branch. Any thread.
 */
#ifndef TH_CHECK_H
#define TH_CHECK_H

#include "host/term/env.h"

#include <stdatomic.h>
#include <stdint.h>

/* Starts the checker. Once, before libraries are loaded. Relaxed is enough: the flag is set before
 * any code of a library runs. */
extern _Atomic bool th_check_started;
void th_check_start(void);

static inline bool th_check_on(void)
{
    return __builtin_expect(atomic_load_explicit(&th_check_started, memory_order_relaxed), 0);
}

/* Reports what libraries still own, by kind and by the call that got it. Returns how many findings
 * there were, all told, and is off again. After the libraries were unloaded. */
uint64_t th_check_end(void);

/* --- What a library can own ------------------------------------------------------------------- */

enum th_check_kind {
    TH_CHECK_MEMORY,      /* enif_alloc() */
    TH_CHECK_BINARY,      /* the share of an ErlNifBinary, until released or made a term */
    TH_CHECK_ENVIRONMENT, /* enif_alloc_env() */
    TH_CHECK_RESOURCE,    /* references of the library's own; as many as it got */
    TH_CHECK_LOCK,        /* mutexes, condition variables, read-write locks */
    TH_CHECK_QUEUE,       /* enif_ioq_create() */
    TH_CHECK_VECTOR,      /* enif_inspect_iovec() without an environment */
    TH_CHECK_OPTIONS,     /* enif_thread_opts_create() */
    TH_CHECK_THREAD,      /* enif_thread_create(), until it is joined */
    TH_CHECK_KINDS
};

/* What the inline functions below do while the checker is on. */
void th_check_note_got(enum th_check_kind kind, void *thing, size_t bytes, const char *name,
                       const char *function);
bool th_check_note_gave(enum th_check_kind kind, const void *thing, const char *function);
bool th_check_note_has(enum th_check_kind kind, const void *thing, const char *function);
bool th_check_note_locks(const void *lock, bool shared, const char *function);
void th_check_note_locked(const void *lock, bool shared);
bool th_check_note_unlocks(const void *lock, bool shared, const char *function);
th_term th_check_note_term(const th_env *env, th_term term, const char *function);
th_term th_check_note_read(th_term term, const char *function);
int th_check_note_misread(th_term term, const char *function);
th_term th_check_note_part(th_term term, const char *function) __attribute__((cold));
void th_check_note_parts(th_term *words, size_t count, size_t step, const char *function)
    __attribute__((cold));

/* The library got THING of KIND (NULL: it did not) from FUNCTION, "enif_alloc"; BYTES large, called
 * NAME (copied; NULL: nothing): a resource's type, a lock's name. */
static inline void th_check_got(enum th_check_kind kind, void *thing, size_t bytes,
                                const char *name, const char *function)
{
    if (th_check_on())
        th_check_note_got(kind, thing, bytes, name, function);
}

/* It gives THING back to FUNCTION. False, and a finding, if it does not own it: then nothing must
 * be done with it. */
static inline bool th_check_gave(enum th_check_kind kind, const void *thing, const char *function)
{
    return !th_check_on() || th_check_note_gave(kind, thing, function);
}

/* The same of what is only used. */
static inline bool th_check_has(enum th_check_kind kind, const void *thing, const char *function)
{
    return !th_check_on() || th_check_note_has(kind, thing, function);
}

/* MEMORY of malloc() that the library gave back: freed, later. For enif_free() while the
 * checker is on. */
void th_check_free(void *memory);

/* What FUNCTION was asked that must not be: a finding, "FUNCTION WHAT". */
void th_check_blame(const char *function, const char *what);

/* "FUNCTION WHAT OTHER": with the name of another function. */
void th_check_blame_of(const char *function, const char *what, const char *other);

/* --- Locks ------------------------------------------------------------------------------------ */

/* FUNCTION is to wait for LOCK, to have it alone or SHARED with others. A finding if the thread has
 * it already. False if LOCK is none, or the thread would wait for itself. */
static inline bool th_check_locks(const void *lock, bool shared, const char *function)
{
    return !th_check_on() || th_check_note_locks(lock, shared, function);
}

/* The thread has it now. */
static inline void th_check_locked(const void *lock, bool shared)
{
    if (th_check_on())
        th_check_note_locked(lock, shared);
}

/* FUNCTION is to give it up. A finding if the thread does not have it so. False if nobody has it,
 * or if it was not taken as th_check_locks() had said so. */
static inline bool th_check_unlocks(const void *lock, bool shared, const char *function)
{
    return !th_check_on() || th_check_note_unlocks(lock, shared, function);
}

/* --- Calls ------------------------------------------------------------------------------------ */

/*
 * While the checker is on, each function that runs has an environment of its own, made by
 * th_env_create() for this once, with its arguments copied into it; so terms that are left from
 * earlier are met as what they are. In the thread that runs it:
 *
 *   th_library_begin(&running, path, name);
 *   th_check_begin(&call);
 *   answer = code(call.env, call.argc, call.argv);
 *   answer = th_check_answer(&call, answer, scheduled);
 *   th_library_end(&running);
 *
 * and, in any thread, once the result, the reason or the next arguments have been copied,
 * th_check_retire(call.env) instead of th_env_free(). It does that while the checker is off.
 *
 * ANSWER is TH_NONE with an exception in the environment, or with a continuation, as SCHEDULED
 * says. What th_check_answer() returns is to be used instead: TH_NONE if there is an exception,
 * `undefined` for what cannot be used (also as the reason in the environment).
 */
struct th_check_call {
    const struct th_callee *callee; /* what was called; NULL: the thread's callback of a tracer */
    const char *function;           /* what runs: the callee's name, or a continuation's */
    int argc;
    const th_term *argv;
    th_env *env;
};

/* CALL stays until its th_check_answer(). */
void th_check_begin(const struct th_check_call *call);
th_term th_check_answer(const struct th_check_call *call, th_term answer, bool scheduled);
void th_check_retire(th_env *env);

/* TERM is given to FUNCTION as one of ENV (NULL: of no environment, so that it has no parts). The
 * term to use instead: `undefined`, and a finding, if it is none. */
static inline th_term th_check_term(const th_env *env, th_term term, const char *function)
{
    return th_check_on() ? th_check_note_term(env, term, function) : term;
}

/* TERM is read by FUNCTION: the term to read instead, `undefined` and a finding, if it lies in an
 * environment that is gone. */
static inline th_term th_check_read(th_term term, const char *function)
{
    return th_check_on() ? th_check_note_read(term, function) : term;
}

/* The same of TERM, which FUNCTION cannot read as it wants; returns 0, as FUNCTION does. Terms of
 * an environment that is gone are of no kind (th_env_retire()), so readers of one kind look when
 * they have failed. _boxed: for those that fail often: only what is boxed is looked at, and nothing
 * but the header that FUNCTION has read. */
static inline int th_check_misread(th_term term, const char *function)
{
    return th_check_on() ? th_check_note_misread(term, function) : 0;
}
static inline int th_check_misread_boxed(th_term term, const char *function)
{
    bool is_gone = th_is_boxed(term) && *th_term_box(term) == TH_ENV_GONE;

    return __builtin_expect(is_gone, 0) ? th_check_note_misread(term, function) : 0;
}

/* TERM is put into another by FUNCTION: the term to put there instead, `undefined` and a
 * finding, if it lies in an environment that is gone. What it points to is not trusted: the walk
 * over the whole (th_check_term()) finds what else is wrong. */
static inline th_term th_check_part(th_term term, const char *function)
{
    return th_check_on() ? th_check_note_part(term, function) : term;
}

/* The same of each STEP-th of WORDS, COUNT of them. */
static inline void th_check_parts(th_term *words, size_t count, size_t step, const char *function)
{
    if (th_check_on())
        th_check_note_parts(words, count, step, function);
}

/* An environment of the library's own loses its terms (enif_clear_env()), or goes
 * (enif_free_env()), by FUNCTION: done here, while the checker is on. SENT: FUNCTION has taken its
 * message. Until it is cleared, each term that is made in it is a finding, as a BEAM would write
 * into the message. */
void th_check_clear_env(th_env *env, bool sent, const char *function);
void th_check_free_env(th_env *env, const char *function);

#endif

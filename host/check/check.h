/*
 * The checker: reports misuse of the NIF API that a BEAM does not notice.
 *
 * While the checker is on (th_check_start()), the functions of the API report to it each object
 * that they give out or take back, and runtime/ reports each call that begins or ends. The checker
 * finds:
 *   - a result, or the reason of an exception, that is 0, is no term, or has a part in another
 *     environment: that of an earlier call, of enif_alloc_env(), of another thread's call;
 *   - use of an environment after its call;
 *   - memory, binaries, environments, resources and locks that are given back twice, to the wrong
 *     function, or without being owned: the function then does nothing;
 *   - writes to freed memory;
 *   - a call that changes the bytes of its arguments, or returns while it holds a lock;
 *   - a lock that is taken again by its holder, or unlocked by a thread that does not hold it;
 *   - terms of an environment that is gone, as arguments of functions that read or make terms;
 *   - terms made in the environment of a message after it was sent and before it is cleared;
 *   - at the end, objects that were never given back.
 * Callbacks of tracers are checked like calls; a message from a callback to its tracee is a
 * finding, too. A finding is one line on stderr, with the function and its arguments, and is
 * counted; findings of one kind in one function are only counted after the tenth.
 *
 * While the checker is off, it costs one predicted branch.
 * Thread: any.
 */
#ifndef TH_CHECK_H
#define TH_CHECK_H

#include "callbacks.h"
#include "rule.h"

#include "host/term/env.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts the checker. Relaxed is enough: the flag is set before any code of a library runs.
 * Order: once, before libraries are loaded. */
extern _Atomic bool th_check_started __attribute__((visibility("hidden")));
void th_check_start(void);

static inline bool th_check_on(void)
{
    return __builtin_expect(atomic_load_explicit(&th_check_started, memory_order_relaxed), 0);
}

/* Reports the objects that libraries still own, by kind and by the call that got them, and stops
 * the checker. Returns the number of all findings.
 * Order: after the libraries were unloaded. */
uint64_t th_check_end(void);

/* A finding. The texts are valid during the call that gets them. */
struct th_check_finding {
    enum th_check_rule rule;
    const char *where;   /* "trace of tracer 'x'", "sins:open/1", "load of sins.so" */
    const char *who;     /* the same with arguments or record, if they are known */
    const char *kind;    /* static: findings of one kind in one function are alike */
    const char *message; /* "calls enif_free() on ..." */
};

/* Lets WATCH get each finding, in the thread that it is of, in place of a line on stderr. NULL: as
 * before.
 * Order: while no other thread runs code of libraries. */
typedef void th_check_finding_watch(const struct th_check_finding *finding);
void th_check_watch_findings(th_check_finding_watch *watch);

/* --- Objects that a library can own ----------------------------------------------------------- */

enum th_check_kind {
    TH_CHECK_MEMORY,      /* enif_alloc() */
    TH_CHECK_BINARY,      /* reference of an ErlNifBinary, until released or made a term */
    TH_CHECK_ENVIRONMENT, /* enif_alloc_env() */
    TH_CHECK_RESOURCE,    /* references of the library; as many as it got */
    TH_CHECK_LOCK,        /* mutexes, condition variables, read-write locks */
    TH_CHECK_QUEUE,       /* enif_ioq_create() */
    TH_CHECK_VECTOR,      /* enif_inspect_iovec() without an environment */
    TH_CHECK_OPTIONS,     /* enif_thread_opts_create() */
    TH_CHECK_THREAD,      /* enif_thread_create(), until it is joined */
    TH_CHECK_KINDS
};

/* Implementation of the inline functions below while the checker is on. */
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

/* Records that the library got THING of KIND (NULL: it did not) from FUNCTION, such as
 * "enif_alloc". BYTES is the size; NAME the type of a resource or the name of a lock (copied; NULL:
 * none). */
static inline void th_check_got(enum th_check_kind kind, void *thing, size_t bytes,
                                const char *name, const char *function)
{
    if (th_check_on())
        th_check_note_got(kind, thing, bytes, name, function);
}

/* Records that the library gives THING back to FUNCTION. Returns false, with a finding, if the
 * library does not own THING, or if THING is a lock that is held: the caller must not free it then.
 */
static inline bool th_check_gave(enum th_check_kind kind, const void *thing, const char *function)
{
    return !th_check_on() || th_check_note_gave(kind, thing, function);
}

/* Returns false, with a finding, if the library uses THING in FUNCTION without owning it. */
static inline bool th_check_has(enum th_check_kind kind, const void *thing, const char *function)
{
    return !th_check_on() || th_check_note_has(kind, thing, function);
}

/* Frees MEMORY of malloc() that the library gave back, later. Replaces free() in enif_free() while
 * the checker is on. */
void th_check_free(void *memory);

/* Lets the allocation number COUNT from now on fail, of those that libraries ask for and that can
 * fail, from 1; 0: none. *FAILED becomes true then; NULL: nothing is noted.
 * th_check_allows(): returns false if the allocation that is asked for must fail. */
void th_check_fail(uint64_t count, _Atomic bool *failed);
bool th_check_note_allocation(void);
static inline bool th_check_allows(void)
{
    return !th_check_on() || th_check_note_allocation();
}

/* Reports a wrong use of FUNCTION, which breaks RULE, as the finding "calls FUNCTION() WHAT". */
void th_check_blame(enum th_check_rule rule, const char *function, const char *what);

/* Reports the finding "calls FUNCTION() WHAT OTHER()", with the name of another function. */
void th_check_blame_of(enum th_check_rule rule, const char *function, const char *what,
                       const char *other);

/* --- Locks ------------------------------------------------------------------------------------ */

/* Checks that FUNCTION may wait for LOCK, exclusively or SHARED. Reports a finding if LOCK is no
 * lock, or if the thread holds LOCK already. Returns false if LOCK is no lock, or if the thread
 * would wait for itself: then the caller must not take LOCK. */
static inline bool th_check_locks(const void *lock, bool shared, const char *function)
{
    return !th_check_on() || th_check_note_locks(lock, shared, function);
}

/* Records that the thread holds LOCK now. */
static inline void th_check_locked(const void *lock, bool shared)
{
    if (th_check_on())
        th_check_note_locked(lock, shared);
}

/* Checks that FUNCTION may release LOCK, and records the release. A finding if the thread does not
 * hold LOCK in this way. Returns false if LOCK is no lock, if no thread holds it, or if
 * th_check_locks() refused the matching wait. */
static inline bool th_check_unlocks(const void *lock, bool shared, const char *function)
{
    return !th_check_on() || th_check_note_unlocks(lock, shared, function);
}

/* --- Calls ------------------------------------------------------------------------------------ */

/*
 * While the checker is on, each function runs in a fresh environment, made by th_env_create(), with
 * copies of its arguments; so terms left from earlier calls are recognized. In the thread that runs
 * the function:
 *
 *   th_library_begin(&running, path, name);
 *   th_check_begin(&call);
 *   answer = code(call.env, call.argc, call.argv);
 *   answer = th_check_answer(&call, answer, scheduled);
 *   th_library_end(&running);
 *
 * and then, in any thread, after the result, the reason or the next arguments were copied,
 * th_check_retire(call.env) instead of th_env_free(); while the checker is off, both do the same.
 *
 * ANSWER is TH_NONE with an exception in the environment, or with a continuation if SCHEDULED. The
 * caller must use the result of th_check_answer() instead: TH_NONE if there is an exception,
 * `undefined` for an unusable answer. An unusable reason in the environment becomes `undefined`,
 * too.
 */
struct th_check_call {
    const struct th_callee *callee; /* called function; NULL: callback of a tracer */
    const char *function;           /* running function: the callee's name, or a continuation's */
    int argc;
    const th_term *argv;
    th_env *env;
};

/* CALL must stay valid until its th_check_answer(). */
void th_check_begin(const struct th_check_call *call);
th_term th_check_answer(const struct th_check_call *call, th_term answer, bool scheduled);
void th_check_retire(th_env *env);

/* Checks TERM, an argument of FUNCTION that must be a term of ENV (NULL: an immediate). Returns
 * TERM, or `undefined` with a finding. */
static inline th_term th_check_term(const th_env *env, th_term term, const char *function)
{
    return th_check_on() ? th_check_note_term(env, term, function) : term;
}

/* Checks TERM, which FUNCTION reads. Returns TERM, or `undefined` with a finding if TERM lies in an
 * environment that is gone. */
static inline th_term th_check_read(th_term term, const char *function)
{
    return th_check_on() ? th_check_note_read(term, function) : term;
}

/* Checks TERM like th_check_read(), for FUNCTION that failed to read it; returns 0, like FUNCTION.
 * A term of an environment that is gone has no valid kind (th_env_retire()), so that readers of one
 * kind check only after a failure. th_check_misread_boxed(): for readers that fail often: checks
 * only boxed terms, and only the header that FUNCTION has read. */
static inline int th_check_misread(th_term term, const char *function)
{
    return th_check_on() ? th_check_note_misread(term, function) : 0;
}
static inline int th_check_misread_boxed(th_term term, const char *function)
{
    bool is_gone = th_is_boxed(term) && *th_term_box(term) == TH_ENV_GONE;

    return __builtin_expect(is_gone, 0) ? th_check_note_misread(term, function) : 0;
}

/* Checks TERM, which FUNCTION puts into another term. Returns TERM, or `undefined` with a finding
 * if TERM lies in an environment that is gone. Reads memory of TERM only in a known heap; the walk
 * over the whole term (th_check_term()) finds other errors. */
static inline th_term th_check_part(th_term term, const char *function)
{
    return th_check_on() ? th_check_note_part(term, function) : term;
}

/* Checks each STEP-th of WORDS, COUNT terms in all, like th_check_part(). */
static inline void th_check_parts(th_term *words, size_t count, size_t step, const char *function)
{
    if (th_check_on())
        th_check_note_parts(words, count, step, function);
}

/* Clear (enif_clear_env()) or free (enif_free_env()) an environment of the library for FUNCTION,
 * while the checker is on. SENT: FUNCTION has sent the message of ENV. Until ENV is cleared, each
 * term made in it is then a finding, as a BEAM would write into the message. */
void th_check_clear_env(th_env *env, bool sent, const char *function);
void th_check_free_env(th_env *env, const char *function);

/* Returns whether VARIABLE is a name of the compiler's counters, as for --coverage: they change at each
 * call, and are no data of the library. */
bool th_check_is_counter(const char *variable);

#endif

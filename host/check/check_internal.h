/*
 * What the files of the checker share. Inner header of check/.
 *
 * Each file has one lock of its own, the innermost: nothing is called under it that could take
 * another, and no heap grows or is freed under it.
 */
#ifndef TH_CHECK_INTERNAL_H
#define TH_CHECK_INTERNAL_H

#include "check.h"

#include "host/term/env.h"

/* --- Who does it (check_call.c) -------------------------------------------------------------- */

/* The code of a library that did something, as text. Shared; never changed. */
struct th_origin {
    _Atomic size_t holders;
    uint64_t order; /* later ones have a higher one */
    char *where;    /* "sins:open/1", "load of sins.so", "a thread of the library" */
    char *text;     /* `sins:open("x")`; or the same as WHERE */
    char *loads;    /* the path of a library that is being loaded or upgraded, or NULL */
};

/* The origin of what the thread does now; of a call that begins, a tracer's callback if it has no
 * callee; one more share of ORIGIN; one less (NULL: nothing). */
struct th_origin *th_check_origin_now(void);
struct th_origin *th_check_origin_of_call(const struct th_check_call *call);
struct th_origin *th_check_origin_keep(struct th_origin *origin);
void th_check_origin_release(struct th_origin *origin);

/* A call that goes on. */
struct th_check_frame {
    struct th_check_frame *outer;
    const struct th_check_call *call;
    const struct th_library_frame *running; /* what th_self.library_frame was when it began */
    struct th_origin *origin;               /* made first: arguments may be changed */
    uint64_t number;                        /* of the call; never 0 */
    struct th_check_bytes *bytes;           /* of its arguments; see check_call.c */
    size_t byte_count, byte_capacity;
};

/* --- Findings (check_call.c) ----------------------------------------------------------------- */

/* Tells and counts that ORIGIN did what FORMAT says. KIND, any text that stays, tells findings
 * apart of which only the first few are told. */
void th_check_found(const struct th_origin *origin, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The same of what the thread does now. */
void th_check_found_now(const char *kind, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Tells and counts a leak: of several calls, perhaps. */
void th_check_report_leak(const char *message) __attribute__((cold));

/* Says how often what was not told happened; how many findings there were; forgets them. */
uint64_t th_check_findings_end(void);

/* --- What is owned (check_owned.c) ----------------------------------------------------------- */

/* Who got THING, a share for the caller; NULL: nobody owns it. */
struct th_origin *th_check_owner(enum th_check_kind kind, const void *thing);

/* The holders of LOCK become MORE more; false if it is none. *BEFORE is how many there were. NAME
 * gets its name, if that is not NULL: th_free() it. */
bool th_check_hold(const void *lock, int more, int *before, char **name);

void th_check_owned_end(void);

/* --- Memory of terms, and what was freed (check_heap.c) -------------------------------------- */

void th_check_heaps_start(void);
void th_check_heaps_end(void);

/* Whose heap ADDRESS lies in, as text: "of an earlier call, sins:keep(1)". NULL: in nobody's. The
 * caller frees it. */
char *th_check_heap_of(const void *address);

/* A function that had ENV has returned; it was called by ORIGIN, which this takes over. */
void th_check_ended(const th_env *env, struct th_origin *origin);

/* --- Terms (check_term.c) -------------------------------------------------------------------- */

/* Checks all of TERM, which is to be one of ENV (NULL: to have no parts). True: it is one. Else a
 * finding of the thread's: "DOES ...", or with a FUNCTION (not NULL) "DOES FUNCTION() ...". */
bool th_check_valid(const th_env *env, th_term term, const char *does, const char *function);

/* Calls SEEN with the bytes of each binary in TERM, a valid term of ENV; up to a bound. */
void th_check_each_binary(const th_env *env, th_term term,
                          void (*seen)(void *context, const unsigned char *bytes, size_t size),
                          void *context);

/* --- Locks (check_owned.c) ------------------------------------------------------------------- */

/* Tells of the locks that FRAME's call took and still has. */
void th_check_locks_left(const struct th_check_frame *frame);

/* The thread has LOCK no more: it was destroyed. */
void th_check_lock_gone(const void *lock);

#endif

/*
 * Interfaces between the files of the checker. Inner header of check/.
 *
 * Each file with shared data has one lock, an innermost one: no function that may take another lock
 * is called under it, and no term heap grows or is freed under it.
 */
#ifndef TH_CHECK_INTERNAL_H
#define TH_CHECK_INTERNAL_H

#include "check.h"

#include "host/term/env.h"

/* --- Origins (check_call.c) ------------------------------------------------------------------- */

/* The origin of an action: the running code of a library, as text. Shared; never changed. */
struct th_origin {
    _Atomic size_t holders;
    uint64_t order; /* higher for later ones */
    char *where;    /* "sins:open/1", "load of sins.so", "a thread of the library" */
    char *text;     /* `sins:open("x")`; or the same as WHERE */
    char *loads;    /* path of a library that is being loaded or upgraded; NULL: none */
};

/* th_check_origin_now(): returns the origin of the thread's current action.
 * th_check_origin_of_call(): returns the origin of CALL, which begins; a tracer's callback if it
 * has no callee. th_check_origin_keep(): adds a reference and returns ORIGIN.
 * th_check_origin_release(): drops a reference of ORIGIN; NULL: does nothing. */
struct th_origin *th_check_origin_now(void);
struct th_origin *th_check_origin_of_call(const struct th_check_call *call);
struct th_origin *th_check_origin_keep(struct th_origin *origin);
void th_check_origin_release(struct th_origin *origin);

/* A call that has not returned. */
struct th_check_frame {
    struct th_check_frame *outer;
    const struct th_check_call *call;
    const struct th_library_frame *running; /* th_self.library_frame when the call began */
    struct th_origin *origin;               /* made at the start, as arguments may be changed */
    uint64_t number;                        /* of the call; never 0 */
    struct th_check_bytes *bytes;           /* bytes of its arguments; see check_call.c */
    size_t byte_count, byte_capacity;
};

/* --- Findings (check_call.c) ----------------------------------------------------------------- */

/* Counts the finding that ORIGIN did FORMAT, which breaks RULE, and prints it if it is among the first few of its KIND
 * in the same function. KIND is a text that stays valid, compared by address. */
void th_check_found(const struct th_origin *origin, enum th_check_rule rule, const char *kind,
                    const char *format, ...) __attribute__((format(printf, 4, 5), cold));

/* Counts and prints a finding like th_check_found(), for the current action of the thread. */
void th_check_found_now(enum th_check_rule rule, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Prints and counts a leak of KIND, which may stand for several calls; ORIGIN is the first one. */
void th_check_report_leak(const struct th_origin *origin, const char *kind, const char *message)
    __attribute__((cold));

/* Prints how many findings were only counted, forgets all findings, and returns their number. */
uint64_t th_check_findings_end(void);

/* --- Owned objects (check_owned.c) ------------------------------------------------------------ */

/* Returns the origin that got THING; NULL: no library owns THING.
 * Owner: the caller gets a reference. */
struct th_origin *th_check_owner(enum th_check_kind kind, const void *thing);

/* Adds MORE to the holders of LOCK. Returns false if LOCK is no lock. *BEFORE becomes the former
 * number of holders; *NAME, if NAME is not NULL, the lock's name or NULL, to be freed with
 * th_free(). */
bool th_check_hold(const void *lock, int more, int *before, char **name);

void th_check_owned_end(void);

/* --- Memory of terms, and freed memory (check_heap.c) ----------------------------------------- */

void th_check_heaps_start(void);
void th_check_heaps_end(void);

/* Returns a text about the heap that ADDRESS lies in: "the environment of an earlier call,
 * sins:keep(1)"; NULL: in none.
 * Owner: the caller frees the text. */
char *th_check_heap_of(const void *address);

/* Records that a function called by ORIGIN with ENV has returned.
 * Owner: takes over the reference to ORIGIN. */
void th_check_ended(const th_env *env, struct th_origin *origin);

/* --- Terms (check_term.c) -------------------------------------------------------------------- */

/* Checks all of TERM, which must be a term of ENV (NULL: an immediate). Returns true if TERM is
 * valid. Otherwise reports a finding of the thread, "DOES ...", or if FUNCTION is not NULL "DOES
 * FUNCTION() ...". */
bool th_check_valid(const th_env *env, th_term term, const char *does, const char *function);

/* Calls SEEN with the bytes of each binary in TERM, a valid term of ENV, up to a bound. */
void th_check_each_binary(const th_env *env, th_term term,
                          void (*seen)(void *context, const unsigned char *bytes, size_t size),
                          void *context);

/* --- Callbacks of tracers (check_callback.c, check_data.c, check_system_call.c) ---------------- */

void th_check_callbacks_start(void);
void th_check_callbacks_end(void);

struct th_library;

/* Note the variables of LIBRARY before a callback, and report those that the callback has changed
 * again. th_check_data_end() forgets the changes. */
void th_check_data_note(const struct th_library *library);
void th_check_data_compare(void);
void th_check_data_end(void);

/* Prepares the process to see system calls; false if the kernel or the machine does not support
 * that. Order: while there is one thread. */
bool th_check_system_calls_supported(void);

/* Begin to note the system calls of a callback, ENABLED or another, and end that with a report of
 * those that break a rule. */
void th_check_system_calls_begin(bool enabled);
void th_check_system_calls_end(void);

/* --- Locks (check_owned.c) ------------------------------------------------------------------- */

/* Reports the locks that FRAME's call took and still holds. */
void th_check_locks_left(const struct th_check_frame *frame);

/* Forgets that the thread holds LOCK, which was destroyed. */
void th_check_lock_gone(const void *lock);

#endif

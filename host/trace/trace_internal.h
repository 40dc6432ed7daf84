/*
 * Functions that only trace/ uses, by the header that they complete.
 */
#ifndef TH_TRACE_INTERNAL_H
#define TH_TRACE_INTERNAL_H

#include "pattern.h"
#include "tracees.h"

#include "host/base/error.h"
#include "host/term/word.h"

struct th_tracing;
struct th_timing;
struct th_session;
struct th_pattern_loss;
struct th_library;
struct th_function_sites;
struct th_event;
struct th_buffer;
struct th_account_reading;
struct th_account_frame;

/* --- Additions to named_tracer.h -------------------------------------------------------------- */

/* Leaves the lock that the calling thread has. Returns the lock for th_trace_tracer_lock_return();
 * NULL: none. */
struct th_tracer_lock *th_trace_tracer_lock_pause(void);

/*
 * Checks STATE for a tracer with that NAME. A library that declares no settings accepts any state.
 * Errors: TH_USAGE if STATE is neither a map nor [], or has a key that LIBRARY does not declare or
 * a value that the key does not accept; a TH_SETTING_INPUT must be a readable file.
 */
enum th_status th_trace_settings_check(const struct th_library *library, const char *name,
                                       th_term state);

/* Calls VISIT with the path of each file that LIBRARY writes according to STATE, until VISIT
 * returns another status than TH_OK. Returns the last status. */
enum th_status th_trace_settings_each_output(const struct th_library *library, th_term state,
                                             enum th_status (*visit)(void *context,
                                                                     const char *path),
                                             void *context);

/* --- Additions to pattern.h ------------------------------------------------------------------- */

/* Returns the site that local calls meet now; NULL: none. */
static inline struct th_site *th_trace_function_local_site(const struct th_function_sites *function)
{
    return function->no_local ? NULL : function->local;
}

/* Appends "m:f/1 and 3 more: local,count: calls from within the module are no longer traced:
 * why". */
void th_trace_pattern_loss_print(struct th_buffer *out, const struct th_pattern_loss *loss);

/* --- Additions to session.h ------------------------------------------------------------------- */

/* Does only the first step of th_trace_session_replace(), without a session: loads LIBRARY, by
 * upgrade() if OLD has the same module name and LIBRARY has upgrade(), else by load(). A later
 * th_trace_session_replace() of a session with OLD calls neither. */
enum th_status th_trace_session_load_successor(struct th_library *library, struct th_library *old);

/* --- Additions to timing.h -------------------------------------------------------------------- */

/* Calls above this number are not kept. */
enum { TH_TIMING_FRAMES = 1000000 };

/* Reads the time and process of EVENT; false if it has no time. */
bool th_trace_timing_read(struct th_event *event, struct th_account_reading *reading);

/* Returns the session's account; makes one if there is none. */
struct th_account *th_trace_timing_account(struct th_timing *timing,
                                           const struct th_session *session);

/* Pushes a charged call. Returns its number for th_trace_timing_leave(); UINT32_MAX: not kept. */
uint32_t th_trace_timing_enter(struct th_timing *timing, const struct th_session *session,
                               const struct th_account_frame *frame);
void th_trace_timing_leave(struct th_timing *timing, struct th_tracing *tracing, uint32_t number,
                           const struct th_account_reading *reading);

/* Forgets the oldest charged call, whose end will not be seen. Later calls stay charged; if the
 * next one of the session ends, nothing is charged. */
void th_trace_timing_forget(struct th_timing *timing, uint32_t number);

/* Stop and continue the time of a process that is scheduled out (or ends), or in. */
void th_trace_timing_pause(struct th_timing *timing, struct th_tracing *tracing,
                           const struct th_account_reading *reading);
void th_trace_timing_resume(struct th_timing *timing, const struct th_account_reading *reading);

void th_trace_timing_free(struct th_timing *timing);

/* --- Additions to tracees.h ------------------------------------------------------------------- */

/* Creates an array for COUNT sessions; the first element always exists, and is empty. */
struct th_tracee_flags *th_trace_tracee_flags_create(size_t count);

/* Appends SESSION, whose index is above all present ones; not if FLAGS are 0. */
void th_trace_tracee_flags_add(struct th_tracee_flags *tracee_flags, struct th_session *session,
                               uint32_t flags);

/* Returns a copy of OLD with FLAGS for the session; 0: without the session. */
struct th_tracee_flags *th_trace_tracee_flags_with(const struct th_tracee_flags *old,
                                                   struct th_session *session, uint32_t flags);

/* Returns the flags of SESSION, inline for speed: most arrays have one session. */
static inline uint32_t th_trace_flags_of_session(const struct th_tracee_flags *tracee_flags,
                                                 const struct th_session *session)
{
    if (__builtin_expect(tracee_flags->tracee_flags[0].session == session, 1))
        return tracee_flags->tracee_flags[0].flags;
    for (uint32_t i = 1; i < tracee_flags->count; i++)
        if (tracee_flags->tracee_flags[i].session == session)
            return tracee_flags->tracee_flags[i].flags;
    return 0;
}

/* Sets WORDS for TRACEE_FLAGS; BEFORE are the words that readers use now. Under the lock. */
void th_trace_tracee_words_set(struct th_tracee_words *words, const struct th_tracee_words *before,
                               const struct th_tracee_flags *tracee_flags);

/* Returns the union of all flags. */
uint32_t th_trace_tracee_flags_union(const struct th_tracee_flags *tracee_flags);
bool th_trace_tracee_flags_equal(const struct th_tracee_flags *a, const struct th_tracee_flags *b);

#endif

/*
 * What only trace/ sees.
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

/* --- Of named_tracer.h ------------------------------------------------------------------------ */

/* Leaves the lock that the calling thread has; NULL: none. For th_trace_tracer_lock_return(). */
struct th_tracer_lock *th_trace_tracer_lock_pause(void);

/*
 * TH_USAGE if STATE, which a tracer of that NAME is to get, is no map (and not []), or has a key
 * that LIBRARY does not declare, or a value that is none of the key's: of TH_SETTING_INPUT, that of
 * a file that cannot be read. A library that declares nothing takes any state.
 */
enum th_status th_trace_settings_check(const struct th_library *library, const char *name,
                                       th_term state);

/* Calls VISIT with the path of each file that STATE has LIBRARY write, until it returns another
 * status than TH_OK; the last status. */
enum th_status th_trace_settings_each_output(const struct th_library *library, th_term state,
                                             enum th_status (*visit)(void *context,
                                                                     const char *path),
                                             void *context);

/* --- Of pattern.h ----------------------------------------------------------------------------- */

/* The site where local calls are met now. */
static inline struct th_site *th_trace_function_local_site(const struct th_function_sites *function)
{
    return function->no_local ? NULL : function->local;
}

/* "m:f/1 and 3 more: local,count: calls from within the module are not met any more: why". */
void th_trace_pattern_loss_print(struct th_buffer *out, const struct th_pattern_loss *loss);

/* --- Of session.h ----------------------------------------------------------------------------- */

/* Its first step alone, with no session: loads LIBRARY, by upgrade() if OLD is of the same module
 * and there is one, else by load(). Then th_trace_session_replace() of a session with OLD calls
 * neither.
 */
enum th_status th_trace_session_load_successor(struct th_library *library, struct th_library *old);

/* --- Of timing.h ------------------------------------------------------------------------------ */

/* More calls than this are not kept. */
enum { TH_TIMING_FRAMES = 1000000 };

/* The time and process of EVENT; false if it has no time. */
bool th_trace_timing_read(struct th_event *event, struct th_account_reading *reading);

/* The session's account, made if it is not there. */
struct th_account *th_trace_timing_account(struct th_timing *timing,
                                           const struct th_session *session);

/* A call is charged. Its number is for th_trace_timing_leave(); UINT32_MAX: it is not kept. */
uint32_t th_trace_timing_enter(struct th_timing *timing, const struct th_session *session,
                               const struct th_account_frame *frame);
void th_trace_timing_leave(struct th_timing *timing, struct th_tracing *tracing, uint32_t number,
                           const struct th_account_reading *reading);

/* The process is scheduled out (or ends), or in. */
void th_trace_timing_pause(struct th_timing *timing, struct th_tracing *tracing,
                           const struct th_account_reading *reading);
void th_trace_timing_resume(struct th_timing *timing, const struct th_account_reading *reading);

void th_trace_timing_free(struct th_timing *timing);

/* --- Of tracees.h ----------------------------------------------------------------------------- */

/* Room for COUNT; the first place is there in any case, and nobody's while there is none. */
struct th_tracee_flags *th_trace_tracee_flags_create(size_t count);

/* Adds one whose index is above all that are there; nothing if FLAGS are 0. */
void th_trace_tracee_flags_add(struct th_tracee_flags *tracee_flags, struct th_session *session,
                               uint32_t flags);

/* OLD, with FLAGS for the session; 0: without it. */
struct th_tracee_flags *th_trace_tracee_flags_with(const struct th_tracee_flags *old,
                                                   struct th_session *session, uint32_t flags);

/* In place, for who counts instructions: most have one session. */
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

/* All flags in it. */
uint32_t th_trace_tracee_flags_union(const struct th_tracee_flags *tracee_flags);
bool th_trace_tracee_flags_equal(const struct th_tracee_flags *a, const struct th_tracee_flags *b);

#endif

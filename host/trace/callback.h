/*
 * The callback that a thread is in, and its subject: th_self.attachment, slot and subject.
 *
 * Producers of deliveries set the subject before the first callback of an event, and reset it after
 * the last. th_trace_attachment_enter() sets attachment and slot around each call of a tracer. nif/
 * reads these words (to refuse calls that a callback must not make), and so do the crash handler
 * and the watchdog.
 */
#ifndef TH_CALLBACK_H
#define TH_CALLBACK_H

#include "event.h"

#include "host/library/entry.h"
#include "host/self/self.h"

struct th_attachment;
struct th_call_event;
struct th_live_end;
struct th_bp_data;

/*
 * Subject of callbacks (th_self.subject). At most one of `event`, `call` and `end` is not NULL; in
 * a trace_status outside of an event all are NULL. An event is made of a call or an end on demand.
 */
struct th_callback_subject {
    struct th_event *event;
    const struct th_live_end *end;    /* end of a live call */
    const struct th_call_event *call; /* a live call */
    th_term tracee;                   /* of an event, or of trace_status */
    /* In callbacks about a call at a breakpoint: the breakpoint's data, and the kinds of it that
     * the callback serves. NULL in other callbacks. */
    const struct th_bp_data *breakpoint;
    uint32_t hit_kinds;
};

struct th_own_tracer;

/* Begins a callback; ATTACHMENT NULL: ends it. Relaxed: the watchdog only polls whether the thread
 * is in a callback. */
static inline void th_trace_callback_set(struct th_attachment *attachment)
{
    __atomic_store_n(&th_self.attachment, attachment, __ATOMIC_RELAXED);
    th_self_changed();
}

/* Returns the event that the thread handles, in a callback or between two; NULL: none, or a live
 * call. */
static inline struct th_event *th_trace_callback_handled(void)
{
    return th_self.subject ? th_self.subject->event : NULL;
}

/* Returns the name of the callback that the thread of SELF runs, for example "trace_call". The
 * thread must be in one. */
const char *th_trace_callback_name(const struct th_self *self);

/*
 * Returns true, which enif_send and enif_port_command must answer with a refusal, if the thread is
 * in a callback whose tracee is RECEIVER. Counts the attempt, and logs a warning once a session.
 */
bool th_trace_callback_refuses(th_term receiver);

/*
 * Implements th_tracer_failed(). In the first trace_status of an attachment, REASON is why the
 * attachment is refused. Else REASON is reported by th_trace_failure_report(), and a session whose
 * callback reports it gets no more events. ENV is that of the callback, load() or unload(), or
 * NULL.
 */
void th_trace_callback_failed(const th_env *env, const char *reason);

/* Return the tracer, functions of the program, whose callback the thread runs, and the id of its
 * session. In such a callback only. */
struct th_own_tracer *th_trace_callback_own_tracer(void);
uint64_t th_trace_callback_session_id(void);

/* Implements th_attach_pending(). */
bool th_trace_callback_is_pending(void);

/*
 * Function of the checker (check/), NULL: none. Called in place of each callback of tracers that
 * are attached later, and calls the tracer's function itself. Written while there is no session.
 */
extern th_slot_function *th_trace_callback_watcher;

/* Return the name of the tracer whose callback the thread of SELF runs, and the title of the
 * tracer's session. NULL if the thread runs no callback; the title is also NULL if the session has
 * none.
 * Thread: any, if that of SELF does not run; async-signal-safe. The supervisor may call them for a
 * dead worker's threads: all that they read lies in its region. */
const char *th_trace_callback_tracer(const struct th_self *self);
const char *th_trace_callback_session(const struct th_self *self);

/*
 * Returns the event of the thread's callback, for crash reports only: the event of a live call is
 * made in static memory. NULL: no callback, or one without an event. Async-signal-safe.
 */
struct th_event *th_trace_callback_event(void);

/*
 * Return facts about the call of the thread's callback: TH_UNKNOWN in other callbacks and outside
 * of any; the callers, as th_event.callers, in ENV, TH_NONE if unknown; UNIQUE of the recorded
 * event's time, false if that is not strictly monotonic.
 */
enum th_fact th_trace_callback_external(void);

/* Returns the recorded event that the callback reports; NULL: another event, or no callback. */
struct th_event *th_trace_callback_recorded(void);
enum th_fact th_trace_callback_tail(void);
th_term th_trace_callback_callers(th_env *env);
bool th_trace_callback_unique(int64_t *unique);

/*
 * Implements th_disarm(): pauses the breakpoint of the thread's callback (see
 * th_breakpoint_disarm()). False if there is no breakpoint, or ENV is not the callback's.
 */
bool th_trace_callback_disarm(const th_env *env);

/*
 * Failures that tracers report (th_tracer_failed()), for example an output file that cannot be
 * written. The program goes on, and ends with TH_FAILED.
 * Thread: any.
 */

/* Logs REASON as an error, after the name of TRACER, and counts it. */
void th_trace_failure_report(const char *tracer, const char *reason);

/* Replaces PATH by NAME in later failures: PATH is a file that the program has given to the tracer
 * and that the user does not know. PATH NULL: replaces nothing.
 * Owner: the caller keeps both texts until the next call.
 * Order: before the tracer is loaded. */
void th_trace_failures_name(const char *path, const char *name);

/* Returns the number of failures. */
unsigned long th_trace_failures(void);

/* Raises TH_FAILED with the latest failure if there were more than BEFORE; else returns TH_OK. */
enum th_status th_trace_failures_raise(unsigned long before);

#endif

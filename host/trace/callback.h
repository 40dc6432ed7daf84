/*
 * The callback that a thread is in, and its subject: th_self.attachment, slot and subject.
 *
 * Producers of deliveries set the subject before the first callback of an event, and reset it after
 * the last. th_trace_attachment_enter() sets the attachment and the slot around each call of a
 * tracer. nif/ reads them (to refuse what a callback must not do), and so do the crash handler and
 * the watchdog.
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
struct th_generic_bp;

/*
 * The subject of callbacks (th_self.subject): at most one of EVENT, CALL and END is not NULL; none
 * is in a trace_status outside of an event. An event is made of a call or an end when somebody asks
 * for it.
 */
struct th_callback_subject {
    struct th_event *event;
    const struct th_live_end *end;    /* the end of a live call */
    const struct th_call_event *call; /* a live call */
    th_term tracee;                   /* of an event, or of trace_status */
    /* In callbacks about a call that met a breakpoint: that, its data, and the kinds of it that the
     * callback is for. NULL: they are about something else. */
    struct th_generic_bp *breakpoint;
    const struct th_bp_data *breakpoint_data;
    uint32_t hit_kinds;
};

/* Begins a callback, or ends it: ATTACHMENT NULL. Relaxed: the watchdog only wants to know, at some
 * time, whether the thread is in a callback. */
static inline void th_trace_callback_set(struct th_attachment *attachment)
{
    __atomic_store_n(&th_self.attachment, attachment, __ATOMIC_RELAXED);
}

/* The event that the thread handles, in a callback or between two; NULL: none, or a live call. */
static inline struct th_event *th_trace_callback_handled(void)
{
    return th_self.subject ? th_self.subject->event : NULL;
}

/* The name of the callback that runs, for example "trace_call". The thread must be in one. */
const char *th_trace_callback_name(void);

/*
 * For enif_send and enif_port_command: true if the thread is in a callback whose tracee is
 * RECEIVER. Then the attempt is counted, and reported once a session; it must be refused.
 */
bool th_trace_callback_refuses(th_term receiver);

/*
 * For th_tracer_failed(): REASON is why the attachment of the thread's callback, if that is in its
 * first trace_status, is refused. Else it is reported (th_trace_failure_report()), and a session
 * whose callback reports it gets no events any more. ENV is that of the callback, load() or
 * unload(), or NULL.
 */
void th_trace_callback_failed(const th_env *env, const char *reason);

/* For th_attach_pending(). */
bool th_trace_callback_is_pending(void);

/*
 * For the checker (runtime/): it is called in place of each callback of the tracers that are
 * attached while it is not NULL, and calls what fills the slot itself. Written while there is no
 * session.
 */
extern th_slot_function *th_trace_callback_watcher;

/* The name of the tracer whose callback runs in this thread, and the title of its session. NULL:
 * the thread is in no callback; the session has no title. Both may be called in signal handlers. */
const char *th_trace_callback_tracer(void);
const char *th_trace_callback_session(void);

/*
 * The event that the thread's callback is about; NULL: the thread is in no callback, or in one
 * without an event. For a report of a crash only: the event of a live call stands in static memory.
 * May be called in a signal handler.
 */
struct th_event *th_trace_callback_event(void);

/*
 * What is known of the call that the thread's callback reports: TH_UNKNOWN in another callback, and
 * outside of any. Who called, as th_event.callers, in ENV; TH_NONE: it is not known. UNIQUE of the
 * recorded event's time, if that is a strictly monotonic one.
 */
enum th_fact th_trace_callback_external(void);
enum th_fact th_trace_callback_tail(void);
th_term th_trace_callback_callers(th_env *env);
bool th_trace_callback_unique(int64_t *unique);

/*
 * For th_disarm(): pauses the breakpoint that the thread's callback is about (see
 * th_breakpoint_disarm()). False if it is about none, or ENV is not the callback's.
 */
bool th_trace_callback_disarm(const th_env *env);

/*
 * Failures that tracers report (th_tracer_failed()): a file that cannot be written, say. The
 * program goes on, and ends with TH_FAILED.
 *
 * Any thread.
 */

/* Shows REASON on stderr, after the name of the TRACER, and counts it. */
void th_trace_failure_report(const char *tracer, const char *reason);

/* Failures from now on show NAME in the place of PATH, a path that the program has given to the
 * tracer and that the user does not know. PATH NULL: no path has another name. The caller keeps
 * both texts until then. Call it before the tracer is loaded. */
void th_trace_failures_name(const char *path, const char *name);

/* How many there were. */
unsigned long th_trace_failures(void);

/* TH_FAILED, with the latest of them, if there were more than BEFORE; else TH_OK. */
enum th_status th_trace_failures_raise(unsigned long before);

#endif

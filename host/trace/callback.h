/*
 * The callback that a thread is in.
 *
 * Set by the dispatcher around each call of a tracer; read by host/nif (to refuse what a callback
 * must not do), by the crash handler and by the watchdog.
 */
#ifndef TH_CALLBACK_H
#define TH_CALLBACK_H

#include "event.h"
#include "host/library/library.h"

struct th_attachment;
struct th_call_event;
struct th_live_end;
struct th_bp_data;
struct th_generic_bp;

struct th_callback {
    /* Whose callback it is; NULL: the thread is in none. Written as th_trace_callback_set() does,
     * as the watchdog looks at it. */
    struct th_attachment *attachment;
    enum th_tracer_slot slot; /* that it was called through */
    struct th_event *event;   /* NULL for trace_status outside of an event */
    /* What a callback is about that has no event: a live call, or, if this is not NULL, the end of
     * one. An event is made of it when somebody asks. Good while the callback runs. */
    const struct th_call_event *call;
    const struct th_live_end *end;
    th_term tracee;
    /* In callbacks about a call that met a breakpoint: that, what it said, and which kinds of it
     * the callback is for. NULL: it is about something else. */
    struct th_generic_bp *breakpoint;
    const struct th_bp_data *breakpoint_data;
    uint32_t hit_kinds;
    /* Counts the callbacks that this thread began. Relaxed: the watchdog only compares two
     * readings. */
    _Atomic uint64_t sequence;
    uint64_t told; /* trace callbacks of recorded events that this thread began; its own */
};

extern _Thread_local struct th_callback th_trace_callback_current
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Relaxed: the watchdog only wants to know, at some time, whether the thread is in a callback. */
static inline void th_trace_callback_set(struct th_callback *callback,
                                         struct th_attachment *attachment)
{
    __atomic_store_n(&callback->attachment, attachment, __ATOMIC_RELAXED);
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
 * first trace_status, is refused. Else it is reported (failure.h), and a session whose callback
 * reports it gets no events any more. ENV is that of the callback, load() or unload(), or NULL.
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

#endif

/* Answers queries about the current callback, and reports failures of tracers. */
#include "callback.h"

#include "trace_thread.h"

#include "host/base/log.h"
#include "host/base/memory.h"
#include "host/breakpoint/hit.h"
#include "host/library/load.h"
#include "host/match/match.h"
#include "host/trace/live/live_delivery.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

/* Returns the subject of the callback that the thread is in; NULL: none. A callback without a
 * subject is about the call or the return in the thread's memory (live/live_delivery.h). */
static const struct th_callback_subject *at_hand(void)
{
    const struct th_live_thread *own = th_live_thread_own();

    if (!th_self.attachment)
        return NULL;
    if (th_self.subject)
        return th_self.subject;
    return own->end.process ? &own->ending : &own->live.subject;
}

/* --- Failures that tracers report ------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    unsigned long count;
    char latest[1024];       /* truncated if necessary: allocates nothing */
    const char *path, *name; /* by th_trace_failures_name() */
} failures = {.lock = PTHREAD_MUTEX_INITIALIZER};

void th_trace_failures_name(const char *path, const char *name)
{
    pthread_mutex_lock(&failures.lock);
    failures.path = path;
    failures.name = name;
    pthread_mutex_unlock(&failures.lock);
}

void th_trace_failure_report(const char *tracer, const char *reason)
{
    const char *found, *name = "", *rest = "";
    int before = (int)strlen(reason);

    pthread_mutex_lock(&failures.lock);
    found = failures.path ? strstr(reason, failures.path) : NULL;
    if (found && !isalnum((unsigned char)found[strlen(failures.path)])) {
        before = (int)(found - reason);
        name = failures.name;
        rest = found + strlen(failures.path);
    }
    failures.count++;
    snprintf(failures.latest, sizeof failures.latest, "tracer '%s' failed: %.*s%s%s", tracer,
             before, reason, name, rest);
    pthread_mutex_unlock(&failures.lock);
    th_log_error("tracer '%s' failed: %.*s%s%s", tracer, before, reason, name, rest);
}

unsigned long th_trace_failures(void)
{
    unsigned long count;

    pthread_mutex_lock(&failures.lock);
    count = failures.count;
    pthread_mutex_unlock(&failures.lock);
    return count;
}

enum th_status th_trace_failures_raise(unsigned long before)
{
    enum th_status status = TH_OK;

    pthread_mutex_lock(&failures.lock);
    if (failures.count > before)
        status = th_error_raise(TH_FAILED, "%s", failures.latest);
    pthread_mutex_unlock(&failures.lock);
    return status;
}

/* --- The current callback --------------------------------------------------------------------- */

const char *th_trace_callback_name(const struct th_self *self)
{
    return self->attachment->slots->filled_by[self->slot];
}

static th_term callback_tracee_of(const struct th_callback_subject *subject)
{
    return subject->call  ? subject->call->process->id
           : subject->end ? subject->end->process->id
                          : subject->tracee;
}

bool th_trace_callback_refuses(th_term receiver)
{
    const struct th_attachment *attachment = th_self.attachment;
    struct th_session *session;

    if (!attachment || receiver != callback_tracee_of(at_hand()))
        return false;
    session = attachment->session;
    th_trace_session_count(session, TH_COUNTED(refused));
    if (!atomic_exchange_explicit(&session->refused, true, memory_order_relaxed))
        th_warn("tracer '%s' sends a message to its tracee in %s: this message and later ones are "
                "refused",
                attachment->name, th_trace_callback_name(&th_self));
    return true;
}

void th_trace_callback_failed(const th_env *env, const char *reason)
{
    struct th_attachment *attachment = th_self.attachment;
    struct th_session *session;

    if (!attachment) { /* no session shows whose code it is */
        th_trace_failure_report(
            env && env->library ? th_library_tracer_name(env->library) : "unknown", reason);
        return;
    }
    if (attachment->asked_first) {
        if (!attachment->failure)
            attachment->failure = th_strdup(reason);
        return;
    }
    session = attachment->session;
    atomic_store_explicit(&session->failed, true, memory_order_relaxed);
    th_trace_lock(session->tracing);
    if (!session->failure)
        session->failure = th_printf("tracer '%s' failed: %s", attachment->name, reason);
    if (session->meta)
        atomic_store_explicit(&session->attached, false, memory_order_relaxed);
    else if (th_trace_session_attachment(session) == attachment)
        th_trace_session_detach(session);
    th_trace_unlock(session->tracing);
    th_trace_failure_report(attachment->name, reason);
}

bool th_trace_callback_is_pending(void)
{
    struct th_attachment *attachment = th_self.attachment;

    if (!attachment || !atomic_load_explicit(&attachment->pending, memory_order_relaxed))
        return false;
    atomic_store_explicit(&attachment->asks_again, true, memory_order_relaxed);
    return true;
}

struct th_own_tracer *th_trace_callback_own_tracer(void)
{
    return th_self.attachment->own;
}

uint64_t th_trace_callback_session_id(void)
{
    return th_self.attachment->session->id;
}

th_slot_function *th_trace_callback_watcher;

/* --- names and events for the checker and crash reports --- */

const char *th_trace_callback_tracer(const struct th_self *self)
{
    return self->attachment ? self->attachment->name : NULL;
}

const char *th_trace_callback_session(const struct th_self *self)
{
    return self->attachment ? self->attachment->session->title : NULL;
}

struct th_event *th_trace_callback_event(void)
{
    static struct th_event made; /* of a live call or its end, which has no event otherwise */
    const struct th_callback_subject *subject = at_hand();

    if (!subject || !(subject->end || subject->call))
        return subject ? subject->event : NULL;
    if (subject->end)
        th_live_end_event(&made, subject->end);
    else
        th_live_call_event(&made, subject->call);
    return &made;
}

/* --- facts about the call --- */

/* Returns the live call of the callback; NULL: the callback is about something else. */
static const struct th_call_event *live_call(void)
{
    const struct th_callback_subject *subject = at_hand();

    return subject ? subject->call : NULL;
}

struct th_event *th_trace_callback_recorded(void)
{
    const struct th_callback_subject *subject = at_hand();

    return subject && subject->event && !subject->event->live ? subject->event : NULL;
}

enum th_fact th_trace_callback_external(void)
{
    const struct th_call_event *call = live_call();
    const struct th_event *event = th_trace_callback_recorded();

    const struct th_match_operations *owner;

    if (!call)
        return event ? event->external : TH_UNKNOWN;
    owner = call->process->asked; /* has the answer, at whichever site the call was */
    return call->external || (owner && owner->is_external &&
                              owner->is_external(call->process, &call->function->function.name,
                                                 call->arguments))
               ? TH_YES
               : TH_NO;
}

enum th_fact th_trace_callback_tail(void)
{
    const struct th_event *event = th_trace_callback_recorded();

    return event ? event->tail : TH_UNKNOWN;
}

th_term th_trace_callback_callers(th_env *env)
{
    const struct th_call_event *call = live_call();
    const struct th_event *event = th_trace_callback_recorded();

    const struct th_match_operations *owner;
    const struct th_caller *known;

    if (!call)
        return event ? event->callers : TH_NONE;
    owner = call->process->asked;
    known = call->caller;
    if (!known)
        return owner && owner->stack ? owner->stack(call->process, env, TH_EXECUTION_CALLERS)
                                     : TH_NONE;
    if (known->kind != TH_CALLER_FUNCTION)
        return known->kind == TH_CALLER_UNDEFINED ? TH_NIL : TH_NONE;
    return th_make_cons(env,
                        th_make_tuple_of(env, known->function.module, known->function.function,
                                         th_small(known->function.arity), TH_NIL),
                        TH_AM(undefined));
}

bool th_trace_callback_unique(int64_t *unique)
{
    struct th_event *event = th_trace_callback_recorded();

    if (!event || th_trace_event_time(event) != TH_OK ||
        event->time.kind != TH_TIME_STRICT_MONOTONIC)
        return false;
    *unique = event->time.unique;
    return true;
}

bool th_trace_callback_disarm(const th_env *env)
{
    const struct th_callback_subject *subject = at_hand();
    struct th_hit hit;

    if (!subject || !subject->breakpoint ||
        (!th_trace_callback_watcher && env != &th_self.attachment->env &&
         env != &th_trace_thread_own()->env))
        return false;
    hit =
        (struct th_hit){.breakpoint = subject->breakpoint->breakpoint, .data = subject->breakpoint};
    th_breakpoint_disarm(&hit, subject->hit_kinds);
    return true;
}

/*
 * enif_select(): effects of a call on the relation of a descriptor and its resource.
 *
 * Measured on OTP 25, Linux, with kernel poll. "Other" is a resource without the relation; "later"
 * is after ERL_NIF_SELECT_STOP was scheduled and before `stop` was called.
 *
 *   select                    makes the relation if there is none; the new message replaces the one
 *                             that waits for the same mode
 *   cancel                    reports the selected modes; 0 if there is no relation
 *   stop                      reports reading and writing as cancelled, not waiting for errors. No
 *                             relation is needed. `stop` is called directly
 *   any of them by other      removes the relation first, with a warning: no `stop` is called for
 *                             that, its messages are not sent
 *   a regular file            is ready at once; the poll thread calls its `stop`
 *   a closed descriptor       0, then a warning, no message and no relation
 *   closed since then         ERL_NIF_SELECT_FAILED for a new mode; stop works
 *   stop or cancel, later     a warning, STOP_SCHEDULED; 0 for cancel by other
 *   select later,             a warning; the scheduled `stop` is not called, and the call continues
 *   or stop by other          as without a relation
 *
 * A BEAM crashes if a resource type without `stop` is stopped, or if there is no receiver; here
 * both are ERL_NIF_SELECT_FAILED.
 */
#include "select.h"

#include "poll_event.h"

#include "host/base/log.h"
#include "host/library/resource/resource.h"
#include "host/process/process.h"
#include "host/term/atom.h"
#include "host/term/make.h"

#include <limits.h>
#include <sys/resource.h>

enum { FAILED = INT_MIN | ERL_NIF_SELECT_FAILED, INVALID = INT_MIN | ERL_NIF_SELECT_INVALID_EVENT };

/* By mode. */
static const struct {
    int flag, cancelled;
    th_term ready;
} modes_of_api[TH_POLL_MODES] = {
    [TH_POLL_READ] = {ERL_NIF_SELECT_READ, ERL_NIF_SELECT_READ_CANCELLED, TH_AM(ready_input)},
    [TH_POLL_WRITE] = {ERL_NIF_SELECT_WRITE, ERL_NIF_SELECT_WRITE_CANCELLED, TH_AM(ready_output)},
    [TH_POLL_ERROR] = {ERL_NIF_SELECT_ERROR, ERL_NIF_SELECT_ERROR_CANCELLED, TH_AM(ready_error)},
};

/* Warning to log when the lock is free. */
enum remark { NOTHING, TAKEN_OVER, REPEATED, TOO_EARLY };

static const char *const remarks[] = {
    [TAKEN_OVER] = "is selected for one resource, but belongs to another resource, which loses it",
    [REPEATED] = "was stopped already, and its stop callback not called yet",
    [TOO_EARLY] = "is selected after it was stopped, but before its stop callback was called",
};

/* A call in progress. */
struct call {
    ErlNifEvent fd;
    void *object;
    unsigned modes;                         /* as bits */
    struct th_message *mail[TH_POLL_MODES]; /* for those modes, until moved to an event */
    struct th_poll_leavings leavings;
    enum remark remark;
};

/* Returns the event of the call's descriptor if it belongs to the call's resource; ends the
 * relation with another resource. */
static struct th_poll_event *own_event(struct call *call)
{
    struct th_poll_event *event = th_poll_find(call->fd);

    if (!event || event->object == call->object)
        return event;
    call->remark = event->stopping ? TOO_EARLY : TAKEN_OVER;
    th_poll_dissolve(event, &call->leavings);
    return NULL;
}

/* Cancels MODES; returns those that were selected, as the API's bits. */
static int cancel_modes(struct call *call, struct th_poll_event *event, unsigned modes)
{
    int cancelled = 0;

    for (int mode = 0; mode < TH_POLL_MODES; mode++) {
        if (!(modes & 1u << mode) || !event->mail[mode])
            continue;
        cancelled |= modes_of_api[mode].cancelled;
        th_poll_leave_mail(&call->leavings, event->mail[mode]);
        event->mail[mode] = NULL;
    }
    return cancelled;
}

/* --- Stop ------------------------------------------------------------------------------------- */

static int stop_locked(struct call *call)
{
    struct th_poll_event *event = own_event(call);
    int result;

    if (!event)
        return ERL_NIF_SELECT_STOP_CALLED;
    if (event->stopping) {
        call->remark = REPEATED;
        return ERL_NIF_SELECT_STOP_SCHEDULED;
    }
    result = cancel_modes(call, event, ~0u) & ~ERL_NIF_SELECT_ERROR_CANCELLED;
    if (!event->pollable) {
        event->stopping = true;
        th_poll_put_due(event);
        th_poll_wake();
        return result | ERL_NIF_SELECT_STOP_SCHEDULED;
    }
    th_poll_dissolve(event, &call->leavings);
    return result | ERL_NIF_SELECT_STOP_CALLED;
}

/* --- Cancel ----------------------------------------------------------------------------------- */

static int cancel_locked(struct call *call)
{
    struct th_poll_event *event = th_poll_find(call->fd);

    if (event && event->stopping) {
        if (event->object != call->object)
            return 0;
        call->remark = REPEATED;
        return ERL_NIF_SELECT_STOP_SCHEDULED;
    }
    event = own_event(call);
    return event ? cancel_modes(call, event, call->modes) : 0;
}

/* --- Select ----------------------------------------------------------------------------------- */

static int select_locked(struct call *call)
{
    struct th_poll_event *event = own_event(call);
    unsigned wanted;

    if (event && event->stopping) {
        call->remark = TOO_EARLY;
        th_poll_dissolve(event, &call->leavings);
        event = NULL;
    }
    if (!event) {
        if (!th_poll_start())
            return FAILED;
        event = th_poll_add(call->fd, call->object);
        if (th_poll_arm(event, call->modes) == TH_POLL_FAILED) {
            th_poll_dissolve(event, &call->leavings);
            return FAILED;
        }
    }
    wanted = th_poll_wanted(event) | call->modes;
    if (event->pollable && wanted & ~event->armed && th_poll_arm(event, wanted) == TH_POLL_FAILED)
        return FAILED;
    for (int mode = 0; mode < TH_POLL_MODES; mode++) {
        if (!call->mail[mode])
            continue;
        th_poll_leave_mail(&call->leavings, event->mail[mode]);
        event->mail[mode] = call->mail[mode];
        call->mail[mode] = NULL;
    }
    if (!event->pollable) {
        th_poll_put_due(event);
        th_poll_wake();
    }
    return 0;
}

/* --- The call --------------------------------------------------------------------------------- */

/*
 * `stop` is called directly even while the poll thread handles a report of the descriptor: the poll
 * thread uses no descriptor, only the report, and recognizes an old report by its generation.
 */
int th_poll_select(ErlNifEvent event, enum ErlNifSelectFlags flags, void *object,
                   const struct th_select_message *to)
{
    struct call call = {.fd = event, .object = object};
    bool stop = flags & ERL_NIF_SELECT_STOP, cancel = flags & ERL_NIF_SELECT_CANCEL;
    struct rlimit limit;
    th_env env;
    int result;

    if (event < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 || (rlim_t)event >= limit.rlim_cur)
        return INVALID;
    if (stop ? !th_resource_has_stop(object) : !cancel && to->pid == TH_NONE)
        return FAILED;

    th_env_init(&env, TH_ENV_PLAIN);
    for (int mode = 0; mode < TH_POLL_MODES; mode++) {
        th_term message;
        if (!(flags & modes_of_api[mode].flag))
            continue;
        call.modes |= 1u << mode;
        if (stop || cancel)
            continue;
        message = to->message;
        if (message == TH_NONE)
            message = th_make_tuple_of(&env, TH_AM(select), th_resource_make(&env, object), to->ref,
                                       modes_of_api[mode].ready);
        call.mail[mode] = th_process_message_create(message);
        call.mail[mode]->number = to->pid;
    }
    th_env_release(&env);

    pthread_mutex_lock(&th_poll_lock);
    result = stop ? stop_locked(&call) : cancel ? cancel_locked(&call) : select_locked(&call);
    pthread_mutex_unlock(&th_poll_lock);

    if (call.remark != NOTHING)
        th_warn("enif_select: file descriptor %d %s", event, remarks[call.remark]);
    if (result >= 0 && result & ERL_NIF_SELECT_STOP_CALLED)
        th_resource_stop(object, event, true);
    for (int mode = 0; mode < TH_POLL_MODES; mode++)
        th_poll_leave_mail(&call.leavings, call.mail[mode]);
    th_poll_give_back(&call.leavings);
    return result;
}

#include "callback.h"

#include "attachment.h"
#include "thread.h"
#include "host/breakpoint/breakpoint.h"

_Thread_local struct th_callback th_callback_current;

const char *th_callback_name(void)
{
    return th_callback_current.attachment->slots->filled_by[th_callback_current.slot];
}

bool th_callback_refuses(th_term receiver)
{
    const struct th_attachment *attachment = th_callback_current.attachment;
    struct th_session *session;

    if (!attachment || receiver != th_callback_current.tracee)
        return false;
    session = attachment->session;
    th_session_count(session, TH_COUNTED(refused));
    if (!atomic_exchange_explicit(&session->refused, true, memory_order_relaxed))
        th_warn("tracer '%s' sends to its tracee from %s: refused, here and later",
                attachment->name, th_callback_name());
    return true;
}

bool th_callback_disarm(const th_env *env)
{
    struct th_callback *callback = &th_callback_current;
    struct th_hit hit = {.breakpoint = callback->breakpoint, .data = callback->breakpoint_data};

    if (!callback->attachment || !hit.breakpoint ||
        (env != &callback->attachment->env && env != &th_thread_own()->env))
        return false;
    th_breakpoint_disarm(&hit, callback->hit_kinds);
    return true;
}

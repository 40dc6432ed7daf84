#include "callback.h"

#include "session.h"
#include "thread.h"
#include "host/breakpoint/breakpoint.h"

_Thread_local struct th_callback th_callback_current;

const char *th_callback_name(void)
{
    return th_callback_current.session->slots->filled_by[th_callback_current.slot];
}

bool th_callback_refuses(th_term receiver)
{
    struct th_session *session = th_callback_current.session;

    if (!session || receiver != th_callback_current.tracee)
        return false;
    th_session_count(session, TH_COUNTED(refused));
    if (!atomic_exchange_explicit(&session->refused, true, memory_order_relaxed))
        th_warn("tracer '%s' sends to its tracee from %s: refused, here and later", session->name,
                th_callback_name());
    return true;
}

bool th_callback_disarm(const th_env *env)
{
    struct th_callback *callback = &th_callback_current;
    struct th_hit hit = {.breakpoint = callback->breakpoint, .data = callback->breakpoint_data};

    if (!callback->session || !hit.breakpoint ||
        (env != &callback->session->env && env != &th_thread_own()->env))
        return false;
    th_breakpoint_disarm(&hit, callback->hit_kinds);
    return true;
}

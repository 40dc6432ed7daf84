#include "callback.h"

#include "session.h"
#include "tracing.h"

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
    if (session->counts.refused++ == 0)
        th_warn("tracer '%s' sends to its tracee from %s: refused, here and later", session->name,
                th_callback_name());
    return true;
}

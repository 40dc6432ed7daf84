/* Mail: to the host's own processes it is delivered; nobody reads what goes to recorded ones. */
#include "process.h"

#include "host_process.h"
#include "life.h"

#include <stdatomic.h>

static _Atomic uint64_t dropped; /* relaxed: a count, read when all is done */

bool th_mail_send_from(th_term pid, th_term message, th_term from)
{
    if (!th_is_local_pid(pid))
        return false;
    if (th_host_life(pid) != TH_HOST_NEVER)
        return th_host_process_deliver(pid, message, from);
    if (th_life_ended(pid))
        return false;
    atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
    return true;
}

bool th_mail_send(th_term pid, th_term message)
{
    return th_mail_send_from(pid, message, TH_NONE);
}

uint64_t th_mail_dropped(void)
{
    return atomic_load_explicit(&dropped, memory_order_relaxed);
}

/* Monitors of processes, held by resources. */
#include "nif.h"

#include "host/library/library.h"

#include <string.h>

/* The lack of a callback is told before the lack of a process, as in a BEAM. */
int enif_monitor_process(ErlNifEnv *env, void *obj, const ErlNifPid *pid, ErlNifMonitor *monitor)
{
    (void)env;
    if (!th_resource_has_down(obj))
        return -1;
    if (!th_is_local_pid(pid->pid) || !th_resource_monitor(obj, pid->pid, monitor))
        return 1;
    return 0;
}

int enif_demonitor_process(ErlNifEnv *env, void *obj, const ErlNifMonitor *monitor)
{
    (void)env;
    return th_resource_demonitor(obj, monitor) ? 0 : 1;
}

int enif_compare_monitors(const ErlNifMonitor *monitor1, const ErlNifMonitor *monitor2)
{
    return memcmp(monitor1, monitor2, sizeof *monitor1);
}

ERL_NIF_TERM enif_make_monitor_term(ErlNifEnv *env, const ErlNifMonitor *monitor)
{
    return th_resource_monitor_term(env, monitor);
}

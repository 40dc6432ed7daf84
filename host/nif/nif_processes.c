/* Processes, ports, names and monitors. */
#include "nif.h"

#include "host/check/check.h"
#include "host/library/resource/resource.h"
#include "host/process/process.h"
#include "host/runtime/runtime.h"
#include "host/trace/callback.h"

#include <string.h>

/* --- Processes, ports and sending ------------------------------------------------------------- */

int enif_is_pid(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_is_pid(term);
}

int enif_is_port(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_is_port(term);
}

int enif_get_local_pid(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifPid *pid)
{
    (void)env;
    if (__builtin_expect(!th_is_local_pid(term), 0))
        return 0;
    pid->pid = term;
    return 1;
}

int enif_get_local_port(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifPort *port_id)
{
    (void)env;
    if (!th_is_local_port(term))
        return 0;
    port_id->port_id = term;
    return 1;
}

void enif_set_pid_undefined(ErlNifPid *pid)
{
    pid->pid = TH_AM(undefined);
}

int enif_is_pid_undefined(const ErlNifPid *pid)
{
    return pid->pid == TH_AM(undefined);
}

ErlNifPid *enif_self(ErlNifEnv *caller_env, ErlNifPid *pid)
{
    if (!caller_env || caller_env->self == TH_NONE)
        return NULL;
    pid->pid = caller_env->self;
    return pid;
}

int enif_is_process_alive(ErlNifEnv *env, ErlNifPid *pid)
{
    (void)env;
    return th_is_local_pid(pid->pid) && th_process_alive(pid->pid);
}

int enif_is_current_process_alive(ErlNifEnv *env)
{
    return env && env->self != TH_NONE && th_runtime_call_process_alive(env);
}

int enif_is_port_alive(ErlNifEnv *env, ErlNifPort *port_id)
{
    (void)env;
    return th_is_local_port(port_id->port_id) && th_process_alive(port_id->port_id);
}

static int whereis_kind(ERL_NIF_TERM name, bool (*is_kind)(th_term), th_term *id)
{
    th_term found = th_process_whereis(name);

    if (!is_kind(found))
        return 0;
    *id = found;
    return 1;
}

int enif_whereis_pid(ErlNifEnv *env, ERL_NIF_TERM name, ErlNifPid *pid)
{
    (void)env;
    return whereis_kind(name, th_is_local_pid, &pid->pid);
}

int enif_whereis_port(ErlNifEnv *env, ERL_NIF_TERM name, ErlNifPort *port)
{
    (void)env;
    return whereis_kind(name, th_is_local_port, &port->port_id);
}

/* A callback must not send a message to its tracee. */
static bool is_refused(th_term receiver, const char *function)
{
    bool is_tracee = th_trace_callback_refuses(receiver);

    if (is_tracee && th_check_on())
        th_check_blame(TH_RULE_TRACEE, function,
                       "with the tracee as receiver: the message is refused");
    return is_tracee;
}

/* The message is copied or received before this function returns. Without MSG_ENV the message may
 * belong to any environment. */
int enif_send(ErlNifEnv *env, const ErlNifPid *to_pid, ErlNifEnv *msg_env, ERL_NIF_TERM msg)
{
    if (!env && th_self.attachment && th_check_on())
        th_check_blame(TH_RULE_CALL, "enif_send",
                       "without an environment in a callback, which schedulers run");
    if (msg_env)
        msg = th_check_term(msg_env, msg, "enif_send");
    if (is_refused(to_pid->pid, "enif_send") || !th_runtime_process_send(env, to_pid->pid, msg))
        return 0;
    if (msg_env)
        th_nif_env_sent(msg_env, "enif_send");
    return 1;
}

/* Ports of a recording are not run: they accept no commands. */
int enif_port_command(ErlNifEnv *env, const ErlNifPort *to_port, ErlNifEnv *msg_env,
                      ERL_NIF_TERM msg)
{
    (void)env;
    if (msg_env)
        msg = th_check_term(msg_env, msg, "enif_port_command");
    if (is_refused(to_port->port_id, "enif_port_command") ||
        !th_process_port_command(to_port->port_id, msg))
        return 0;
    if (msg_env)
        th_nif_env_sent(msg_env, "enif_port_command");
    return 1;
}

/* --- Monitors of processes, held by resources ------------------------------------------------- */

/* A missing callback is reported before a missing process, as in a BEAM. */
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

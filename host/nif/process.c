/* Processes, ports and sending. */
#include "nif.h"

#include "host/process/process.h"
#include "host/trace/trace.h"

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
    if (!th_is_local_pid(term))
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
    return env && env->self != TH_NONE && th_process_alive(env->self);
}

int enif_is_port_alive(ErlNifEnv *env, ErlNifPort *port_id)
{
    (void)env;
    return th_is_local_port(port_id->port_id) && th_process_alive(port_id->port_id);
}

/* The message is delivered, or dropped, before this returns; so it need not be copied here. */
int enif_send(ErlNifEnv *env, const ErlNifPid *to_pid, ErlNifEnv *msg_env, ERL_NIF_TERM msg)
{
    (void)env;
    if (th_callback_refuses(to_pid->pid) || !th_mail_send(to_pid->pid, msg))
        return 0;
    if (msg_env)
        enif_clear_env(msg_env);
    return 1;
}

/* There are no ports that take commands: those of a recording are seen, not run. */
int enif_port_command(ErlNifEnv *env, const ErlNifPort *to_port, ErlNifEnv *msg_env,
                      ERL_NIF_TERM msg)
{
    (void)env;
    (void)msg_env;
    (void)msg;
    th_callback_refuses(to_port->port_id);
    return 0;
}

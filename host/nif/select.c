/* File descriptors. enif_select_read() and its like are macros. */
#include "nif.h"

#include "host/runtime/runtime.h"

/* The process that is told if the caller names none. */
static th_term receiver(const ErlNifEnv *env, const ErlNifPid *pid)
{
    if (pid)
        return pid->pid;
    return env ? env->self : TH_NONE;
}

int enif_select(ErlNifEnv *env, ErlNifEvent e, enum ErlNifSelectFlags flags, void *obj,
                const ErlNifPid *pid, ERL_NIF_TERM ref)
{
    return enif_select_x(env, e, flags, obj, pid, ref, NULL);
}

int enif_select_x(ErlNifEnv *env, ErlNifEvent e, enum ErlNifSelectFlags flags, void *obj,
                  const ErlNifPid *pid, ERL_NIF_TERM msg, ErlNifEnv *msg_env)
{
    bool custom = flags & ERL_NIF_SELECT_CUSTOM_MSG;
    th_term sent = msg_env ? th_check_term(msg_env, msg, "enif_select_x") : msg;
    struct th_select_message to = {
        .pid = receiver(env, pid),
        .ref = custom ? TH_NONE : sent,
        .message = custom ? sent : TH_NONE,
    };
    int result = th_select(e, flags, obj, &to);

    if (result >= 0 && msg_env)
        enif_clear_env(msg_env);
    return result;
}

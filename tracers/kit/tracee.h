/* Tracees as keys of tables. */
#ifndef TRACER_TRACEE_H
#define TRACER_TRACEE_H

#include <erl_tracer.h>

/* TRACEE as one word that stands for it in every environment and for ever, as those of local pids
 * and ports do; `undefined` for what is none, such as the label that seq_trace has in its place. */
static inline ERL_NIF_TERM tracee_word(ErlNifEnv *env, ERL_NIF_TERM tracee)
{
    ErlNifPort port;
    ErlNifPid pid;

    if (enif_get_local_pid(env, tracee, &pid))
        return pid.pid;
    return enif_get_local_port(env, tracee, &port) ? port.port_id : TH_TRACER_ATOM(env, undefined);
}

#endif

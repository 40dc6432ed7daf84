/* Tracees as keys of tables. */
#ifndef TRACER_TRACEE_H
#define TRACER_TRACEE_H

#include <erl_tracer.h>

/* Returns TRACEE as a word that is the same in every environment and for ever, as the words of
 * local pids and ports are; `undefined` for other terms, such as the label that seq_trace has
 * instead of a tracee. */
static inline ERL_NIF_TERM tracee_word(ErlNifEnv *env, ERL_NIF_TERM tracee)
{
    ErlNifPort port;
    ErlNifPid pid;

    if (enif_get_local_pid(env, tracee, &pid))
        return pid.pid;
    return enif_get_local_port(env, tracee, &port) ? port.port_id : TH_TRACER_ATOM(env, undefined);
}

#endif

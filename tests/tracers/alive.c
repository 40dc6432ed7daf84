/* Prints in each trace callback whether the process that is its state is alive. */
#include <erl_tracer.h>

#include <stdio.h>

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    ErlNifPid pid;

    if (enif_get_local_pid(env, state, &pid))
        enif_fprintf(stdout, "%#T %#T: %#T is %s\n", tracee, tag, state,
                     enif_is_process_alive(env, &pid) ? "alive" : "dead");
}

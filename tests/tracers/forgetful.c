/* Violates the rules of tracers: keeps terms across callbacks, leaks, sends to its tracee. */
#include <erl_tracer.h>

#include <stdio.h>

static ERL_NIF_TERM kept;
static ErlNifEnv *never_freed;
static void *never_released;
static ErlNifResourceType *type;

TH_TRACER_LOAD()
{
    type = enif_open_resource_type(env, NULL, "held", NULL, ERL_NIF_RT_CREATE, NULL);
    return type == NULL;
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    ErlNifPid pid;

    if (kept)
        enif_fprintf(stdout, "%T\n", kept);
    kept = term;
    if (!never_freed) {
        never_freed = enif_alloc_env();
        never_released = enif_alloc_resource(type, 1);
    }
    if (enif_get_local_pid(env, tracee, &pid))
        enif_send(env, &pid, NULL, tag);
}

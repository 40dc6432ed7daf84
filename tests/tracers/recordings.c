/* Prints the result of th_recordings() at each event, and at the end. */
#include <erl_tracer.h>
#include <nif_module.h>

#include <stdio.h>

static void show(ErlNifEnv *env, const char *when)
{
    if (TH_HAS(th_recordings) && TH_HAS(th_recordings_begun))
        enif_fprintf(stdout, "%s %d %#T\n", when, th_recordings_begun(env), th_recordings(env));
    else
        printf("%s nothing is told\n", when);
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    if (tag != TH_TRACER_ATOM(env, trace_status))
        show(env, "event");
}

TH_TRACER_LOAD()
{
    show(env, "load");
    return 0;
}

TH_TRACER_UNLOAD()
{
    show(env, "unload");
}

static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(recordings, callbacks, load, NULL, NULL, unload)

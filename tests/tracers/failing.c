/* Reports a failure where its state requires: attach, event, unload; and prints its calls. */
#include <erl_tracer.h>
#include <nif_module.h>

#include <stdio.h>

static ERL_NIF_TERM last; /* an atom: the last state */

static int is(ErlNifEnv *env, ERL_NIF_TERM state, const char *when)
{
    return enif_is_identical(state, enif_make_atom(env, when));
}

TH_TRACER_ENABLED(generic)
{
    if (tag == TH_TRACER_ATOM(env, trace_status)) {
        enif_fprintf(stdout, "%#T: status%s\n", state,
                     th_attach_pending(env) ? ", pending" : ", for good");
        if (is(env, state, "attach"))
            th_tracer_failed(env, "it shall not be attached");
        last = state;
    }
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    enif_fprintf(stdout, "%#T: %#T%s\n", state, tag, th_attach_pending(env) ? ", pending" : "");
    if (is(env, state, "event"))
        th_tracer_failed(env, "it has seen enough");
}

TH_TRACER_UNLOAD()
{
    printf("unload\n");
    if (last && is(env, last, "unload"))
        th_tracer_failed(env, "it cannot end");
}

static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(failing, callbacks, NULL, NULL, NULL, unload)

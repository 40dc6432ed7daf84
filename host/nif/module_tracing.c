/* What tracers may ask of the host. */
#include "nif.h"

#include "host/trace/trace.h"
#include "plugin_api/nif_module.h"

int th_disarm(ErlNifEnv *env)
{
    return th_callback_disarm(env);
}

ERL_NIF_TERM th_recordings(ErlNifEnv *env)
{
    return th_recordings_list(env);
}

int th_recordings_begun(ErlNifEnv *env)
{
    (void)env;
    return th_recordings_count();
}

void th_tracer_failed(ErlNifEnv *env, const char *reason)
{
    th_callback_failed(env, reason);
}

int th_attach_pending(ErlNifEnv *env)
{
    (void)env;
    return th_callback_is_pending();
}

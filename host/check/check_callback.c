/*
 * Callbacks of tracers: each has an environment of its own, with its arguments copied into it, as
 * functions of libraries have while the checker is on; so terms that are left from an earlier one
 * are met as what they are.
 */
#include "check_internal.h"

/* What `trace` answers is used nowhere: it may be nothing. */
static ERL_NIF_TERM call_watched(ErlNifEnv *given, int argc, const ERL_NIF_TERM argv[])
{
    enum th_tracer_slot slot = th_callback_current.slot;
    th_env *env = th_env_create(TH_ENV_CALLBACK);
    th_term copies[5], answer;
    struct th_check_call call = {.argc = argc, .argv = copies, .env = env};

    env->self = given->self;
    env->library = given->library;
    env->thread = given->thread;
    for (int i = 0; i < argc; i++)
        copies[i] = th_copy(env, argv[i]);
    th_check_begin(&call);
    answer = th_library_slots(env->library)->functions[slot](env, argc, copies);
    answer = th_check_answer(&call, answer, argc == 5);
    th_check_retire(env);
    return th_is_immediate(answer) ? answer : TH_NONE;
}

void th_check_callbacks(bool on)
{
    th_callback_watcher = on ? call_watched : NULL;
}

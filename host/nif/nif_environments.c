/* Environments, their exceptions, scheduling, and options of a library. */
#include "nif.h"

#include "host/check/check.h"
#include "host/library/load.h"
#include "host/runtime/runtime.h"
#include "host/term/atom.h"

#include <errno.h>

/* --- Environments and private data ------------------------------------------------------------ */

void *enif_priv_data(ErlNifEnv *env)
{
    return env->library ? th_library_private_data(env->library) : NULL;
}

ErlNifEnv *enif_alloc_env(void)
{
    th_env *env = th_env_create(TH_ENV_MESSAGE);

    th_check_got(TH_CHECK_ENVIRONMENT, env, 0, NULL, "enif_alloc_env");
    return env;
}

/* A library must not end the environment of a call. */
static bool is_own(const ErlNifEnv *env)
{
    return env && env->kind == TH_ENV_MESSAGE;
}

void enif_free_env(ErlNifEnv *env)
{
    if (th_check_on())
        th_check_free_env(env, "enif_free_env");
    else if (is_own(env))
        th_env_free(env);
}

void enif_clear_env(ErlNifEnv *env)
{
    if (th_check_on())
        th_check_clear_env(env, false, "enif_clear_env");
    else if (is_own(env))
        th_env_clear(env);
}

void th_nif_env_sent(ErlNifEnv *env, const char *function)
{
    if (th_check_on())
        th_check_clear_env(env, true, function);
    else
        enif_clear_env(env);
}

ERL_NIF_TERM enif_make_copy(ErlNifEnv *dst_env, ERL_NIF_TERM src_term)
{
    if (th_is_immediate(src_term))
        return src_term;
    return th_copy(dst_env, th_check_read(src_term, "enif_make_copy"));
}

/* --- Exceptions ------------------------------------------------------------------------------- */

/* An exception is a mark on the environment; functions return TH_NONE, which is no term. */

ERL_NIF_TERM th_nif_raise(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return th_runtime_call_raise(env, TH_RAISED_ERROR, reason);
}

ERL_NIF_TERM enif_make_badarg(ErlNifEnv *env)
{
    return th_runtime_call_raise_at(env, TH_RAISED_ERROR, TH_AM(badarg),
                                    __builtin_return_address(0));
}

ERL_NIF_TERM enif_raise_exception(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return th_runtime_call_raise_at(env, TH_RAISED_ERROR, reason, __builtin_return_address(0));
}

int enif_is_exception(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ERL_NIF_TERM reason;

    return term == TH_NONE && th_runtime_call_pending(env, &reason);
}

int enif_has_pending_exception(ErlNifEnv *env, ERL_NIF_TERM *reason)
{
    ERL_NIF_TERM pending;

    if (!th_runtime_call_pending(env, &pending))
        return 0;
    if (reason)
        *reason = pending;
    return 1;
}

/* --- Scheduling ------------------------------------------------------------------------------- */

/* Returns the scheduler of the calling thread. A thread that runs a callback during a replay counts
 * as scheduler 1; so does a thread that runs load() or a destructor without being a scheduler. */
static const struct th_scheduler *scheduler(void)
{
    static const struct th_scheduler first = {ERL_NIF_THR_NORMAL_SCHEDULER, 1};
    static const struct th_scheduler none = {ERL_NIF_THR_UNDEFINED, 0};

    if (th_self.scheduler)
        return th_self.scheduler;
    return th_self.attachment || th_self.library_frame ? &first : &none;
}

int enif_scheduler_id(void)
{
    return (int)scheduler()->number;
}

int enif_thread_type(void)
{
    return scheduler()->type;
}

ERL_NIF_TERM enif_schedule_nif(ErlNifEnv *env, const char *fun_name, int flags,
                               ERL_NIF_TERM (*fp)(ErlNifEnv *, int, const ERL_NIF_TERM[]), int argc,
                               const ERL_NIF_TERM argv[])
{
    if (th_self.attachment && th_check_on())
        th_check_blame(TH_RULE_CALL, "enif_schedule_nif", "in a callback, which no process calls");
    return th_runtime_call_schedule(env, fun_name, flags, fp, argc, argv);
}

int enif_consume_timeslice(ErlNifEnv *env, int percent)
{
    return th_runtime_call_consume(env, percent);
}

/* --- Options of a library --------------------------------------------------------------------- */

int enif_set_option(ErlNifEnv *env, ErlNifOption opt, ...)
{
    va_list arguments;
    bool set = false;

    va_start(arguments, opt);
    switch (opt) {
    case ERL_NIF_OPT_DELAY_HALT:
        set = th_library_delay_halt(env);
        break;
    case ERL_NIF_OPT_ON_HALT:
        set = th_library_set_on_halt(env, va_arg(arguments, ErlNifOnHaltCallback *));
        break;
    case ERL_NIF_OPT_ON_UNLOAD_THREAD:
        set =
            th_library_set_on_unload_thread(env, va_arg(arguments, ErlNifOnUnloadThreadCallback *));
        break;
    }
    va_end(arguments);
    return set ? 0 : EINVAL;
}

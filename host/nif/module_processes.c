/* Functions of nif_module.h for running functions: processes, sequential trace tokens and user
 * tags. */
#include "nif.h"

#include "host/check/check.h"
#include "host/process/process.h"
#include "host/runtime/runtime.h"
#include "host/term/atom.h"
#include "plugin_api/nif_module.h"

/* --- Processes -------------------------------------------------------------------------------- */

/* Returns the call of ENV; raises badarg and returns NULL if there is none. */
static struct th_call *module_processes_call_of(ErlNifEnv *env)
{
    struct th_call *call = th_runtime_call_of(env);

    if (!call)
        th_nif_raise(env, TH_AM(badarg));
    return call;
}

int th_spawn(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function, int argc,
             const ERL_NIF_TERM argv[], ThSpawnFlags options, ErlNifPid *pid, ERL_NIF_TERM *monitor)
{
    struct th_call *call = th_runtime_call_of(env);
    ERL_NIF_TERM reference = TH_NONE;
    ERL_NIF_TERM copies[255];
    th_term spawned;

    if (!call || !th_is_atom(module) || !th_is_atom(function) || argc < 0 || argc > 255) {
        th_nif_raise(env, TH_AM(badarg));
        return 0;
    }
    for (int i = 0; i < argc; i++)
        copies[i] = th_check_term(env, argv[i], "th_spawn");
    spawned = th_runtime_process_spawn(call, module, function, argc, copies,
                                       (options & TH_SPAWN_LINK ? TH_PROCESS_LINK : 0) |
                                           (options & TH_SPAWN_MONITOR ? TH_PROCESS_MONITOR : 0),
                                       &reference);
    if (spawned == TH_NONE) {
        th_nif_raise(env, th_atom("system_limit"));
        return 0;
    }
    if (pid)
        pid->pid = spawned;
    if (monitor)
        *monitor = reference;
    return 1;
}

int th_link(ErlNifEnv *env, const ErlNifPid *pid)
{
    struct th_call *call = module_processes_call_of(env);

    return call && th_runtime_process_link(call, pid->pid);
}

int th_unlink(ErlNifEnv *env, const ErlNifPid *pid)
{
    struct th_call *call = module_processes_call_of(env);

    if (!call)
        return 0;
    th_runtime_process_unlink(call, pid->pid);
    return 1;
}

ERL_NIF_TERM th_monitor(ErlNifEnv *env, const ErlNifPid *pid)
{
    struct th_call *call = module_processes_call_of(env);

    return call ? th_runtime_process_monitor(call, pid->pid) : TH_NONE;
}

int th_demonitor(ErlNifEnv *env, ERL_NIF_TERM monitor, ThDemonitorFlags flags)
{
    struct th_call *call = module_processes_call_of(env);

    return call && th_runtime_process_demonitor(call, monitor, flags & TH_DEMONITOR_FLUSH);
}

int th_exit_signal(ErlNifEnv *env, const ErlNifPid *to, ERL_NIF_TERM reason)
{
    struct th_call *call = module_processes_call_of(env);

    if (!call)
        return 0;
    th_runtime_process_exit_signal(call, to->pid, th_check_term(env, reason, "th_exit_signal"));
    return 1;
}

int th_trap_exit(ErlNifEnv *env, int on)
{
    struct th_call *call = module_processes_call_of(env);

    return call && th_runtime_process_trap_exit(call, on);
}

int th_register(ErlNifEnv *env, ERL_NIF_TERM name, const ErlNifPid *pid)
{
    return module_processes_call_of(env) && th_is_local_pid(pid->pid) &&
           th_process_name_register(name, pid->pid);
}

int th_unregister(ErlNifEnv *env, ERL_NIF_TERM name)
{
    return module_processes_call_of(env) && th_is_atom(name) && th_process_name_unregister(name);
}

/* --- Sequential trace tokens ------------------------------------------------------------------ */

/* Returns TERM; raises badarg if TERM is TH_NONE. */
static ERL_NIF_TERM or_badarg(ErlNifEnv *env, ERL_NIF_TERM term)
{
    return term == TH_NONE ? th_nif_raise(env, TH_AM(badarg)) : term;
}

ERL_NIF_TERM th_seq_set_token(ErlNifEnv *env, ERL_NIF_TERM component, ERL_NIF_TERM value)
{
    struct th_call *call = th_runtime_call_of(env);

    return or_badarg(env, call ? th_runtime_seq_set(call->process, env, component,
                                                    th_check_term(env, value, "th_seq_set_token"))
                               : TH_NONE);
}

ERL_NIF_TERM th_seq_get_token(ErlNifEnv *env, ERL_NIF_TERM component)
{
    struct th_call *call = th_runtime_call_of(env);

    return or_badarg(env, call ? th_runtime_seq_get(call, component) : TH_NONE);
}

int th_seq_reset_token(ErlNifEnv *env)
{
    struct th_call *call = module_processes_call_of(env);

    if (call)
        th_runtime_seq_reset(call);
    return call != NULL;
}

int th_seq_print(ErlNifEnv *env, ERL_NIF_TERM label, ERL_NIF_TERM info)
{
    struct th_call *call = module_processes_call_of(env);

    return call && th_runtime_seq_print_label(call, label, info);
}

/* --- User tags -------------------------------------------------------------------------------- */

ERL_NIF_TERM th_put_tag(ErlNifEnv *env, ERL_NIF_TERM tag)
{
    struct th_call *call = th_runtime_call_of(env);

    return or_badarg(env, call ? th_runtime_tag_put(call, th_check_term(env, tag, "th_put_tag"))
                               : TH_NONE);
}

ERL_NIF_TERM th_get_tag(ErlNifEnv *env)
{
    struct th_call *call = th_runtime_call_of(env);

    return or_badarg(env, call ? th_runtime_tag_get(call) : TH_NONE);
}

ERL_NIF_TERM th_get_tag_data(ErlNifEnv *env)
{
    struct th_call *call = th_runtime_call_of(env);

    return or_badarg(env, call ? th_runtime_tag_get_data(call) : TH_NONE);
}

ERL_NIF_TERM th_spread_tag(ErlNifEnv *env, int spreads)
{
    struct th_call *call = th_runtime_call_of(env);

    return or_badarg(env, call ? th_runtime_tag_spread(call, spreads) : TH_NONE);
}

int th_restore_tag(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct th_call *call = th_runtime_call_of(env);
    bool good = call && th_runtime_tag_restore(call, th_check_term(env, state, "th_restore_tag"));

    if (!good)
        th_nif_raise(env, TH_AM(badarg));
    return good;
}

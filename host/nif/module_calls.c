/* Functions of nif_module.h for running functions: nested calls, exceptions, loading of code,
 * waiting. */

#include "host/code/export.h"
#include "host/code/loading.h"
#include "host/runtime/runtime.h"
#include "plugin_api/nif_module.h"

/* --- Calls and exceptions --------------------------------------------------------------------- */

ERL_NIF_TERM th_call(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function, int argc,
                     const ERL_NIF_TERM argv[])
{
    return th_runtime_call_nested(env, module, function, argc, argv, __builtin_return_address(0));
}

const ThExport *th_export_entry(ERL_NIF_TERM module, ERL_NIF_TERM function, int arity)
{
    if (!th_is_atom(module) || !th_is_atom(function) || arity < 0 || arity > TH_EXPORT_ARITY_MAX)
        return NULL;
    return th_code_export_get(module, function, (unsigned)arity);
}

ERL_NIF_TERM th_call_export(ErlNifEnv *env, const ThExport *entry, const ERL_NIF_TERM argv[])
{
    return th_runtime_call_nested_entry(env, entry, argv, __builtin_return_address(0));
}

static const ERL_NIF_TERM classes[] = {
    [TH_RAISED_ERROR] = TH_AM(error),
    [TH_RAISED_EXIT] = TH_AM(exit),
    [TH_RAISED_THROW] = TH_AM(throw),
};

int th_catch(ErlNifEnv *env, ERL_NIF_TERM *class_, ERL_NIF_TERM *reason, ERL_NIF_TERM *stacktrace)
{
    struct th_exception_raised exception;

    if (!th_runtime_call_catch(env, &exception))
        return 0;
    if (class_)
        *class_ = classes[exception.class];
    if (reason)
        *reason = exception.reason;
    if (stacktrace)
        *stacktrace = th_runtime_call_stack(env, &exception);
    return 1;
}

ERL_NIF_TERM th_tail_call(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function, int argc,
                          const ERL_NIF_TERM argv[])
{
    return th_runtime_call_tail(env, module, function, argc, argv);
}

ERL_NIF_TERM th_call_then(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function, int argc,
                          const ERL_NIF_TERM argv[],
                          ERL_NIF_TERM (*then)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]),
                          ThThenFlags flags, int kept, const ERL_NIF_TERM terms[])
{
    struct th_call_then next = {
        .code = then, .kept = kept, .terms = terms, .catches = flags & TH_THEN_CATCHES};

    return th_runtime_call_and_then(env, module, function, argc, argv, &next);
}

ERL_NIF_TERM th_raise(ErlNifEnv *env, ERL_NIF_TERM class_, ERL_NIF_TERM reason,
                      ERL_NIF_TERM stacktrace)
{
    struct th_exception_raised exception = {.reason = reason, .stack = stacktrace};

    for (enum th_raised class = TH_RAISED_ERROR; class <= TH_RAISED_THROW; class ++)
        if (classes[class] == class_)
            exception.class = class;
    return th_runtime_call_pass(env, &exception);
}

ERL_NIF_TERM th_throw(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return th_runtime_call_raise_at(env, TH_RAISED_THROW, reason, __builtin_return_address(0));
}

ERL_NIF_TERM th_exit(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return th_runtime_call_raise_at(env, TH_RAISED_EXIT, reason, __builtin_return_address(0));
}

/* --- Changes of code -------------------------------------------------------------------------- */

static ERL_NIF_TERM ask_for_code(ErlNifEnv *env, enum th_code_command command, ERL_NIF_TERM what,
                                 ERL_NIF_TERM load_info, ThCodeFlags flags,
                                 const struct th_call_then *then)
{
    struct th_code_request request = {command, what, load_info,
                                      flags & TH_CODE_HARD ? TH_PURGE_HARD : TH_PURGE_SOFT};

    return th_runtime_call_code(env, &request, then);
}

ERL_NIF_TERM th_load_code(ErlNifEnv *env, ERL_NIF_TERM paths, ERL_NIF_TERM load_info,
                          ThCodeFlags flags, ThContinuation *then, int kept,
                          const ERL_NIF_TERM terms[])
{
    return ask_for_code(env, TH_CODE_LOAD, paths, load_info, flags,
                        &(struct th_call_then){.code = then, .kept = kept, .terms = terms});
}

ERL_NIF_TERM th_purge_code(ErlNifEnv *env, ERL_NIF_TERM module, ThCodeFlags flags,
                           ThContinuation *then, int kept, const ERL_NIF_TERM terms[])
{
    return ask_for_code(env, TH_CODE_PURGE, module, TH_NIL, flags,
                        &(struct th_call_then){.code = then, .kept = kept, .terms = terms});
}

ERL_NIF_TERM th_delete_code(ErlNifEnv *env, ERL_NIF_TERM module, ThCodeFlags flags,
                            ThContinuation *then, int kept, const ERL_NIF_TERM terms[])
{
    return ask_for_code(env, TH_CODE_DELETE, module, TH_NIL, flags,
                        &(struct th_call_then){.code = then, .kept = kept, .terms = terms});
}

/* --- Messages --------------------------------------------------------------------------------- */

ERL_NIF_TERM th_await(ErlNifEnv *env,
                      ERL_NIF_TERM (*then)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]),
                      long milliseconds, int kept, const ERL_NIF_TERM terms[])
{
    struct th_call_then next = {.code = then, .kept = kept, .terms = terms};

    return th_runtime_call_await(env, &next, milliseconds);
}

ERL_NIF_TERM th_skip(ErlNifEnv *env)
{
    return th_runtime_call_skip(env);
}

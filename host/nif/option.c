/* Options of a library. */
#include "nif.h"

#include "host/library/library.h"

#include <errno.h>

static bool set_option(ErlNifEnv *env, ErlNifOption opt, va_list arguments)
{
    switch (opt) {
    case ERL_NIF_OPT_DELAY_HALT:
        return th_library_delay_halt(env);
    case ERL_NIF_OPT_ON_HALT:
        return th_library_set_on_halt(env, va_arg(arguments, ErlNifOnHaltCallback *));
    case ERL_NIF_OPT_ON_UNLOAD_THREAD:
        return th_library_set_on_unload_thread(env,
                                               va_arg(arguments, ErlNifOnUnloadThreadCallback *));
    default:
        return false;
    }
}

int enif_set_option(ErlNifEnv *env, ErlNifOption opt, ...)
{
    va_list arguments;
    bool set;

    va_start(arguments, opt);
    set = set_option(env, opt, arguments);
    va_end(arguments);
    return set ? 0 : EINVAL;
}

/* Scheduling, and options of a library. */
#include "nif.h"

#include "host/library/library.h"
#include "host/runtime/runtime.h"
#include "host/self/self.h"
#include "host/trace/trace.h"

#include <errno.h>

/* --- Scheduling ------------------------------------------------------------------------------- */

/* A thread that replays stands for a scheduler: it runs callbacks. So does one that runs load(),
 * destructors, ... and is none. */
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

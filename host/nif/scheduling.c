/* Scheduling. */
#include "nif.h"

#include "host/runtime/runtime.h"
#include "host/trace/trace.h"

/* A thread that replays stands for a scheduler: it runs callbacks. So does one that runs load(),
 * destructors, ... and is none. */
static const struct th_scheduler *scheduler(void)
{
    static const struct th_scheduler first = {ERL_NIF_THR_NORMAL_SCHEDULER, 1};
    static const struct th_scheduler none = {ERL_NIF_THR_UNDEFINED, 0};

    if (th_scheduler_current)
        return th_scheduler_current;
    return th_callback_current.attachment || th_library_running ? &first : &none;
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
    return th_call_schedule(env, fun_name, flags, fp, argc, argv);
}

int enif_consume_timeslice(ErlNifEnv *env, int percent)
{
    return th_call_consume(env, percent);
}

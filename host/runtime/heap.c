/*
 * The heap of a process.
 *
 * While a function runs, its environment only grows. Between two functions of a chain
 * (enif_schedule_nif) nothing of it is needed but the arguments of the next one; once it has grown
 * enough, they are copied into a fresh environment and the old one goes. "Enough" is twice what was
 * left the last time, so that a chain pays for each word that it makes but a constant.
 *
 * What counts are the words of the heap and the bytes of the binaries that it holds on to, which it
 * shares with others: a chain that makes a large binary in each step grows as well.
 */
#include "running.h"

enum { LEAST = 256 * 1024 /* bytes: less is not worth collecting */ };

void th_heap_start(struct th_process_run *process)
{
    process->collect_at = LEAST;
    process->collected = NULL;
    process->held = 0;
}

/* Copies the arguments of what is next into ENV. */
static void move_arguments(struct th_process_run *process, th_env *env)
{
    struct th_continuation *next = &process->next;
    th_term *argv = th_env_take(env, (size_t)next->argc);

    for (int i = 0; i < next->argc; i++)
        argv[i] = th_copy(env, next->argv[i]);
    next->argv = argv;
}

static size_t size_of(struct th_process_run *process)
{
    process->held += th_binary_held(process->env, process->collected);
    process->collected = process->env->offheap;
    return th_env_footprint(process->env) + process->held;
}

void th_heap_collect(struct th_process_run *process)
{
    th_env *old = process->env;
    th_env *fresh;
    size_t left;

    if (size_of(process) <= process->collect_at)
        return;
    fresh = th_env_create(TH_ENV_CALLBACK);
    fresh->self = old->self;
    fresh->library = old->library;
    move_arguments(process, fresh);
    th_env_free(old);
    process->env = fresh;
    th_heap_start(process);
    left = 2 * size_of(process);
    process->collect_at = left > LEAST ? left : LEAST;
}

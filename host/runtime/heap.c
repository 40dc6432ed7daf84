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
 *
 * A copy of what refers to one thing twice has it twice. Where a copy would be larger than all
 * there is, as such arguments can be nested, the heap is left as it is, until it is twice as large.
 *
 * While the checker is on, each function has an environment of its own (check.h).
 */
#include "running.h"

enum { LEAST = 256 * 1024 /* bytes: less is not worth collecting */ };

void th_heap_start(struct th_process_run *process)
{
    process->collect_at = LEAST;
    process->collected = NULL;
    process->held = 0;
}

static size_t size_of(struct th_process_run *process)
{
    process->held += th_binary_held(process->env, process->collected);
    process->collected = process->env->offheap;
    return th_env_footprint(process->env) + process->held;
}

static void collect_later(struct th_process_run *process, size_t size)
{
    process->collect_at = 2 * size > LEAST ? 2 * size : LEAST;
}

/* The words that a copy of the arguments takes are no more than MOST. */
static bool fits(const struct th_continuation *next, size_t most)
{
    size_t words = 0;

    for (int i = 0; i < next->argc && words <= most; i++)
        words += th_term_words_up_to(next->argv[i], most);
    return words <= most;
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

static void renew(struct th_process_run *process)
{
    th_env *old = process->env;
    th_env *fresh = th_env_create(TH_ENV_CALLBACK);

    fresh->self = old->self;
    fresh->library = old->library;
    move_arguments(process, fresh);
    process->env = fresh;
    th_heap_start(process);
    th_check_retire(old);
}

void th_heap_collect(struct th_process_run *process)
{
    size_t size = th_check_on() ? SIZE_MAX : size_of(process);

    if (size <= process->collect_at)
        return;
    if (!fits(&process->next, size / sizeof(th_term))) {
        collect_later(process, size);
        return;
    }
    renew(process);
    collect_later(process, size_of(process));
}

void th_heap_end(struct th_process_run *process)
{
    if (!th_check_on()) {
        th_env_clear(process->env);
        return;
    }
    th_check_retire(process->env);
    process->env = th_env_create(TH_ENV_CALLBACK);
}

#include "timing.h"

static struct figures *figures_here(const struct timing *timing, const struct count *function)
{
    return figures_of(timing->env, timing->figures,
                      &(struct figures){.process = timing->by_process ? timing->process : 0,
                                        .module = function->module,
                                        .function = function->function,
                                        .arity = function->arity});
}

/* Counts a call. False if it is not kept. */
static bool count_call(const struct timing *timing)
{
    struct figures *figures;

    if (timing->past)
        return enif_is_atom(timing->env, timing->function.module) &&
               enif_is_atom(timing->env, timing->function.function);
    figures = figures_here(timing, &timing->function);
    if (figures)
        figures->calls++;
    return figures;
}

bool timing_begin(const struct timing *timing, uint32_t mark)
{
    struct shard *shard;
    bool begun;

    if (!count_call(timing)) /* names that are no atoms */
        return false;
    shard = calls_enter(timing->calls, timing->process);
    begun =
        calls_begin(shard, timing->process, &timing->function, &timing->caller, timing->now, mark);
    calls_leave(shard);
    return begun;
}

static void add(const struct timing *timing, const struct ended *ended)
{
    const struct mfa *mfa = &ended->frame.mfa;
    uint64_t took = (uint64_t)ended->took;
    struct figures *figures = NULL;

    if (!timing->past)
        figures = figures_here(
            timing,
            &(struct count){.module = mfa->module, .function = mfa->function, .arity = mfa->arity});
    if (timing->ended)
        timing->ended(timing->of, ended);
    if (!figures)
        return;
    figures->ended += ended->told;
    figures->untold += !ended->told;
    if (ended->took == TIME_NONE)
        return;
    figures->own += ended_own(ended);
    if (ended->outermost)
        figures->total += took;
    if (!histogram_add(&figures->times, took))
        timing->figures->lost++;
}

bool timing_end(const struct timing *timing, bool error)
{
    struct shard *shard = calls_enter(timing->calls, timing->process);
    struct ended ended = {.told = false};
    struct figures *figures;

    while (!ended.told && calls_end(shard, timing->process, &timing->function, timing->now, &ended))
        add(timing, &ended);
    calls_leave(shard);
    figures = error && !timing->past ? figures_here(timing, &timing->function) : NULL;
    if (figures)
        figures->errors++;
    return ended.told;
}

void timing_return_to(const struct timing *timing, const struct mfa *to)
{
    struct shard *shard = calls_enter(timing->calls, timing->process);
    size_t left = calls_return_to(shard, timing->process, to);
    struct ended ended;

    while (calls_end_above(shard, timing->process, left, timing->now, &ended))
        add(timing, &ended);
    calls_leave(shard);
}

void timing_exit(const struct timing *timing)
{
    struct shard *shard = calls_enter(timing->calls, timing->process);
    struct ended ended;

    while (calls_exit(shard, timing->process, &ended))
        add(timing, &ended);
    calls_leave(shard);
}

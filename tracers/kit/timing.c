#include "timing.h"

static struct figures *figures_here(const struct timing *timing, const struct count *function)
{
    return figures_of(timing->env, timing->figures,
                      &(struct figures){.process = timing->by_process ? timing->process : 0,
                                        .module = function->module,
                                        .function = function->function,
                                        .arity = function->arity});
}

bool timing_begin(const struct timing *timing, uint32_t mark)
{
    struct figures *figures = figures_here(timing, &timing->function);
    struct shard *shard;
    bool begun;

    if (!figures) /* names that are no atoms */
        return false;
    figures->calls++;
    shard = calls_enter(timing->calls, timing->process);
    begun =
        calls_begin(shard, timing->process, &timing->function, &timing->caller, timing->now, mark);
    calls_leave(shard);
    return begun;
}

static void add(const struct timing *timing, const struct ended *ended)
{
    const struct mfa *mfa = &ended->frame.mfa;
    struct figures *figures = figures_here(
        timing,
        &(struct count){.module = mfa->module, .function = mfa->function, .arity = mfa->arity});
    uint64_t took = (uint64_t)ended->took;

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
    figures = error ? figures_here(timing, &timing->function) : NULL;
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

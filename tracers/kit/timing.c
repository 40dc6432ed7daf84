#include "timing.h"

int64_t timing_time(struct timing_clock *clock, const struct moment *moment,
                    struct untimed *untimed)
{
    unsigned wanted = moment->clock + 1, first;

    if (!moment->stamped) {
        untimed->stampless++;
        return TIME_NONE;
    }
    /* Relaxed: the word stands for itself. */
    first = atomic_load_explicit(&clock->first, memory_order_relaxed);
    if (first == wanted || (!first && (atomic_compare_exchange_strong_explicit(
                                           &clock->first, &first, wanted, memory_order_relaxed,
                                           memory_order_relaxed) ||
                                       first == wanted)))
        return moment->time;
    untimed->others++;
    return TIME_NONE;
}

void timing_tell_untimed(const char *tracer, const struct untimed *untimed)
{
    if (untimed->stampless)
        fprintf(stderr,
                "%s: events without a time stamp, which takes a flag such as monotonic_timestamp: "
                "%llu\n",
                tracer, (unsigned long long)untimed->stampless);
    if (untimed->others)
        fprintf(stderr,
                "%s: events with a time stamp of another clock than the first, which was ignored: "
                "%llu\n",
                tracer, (unsigned long long)untimed->others);
}

void timing_tell_no_ends(const char *tracer)
{
    fprintf(stderr,
            "%s: the events contain no ends of calls; record them by a match specification with "
            "{return_trace} or {exception_trace}, as --return or --exception of -p do, or by the "
            "flag return_to\n",
            tracer);
}

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

    if (!timing->figures)
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

    if (timing->figures)
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
    schedule_add(&figures->own_spent, ended_own_spent(ended));
    if (ended->outermost) {
        figures->total += took;
        schedule_add(&figures->spent, ended->spent);
    }
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
    figures = error && timing->figures ? figures_here(timing, &timing->function) : NULL;
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

void timing_running(const struct timing *timing, ERL_NIF_TERM tag)
{
    bool in =
        tag == TH_TRACER_ATOM(timing->env, in) || tag == TH_TRACER_ATOM(timing->env, in_exiting);
    struct shard *shard = calls_enter(timing->calls, timing->process);

    calls_schedule(shard, timing->process, in, tag == TH_TRACER_ATOM(timing->env, out_exited),
                   timing->now);
    calls_leave(shard);
}

/* Measures nanoseconds of series, and the rates of several threads. */
#include "bench_measure.h"

#include "host/base/memory.h"
#include "host/cli/subcommand.h"
#include "host/crash/crash.h"
#include "host/term/atom.h"
#include "host/term/clock.h"
#include "host/trace/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* --- Series ----------------------------------------------------------------------------------- */

static void find_wanted(const struct th_bench_events *events, struct th_bench_tracer *tracer,
                        bool empty)
{
    for (size_t i = 0; i < events->count; i++) {
        size_t asked = events->series[i].asked;
        const struct th_bench_series *series = &events->series[asked == SIZE_MAX ? i : asked];
        tracer->wanted[i] = empty || asked == SIZE_MAX ||
                            th_trace_session_call_series(tracer->session, series->slot,
                                                         series->calls, 1) == TH_AM(trace);
    }
}

static void play_series(const struct th_bench_tracer *tracer, const struct th_bench_events *events,
                        size_t i)
{
    const struct th_bench_series *series = &events->series[i];

    if (tracer->wanted[i])
        th_trace_session_call_series(tracer->session, series->slot, series->calls, series->count);
}

void th_bench_play(const struct th_bench *bench, size_t number)
{
    for (size_t i = 0; i < bench->events.count; i++)
        play_series(&bench->tracers[number], &bench->events, i);
}

void th_bench_warm_up(struct th_bench *bench)
{
    for (size_t i = 0; i < bench->tracer_count; i++) {
        find_wanted(&bench->events, &bench->tracers[i], i == TH_BENCH_EMPTY);
        for (unsigned k = 0; k < TH_BENCH_WARM_UPS; k++)
            th_bench_play(bench, i);
    }
}

static void time_series(const struct th_bench *bench, struct th_bench_tracer *tracer, size_t i,
                        size_t run, double clock)
{
    int64_t began, took;

    if (bench->events.series[i].slot % 2 == 0) /* `enabled` has no effect, and is short */
        play_series(tracer, &bench->events, i);
    began = th_clock_real_monotonic();
    play_series(tracer, &bench->events, i);
    took = th_clock_real_monotonic() - began;
    tracer->ns[i * bench->runs + run] =
        ((double)took - clock) / (double)bench->events.series[i].count;
}

/* Returns the nanoseconds that reading the clock adds to a time. */
static double clock_cost(void)
{
    enum { READINGS = 1000 };
    int64_t began = th_clock_real_monotonic();

    for (unsigned i = 0; i < READINGS - 1; i++)
        th_clock_real_monotonic();
    return (double)(th_clock_real_monotonic() - began) / READINGS;
}

/* The first tracer at a row finds the caches as the row before has left them: so each tracer comes as
 * often before as after each other one, and each is the first one in as many runs. */
static const unsigned char orders[][TH_BENCH_TRACERS] = {
    {TH_BENCH_EMPTY, TH_BENCH_NEW, TH_BENCH_OLD},
    {TH_BENCH_NEW, TH_BENCH_OLD, TH_BENCH_EMPTY},
    {TH_BENCH_EMPTY, TH_BENCH_OLD, TH_BENCH_NEW},
    {TH_BENCH_OLD, TH_BENCH_NEW, TH_BENCH_EMPTY},
};

void th_bench_measure(struct th_bench *bench)
{
    double clock = clock_cost();

    for (size_t run = 0; run < bench->runs; run++)
        for (size_t i = 0; i < bench->events.count; i++)
            for (size_t k = 0; k < TH_BENCH_TRACERS; k++) {
                size_t number = orders[run % (sizeof orders / sizeof orders[0])][k];
                if (number < bench->tracer_count)
                    time_series(bench, &bench->tracers[number], i, run, clock);
            }
}

/* --- Threads ---------------------------------------------------------------------------------- */

enum { ROUND_US = 40000 };

struct round {
    const struct th_bench_tracer *tracer;
    pthread_barrier_t ready;
    atomic_bool over; /* written by the main thread; relaxed, a word in itself */
};

struct caller {
    struct round *round;
    const struct th_bench_events *events; /* of this thread alone */
    double rate;   /* calls per second, while it had a processor; written at the end */
    double waited; /* part of the time in which it could run and had none; written at the end */
};

/* Returns the nanoseconds in which the calling thread could run, but had no processor; 0: unknown. */
static int64_t time_without_processor(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    long long waited = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%*d %lld", &waited) != 1)
        waited = 0;
    fclose(file);
    return waited;
}

/* Makes calls as a scheduler does, until the round is over. */
static void *make_calls(void *context)
{
    struct caller *caller = context;
    struct round *round = caller->round;
    const struct th_bench_events *events = caller->events;
    uint64_t calls = 0;
    int64_t took, waited;

    th_crash_thread_begin();
    pthread_barrier_wait(&round->ready);
    waited = time_without_processor();
    took = -th_clock_real_monotonic();
    while (!atomic_load_explicit(&round->over, memory_order_relaxed)) {
        play_series(round->tracer, events, events->enabled_call);
        play_series(round->tracer, events, events->trace_call);
        play_series(round->tracer, events, events->trace_return);
        calls += TH_BENCH_TRACEES;
    }
    took += th_clock_real_monotonic();
    waited = time_without_processor() - waited;
    if (waited >= took)
        waited = 0;
    caller->rate = (double)calls * 1e9 / (double)(took - waited);
    caller->waited = (double)waited / (double)took;
    th_crash_thread_end();
    return NULL;
}

/* Lets COUNT threads call at the same time, adds their rates, and takes the mean of `waited`. */
static enum th_status measure_round(const struct th_bench_tracer *tracer,
                                    const struct th_bench_events *events, unsigned count,
                                    double *rate, double *waited)
{
    struct round round = {.tracer = tracer};
    struct caller callers[TH_BENCH_THREADS];
    pthread_t threads[TH_BENCH_THREADS];
    enum th_status status = TH_OK;
    unsigned started = 0;

    pthread_barrier_init(&round.ready, NULL, count);
    for (; started < count && status == TH_OK; started++) {
        callers[started] = (struct caller){.round = &round, .events = &events[started]};
        status = th_cli_thread_start(&threads[started], make_calls, &callers[started]);
    }
    if (status != TH_OK)
        return status; /* the others wait for ever: the program ends */
    usleep(ROUND_US);
    atomic_store_explicit(&round.over, true, memory_order_relaxed);
    *rate = *waited = 0;
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        *rate += callers[i].rate;
        *waited += callers[i].waited / count;
    }
    pthread_barrier_destroy(&round.ready);
    return TH_OK;
}

enum th_status th_bench_measure_threads(struct th_bench *bench)
{
    struct th_bench_events *events = th_alloc(bench->threads * sizeof *events);
    enum th_status status = TH_OK;

    for (unsigned i = 0; i < bench->threads; i++)
        th_bench_events_make(&events[i], i + 1);
    bench->waited = 0;
    for (size_t round = 0; round < TH_BENCH_ROUNDS; round++)
        for (size_t k = TH_BENCH_EMPTY; k <= TH_BENCH_NEW; k++)
            for (size_t many = 0; many < 2 && status == TH_OK; many++) {
                double waited = 0;
                status = measure_round(&bench->tracers[k], events, many ? bench->threads : 1,
                                       &bench->tracers[k].rates[many][round], &waited);
                if (many && k == TH_BENCH_NEW)
                    bench->waited += waited / TH_BENCH_ROUNDS;
            }
    for (unsigned i = 0; i < bench->threads; i++)
        th_bench_events_free(&events[i]);
    th_free(events);
    return status;
}

/*
 * A tracer that measures the gaps between traced calls of each thread that runs processes. unload()
 * prints two histograms, each followed by the longest gap in nanoseconds. Line N, from 0, is the
 * number of gaps of 2^(N-1) to 2^N microseconds; line 0 is that of shorter gaps.
 * // The second histogram leaves out the time in which the thread was runnable but no processor ran
 * it; the rest is due to the host. The kernel counts that time (schedstat). The count is read after
 * each gap of SAMPLE or more, and whenever SAMPLE has passed since the last reading; so time
 * counted before a gap adds less than SAMPLE to the gap's own.
 */
#include <erl_nif.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { LINES = 32, THREADS = 64, SAMPLE = 100 * 1000 /* nanoseconds */ };

struct histogram {
    ErlNifTime longest;
    unsigned long counts[LINES];
};

struct gaps {
    ErlNifTime last, sampled;
    unsigned long long waited; /* time without a processor, nanoseconds, at `sampled` */
    int file;
    struct histogram all, held;
};

/* The histograms of each thread, from its first call on. */
static struct gaps threads[THREADS];
static unsigned taken;
static __thread struct gaps *own;

static struct gaps *begin(void)
{
    static struct gaps rest; /* of threads beyond THREADS; not printed */
    unsigned place = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);

    own = place < THREADS ? &threads[place] : &rest;
    own->file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    return own;
}

static void count(struct histogram *histogram, ErlNifTime gap)
{
    unsigned line = 0;

    for (ErlNifTime rest = gap / 1000; rest > 0; rest /= 2)
        line++;
    histogram->counts[line]++;
    histogram->longest = gap > histogram->longest ? gap : histogram->longest;
}

/* Reads the count, and returns by how much it has grown since it was last read. */
static ErlNifTime sample(struct gaps *gaps)
{
    char text[96];
    ssize_t size = pread(gaps->file, text, sizeof text - 1, 0);
    unsigned long long ran, waited = gaps->waited, before = waited;

    text[size > 0 ? size : 0] = 0;
    sscanf(text, "%llu %llu", &ran, &waited);
    gaps->waited = waited;
    return (ErlNifTime)(waited - before);
}

static ERL_NIF_TERM enabled_call(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct gaps *gaps = own ? own : begin();
    ErlNifTime now = enif_monotonic_time(ERL_NIF_NSEC), gap = now - gaps->last, waited = 0;

    (void)argc, (void)argv;
    if (now - gaps->sampled >= SAMPLE) {
        waited = sample(gaps);
        gaps->sampled = now;
    }
    if (gaps->last) {
        count(&gaps->all, gap);
        count(&gaps->held, gap < SAMPLE ? gap : waited < gap ? gap - waited : 0);
    }
    gaps->last = now;
    return enif_make_atom(env, "discard");
}

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return enif_make_atom(env, "discard");
}

static ERL_NIF_TERM trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return enif_make_atom(env, "ok");
}

static void print(struct histogram *const histograms[THREADS])
{
    ErlNifTime longest = 0;

    for (unsigned line = 0; line < LINES; line++) {
        unsigned long sum = 0;
        for (unsigned i = 0; i < THREADS; i++)
            sum += histograms[i]->counts[line];
        printf("%lu\n", sum);
    }
    for (unsigned i = 0; i < THREADS; i++)
        longest = histograms[i]->longest > longest ? histograms[i]->longest : longest;
    printf("%lld\n", (long long)longest);
}

static void unload(ErlNifEnv *env, void *private_data)
{
    struct histogram *all[THREADS], *held[THREADS];

    (void)env, (void)private_data;
    for (unsigned i = 0; i < THREADS; i++) {
        all[i] = &threads[i].all;
        held[i] = &threads[i].held;
        if (i < taken)
            close(threads[i].file);
    }
    print(all);
    print(held);
    fflush(stdout);
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)env, (void)private_data, (void)info;
    return 0;
}

static ErlNifFunc functions[] = {
    {"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}, {"enabled_call", 3, enabled_call, 0}};
ERL_NIF_INIT(gaps, functions, load, NULL, NULL, unload)

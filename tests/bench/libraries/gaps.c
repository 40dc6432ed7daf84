/*
 * How long each thread that runs processes is kept from the next call that is traced: a histogram,
 * printed at unload. Line N tells how many gaps took from 2^(N-1) to 2^N microseconds, the first
 * one those below one; the last line the longest gap, in nanoseconds.
 */
#include <erl_nif.h>

#include <stdio.h>

enum { LINES = 32, THREADS = 64 };

struct gaps {
    ErlNifTime last, longest;
    unsigned long counts[LINES];
};

/* Each thread's own, from its first call on. */
static struct gaps threads[THREADS];
static unsigned taken;
static __thread struct gaps *own;

static struct gaps *begin(void)
{
    static struct gaps rest; /* of threads that are too many */
    unsigned place = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);

    own = place < THREADS ? &threads[place] : &rest;
    return own;
}

static ERL_NIF_TERM enabled_call(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct gaps *gaps = own ? own : begin();
    ErlNifTime now = enif_monotonic_time(ERL_NIF_NSEC), gap = now - gaps->last;
    unsigned line = 0;

    (void)argc, (void)argv;
    if (gaps->last) {
        for (ErlNifTime rest = gap / 1000; rest > 0; rest /= 2)
            line++;
        gaps->counts[line]++;
        gaps->longest = gap > gaps->longest ? gap : gaps->longest;
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

static void unload(ErlNifEnv *env, void *private_data)
{
    ErlNifTime longest = 0;

    (void)env, (void)private_data;
    for (unsigned line = 0; line < LINES; line++) {
        unsigned long sum = 0;
        for (unsigned i = 0; i < THREADS; i++)
            sum += threads[i].counts[line];
        printf("%lu\n", sum);
    }
    for (unsigned i = 0; i < THREADS; i++)
        longest = threads[i].longest > longest ? threads[i].longest : longest;
    printf("%lld\n", (long long)longest);
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

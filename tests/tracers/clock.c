/* Prints the clocks in each trace callback. */
#include <erl_tracer.h>

#include <stdio.h>
#include <time.h>

static int is_real(ErlNifTime system)
{
    long long off = (long long)time(NULL) - system / 1000000000;

    return off > -60 && off < 60;
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    ErlNifTime monotonic = enif_monotonic_time(ERL_NIF_NSEC);
    ErlNifTime offset = enif_time_offset(ERL_NIF_NSEC);

    if (is_real(monotonic + offset))
        puts("the real time");
    else
        enif_fprintf(stdout, "monotonic %ld ns, offset %ld ns, now %#T, CPU %#T\n", (long)monotonic,
                     (long)offset, enif_now_time(env), enif_cpu_time(env));
}

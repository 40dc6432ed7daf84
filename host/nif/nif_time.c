/*
 * Time. All clocks are the thread's (term/clock.h): in a callback for a replayed event they give
 * the record's time; otherwise, also in threads that a library created, the real time.
 */

#include "host/term/clock.h"
#include "host/term/make.h"
#include "plugin_api/nif_module.h"

#include <stdatomic.h>

/* Returns the units per second; 0 for no ErlNifTimeUnit. */
static int64_t frequency(ErlNifTimeUnit unit)
{
    static const int64_t frequencies[] = {[ERL_NIF_SEC] = 1,
                                          [ERL_NIF_MSEC] = 1000,
                                          [ERL_NIF_USEC] = 1000000,
                                          [ERL_NIF_NSEC] = 1000000000};

    return (unsigned)unit < sizeof frequencies / sizeof frequencies[0] ? frequencies[unit] : 0;
}

/* Rounds down, as Erlang does, also for times before 0. */
static int64_t divide_time(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

static ErlNifTime from_nanoseconds(int64_t ns, ErlNifTimeUnit unit)
{
    int64_t per_second = frequency(unit);

    return per_second ? divide_time(ns, 1000000000 / per_second) : ERL_NIF_TIME_ERROR;
}

ErlNifTime enif_monotonic_time(ErlNifTimeUnit unit)
{
    return from_nanoseconds(th_clock_monotonic(), unit);
}

ErlNifTime enif_time_offset(ErlNifTimeUnit unit)
{
    return from_nanoseconds(th_clock_offset(), unit);
}

/* A product that does not fit wraps around, as in a BEAM. */
ErlNifTime enif_convert_time_unit(ErlNifTime val, ErlNifTimeUnit from, ErlNifTimeUnit to)
{
    int64_t have = frequency(from);
    int64_t want = frequency(to);

    if (!have || !want)
        return ERL_NIF_TIME_ERROR;
    if (want >= have)
        return (int64_t)((uint64_t)val * (uint64_t)(want / have));
    return divide_time(val, have / want);
}

/* {MegaSecs, Secs, MicroSecs} */
static ERL_NIF_TERM timestamp(ErlNifEnv *env, int64_t us)
{
    int64_t seconds = divide_time(us, 1000000);
    int64_t mega = divide_time(seconds, 1000000);

    return th_make_tuple_of(env, th_small(mega), th_small(seconds - mega * 1000000),
                            th_small(us - seconds * 1000000));
}

int th_recording_zero(ErlNifEnv *env, ErlNifTimeUnit unit, ErlNifTime *zero)
{
    int64_t ns;

    (void)env;
    if (!frequency(unit) || !th_clock_zero(&ns))
        return 0;
    *zero = from_nanoseconds(ns, unit);
    return 1;
}

/*
 * erlang:now() never returns a time twice. A record's time is returned unchanged; real times that
 * would occur twice are moved forward.
 */
ERL_NIF_TERM enif_now_time(ErlNifEnv *env)
{
    static _Atomic int64_t latest; /* relaxed: a single word, and no other data depends on it */
    int64_t now = divide_time(th_clock_monotonic() + th_clock_offset(), 1000);
    int64_t before, zero;

    if (th_clock_zero(&zero))
        return timestamp(env, now);
    before = atomic_load_explicit(&latest, memory_order_relaxed);
    do {
        now = now > before ? now : before + 1;
    } while (!atomic_compare_exchange_weak_explicit(&latest, &before, now, memory_order_relaxed,
                                                    memory_order_relaxed));
    return timestamp(env, now);
}

ERL_NIF_TERM enif_cpu_time(ErlNifEnv *env)
{
    return timestamp(env, divide_time(th_clock_cpu(), 1000));
}

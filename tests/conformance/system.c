/* Tests time, unique integers, memory and system information. */
#include "nif_api.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

ERL_NIF_TERM time_units(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const long values[] = {0,     1,     -1,   999,        1000,     -999,
                                  -1000, -1001, 1999, 1999999999, LONG_MAX, LONG_MIN / 4};
    static const ErlNifTimeUnit units[] = {ERL_NIF_SEC, ERL_NIF_MSEC, ERL_NIF_USEC, ERL_NIF_NSEC,
                                           (ErlNifTimeUnit)4};

    (void)argc;
    (void)argv;
    topic("convert_time_unit");
    for (size_t i = 0; i < COUNT(values); i++)
        for (size_t from = 0; from < COUNT(units); from++)
            for (size_t to = 0; to < COUNT(units); to++)
                if (to <= from || (values[i] < LONG_MAX && values[i] > LONG_MIN / 4))
                    say_int("", enif_convert_time_unit(values[i], units[from], units[to]));
    say_int("monotonic_time of no unit", enif_monotonic_time((ErlNifTimeUnit)4));
    say_int("time_offset of no unit", enif_time_offset((ErlNifTimeUnit)4));
    return atom(env, "ok");
}

static void ask_now(ErlNifEnv *env, ERL_NIF_TERM time)
{
    const ERL_NIF_TERM *parts;
    unsigned second = 0, micro = 0;
    int arity = 0;

    say_int("a time is a tuple", enif_get_tuple(env, time, &arity, &parts));
    say_int("of so many elements", arity);
    say_int("with a number", enif_is_number(env, parts[0]));
    say_int("seconds", enif_get_uint(env, parts[1], &second) && second < 1000000);
    say_int("microseconds", enif_get_uint(env, parts[2], &micro) && micro < 1000000);
}

ERL_NIF_TERM clocks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifTime before = enif_monotonic_time(ERL_NIF_NSEC);
    ERL_NIF_TERM times[] = {enif_now_time(env), enif_now_time(env), enif_cpu_time(env)};
    ErlNifTime seconds = enif_monotonic_time(ERL_NIF_SEC) + enif_time_offset(ERL_NIF_SEC);

    (void)argc;
    (void)argv;
    topic("clock");
    say_int("monotonic_time goes on", before <= enif_monotonic_time(ERL_NIF_NSEC));
    say_int("system time is of this century", seconds > 1600000000 && seconds < 4100000000);
    say_int("now_time grows", enif_compare(times[0], times[1]) < 0);
    for (size_t i = 0; i < COUNT(times); i++)
        ask_now(env, times[i]);
    return atom(env, "ok");
}

ERL_NIF_TERM unique(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const int properties[] = {ERL_NIF_UNIQUE_MONOTONIC,
                                     ERL_NIF_UNIQUE_MONOTONIC | ERL_NIF_UNIQUE_POSITIVE,
                                     ERL_NIF_UNIQUE_POSITIVE, 0};
    ERL_NIF_TERM ref = enif_make_ref(env);

    (void)argc;
    (void)argv;
    topic("unique");
    for (size_t i = 0; i < COUNT(properties); i++) {
        long first, second;
        enif_get_long(env, enif_make_unique_integer(env, properties[i]), &first);
        enif_get_long(env, enif_make_unique_integer(env, properties[i]), &second);
        say_int("make_unique_integer", first != second);
        if (properties[i] & ERL_NIF_UNIQUE_POSITIVE)
            say_int("positive", first > 0 && second > 0);
        if (properties[i] & ERL_NIF_UNIQUE_MONOTONIC)
            say_int("monotonic", first < second);
    }
    say_int("make_ref", enif_is_ref(env, ref));
    say_int("make_ref gives others", enif_is_identical(ref, enif_make_ref(env)));
    return atom(env, "ok");
}

ERL_NIF_TERM memory(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char *block = enif_alloc(10);
    char *nothing = enif_alloc(0);

    (void)argc;
    (void)argv;
    topic("memory");
    memcpy(block, "some bytes", 10);
    block = enif_realloc(block, 100000);
    say_int("kept", memcmp(block, "some bytes", 10) == 0);
    say_int("aligned", (uintptr_t)block % _Alignof(max_align_t) == 0);
    block = enif_realloc(block, 4);
    say_int("kept", memcmp(block, "some", 4) == 0);
    say_int("nothing", nothing != NULL);
    enif_free(block);
    enif_free(nothing);
    block = enif_realloc(NULL, 5);
    say_int("realloc of NULL", block != NULL);
    enif_free(block);
    enif_free(NULL);
    return atom(env, "ok");
}

/* Returns how many bytes of a structure of SIZE bytes are written. */
static long written(size_t size)
{
    unsigned char one[sizeof(ErlNifSysInfo) + 8], other[sizeof one];
    size_t end = sizeof one;

    memset(one, 1, sizeof one);
    memset(other, 2, sizeof other);
    enif_system_info((ErlNifSysInfo *)one, size);
    enif_system_info((ErlNifSysInfo *)other, size);
    while (end > 0 && one[end - 1] != other[end - 1])
        end--;
    return (long)end;
}

ERL_NIF_TERM system_info(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifSysInfo info;

    (void)argc;
    (void)argv;
    topic("system_info");
    enif_system_info(&info, sizeof info);
    say_int("driver_major_version", info.driver_major_version);
    say_int("driver_minor_version", info.driver_minor_version);
    say_int("nif_major_version", info.nif_major_version);
    say_int("thread_support", info.thread_support);
    say_int("smp_support", info.smp_support);
    say_int("async_threads", info.async_threads > 0);
    say_int("scheduler_threads", info.scheduler_threads > 0);
    say_int("dirty_scheduler_support", info.dirty_scheduler_support);
    say_meant(env, "enif_system_info: nif_minor_version", number(env, info.nif_minor_version));
    say_meant(env, "enif_system_info: erts_version", text(env, info.erts_version));
    say_meant(env, "enif_system_info: otp_release", text(env, info.otp_release));
    say_text("setlocale", setlocale(LC_ALL, NULL)); /* nif_api.sh has set the locale */
    say_int("written", written(offsetof(ErlNifSysInfo, nif_major_version)));
    say_int("written", written(offsetof(ErlNifSysInfo, dirty_scheduler_support)));
    say_int("written", written(offsetof(ErlNifSysInfo, dirty_scheduler_support) + 4));
    return atom(env, "ok");
}

static void get_variable(ErlNifEnv *env, const char *name, size_t size)
{
    char value[100] = "untouched";
    int result = enif_getenv(name, value, &size);

    say_int(name, result);
    if (result != 0)
        return;
    say_int("its size", (long)size);
    say(env, "its value", text(env, value));
}

/* nif_api.sh has set the variables, as a BEAM only knows those of its start. */
ERL_NIF_TERM variables(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    size_t needed = 0;

    (void)argc;
    (void)argv;
    topic("getenv");
    for (size_t size = 0; size < 10; size++) {
        get_variable(env, "NIF_API_VALUE", size);
        get_variable(env, "NIF_API_EMPTY", size);
        get_variable(env, "NIF_API_NONE", size);
    }
    enif_getenv("NIF_API_VALUE", NULL, &needed);
    say_meant(env, "enif_getenv: the needed size", number(env, (long)needed));
    return atom(env, "ok");
}

static void on_error(void *context, const char *message)
{
    say_text(context, message ? "a message" : "no message");
}

int nif_api_symbol = 4712; /* found by its name */

ERL_NIF_TERM libraries(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    void *library = enif_dlopen("../nif_api", on_error, "dlopen"), *symbol;
    int *theirs;

    (void)argc;
    (void)argv;
    topic("dlopen");
    say_int("dlopen", library != NULL); /* the file's name has no .so */
    symbol = enif_dlsym(library, "nif_api_symbol", on_error, "dlsym");
    theirs = symbol;
    say_int("symbol", symbol && *theirs == nif_api_symbol);
    say_int("dlsym of none", enif_dlsym(library, "no such name", on_error, "dlsym") != NULL);
    say_int("dlsym of none", enif_dlsym(library, "no such name", NULL, NULL) != NULL);
    say_int("with .so", enif_dlopen("../nif_api.so", on_error, "dlopen") != NULL);
    say_int("dlopen of none", enif_dlopen("./no_such_library", on_error, "dlopen") != NULL);
    say_int("dlopen of none", enif_dlopen("./no_such_library", NULL, NULL) != NULL);
    return atom(env, "ok");
}

extern char *erl_errno_id(int error);

/* A few errors have no name in a BEAM. */
ERL_NIF_TERM errors(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    topic("erl_errno_id");
    for (int error = -1; error < 120; error++)
        if (error != ERESTART && error != ESTRPIPE)
            say_text("", erl_errno_id(error));
    say_meant(env, "erl_errno_id: ERESTART, ESTRPIPE and the latest", text(env, erl_errno_id(133)));
    return atom(env, "ok");
}

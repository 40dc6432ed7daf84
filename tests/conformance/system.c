/* Tests time, unique integers, memory and system information. */
#include "nif_api.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    ErlNifTimeUnit unit;
    const char *name;
} units[] = {{ERL_NIF_SEC, "seconds"},
             {ERL_NIF_MSEC, "milliseconds"},
             {ERL_NIF_USEC, "microseconds"},
             {ERL_NIF_NSEC, "nanoseconds"},
             {(ErlNifTimeUnit)4, "no unit"}};

ERL_NIF_TERM time_units(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const long values[] = {0,     1,     -1,   999,        1000,     -999,
                                  -1000, -1001, 1999, 1999999999, LONG_MAX, LONG_MIN / 4};

    (void)argc;
    (void)argv;
    for (size_t from = 0; from < COUNT(units); from++)
        for (size_t to = 0; to < COUNT(units); to++) {
            begin_row("enif_convert_time_unit: from %s to %s", units[from].name, units[to].name);
            for (size_t i = 0; i < COUNT(values); i++) /* no overflow */
                if (to <= from || (values[i] < LONG_MAX && values[i] > LONG_MIN / 4))
                    put_int(enif_convert_time_unit(values[i], units[from].unit, units[to].unit));
            end_row();
        }
    return atom(env, "ok");
}

static void say_now(ErlNifEnv *env, const char *name, ERL_NIF_TERM time)
{
    const ERL_NIF_TERM *parts;
    unsigned second = 0, micro = 0;
    int arity = 0, is_tuple = enif_get_tuple(env, time, &arity, &parts);

    begin_row("%s: a tuple, its arity, numbers in their ranges", name);
    put_int(is_tuple);
    put_int(arity);
    put_int(enif_is_number(env, parts[0]));
    put_int(enif_get_uint(env, parts[1], &second) && second < 1000000);
    put_int(enif_get_uint(env, parts[2], &micro) && micro < 1000000);
    end_row();
}

/* One more in a unit is at least 999 more in the next; the clock goes on between two calls. */
static void ask_monotonic(void)
{
    for (size_t i = 0; i + 1 < COUNT(units); i++) {
        ErlNifTime before = enif_monotonic_time(units[i].unit), after;
        ErlNifTime other = enif_monotonic_time(ERL_NIF_NSEC);
        after = enif_convert_time_unit(other, ERL_NIF_NSEC, units[i].unit);
        begin_row("enif_monotonic_time: in %s", units[i].name);
        put_int(before <= after);
        put_int(after - before <= enif_convert_time_unit(5, ERL_NIF_SEC, units[i].unit) + 1);
        end_row();
    }
    say_int("in no unit", enif_monotonic_time((ErlNifTimeUnit)4));
}

/* The system's time is of this century; no unit is rounded by more than 1. */
static void ask_offset(void)
{
    for (size_t i = 0; i + 1 < COUNT(units); i++) {
        ErlNifTime time = enif_monotonic_time(units[i].unit) + enif_time_offset(units[i].unit);
        ErlNifTime seconds = enif_convert_time_unit(time, units[i].unit, ERL_NIF_SEC);
        begin_row("enif_time_offset: in %s", units[i].name);
        put_int(seconds > 1600000000 && seconds < 4100000000);
        end_row();
    }
    say_int("in no unit", enif_time_offset((ErlNifTimeUnit)4));
}

ERL_NIF_TERM clocks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM first = enif_now_time(env), second = enif_now_time(env), cpu = enif_cpu_time(env);

    (void)argc;
    (void)argv;
    ask_monotonic();
    ask_offset();
    say_now(env, "enif_now_time: the first", first);
    say_now(env, "the second", second);
    say_int("grows", enif_compare(first, second) < 0);
    say_now(env, "enif_cpu_time: the first", cpu);
    say_int("does not shrink", enif_compare(cpu, enif_cpu_time(env)) <= 0);
    return atom(env, "ok");
}

ERL_NIF_TERM unique(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const struct {
        ErlNifUniqueInteger properties;
        const char *name;
    } kinds[] = {{0, "of any kind"},
                 {ERL_NIF_UNIQUE_POSITIVE, "positive"},
                 {ERL_NIF_UNIQUE_MONOTONIC, "monotonic"},
                 {ERL_NIF_UNIQUE_MONOTONIC | ERL_NIF_UNIQUE_POSITIVE, "monotonic, positive"}};
    ERL_NIF_TERM ref = enif_make_ref(env);

    (void)argc;
    (void)argv;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        long first, second;
        enif_get_long(env, enif_make_unique_integer(env, kinds[i].properties), &first);
        enif_get_long(env, enif_make_unique_integer(env, kinds[i].properties), &second);
        begin_row("enif_make_unique_integer: %s", kinds[i].name);
        put_int(first != second);
        if (kinds[i].properties & ERL_NIF_UNIQUE_POSITIVE)
            put_int(first > 0 && second > 0);
        if (kinds[i].properties & ERL_NIF_UNIQUE_MONOTONIC)
            put_int(first < second);
        end_row();
    }
    say_int("enif_make_ref: is a reference", enif_is_ref(env, ref));
    say_int("the second is the first", enif_is_identical(ref, enif_make_ref(env)));
    say_int("its type", enif_term_type(env, ref));
    return atom(env, "ok");
}

/* Returns how many of 50 blocks keep their bytes when 50 others are freed. */
static int free_every_second(void)
{
    unsigned char *blocks[100];
    int kept = 0;

    for (unsigned i = 0; i < COUNT(blocks); i++) {
        blocks[i] = enif_alloc(i * 10 + 1);
        memset(blocks[i], (int)i, i * 10 + 1);
    }
    for (size_t i = 0; i < COUNT(blocks); i += 2)
        enif_free(blocks[i]);
    for (size_t i = 1; i < COUNT(blocks); i += 2) {
        kept += blocks[i][0] == i && blocks[i][i * 10] == i;
        enif_free(blocks[i]);
    }
    return kept;
}

ERL_NIF_TERM memory(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char *block = enif_alloc(10), *nothing = enif_alloc(0), *other = enif_alloc(10);

    (void)argc;
    (void)argv;
    say_int("enif_alloc: is aligned for all that fits in", (uintptr_t)block % 8 == 0);
    say_int("of no byte", nothing != NULL);
    say_int("each is another", block != other && block != nothing);
    memcpy(block, "some bytes", 10);
    memcpy(other, "other text", 10);
    block = enif_realloc(block, 100000);
    say_int("enif_realloc: longer, bytes stay", memcmp(block, "some bytes", 10) == 0);
    say_int("is aligned", (uintptr_t)block % 8 == 0);
    block = enif_realloc(block, 4);
    say_int("shorter, bytes stay", memcmp(block, "some", 4) == 0);
    enif_free(block);
    enif_free(nothing);
    enif_free(NULL);
    say_int("enif_free: another block stays", memcmp(other, "other text", 10) == 0);
    enif_free(other);
    block = enif_realloc(NULL, 5);
    say_int("enif_realloc: of NULL", block != NULL);
    memcpy(block, "after", 5);
    say_int("enif_free: a new block can be written", memcmp(block, "after", 5) == 0);
    enif_free(block);
    say_int("every second of 100 blocks, the others stay", free_every_second());
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
    enif_system_info(&info, sizeof info);
    say_int("enif_system_info: driver_major_version", info.driver_major_version);
    say_int("driver_minor_version", info.driver_minor_version);
    say_int("nif_major_version", info.nif_major_version);
    say_int("thread_support", info.thread_support);
    say_int("smp_support", info.smp_support);
    say_int("async_threads", info.async_threads > 0);
    say_int("scheduler_threads", info.scheduler_threads > 0);
    say_int("dirty_scheduler_support", info.dirty_scheduler_support);
    say_differing(env, "nif_minor_version", number(env, info.nif_minor_version));
    say_differing(env, "erts_version, before its first dot",
                  number(env, strtol(info.erts_version, NULL, 10)));
    say_differing(env, "otp_release", text(env, info.otp_release));
    say_int("bytes written of an old structure",
            written(offsetof(ErlNifSysInfo, nif_major_version)));
    say_int("of a younger one", written(offsetof(ErlNifSysInfo, dirty_scheduler_support)));
    say_int("of the last one", written(offsetof(ErlNifSysInfo, dirty_scheduler_support) + 4));
    return atom(env, "ok");
}

static void get_variable(const char *variable, const char *name)
{
    begin_row("enif_getenv: %s, into 0 to 9 bytes: result, size, value", name);
    for (size_t room = 0; room < 10; room++) {
        char value[100] = "untouched";
        size_t size = room;
        int result = enif_getenv(variable, value, &size);
        put_int(result);
        if (result == 0) {
            put_int((long)size);
            put_text(value);
        }
    }
    end_row();
}

/* The variables were set before the host began, as a BEAM only knows those of its start. */
ERL_NIF_TERM variables(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    size_t needed = 3;

    (void)argc;
    (void)argv;
    get_variable("NIF_API_VALUE", "a value");
    get_variable("NIF_API_EMPTY", "an empty value");
    get_variable("NIF_API_NONE", "no value");
    enif_getenv("NIF_API_VALUE", NULL, &needed);
    say_differing(env, "the needed size", number(env, (long)needed));
    return atom(env, "ok");
}

static void on_error(void *context, const char *message)
{
    *(int *)context += message != NULL;
}

int nif_api_symbol = 4712; /* found by its name */

static void say_opened(const char *name, const char *path, bool with_handler)
{
    int errors = 0;
    void *library =
        enif_dlopen(path, with_handler ? on_error : NULL, with_handler ? &errors : NULL);

    begin_row("enif_dlopen: %s, messages of errors", name);
    put_int(library != NULL);
    put_int(errors);
    end_row();
}

static void say_symbol(void *library, const char *name, const char *symbol, bool with_handler)
{
    int errors = 0;
    int *found =
        enif_dlsym(library, symbol, with_handler ? on_error : NULL, with_handler ? &errors : NULL);

    begin_row("enif_dlsym: %s, messages of errors", name);
    put_int(found ? *found : 0);
    put_int(errors);
    end_row();
}

ERL_NIF_TERM libraries(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    void *library = enif_dlopen("./nif_api", NULL, NULL);

    (void)argc;
    (void)argv;
    say_opened("a library without .so", "./nif_api", true);
    say_opened("a library with .so", "./nif_api.so", true);
    say_opened("none", "./no_such_library", true);
    say_opened("none, without a handler", "./no_such_library", false);
    if (!library)
        return atom(env, "error");
    say_symbol(library, "an int", "nif_api_symbol", true);
    say_symbol(library, "an int, without a handler", "nif_api_symbol", false);
    say_symbol(library, "none", "no such name", true);
    say_symbol(library, "none, without a handler", "no such name", false);
    return atom(env, "ok");
}

extern char *erl_errno_id(int error);

/* A few errors have no name in a BEAM. */
ERL_NIF_TERM errors(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    begin_row("erl_errno_id: from -1 to 119");
    for (int error = -1; error < 120; error++)
        if (error != ERESTART && error != ESTRPIPE)
            put_text(erl_errno_id(error));
    end_row();
    begin_row("erl_errno_id: no errors");
    put_text(erl_errno_id(0));
    put_text(erl_errno_id(-1));
    put_text(erl_errno_id(99999));
    end_row();
    say_differing(env, "ERESTART, ESTRPIPE and the latest", text(env, erl_errno_id(133)));
    return atom(env, "ok");
}

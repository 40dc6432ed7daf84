/*
 * A NIF library that says what the NIF API answers, for every function that tracers use, at its
 * edges. It is loaded by a real BEAM and by the host, and the two lists of answers are compared;
 * so it is compiled with OTP's own header and tells only what must be equal.
 */
#include "nif_subset.h"

#include <limits.h>
#include <math.h>
#include <string.h>

void say(struct answers *a, const char *name, ERL_NIF_TERM value)
{
    ERL_NIF_TERM pair =
        enif_make_tuple2(a->env, enif_make_string(a->env, name, ERL_NIF_LATIN1), value);

    a->list = enif_make_list_cell(a->env, pair, a->list);
}

void say_int(struct answers *a, const char *name, long value)
{
    say(a, name, enif_make_long(a->env, value));
}

void say_pair(struct answers *a, const char *name, int result, ERL_NIF_TERM output)
{
    say(a, name, enif_make_tuple2(a->env, enif_make_int(a->env, result), output));
}

static void ask_order(struct answers *a, ERL_NIF_TERM x, ERL_NIF_TERM y)
{
    int order = enif_compare(x, y);

    say_int(a, "compare", order < 0 ? -1 : order > 0);
    say_int(a, "is_identical", enif_is_identical(x, y));
}

/* What a maker returned that may have raised, told by an environment of its own. */
static void say_raised(struct answers *a, const char *name, ErlNifEnv *env, ERL_NIF_TERM result)
{
    ERL_NIF_TERM reason = enif_make_atom(a->env, "none");
    int pending = enif_has_pending_exception(env, &reason);
    int flags = enif_is_exception(env, result) | pending << 1 |
                enif_has_pending_exception(env, NULL) << 2 | (result == 0) << 3;

    say_pair(a, name, flags, enif_make_copy(a->env, reason));
    enif_free_env(env);
}

static void ask_exceptions(struct answers *a)
{
    static const double not_finite[] = {INFINITY, -INFINITY, NAN};
    ErlNifEnv *env = enif_alloc_env();
    char name[300];

    memset(name, 'y', sizeof name);
    say_raised(a, "none", env, enif_make_int(env, 1));
    env = enif_alloc_env();
    say_raised(a, "make_badarg", env, enif_make_badarg(env));
    env = enif_alloc_env();
    say_raised(a, "raise_exception", env,
               enif_raise_exception(env, enif_make_string(env, "why", ERL_NIF_LATIN1)));
    for (size_t i = 0; i < 3; i++) {
        env = enif_alloc_env();
        say_raised(a, "make_double", env, enif_make_double(env, not_finite[i]));
    }
    for (size_t length = 254; length < 258; length++) {
        env = enif_alloc_env();
        say_raised(a, "make_atom_len", env, enif_make_atom_len(env, name, length));
    }
    name[256] = 0;
    env = enif_alloc_env();
    say_raised(a, "make_atom", env, enif_make_atom(env, name));
}

static void ask_makers(struct answers *a)
{
    static const unsigned char latin1[] = {'a', 0xE5, 0xFF, 0};
    ERL_NIF_TERM out = enif_make_int(a->env, 77);
    ERL_NIF_TERM three[] = {out, enif_make_atom(a->env, "x"), enif_make_new_map(a->env)};
    int result;

    say(a, "make_int", enif_make_int(a->env, INT_MIN));
    say(a, "make_int", enif_make_int(a->env, INT_MAX));
    say(a, "make_uint", enif_make_uint(a->env, UINT_MAX));
    say(a, "make_long", enif_make_long(a->env, LONG_MIN));
    say(a, "make_long", enif_make_long(a->env, LONG_MAX));
    say(a, "make_ulong", enif_make_ulong(a->env, ULONG_MAX));
    say(a, "make_double", enif_make_double(a->env, -0.25));
    say(a, "make_atom", enif_make_atom(a->env, ""));
    say(a, "make_atom", enif_make_atom(a->env, (const char *)latin1));
    say(a, "make_atom_len", enif_make_atom_len(a->env, "a\0b", 3));
    say(a, "make_string", enif_make_string(a->env, (const char *)latin1, ERL_NIF_LATIN1));
    say(a, "make_string", enif_make_string(a->env, "", ERL_NIF_LATIN1));
    say(a, "make_string_len", enif_make_string_len(a->env, "a\0b", 3, ERL_NIF_LATIN1));
    say(a, "make_list", enif_make_list(a->env, 0));
    say(a, "make_list", enif_make_list3(a->env, three[0], three[1], three[2]));
    say(a, "make_list_from_array", enif_make_list_from_array(a->env, three, 3));
    say(a, "make_list_from_array", enif_make_list_from_array(a->env, three, 0));
    say(a, "make_list_cell", enif_make_list_cell(a->env, three[0], three[1]));
    say(a, "make_tuple", enif_make_tuple(a->env, 0));
    say(a, "make_tuple", enif_make_tuple9(a->env, out, out, out, out, out, out, out, out, out));
    say(a, "make_tuple_from_array", enif_make_tuple_from_array(a->env, three, 3));
    say(a, "make_tuple_from_array", enif_make_tuple_from_array(a->env, three, 0));
    result = enif_make_existing_atom(a->env, "x", &out, ERL_NIF_LATIN1);
    say_pair(a, "make_existing_atom", result, out);
    out = three[0];
    result = enif_make_existing_atom(a->env, "there is no atom like this", &out, ERL_NIF_LATIN1);
    say_pair(a, "make_existing_atom", result, out);
    result = enif_make_existing_atom_len(a->env, "xy", 1, &out, ERL_NIF_LATIN1);
    say_pair(a, "make_existing_atom_len", result, out);
}

static void ask_map_from_arrays(struct answers *a)
{
    ERL_NIF_TERM keys[40];
    ERL_NIF_TERM map = enif_make_int(a->env, 77);
    int result;

    for (int i = 0; i < 40; i++)
        keys[i] = enif_make_int(a->env, 40 - i);
    result = enif_make_map_from_arrays(a->env, keys, keys, 0, &map);
    say_pair(a, "make_map_from_arrays", result, map);
    result = enif_make_map_from_arrays(a->env, keys, keys, 20, &map);
    say_pair(a, "make_map_from_arrays", result, map);
    keys[3] = keys[2]; /* of more than 32 keys, a BEAM of OTP 25 takes double ones too */
    say_int(a, "make_map_from_arrays of a double",
            enif_make_map_from_arrays(a->env, keys, keys, 20, &map));
}

static void ask_binaries(struct answers *a)
{
    ErlNifBinary bin;
    ERL_NIF_TERM term;
    unsigned char *data;

    say_int(a, "alloc_binary", enif_alloc_binary(4, &bin));
    memcpy(bin.data, "abcd", 4);
    say_int(a, "realloc_binary", enif_realloc_binary(&bin, 6));
    memcpy(bin.data + 4, "ef", 2);
    say_int(a, "its size", (long)bin.size);
    term = enif_make_binary(a->env, &bin);
    say(a, "make_binary", term);
    say_int(a, "its bytes are still there", memcmp(bin.data, "abcdef", 6) == 0);
    say(a, "make_binary again", enif_make_binary(a->env, &bin));
    enif_release_binary(&bin);
    say(a, "after release_binary", term);
    say_int(a, "alloc_binary", enif_alloc_binary(0, &bin));
    say(a, "make_binary", enif_make_binary(a->env, &bin));
    say_int(a, "alloc_binary", enif_alloc_binary(9, &bin));
    say_int(a, "realloc_binary", enif_realloc_binary(&bin, 0));
    enif_release_binary(&bin);
    for (size_t size = 0; size <= 100; size += 50) {
        data = enif_make_new_binary(a->env, size, &term);
        memset(data, 'z', size);
        say(a, "make_new_binary", term);
    }
}

static void ask_time(struct answers *a)
{
    static const long values[] = {0, 1, -1, 999, 1000, -999, -1000, -1001, 1999999999, LONG_MAX};
    ErlNifTimeUnit units[] = {ERL_NIF_SEC, ERL_NIF_MSEC, ERL_NIF_USEC, ERL_NIF_NSEC,
                              (ErlNifTimeUnit)4};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t from = 0; from < 5; from++)
            for (size_t to = 0; to < 5; to++)
                if (to <= from || values[i] < LONG_MAX)
                    say_int(a, "convert_time_unit",
                            enif_convert_time_unit(values[i], units[from], units[to]));
    say_int(a, "monotonic_time of no unit", enif_monotonic_time((ErlNifTimeUnit)4));
    say_int(a, "time_offset of no unit", enif_time_offset((ErlNifTimeUnit)4));
}

static void ask_system(struct answers *a)
{
    struct {
        ErlNifSysInfo info;
        char beyond;
    } place;

    memset(&place, 77, sizeof place);
    enif_system_info(&place.info, sizeof place.info);
    say_int(a, "nif_major_version", place.info.nif_major_version);
    say_int(a, "thread_support", place.info.thread_support);
    say_int(a, "smp_support", place.info.smp_support);
    say_int(a, "dirty_scheduler_support", place.info.dirty_scheduler_support);
    say_int(a, "not written", place.beyond);
    say_int(a, "enif_hash of no kind", (long)enif_hash((ErlNifHash)9, a->list, 1));
}

extern char *erl_errno_id(int error);

static void ask_errors(struct answers *a)
{
    for (int error = -1; error < 140; error++)
        say(a, "erl_errno_id", enif_make_string(a->env, erl_errno_id(error), ERL_NIF_LATIN1));
}

static void ask_sending(struct answers *a, ERL_NIF_TERM dead_pid)
{
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM message = enif_make_string(a->env, "a message", ERL_NIF_LATIN1);
    ErlNifPid self, dead, undefined;

    say_int(a, "self", enif_self(a->env, &self) == &self);
    say(a, "self", enif_make_pid(a->env, &self));
    say_int(a, "is_current_process_alive", enif_is_current_process_alive(a->env));
    say_int(a, "send", enif_send(a->env, &self, NULL, message));
    for (int i = 0; i < 2; i++) /* the environment can be used again */
        say_int(a, "send", enif_send(a->env, &self, env, enif_make_copy(env, message)));
    say_int(a, "get_local_pid", enif_get_local_pid(a->env, dead_pid, &dead));
    say_int(a, "is_process_alive", enif_is_process_alive(a->env, &dead));
    message = enif_make_copy(env, message);
    say_int(a, "send", enif_send(a->env, &dead, env, message));
    say(a, "a message that was not sent", enif_make_copy(a->env, message));
    enif_set_pid_undefined(&undefined);
    say_int(a, "is_pid_undefined", enif_is_pid_undefined(&undefined));
    say_int(a, "is_pid_undefined", enif_is_pid_undefined(&self));
    say(a, "set_pid_undefined", enif_make_pid(a->env, &undefined));
    say_int(a, "is_process_alive", enif_is_process_alive(a->env, &undefined));
    say_int(a, "compare_pids", enif_compare_pids(&self, &self));
    enif_free_env(env);
}

static void ask_unique(struct answers *a)
{
    static const int properties[] = {ERL_NIF_UNIQUE_MONOTONIC,
                                     ERL_NIF_UNIQUE_MONOTONIC | ERL_NIF_UNIQUE_POSITIVE,
                                     ERL_NIF_UNIQUE_POSITIVE, 0};
    ERL_NIF_TERM ref = enif_make_ref(a->env);
    long first, second;

    for (size_t i = 0; i < 4; i++) {
        enif_get_long(a->env, enif_make_unique_integer(a->env, properties[i]), &first);
        enif_get_long(a->env, enif_make_unique_integer(a->env, properties[i]), &second);
        say_int(a, "make_unique_integer is positive", first > 0);
        say_int(a, "make_unique_integer gives others", first != second);
        if (properties[i] & ERL_NIF_UNIQUE_MONOTONIC)
            say_int(a, "make_unique_integer gives larger ones", first < second);
    }
    say_int(a, "make_ref", enif_is_ref(a->env, ref));
    say_int(a, "make_ref gives others", enif_is_identical(ref, enif_make_ref(a->env)));
}

static void ask_clocks(struct answers *a)
{
    ErlNifTime before = enif_monotonic_time(ERL_NIF_NSEC);
    ERL_NIF_TERM times[] = {enif_now_time(a->env), enif_now_time(a->env), enif_cpu_time(a->env)};

    say_int(a, "monotonic_time goes on", before <= enif_monotonic_time(ERL_NIF_NSEC));
    say_int(a, "now_time grows", enif_compare(times[0], times[1]) < 0);
    for (size_t i = 0; i < 3; i++) {
        const ERL_NIF_TERM *parts;
        unsigned second, micro;
        int arity;
        say_int(a, "a time is a tuple", enif_get_tuple(a->env, times[i], &arity, &parts));
        say_int(a, "of so many elements", arity);
        say_int(a, "with a number", enif_is_number(a->env, parts[0]));
        say_int(a, "seconds", enif_get_uint(a->env, parts[1], &second) && second < 1000000);
        say_int(a, "microseconds", enif_get_uint(a->env, parts[2], &micro) && micro < 1000000);
    }
}

static ERL_NIF_TERM answers(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct answers a = {env, enif_make_list(env, 0)};
    ERL_NIF_TERM list = argv[0];
    ERL_NIF_TERM term, other, rest;
    int position = 0;

    (void)argc;
    for (rest = list; enif_get_list_cell(env, rest, &term, &rest);)
        ask_term(&a, term, position++);
    for (; enif_get_list_cell(env, list, &term, &list);)
        for (rest = argv[0]; enif_get_list_cell(env, rest, &other, &rest);)
            ask_order(&a, term, other);
    ask_exceptions(&a);
    ask_makers(&a);
    ask_map_from_arrays(&a);
    ask_binaries(&a);
    ask_sending(&a, argv[1]);
    ask_unique(&a);
    ask_clocks(&a);
    ask_time(&a);
    ask_system(&a);
    ask_errors(&a);
    enif_make_reverse_list(env, a.list, &list);
    return list;
}

static ErlNifFunc functions[] = {{"answers", 2, answers, 0}};

ERL_NIF_INIT(nif_subset, functions, NULL, NULL, NULL, NULL)

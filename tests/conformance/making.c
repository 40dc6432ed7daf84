/* Tests the creation of terms from C values, binaries and copies. */
#include "nif_api.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static void make_numbers(ErlNifEnv *env)
{
    say(env, "make_int", enif_make_int(env, INT_MIN));
    say(env, "make_int", enif_make_int(env, INT_MAX));
    say(env, "make_uint", enif_make_uint(env, UINT_MAX));
    say(env, "make_long", enif_make_long(env, LONG_MIN));
    say(env, "make_long", enif_make_long(env, LONG_MAX));
    say(env, "make_ulong", enif_make_ulong(env, ULONG_MAX));
    say(env, "make_int64", enif_make_int64(env, LONG_MIN));
    say(env, "make_uint64", enif_make_uint64(env, ULONG_MAX));
    say(env, "make_double", enif_make_double(env, -0.25));
    say(env, "make_double", enif_make_double(env, -0.0));
}

static void make_texts(ErlNifEnv *env)
{
    static const char latin1[] = "a\xe5\xff";
    ERL_NIF_TERM out = number(env, 77);
    int result;

    say(env, "make_atom", enif_make_atom(env, ""));
    say(env, "make_atom", enif_make_atom(env, latin1));
    say(env, "make_atom_len", enif_make_atom_len(env, "a\0b", 3));
    say(env, "make_string", enif_make_string(env, latin1, ERL_NIF_LATIN1));
    say(env, "make_string", enif_make_string(env, "", ERL_NIF_LATIN1));
    say(env, "make_string_len", enif_make_string_len(env, "a\0b", 3, ERL_NIF_LATIN1));
    say(env, "make_string_len", enif_make_string_len(env, "abc", 0, ERL_NIF_LATIN1));
    enif_make_atom(env, "x");
    result = enif_make_existing_atom(env, "x", &out, ERL_NIF_LATIN1);
    say_pair(env, "make_existing_atom", result, out);
    out = number(env, 77);
    result = enif_make_existing_atom(env, "there is no atom like this", &out, ERL_NIF_LATIN1);
    say_pair(env, "make_existing_atom", result, out);
    result = enif_make_existing_atom_len(env, "xy", 1, &out, ERL_NIF_LATIN1);
    say_pair(env, "make_existing_atom_len", result, out);
    result = enif_make_existing_atom_len(env, "xyz of none", 11, &out, ERL_NIF_LATIN1);
    say_int("make_existing_atom_len", result);
}

static void make_compounds(ErlNifEnv *env)
{
    ERL_NIF_TERM n = number(env, 77);
    ERL_NIF_TERM three[] = {n, atom(env, "x"), enif_make_new_map(env)};
    ERL_NIF_TERM many[600];

    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = number(env, (long)i);
    say(env, "make_list", enif_make_list(env, 0));
    say(env, "make_list", enif_make_list3(env, three[0], three[1], three[2]));
    say(env, "make_list", enif_make_list9(env, n, n, n, n, n, n, n, n, n));
    say(env, "make_list_from_array", enif_make_list_from_array(env, three, 3));
    say(env, "make_list_from_array", enif_make_list_from_array(env, three, 0));
    say(env, "make_list_from_array", enif_make_list_from_array(env, many, COUNT(many)));
    say(env, "make_list_cell", enif_make_list_cell(env, three[0], three[1]));
    say(env, "make_list_cell", enif_make_list_cell(env, three[0], enif_make_list(env, 0)));
    say(env, "make_tuple", enif_make_tuple(env, 0));
    say(env, "make_tuple", enif_make_tuple9(env, n, n, n, n, n, n, n, n, n));
    say(env, "make_tuple_from_array", enif_make_tuple_from_array(env, three, 3));
    say(env, "make_tuple_from_array", enif_make_tuple_from_array(env, three, 0));
    say(env, "make_tuple_from_array", enif_make_tuple_from_array(env, many, COUNT(many)));
}

ERL_NIF_TERM makers(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    topic("making");
    make_numbers(env);
    make_texts(env);
    make_compounds(env);
    return atom(env, "ok");
}

/* Reports RESULT of a function that may have raised an exception in the environment RAISED. */
static void say_raised(ErlNifEnv *env, const char *name, ErlNifEnv *raised, ERL_NIF_TERM result)
{
    ERL_NIF_TERM reason = atom(env, "none");
    int pending = enif_has_pending_exception(raised, &reason);
    int flags = enif_is_exception(raised, result) | pending << 1 |
                enif_has_pending_exception(raised, NULL) << 2 |
                enif_is_exception(raised, atom(env, "ok")) << 3;

    say_pair(env, name, flags, enif_make_copy(env, reason));
    enif_free_env(raised);
}

static void raise_atoms(ErlNifEnv *env)
{
    ErlNifEnv *raised;
    char name[300];

    memset(name, 'y', sizeof name);
    for (size_t length = 254; length < 258; length++) {
        raised = enif_alloc_env();
        say_raised(env, "make_atom_len", raised, enif_make_atom_len(raised, name, length));
    }
    name[256] = 0;
    raised = enif_alloc_env();
    say_raised(env, "make_atom", raised, enif_make_atom(raised, name));
}

ERL_NIF_TERM exceptions(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const double not_finite[] = {INFINITY, -INFINITY, NAN};
    ErlNifEnv *raised = enif_alloc_env();

    (void)argc;
    (void)argv;
    topic("exception");
    say_raised(env, "none", raised, enif_make_int(raised, 1));
    raised = enif_alloc_env();
    say_raised(env, "make_badarg", raised, enif_make_badarg(raised));
    raised = enif_alloc_env();
    say_raised(env, "raise_exception", raised,
               enif_raise_exception(raised, enif_make_string(raised, "why", ERL_NIF_LATIN1)));
    for (size_t i = 0; i < COUNT(not_finite); i++) {
        raised = enif_alloc_env();
        say_raised(env, "make_double", raised, enif_make_double(raised, not_finite[i]));
    }
    raise_atoms(env);
    return atom(env, "ok");
}

static void fill(ErlNifBinary *bin)
{
    for (size_t i = 0; i < bin->size; i++)
        bin->data[i] = (unsigned char)('a' + i % 26);
}

/* Reallocates a binary from FROM to TO bytes; the common bytes must stay. */
static void reallocate(ErlNifEnv *env, size_t from, size_t to)
{
    ErlNifBinary bin;

    say_int("alloc_binary", enif_alloc_binary(from, &bin));
    fill(&bin);
    say_int("realloc_binary", enif_realloc_binary(&bin, to));
    say_int("its size", (long)bin.size);
    if (to > from)
        memset(bin.data + from, 'Z', to - from);
    say(env, "make_binary", enif_make_binary(env, &bin));
}

ERL_NIF_TERM binaries(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const size_t sizes[] = {0, 1, 10, 63, 64, 65, 100, 70000};
    ErlNifBinary bin;
    ERL_NIF_TERM term;

    (void)argc;
    (void)argv;
    topic("binary");
    for (size_t i = 0; i < COUNT(sizes); i++) {
        reallocate(env, sizes[i], sizes[COUNT(sizes) - 1 - i]);
        memset(enif_make_new_binary(env, sizes[i], &term), 'z', sizes[i]);
        say(env, "make_new_binary", term);
    }
    enif_alloc_binary(6, &bin);
    fill(&bin);
    term = enif_make_binary(env, &bin);
    say_int("its bytes are still there", memcmp(bin.data, "abcdef", 6) == 0);
    say(env, "make_binary again", enif_make_binary(env, &bin));
    enif_alloc_binary(9, &bin);
    enif_release_binary(&bin);
    return atom(env, "ok");
}

/* Returns binary NUMBER of some that are stored in different ways. */
static ERL_NIF_TERM some_binary(ErlNifEnv *env, int number)
{
    char data[300];
    ErlNifBinary bin;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)i;
    if (number == 0)
        return bytes(env, data, 20);
    if (number == 1)
        return bytes(env, data, sizeof data);
    enif_alloc_binary(sizeof data, &bin);
    memcpy(bin.data, data, sizeof data);
    return enif_make_binary(env, &bin);
}

ERL_NIF_TERM sub_binaries(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *other = enif_alloc_env();

    (void)argc;
    (void)argv;
    topic("sub-binary");
    for (int i = 0; i < 3; i++) {
        ERL_NIF_TERM whole = some_binary(env, i), sub = whole, copy;
        for (size_t size = 18; size > 0; size -= 3) { /* each is a part of the previous one */
            sub = enif_make_sub_binary(env, sub, 1, size);
            say(env, "of a sub-binary", sub);
            say(env, "empty", enif_make_sub_binary(env, sub, size, 0));
            say(env, "whole", enif_make_sub_binary(env, sub, 0, size));
        }
        copy = enif_make_copy(other, enif_make_tuple2(env, sub, whole));
        say(other, "copied", copy);
        say_int("identical", enif_is_identical(copy, enif_make_tuple2(env, sub, whole)));
        say_int("phash2", (long)enif_hash(ERL_NIF_PHASH2, copy, 0));
    }
    enif_free_env(other);
    return atom(env, "ok");
}

/* Copies all terms through a chain of environments, each of which is cleared after the copy. */
ERL_NIF_TERM environments(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *one = enif_alloc_env(), *other = enif_alloc_env(), *spare;
    struct terms terms = make_terms(env);
    ERL_NIF_TERM all = enif_make_list_from_array(env, terms.all, (unsigned)terms.count);
    ERL_NIF_TERM copy = enif_make_copy(one, all);

    (void)argc;
    (void)argv;
    topic("environment");
    say_int("priv_data", *(int *)enif_priv_data(env));
    for (int i = 0; i < 10; i++) {
        copy = enif_make_copy(other, enif_make_tuple2(one, copy, enif_make_int(one, i)));
        enif_clear_env(one);
        spare = one;
        one = other;
        other = spare;
    }
    enif_free_env(other);
    for (const ERL_NIF_TERM *pair;; copy = pair[0]) {
        int arity;
        if (!enif_get_tuple(one, copy, &arity, &pair))
            break;
        say(one, "copied in turn", pair[1]);
    }
    say_int("identical", enif_is_identical(all, copy));
    copy = enif_make_copy(env, copy);
    enif_free_env(one);
    say_int("identical when it has come back", enif_is_identical(all, copy));
    say_int("compare", enif_compare(all, copy));
    say_int("an atom stays the same word", enif_make_copy(env, atom(env, "ok")) == atom(env, "ok"));
    enif_free_env(enif_alloc_env());
    free_terms(&terms);
    return atom(env, "ok");
}

/* Tests the creation of terms from C values, binaries and copies. */
#include "nif_api.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static void make_numbers(ErlNifEnv *env)
{
    say(env, "enif_make_int: the least", enif_make_int(env, INT_MIN));
    say(env, "0", enif_make_int(env, 0));
    say(env, "the most", enif_make_int(env, INT_MAX));
    say(env, "enif_make_uint: 0", enif_make_uint(env, 0));
    say(env, "one more than an int", enif_make_uint(env, INT_MAX + 1u));
    say(env, "the most", enif_make_uint(env, UINT_MAX));
    say(env, "enif_make_long: the least", enif_make_long(env, LONG_MIN));
    say(env, "the least small integer of a BEAM", enif_make_long(env, -(1l << 59)));
    say(env, "one less than it", enif_make_long(env, -(1l << 59) - 1));
    say(env, "the most", enif_make_long(env, LONG_MAX));
    say(env, "enif_make_ulong: 0", enif_make_ulong(env, 0));
    say(env, "one more than a long", enif_make_ulong(env, LONG_MAX + 1ul));
    say(env, "the most", enif_make_ulong(env, ULONG_MAX));
    say(env, "enif_make_int64: the least", enif_make_int64(env, INT64_MIN));
    say(env, "-1", enif_make_int64(env, -1));
    say(env, "the most", enif_make_int64(env, INT64_MAX));
    say(env, "enif_make_uint64: 0", enif_make_uint64(env, 0));
    say(env, "one more than an int64", enif_make_uint64(env, INT64_MAX + (uint64_t)1));
    say(env, "the most", enif_make_uint64(env, UINT64_MAX));
    say(env, "enif_make_double: a quarter", enif_make_double(env, -0.25));
    say(env, "-0.0", enif_make_double(env, -0.0));
    say(env, "the least above 0", enif_make_double(env, DBL_TRUE_MIN));
    say(env, "the most", enif_make_double(env, DBL_MAX));
}

static void make_atoms(ErlNifEnv *env)
{
    ERL_NIF_TERM out = number(env, 77), x = enif_make_atom(env, "x");
    int result;

    say(env, "enif_make_atom: empty", enif_make_atom(env, ""));
    say(env, "Latin-1", enif_make_atom(env, "a\xe5\xff"));
    say_int("the same word each time", x == enif_make_atom(env, "x"));
    say(env, "enif_make_atom_len: with a zero byte", enif_make_atom_len(env, "a\0b", 3));
    say(env, "of no byte", enif_make_atom_len(env, "x", 0));
    say_int("the same word as that of enif_make_atom()", x == enif_make_atom_len(env, "xy", 1));
    result = enif_make_existing_atom(env, "x", &out, ERL_NIF_LATIN1);
    say_pair(env, "enif_make_existing_atom: there", result, out);
    out = number(env, 77);
    result = enif_make_existing_atom(env, "there is no atom like this", &out, ERL_NIF_LATIN1);
    say_pair(env, "not there", result, out);
    result = enif_make_existing_atom(env, "there is no atom like this", &out, ERL_NIF_LATIN1);
    say_pair(env, "still not there", result, out);
    result = enif_make_existing_atom_len(env, "xy", 1, &out, ERL_NIF_LATIN1);
    say_pair(env, "enif_make_existing_atom_len: there", result, out);
    out = number(env, 77);
    result = enif_make_existing_atom_len(env, "xyz of none", 11, &out, ERL_NIF_LATIN1);
    say_pair(env, "not there", result, out);
    result = enif_make_existing_atom_len(env, "a\0b", 3, &out, ERL_NIF_LATIN1);
    say_pair(env, "with a zero byte", result, out);
}

static void make_strings(ErlNifEnv *env)
{
    static const char latin1[] = "a\xe5\xff";

    say(env, "enif_make_string: Latin-1", enif_make_string(env, latin1, ERL_NIF_LATIN1));
    say(env, "ASCII", enif_make_string(env, "text\n", ERL_NIF_LATIN1));
    say(env, "empty", enif_make_string(env, "", ERL_NIF_LATIN1));
    say(env, "enif_make_string_len: with a zero byte",
        enif_make_string_len(env, "a\0b", 3, ERL_NIF_LATIN1));
    say(env, "a part", enif_make_string_len(env, latin1, 2, ERL_NIF_LATIN1));
    say(env, "empty", enif_make_string_len(env, "abc", 0, ERL_NIF_LATIN1));
}

static void make_compounds(ErlNifEnv *env)
{
    ERL_NIF_TERM n = number(env, 77);
    ERL_NIF_TERM three[] = {n, atom(env, "x"), enif_make_new_map(env)};
    ERL_NIF_TERM many[600];

    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = number(env, (long)i);
    say(env, "enif_make_list: empty", enif_make_list(env, 0));
    say(env, "of 3", enif_make_list3(env, three[0], three[1], three[2]));
    say(env, "of 9", enif_make_list9(env, n, n, n, n, n, n, n, n, n));
    say(env, "enif_make_list_from_array: of 3", enif_make_list_from_array(env, three, 3));
    say(env, "empty", enif_make_list_from_array(env, NULL, 0));
    say(env, "of 600", enif_make_list_from_array(env, many, COUNT(many)));
    say(env, "enif_make_list_cell: improper", enif_make_list_cell(env, three[0], three[1]));
    say(env, "before []", enif_make_list_cell(env, three[0], enif_make_list(env, 0)));
    say(env, "before a list",
        enif_make_list_cell(env, three[0], enif_make_list_from_array(env, three, 3)));
    say(env, "enif_make_tuple: empty", enif_make_tuple(env, 0));
    say(env, "of 3", enif_make_tuple3(env, three[0], three[1], three[2]));
    say(env, "of 9", enif_make_tuple9(env, n, n, n, n, n, n, n, n, n));
    say(env, "enif_make_tuple_from_array: of 3", enif_make_tuple_from_array(env, three, 3));
    say(env, "empty", enif_make_tuple_from_array(env, NULL, 0));
    say(env, "of 600", enif_make_tuple_from_array(env, many, COUNT(many)));
}

ERL_NIF_TERM makers(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    make_numbers(env);
    make_atoms(env);
    make_strings(env);
    make_compounds(env);
    return atom(env, "ok");
}

/* Reports RESULT of a function that may have raised an exception in the environment RAISED. */
static void say_raised(ErlNifEnv *env, const char *name, ErlNifEnv *raised, ERL_NIF_TERM result)
{
    ERL_NIF_TERM reason = atom(env, "none");
    int pending = enif_has_pending_exception(raised, &reason);

    begin_row("%s: is an exception, is pending, its reason", name);
    put_int(enif_is_exception(raised, result));
    put_int(pending);
    put_term(env, enif_make_copy(env, reason));
    end_row();
    enif_free_env(raised);
}

static void raise_atoms(ErlNifEnv *env)
{
    ErlNifEnv *raised;
    char name[300];

    memset(name, 'y', sizeof name);
    for (size_t length = 255; length < 257; length++) {
        raised = enif_alloc_env();
        say_raised(env, length == 255 ? "enif_make_atom_len: 255 bytes" : "256 bytes", raised,
                   enif_make_atom_len(raised, name, length));
    }
    name[256] = 0;
    raised = enif_alloc_env();
    say_raised(env, "enif_make_atom: 256 bytes", raised, enif_make_atom(raised, name));
    name[255] = 0;
    raised = enif_alloc_env();
    say_raised(env, "255 bytes", raised, enif_make_atom(raised, name));
}

static void raise_doubles(ErlNifEnv *env)
{
    ErlNifEnv *raised = enif_alloc_env();

    say_raised(env, "enif_make_double: infinity", raised, enif_make_double(raised, INFINITY));
    raised = enif_alloc_env();
    say_raised(env, "-infinity", raised, enif_make_double(raised, -INFINITY));
    raised = enif_alloc_env();
    say_raised(env, "no number", raised, enif_make_double(raised, NAN));
}

static void ask_exception(ErlNifEnv *env)
{
    ErlNifEnv *raised = enif_alloc_env();
    ERL_NIF_TERM reason = number(env, 77), exception;

    say_pair(env, "enif_has_pending_exception: none", enif_has_pending_exception(raised, &reason),
             reason);
    say_int("none, without a place", enif_has_pending_exception(raised, NULL));
    exception = enif_raise_exception(raised, enif_make_int(raised, 5));
    say_int("one, without a place", enif_has_pending_exception(raised, NULL));
    say_int("one", enif_has_pending_exception(raised, &reason));
    say(env, "its reason", enif_make_copy(env, reason));
    say_int("enif_is_exception: the raised one", enif_is_exception(raised, exception));
    say_int("an atom while one is raised", enif_is_exception(raised, atom(env, "badarg")));
    enif_clear_env(raised);
    say_differing(env, "enif_clear_env: removes an exception",
                  number(env, !enif_has_pending_exception(raised, NULL)));
    enif_free_env(raised);
}

ERL_NIF_TERM exceptions(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *raised = enif_alloc_env();

    (void)argc;
    (void)argv;
    say_raised(env, "enif_make_badarg: in an environment of its own", raised,
               enif_make_badarg(raised));
    raised = enif_alloc_env();
    enif_raise_exception(raised, enif_make_int(raised, 5));
    say_raised(env, "after another exception", raised, enif_make_badarg(raised));
    raised = enif_alloc_env();
    say_raised(env, "enif_raise_exception: a list", raised,
               enif_raise_exception(raised, enif_make_string(raised, "why", ERL_NIF_LATIN1)));
    raised = enif_alloc_env();
    say_raised(env, "an atom", raised, enif_raise_exception(raised, enif_make_atom(raised, "x")));
    ask_exception(env);
    raise_doubles(env);
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

    begin_row("enif_alloc_binary: %zu bytes", from);
    put_int(enif_alloc_binary(from, &bin));
    put_int((long)bin.size);
    end_row();
    fill(&bin);
    begin_row("enif_realloc_binary: from %zu to %zu bytes", from, to);
    put_int(enif_realloc_binary(&bin, to));
    put_int((long)bin.size);
    if (to > from)
        memset(bin.data + from, 'Z', to - from);
    put_term(env, enif_make_binary(env, &bin));
    end_row();
}

ERL_NIF_TERM binaries(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const size_t sizes[] = {0, 1, 10, 63, 64, 65, 100, 70000};
    ErlNifBinary bin;
    ERL_NIF_TERM term;

    (void)argc;
    (void)argv;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        reallocate(env, sizes[i], sizes[COUNT(sizes) - 1 - i]);
        begin_row("enif_make_new_binary: %zu bytes", sizes[i]);
        memset(enif_make_new_binary(env, sizes[i], &term), 'z', sizes[i]);
        put_term(env, term);
        end_row();
    }
    enif_alloc_binary(6, &bin);
    fill(&bin);
    term = enif_make_binary(env, &bin);
    say(env, "enif_make_binary: of an allocated one", term);
    say_int("its bytes can still be read", memcmp(bin.data, "abcdef", 6) == 0);
    say(env, "a second time", enif_make_binary(env, &bin));
    enif_alloc_binary(9, &bin);
    enif_release_binary(&bin);
    say(env, "enif_release_binary: another binary stays", term);
    enif_alloc_binary(70000, &bin);
    enif_realloc_binary(&bin, 0);
    enif_release_binary(&bin);
    say_int("of no byte, then one is allocated", enif_alloc_binary(10, &bin));
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

/* Takes parts of parts. */
static ERL_NIF_TERM say_parts(ErlNifEnv *env, ERL_NIF_TERM whole, const char *name)
{
    ERL_NIF_TERM sub = whole;

    for (size_t size = 18; size > 0; size -= 6) { /* each is a part of the previous one */
        begin_row("enif_make_sub_binary: %zu bytes of %s, its end, all of it", size, name);
        sub = enif_make_sub_binary(env, sub, 1, size);
        put_term(env, sub);
        put_term(env, enif_make_sub_binary(env, sub, size, 0));
        put_term(env, enif_make_sub_binary(env, sub, 0, size));
        end_row();
    }
    return sub;
}

ERL_NIF_TERM sub_binaries(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const char *const names[] = {"a short binary", "a long binary", "an allocated binary"};
    ErlNifEnv *other = enif_alloc_env();

    (void)argc;
    (void)argv;
    for (int i = 0; i < 3; i++) {
        ERL_NIF_TERM whole = some_binary(env, i), sub = say_parts(env, whole, names[i]);
        ERL_NIF_TERM pair = enif_make_tuple2(env, sub, whole), copy = enif_make_copy(other, pair);
        begin_row("enif_make_copy: a part of %s, identical, hash", names[i]);
        put_term(other, copy);
        put_int(enif_is_identical(copy, pair));
        put_int((long)enif_hash(ERL_NIF_PHASH2, copy, 0));
        end_row();
    }
    enif_free_env(other);
    return atom(env, "ok");
}

/* Copies all terms through a chain of environments, each of which is cleared after the copy. */
ERL_NIF_TERM environments(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *one = enif_alloc_env(), *other = enif_alloc_env(), *spare, *own;
    struct terms terms = make_terms(env);
    ERL_NIF_TERM all = enif_make_list_from_array(env, terms.all, (unsigned)terms.count);
    ERL_NIF_TERM copy = enif_make_copy(one, all);
    const ERL_NIF_TERM *pair;
    long sum = 0, i;
    int arity;

    (void)argc;
    (void)argv;
    say_int("enif_priv_data: a function has it", *(int *)enif_priv_data(env));
    say_int("enif_alloc_env: two are one", one == other);
    say_int("has an exception", enif_has_pending_exception(one, NULL));
    say_int("its terms can be the caller's", enif_is_identical(all, copy));
    for (i = 0; i < 10; i++) {
        copy = enif_make_copy(other, enif_make_tuple2(one, copy, enif_make_int(one, (int)i)));
        enif_clear_env(one);
        spare = one;
        one = other;
        other = spare;
    }
    enif_free_env(other);
    for (; enif_get_tuple(one, copy, &arity, &pair); copy = pair[0])
        sum += enif_get_long(one, pair[1], &i) ? i : 1000;
    say_int("enif_clear_env: copies of ten rounds stay", sum);
    say_int("enif_make_copy: all terms, identical", enif_is_identical(all, copy));
    copy = enif_make_copy(env, copy);
    enif_free_env(one);
    say_int("enif_free_env: a copy of all terms stays", enif_is_identical(all, copy));
    say_int("enif_compare: with a copy", enif_compare(all, copy));
    say_int("enif_make_copy: an atom stays the same word",
            enif_make_copy(env, atom(env, "ok")) == atom(env, "ok"));
    enif_free_env(enif_alloc_env());
    say_int("enif_free_env: an empty one, a copy stays", enif_is_identical(all, copy));
    own = enif_alloc_env();
    text(own, "gone");
    enif_clear_env(own);
    enif_clear_env(own);
    say(own, "enif_clear_env: twice, then a new term", text(own, "new"));
    enif_free_env(own);
    free_terms(&terms);
    return atom(env, "ok");
}

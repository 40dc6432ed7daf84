/* Applies each predicate and each getter of the API to each term. */
#include "nif_api.h"

#include <string.h>

enum { TEXT = 600 };

static void ask_kind(ErlNifEnv *env, ERL_NIF_TERM t)
{
    say_int("is_atom", enif_is_atom(env, t));
    say_int("is_binary", enif_is_binary(env, t));
    say_int("is_list", enif_is_list(env, t));
    say_int("is_empty_list", enif_is_empty_list(env, t));
    say_int("is_tuple", enif_is_tuple(env, t));
    say_int("is_map", enif_is_map(env, t));
    say_int("is_pid", enif_is_pid(env, t));
    say_int("is_port", enif_is_port(env, t));
    say_int("is_ref", enif_is_ref(env, t));
    say_int("is_fun", enif_is_fun(env, t));
    say_int("is_number", enif_is_number(env, t));
    say_int("is_exception", enif_is_exception(env, t));
    say_int("term_type", enif_term_type(env, t));
}

static void ask_number(ErlNifEnv *env, ERL_NIF_TERM t)
{
    int i = 77;
    unsigned u = 77;
    long l = 77;
    unsigned long ul = 77;
    ErlNifSInt64 s = 77;
    ErlNifUInt64 us = 77;
    double d = 77.5;
    int result;

    result = enif_get_int(env, t, &i);
    say_pair(env, "get_int", result, enif_make_int(env, i));
    result = enif_get_uint(env, t, &u);
    say_pair(env, "get_uint", result, enif_make_uint(env, u));
    result = enif_get_long(env, t, &l);
    say_pair(env, "get_long", result, enif_make_long(env, l));
    result = enif_get_ulong(env, t, &ul);
    say_pair(env, "get_ulong", result, enif_make_ulong(env, result ? ul : 77)); /* spoilt */
    result = enif_get_int64(env, t, &s);
    say_pair(env, "get_int64", result, enif_make_int64(env, s));
    result = enif_get_uint64(env, t, &us);
    say_pair(env, "get_uint64", result, enif_make_uint64(env, result ? us : 77));
    result = enif_get_double(env, t, &d);
    say_pair(env, "get_double", result, enif_make_double(env, d));
}

static void ask_atom(ErlNifEnv *env, ERL_NIF_TERM t)
{
    static const unsigned sizes[] = {0, 1, 3, 4, 255, 256, TEXT};
    char name[TEXT];
    unsigned length = 77;
    int result;

    for (size_t i = 0; i < COUNT(sizes); i++) {
        strcpy(name, "untouched");
        result = enif_get_atom(env, t, name, sizes[i], ERL_NIF_LATIN1);
        say_pair(env, "get_atom", result, text(env, name));
    }
    result = enif_get_atom_length(env, t, &length, ERL_NIF_LATIN1);
    say_pair(env, "get_atom_length", result, enif_make_uint(env, length));
}

static void ask_string(ErlNifEnv *env, ERL_NIF_TERM t)
{
    static const unsigned sizes[] = {0, 1, 2, 3, 4, 5, 6, TEXT};
    char chars[TEXT];

    for (size_t i = 0; i < COUNT(sizes); i++) {
        int result;
        strcpy(chars, "untouched");
        result = enif_get_string(env, t, chars, sizes[i], ERL_NIF_LATIN1);
        say_pair(env, "get_string", result, text(env, chars));
    }
}

static void ask_list(ErlNifEnv *env, ERL_NIF_TERM t)
{
    unsigned length = 77;
    ERL_NIF_TERM head = number(env, 77);
    ERL_NIF_TERM tail = head;
    ERL_NIF_TERM reversed = head;
    int result;

    result = enif_get_list_length(env, t, &length);
    say_pair(env, "get_list_length", result, enif_make_uint(env, length));
    result = enif_get_list_cell(env, t, &head, &tail);
    say_pair(env, "get_list_cell head", result, head);
    say_pair(env, "get_list_cell tail", result, tail);
    result = enif_make_reverse_list(env, t, &reversed);
    say_pair(env, "make_reverse_list", result, reversed);
}

static void ask_binary(ErlNifEnv *env, ERL_NIF_TERM t)
{
    ErlNifBinary bin = {.size = 77};
    int result = enif_inspect_binary(env, t, &bin);

    say_pair(env, "inspect_binary", result, enif_make_ulong(env, bin.size));
    if (result) {
        size_t half = bin.size / 2;
        say(env, "make_binary of an inspected one", enif_make_binary(env, &bin));
        result = enif_realloc_binary(&bin, half);
        say_pair(env, "realloc_binary of an inspected one", result, enif_make_binary(env, &bin));
        say(env, "make_sub_binary", enif_make_sub_binary(env, t, half, half));
    }
    bin = (ErlNifBinary){.size = 77};
    result = enif_inspect_iolist_as_binary(env, t, &bin);
    say_pair(env, "inspect_iolist_as_binary", result, enif_make_ulong(env, bin.size));
    if (result)
        say(env, "its bytes", enif_make_binary(env, &bin));
}

static void ask_tuple(ErlNifEnv *env, ERL_NIF_TERM t)
{
    const ERL_NIF_TERM *elements = NULL;
    int arity = 77;
    int result = enif_get_tuple(env, t, &arity, &elements);

    say_pair(env, "get_tuple", result, number(env, arity));
    if (result)
        say(env, "its elements", enif_make_list_from_array(env, elements, (unsigned)arity));
    else
        say_int("its elements untouched", elements == NULL);
}

static void ask_map(ErlNifEnv *env, ERL_NIF_TERM t)
{
    static const char *const keys[] = {"a", "nokey"};
    ERL_NIF_TERM out = number(env, 77);
    ERL_NIF_TERM one = number(env, 1);
    ERL_NIF_TERM value = out;
    size_t size = 77;
    int result = enif_get_map_size(env, t, &size);

    say_pair(env, "get_map_size", result, enif_make_ulong(env, size));
    result = enif_get_map_value(env, t, one, &value);
    say_pair(env, "get_map_value 1", result, value);
    for (size_t i = 0; i < COUNT(keys); i++) {
        ERL_NIF_TERM key = atom(env, keys[i]);
        ERL_NIF_TERM maps[3] = {out, out, out};
        result = enif_get_map_value(env, t, key, &value);
        say_pair(env, "get_map_value", result, value);
        result = enif_make_map_put(env, t, key, one, &maps[0]);
        say_pair(env, "make_map_put", result, maps[0]);
        result = enif_make_map_update(env, t, key, out, &maps[1]);
        say_pair(env, "make_map_update", result, result ? maps[1] : out); /* spoilt in a BEAM */
        result = enif_make_map_remove(env, t, key, &maps[2]);
        say_pair(env, "make_map_remove", result, maps[2]);
    }
}

static void ask_identifier(ErlNifEnv *env, ERL_NIF_TERM t)
{
    ErlNifPid pid = {number(env, 77)};
    ErlNifPort port = {number(env, 77)};
    ErlNifMapIterator iterator;
    void *object = NULL;
    int result = enif_get_local_pid(env, t, &pid);

    say_pair(env, "get_local_pid", result, enif_make_pid(env, &pid));
    result = enif_get_local_port(env, t, &port);
    say_pair(env, "get_local_port", result, port.port_id);
    say_int("get_resource", enif_get_resource(env, t, plain_type, &object));
    say_int("its object untouched", object == NULL);
    if (!enif_is_map(env, t))
        say_int("map_iterator_create",
                enif_map_iterator_create(env, t, &iterator, ERL_NIF_MAP_ITERATOR_FIRST));
    result = enif_whereis_pid(env, t, &pid);
    say_pair(env, "whereis_pid", result, enif_make_pid(env, &pid));
    result = enif_whereis_port(env, t, &port);
    say_pair(env, "whereis_port", result, port.port_id);
}

static void ask_term(ErlNifEnv *env, ERL_NIF_TERM t)
{
    ask_kind(env, t);
    ask_number(env, t);
    ask_atom(env, t);
    ask_string(env, t);
    ask_list(env, t);
    ask_binary(env, t);
    ask_tuple(env, t);
    ask_map(env, t);
    ask_identifier(env, t);
}

/* Before NIF 2.17 a BEAM ignores the encoding, as there is only one. */
static void ask_encoding(ErlNifEnv *env)
{
    ErlNifCharEncoding none = (ErlNifCharEncoding)9;
    ERL_NIF_TERM out;
    unsigned length;
    char buffer[10];

    say_meant_in_older(
        env, "enif_get_atom: an unknown encoding",
        number(env, enif_get_atom(env, atom(env, "ok"), buffer, sizeof buffer, none)));
    say_meant_in_older(env, "enif_get_atom_length: an unknown encoding",
                       number(env, enif_get_atom_length(env, atom(env, "ok"), &length, none)));
    say_meant_in_older(
        env, "enif_get_string: an unknown encoding",
        number(env, enif_get_string(env, text(env, "ok"), buffer, sizeof buffer, none)));
    say_meant_in_older(env, "enif_make_existing_atom: an unknown encoding",
                       number(env, enif_make_existing_atom(env, "ok", &out, none)));
}

ERL_NIF_TERM about_terms(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);

    (void)argc;
    (void)argv;
    topic("term");
    for (size_t i = 0; i < terms.plain; i++) {
        say(env, "---", terms.all[i]);
        ask_term(env, terms.all[i]);
    }
    for (size_t i = terms.plain; i < terms.count; i++)
        say(env, "nested", terms.all[i]);
    ask_encoding(env);
    free_terms(&terms);
    return atom(env, "ok");
}

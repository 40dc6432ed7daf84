/* What nif_subset.so is asked about each of the terms that it is given. */
#include "nif_subset.h"

#include <string.h>

enum { TEXT = 600 };

/* Large maps have an order that depends on atoms and hashes: only their size is told. */
static ERL_NIF_TERM ordered(struct answers *a, ERL_NIF_TERM t)
{
    size_t size;

    return enif_get_map_size(a->env, t, &size) && size > 32 ? enif_make_ulong(a->env, size) : t;
}

static void ask_kind(struct answers *a, ERL_NIF_TERM t)
{
    say_int(a, "is_atom", enif_is_atom(a->env, t));
    say_int(a, "is_binary", enif_is_binary(a->env, t));
    say_int(a, "is_list", enif_is_list(a->env, t));
    say_int(a, "is_empty_list", enif_is_empty_list(a->env, t));
    say_int(a, "is_tuple", enif_is_tuple(a->env, t));
    say_int(a, "is_map", enif_is_map(a->env, t));
    say_int(a, "is_pid", enif_is_pid(a->env, t));
    say_int(a, "is_port", enif_is_port(a->env, t));
    say_int(a, "is_ref", enif_is_ref(a->env, t));
    say_int(a, "is_fun", enif_is_fun(a->env, t));
    say_int(a, "is_number", enif_is_number(a->env, t));
    say_int(a, "is_exception", enif_is_exception(a->env, t));
    say_int(a, "term_type", enif_term_type(a->env, t));
    say_int(a, "phash2", (long)enif_hash(ERL_NIF_PHASH2, t, 0));
    say_int(a, "phash2 salted", (long)enif_hash(ERL_NIF_PHASH2, t, 17));
}

static void ask_number(struct answers *a, ERL_NIF_TERM t)
{
    int i = 77;
    unsigned u = 77;
    long l = 77;
    unsigned long ul = 77;
    double d = 77.5;
    int result;

    result = enif_get_int(a->env, t, &i);
    say_pair(a, "get_int", result, enif_make_int(a->env, i));
    result = enif_get_uint(a->env, t, &u);
    say_pair(a, "get_uint", result, enif_make_uint(a->env, u));
    result = enif_get_long(a->env, t, &l);
    say_pair(a, "get_long", result, enif_make_long(a->env, l));
    result = enif_get_ulong(a->env, t, &ul);
    say_pair(a, "get_ulong", result, enif_make_ulong(a->env, result ? ul : 77)); /* spoiled too */
    result = enif_get_double(a->env, t, &d);
    say_pair(a, "get_double", result, enif_make_double(a->env, d));
}

static void ask_atom(struct answers *a, ERL_NIF_TERM t)
{
    static const unsigned sizes[] = {0, 1, 3, 4, 255, 256, TEXT};
    char name[TEXT];
    unsigned length = 77;
    int result;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        strcpy(name, "untouched");
        result = enif_get_atom(a->env, t, name, sizes[i], ERL_NIF_LATIN1);
        say_pair(a, "get_atom", result, enif_make_string(a->env, name, ERL_NIF_LATIN1));
    }
    result = enif_get_atom_length(a->env, t, &length, ERL_NIF_LATIN1);
    say_pair(a, "get_atom_length", result, enif_make_uint(a->env, length));
}

static void ask_list(struct answers *a, ERL_NIF_TERM t)
{
    static const unsigned sizes[] = {0, 1, 2, 3, 4, 5, 6, TEXT};
    char text[TEXT];
    unsigned length = 77;
    ERL_NIF_TERM head = enif_make_int(a->env, 77);
    ERL_NIF_TERM tail = head;
    ERL_NIF_TERM reversed = head;
    int result;

    result = enif_get_list_length(a->env, t, &length);
    say_pair(a, "get_list_length", result, enif_make_uint(a->env, length));
    result = enif_get_list_cell(a->env, t, &head, &tail);
    say_pair(a, "get_list_cell head", result, head);
    say_pair(a, "get_list_cell tail", result, tail);
    result = enif_make_reverse_list(a->env, t, &reversed);
    say_pair(a, "make_reverse_list", result, reversed);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        strcpy(text, "untouched");
        result = enif_get_string(a->env, t, text, sizes[i], ERL_NIF_LATIN1);
        say_pair(a, "get_string", result, enif_make_string(a->env, text, ERL_NIF_LATIN1));
    }
}

static void ask_binary(struct answers *a, ERL_NIF_TERM t)
{
    ErlNifBinary bin = {.size = 77};
    int result = enif_inspect_binary(a->env, t, &bin);

    say_pair(a, "inspect_binary", result, enif_make_ulong(a->env, bin.size));
    if (result) {
        say(a, "make_binary of an inspected one", enif_make_binary(a->env, &bin));
        result = enif_realloc_binary(&bin, bin.size / 2);
        say_pair(a, "realloc_binary of an inspected one", result, enif_make_binary(a->env, &bin));
        say(a, "make_sub_binary", enif_make_sub_binary(a->env, t, bin.size / 2, bin.size / 2));
    }
    bin = (ErlNifBinary){.size = 77};
    result = enif_inspect_iolist_as_binary(a->env, t, &bin);
    say_pair(a, "inspect_iolist_as_binary", result, enif_make_ulong(a->env, bin.size));
    if (result)
        say(a, "its bytes", enif_make_binary(a->env, &bin));
}

static void ask_tuple(struct answers *a, ERL_NIF_TERM t)
{
    const ERL_NIF_TERM *elements = NULL;
    int arity = 77;
    int result = enif_get_tuple(a->env, t, &arity, &elements);

    say_pair(a, "get_tuple", result, enif_make_int(a->env, arity));
    if (result)
        say(a, "its elements", enif_make_list_from_array(a->env, elements, (unsigned)arity));
    else
        say_int(a, "its elements untouched", elements == NULL);
}

static void ask_map(struct answers *a, ERL_NIF_TERM t)
{
    static const char *const keys[] = {"a", "nokey"};
    ERL_NIF_TERM out = enif_make_int(a->env, 77);
    ERL_NIF_TERM one = enif_make_int(a->env, 1);
    ERL_NIF_TERM value = out;
    size_t size = 77;
    int result = enif_get_map_size(a->env, t, &size);

    say_pair(a, "get_map_size", result, enif_make_ulong(a->env, size));
    result = enif_get_map_value(a->env, t, one, &value);
    say_pair(a, "get_map_value 1", result, value);
    for (size_t i = 0; i < 2; i++) {
        ERL_NIF_TERM key = enif_make_atom(a->env, keys[i]);
        ERL_NIF_TERM maps[3] = {out, out, out};
        result = enif_get_map_value(a->env, t, key, &value);
        say_pair(a, "get_map_value", result, value);
        result = enif_make_map_put(a->env, t, key, one, &maps[0]);
        say_pair(a, "make_map_put", result, ordered(a, maps[0]));
        result = enif_make_map_update(a->env, t, key, out, &maps[1]);
        say_pair(a, "make_map_update", result,
                 result ? ordered(a, maps[1]) : out); /* a BEAM spoils it */
        result = enif_make_map_remove(a->env, t, key, &maps[2]);
        say_pair(a, "make_map_remove", result, ordered(a, maps[2]));
    }
}

/* Small maps only: a BEAM keeps large ones in the order of hashes. */
static void ask_map_iterator(struct answers *a, ERL_NIF_TERM t, ErlNifMapIteratorEntry entry)
{
    ErlNifMapIterator iter;
    ERL_NIF_TERM key = enif_make_int(a->env, 77);
    ERL_NIF_TERM value = key;
    size_t size = 0;

    enif_get_map_size(a->env, t, &size);
    if (size > 32)
        return;
    if (!enif_map_iterator_create(a->env, t, &iter, entry)) {
        say_int(a, "map_iterator_create", 0);
        return;
    }
    for (size_t i = 0; i < size + 3; i++) {
        int there = enif_map_iterator_get_pair(a->env, &iter, &key, &value);
        say_pair(a, "map_iterator_get_pair", there, enif_make_tuple2(a->env, key, value));
        say_int(a, "map_iterator_is_head", enif_map_iterator_is_head(a->env, &iter));
        say_int(a, "map_iterator_is_tail", enif_map_iterator_is_tail(a->env, &iter));
        if (entry == ERL_NIF_MAP_ITERATOR_FIRST)
            say_int(a, "map_iterator_next", enif_map_iterator_next(a->env, &iter));
        else
            say_int(a, "map_iterator_prev", enif_map_iterator_prev(a->env, &iter));
    }
    say_int(a, "map_iterator_prev", enif_map_iterator_prev(a->env, &iter));
    say_int(a, "map_iterator_next", enif_map_iterator_next(a->env, &iter));
    enif_map_iterator_destroy(a->env, &iter);
}

static void ask_identifier(struct answers *a, ERL_NIF_TERM t)
{
    ErlNifPid pid = {enif_make_int(a->env, 77)};
    ErlNifPort port = {enif_make_int(a->env, 77)};
    int result = enif_get_local_pid(a->env, t, &pid);

    say_pair(a, "get_local_pid", result, enif_make_pid(a->env, &pid));
    if (result)
        say_int(a, "is_process_alive", enif_is_process_alive(a->env, &pid));
    result = enif_get_local_port(a->env, t, &port);
    say_pair(a, "get_local_port", result, port.port_id);
    if (result)
        say_int(a, "is_port_alive", enif_is_port_alive(a->env, &port));
}

static void ask_external(struct answers *a, ERL_NIF_TERM t)
{
    ErlNifBinary bin;
    ERL_NIF_TERM back = enif_make_int(a->env, 77);
    size_t used;

    if (!enif_term_to_binary(a->env, t, &bin)) {
        say_int(a, "term_to_binary", 0);
        return;
    }
    used = enif_binary_to_term(a->env, bin.data, bin.size, &back, 0);
    say_int(a, "binary_to_term reads all", used == bin.size);
    say_int(a, "binary_to_term gives it back", enif_is_identical(t, back));
    used = enif_binary_to_term(a->env, bin.data, bin.size - 1, &back, 0);
    say_int(a, "binary_to_term of less", (long)used);
    used = enif_binary_to_term(a->env, bin.data, bin.size, &back, 1);
    say_int(a, "binary_to_term with an unknown option", (long)used);
    used = enif_binary_to_term(a->env, bin.data, bin.size, &back, ERL_NIF_BIN2TERM_SAFE);
    say_int(a, "binary_to_term safe", used == bin.size);
    if (!enif_is_pid(a->env, t) && !enif_is_port(a->env, t) && ordered(a, t) == t)
        say(a, "term_to_binary", enif_make_binary(a->env, &bin));
    enif_release_binary(&bin);
}

void ask_term(struct answers *a, ERL_NIF_TERM t, int position)
{
    say_int(a, "---", position);
    ask_kind(a, t);
    ask_number(a, t);
    ask_atom(a, t);
    ask_list(a, t);
    ask_binary(a, t);
    ask_tuple(a, t);
    ask_map(a, t);
    ask_map_iterator(a, t, ERL_NIF_MAP_ITERATOR_FIRST);
    ask_map_iterator(a, t, ERL_NIF_MAP_ITERATOR_LAST);
    ask_identifier(a, t);
    ask_external(a, t);
}

/* Tests the external term format: encoded and decoded again, truncated, with options. */
#include "nif_api.h"

#include <string.h>

/* False for maps of more than 32 keys, whose order and so whose bytes depend on the host. */
static bool has_order(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifMapIterator iter;
    ERL_NIF_TERM head, tail, key, value;
    const ERL_NIF_TERM *elements;
    size_t size;
    int arity;

    if (enif_get_tuple(env, term, &arity, &elements))
        return arity != 1 || has_order(env, elements[0]);
    if (enif_get_list_cell(env, term, &head, &tail))
        return has_order(env, head) && has_order(env, tail);
    if (!enif_get_map_size(env, term, &size) || size != 1)
        return !enif_is_map(env, term) || size <= 32;
    enif_map_iterator_create(env, term, &iter, ERL_NIF_MAP_ITERATOR_FIRST);
    enif_map_iterator_get_pair(env, &iter, &key, &value);
    enif_map_iterator_destroy(env, &iter);
    return has_order(env, key) && has_order(env, value);
}

/* Counts the truncated encodings that can be decoded. */
static long count_cut(ErlNifEnv *env, const ErlNifBinary *bin)
{
    ERL_NIF_TERM term;
    long good = 0;

    for (size_t size = 0; size < bin->size && size < 300; size++)
        good += enif_binary_to_term(env, bin->data, size, &term, 0) != 0;
    return good;
}

static void there_and_back(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifBinary bin;
    ERL_NIF_TERM back = number(env, 77);
    unsigned char more[400];
    size_t used;

    if (!enif_term_to_binary(env, term, &bin)) {
        say_int("term_to_binary", 0);
        return;
    }
    used = enif_binary_to_term(env, bin.data, bin.size, &back, 0);
    say_int("reads all", used == bin.size);
    say_int("gives it back", enif_is_identical(term, back));
    used = enif_binary_to_term(env, bin.data, bin.size, &back, ERL_NIF_BIN2TERM_SAFE);
    say_int("safe", used == bin.size);
    used = enif_binary_to_term(env, bin.data, bin.size, &back, 1);
    say_int("with an unknown option", (long)used);
    say_int("cut off", count_cut(env, &bin));
    if (bin.size < sizeof more) {
        memset(more, 131, sizeof more);
        memcpy(more, bin.data, bin.size);
        say_int("with more behind",
                enif_binary_to_term(env, more, sizeof more, &back, 0) == bin.size);
    }
    if (has_order(env, term) && !NEWER)
        say(env, "term_to_binary", enif_make_binary(env, &bin));
    else
        enif_release_binary(&bin);
}

struct input {
    const char *name, *bytes;
    size_t size;
};
/* The letter a, forty times, compressed. */
#define COMPRESSED "\x78\x9c\xcb\x66\xd0\x48\x24\x12\x00\x00\x4f\x4f\x0f\xbc"
#define INPUT(name, bytes)            \
    {                                 \
        name, bytes, sizeof bytes - 1 \
    }

static const struct input inputs[] = {
    INPUT("a new atom", "\x83\x77\x10no_such_atom_yet"),
    INPUT("a new atom, old form", "\x83\x64\0\x11no_such_atom_yet2"),
    INPUT("a new atom in a list", "\x83\x6c\0\0\0\x01\x77\x11no_such_atom_yet3\x6a"),
    INPUT("a new node", "\x83\x58\x77\x05no@no\0\0\0\x07\0\0\0\x01\0\0\0\x05"),
    INPUT("a new key", "\x83\x74\0\0\0\x01\x77\x0cno_such_key1\x61\x01"),
    INPUT("nothing", ""),
    INPUT("no version", "\x61\x01"),
    INPUT("another version", "\x84\x61\x01"),
    INPUT("no tag", "\x83\xff\x01"),
    INPUT("an atom too long", "\x83\x64\x01\x00"),
    INPUT("no UTF-8", "\x83\x77\x02\xc3\xc3"),
    INPUT("a list too short", "\x83\x6c\xff\xff\xff\xff\x61\x01"),
    INPUT("a tuple too short", "\x83\x69\xff\xff\xff\xff\x61\x01"),
    INPUT("a binary too short", "\x83\x6d\xff\xff\xff\xff\x61\x01"),
    INPUT("a key twice", "\x83\x74\0\0\0\x02\x61\x01\x61\x02\x61\x01\x61\x03"),
    INPUT("keys that are equal",
          "\x83\x74\0\0\0\x02\x61\x01\x61\x02\x46\x3f\xf0\0\0\0\0\0\0\x61\x03"),
    INPUT("bits of none", "\x83\x4d\0\0\0\x01\x00\x80"),
    INPUT("bits of nine", "\x83\x4d\0\0\0\x01\x09\x80"),
    INPUT("bits of nothing", "\x83\x4d\0\0\0\x00\x03"),
    INPUT("an infinite float", "\x83\x46\x7f\xf0\0\0\0\0\0\0"),
    INPUT("a float as text", "\x83\x63"
                             "1.50000000000000000000e+00\0\0\0\0\0"),
    INPUT("an integer with zeros", "\x83\x6e\x04\x00\x05\0\0\0"),
    INPUT("an integer of no bytes", "\x83\x6e\x00\x00"),
    INPUT("an integer below zero with zeros", "\x83\x6e\x09\x01\x05\0\0\0\0\0\0\0\0"),
    INPUT("a string of none", "\x83\x6b\0\0"),
    INPUT("a list of none", "\x83\x6c\0\0\0\0\x6a"),
    INPUT("a list of none with a tail", "\x83\x6c\0\0\0\0\x61\x05"),
    INPUT("a reference of many words", "\x83\x5a\0\x06\x77\x05other\0\0\0\x05"
                                       "abcdefghijklmnopqrstuvwx"),
    INPUT("compressed, of another size", "\x83\x50\x00\x00\x00\x2c" COMPRESSED),
    INPUT("compressed, larger than it says", "\x83\x50\x00\x00\x00\x2a" COMPRESSED),
    INPUT("compressed, cut off", "\x83\x50\x00\x00\x00\x2b\x78\x9c\xcb"),
};

static void read_input(ErlNifEnv *env, const struct input *input, unsigned opts)
{
    ERL_NIF_TERM term;
    size_t used =
        enif_binary_to_term(env, (const unsigned char *)input->bytes, input->size, &term, opts);

    say_pair(env, input->name, (long)used, used ? term : number(env, 77)); /* spoilt in a BEAM */
}

/* Encodings that only a BEAM, or only tracehost, decodes. */
static const struct input odd[] = {
    INPUT("enif_binary_to_term: compressed", "\x83\x50\x00\x00\x00\x2b" COMPRESSED),
    INPUT("enif_binary_to_term: a reference of no words", "\x83\x5a\0\0\x77\x05other\0\0\0\x05"),
    INPUT("enif_binary_to_term: a function of an unknown module, safe",
          "\x83\x71\x77\x02ok\x77\x02ok\x61\x01"),
};

static void read_odd(ErlNifEnv *env, const struct input *input)
{
    ERL_NIF_TERM term;

    say_meant(env, input->name,
              number(env, (long)enif_binary_to_term(env, (const unsigned char *)input->bytes,
                                                    input->size, &term, ERL_NIF_BIN2TERM_SAFE)));
}

/* Latin-1 or UTF-8, depending on the release. */
static void say_atom_written(ErlNifEnv *env)
{
    ErlNifBinary bin;

    enif_term_to_binary(env, atom(env, "a"), &bin);
    say_meant_in_newer(env, "enif_term_to_binary: an atom", enif_make_binary(env, &bin));
}

ERL_NIF_TERM external(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);

    (void)argc;
    (void)argv;
    topic("external term");
    for (size_t i = 0; i < terms.count; i++)
        there_and_back(env, terms.all[i]);
    topic("external term, safe");
    for (size_t i = 0; i < COUNT(inputs); i++)
        read_input(env, &inputs[i], ERL_NIF_BIN2TERM_SAFE);
    topic("external term, not safe");
    for (size_t i = 0; i < COUNT(inputs); i++)
        read_input(env, &inputs[i], 0);
    topic("external term, once there");
    for (size_t i = 0; i < COUNT(inputs); i++)
        read_input(env, &inputs[i], ERL_NIF_BIN2TERM_SAFE);
    for (size_t i = 0; i < COUNT(odd); i++)
        read_odd(env, &odd[i]);
    say_atom_written(env);
    free_terms(&terms);
    return atom(env, "ok");
}

/* Tests the external term format: encoded and decoded again, truncated, with options. */
#include "nif_api.h"

#include <string.h>

/* Counts the truncated encodings that can be decoded. */
static long count_cut(ErlNifEnv *env, const ErlNifBinary *bin)
{
    ERL_NIF_TERM term;
    long good = 0;

    for (size_t size = 0; size < bin->size && size < 300; size++)
        good += enif_binary_to_term(env, bin->data, size, &term, 0) != 0;
    return good;
}

/* True for terms that are written without an atom, whose form depends on the release. */
static bool has_no_atom(ErlNifEnv *env, ERL_NIF_TERM term)
{
    return enif_is_binary(env, term) || enif_is_number(env, term) ||
           enif_is_empty_list(env, term) ||
           (enif_term_type(env, term) == ERL_NIF_TERM_TYPE_BITSTRING);
}

enum trip { ALL, SAFE, UNKNOWN, CUT, MORE, SIZE, TRIPS };
static const char *const trips[TRIPS] = {
    "enif_binary_to_term: all bytes are read and give the term: ",
    "enif_binary_to_term: safe, all bytes are read: ",
    "enif_binary_to_term: with an unknown option: ",
    "enif_binary_to_term: cut off: ",
    "enif_binary_to_term: with more behind, bytes read: ",
    "enif_term_to_binary: number of bytes, without atoms: ",
};

/* Encodes TERM, decodes it and puts the result. */
static void make_trip(ErlNifEnv *env, ERL_NIF_TERM term, enum trip trip)
{
    ErlNifBinary bin;
    ERL_NIF_TERM back = number(env, 77);
    unsigned char more[400];

    if (!enif_term_to_binary(env, term, &bin)) {
        put_text("none");
        return;
    }
    if (trip == ALL)
        put_int(enif_binary_to_term(env, bin.data, bin.size, &back, 0) == bin.size &&
                enif_is_identical(term, back));
    if (trip == SAFE)
        put_int(enif_binary_to_term(env, bin.data, bin.size, &back, ERL_NIF_BIN2TERM_SAFE) ==
                bin.size);
    if (trip == UNKNOWN)
        put_int((long)enif_binary_to_term(env, bin.data, bin.size, &back, 1));
    if (trip == CUT)
        put_int(count_cut(env, &bin));
    if (trip == MORE && bin.size < sizeof more) {
        memset(more, 131, sizeof more);
        memcpy(more, bin.data, bin.size);
        put_int(enif_binary_to_term(env, more, sizeof more, &back, 0) == bin.size);
    }
    if (trip == SIZE && has_no_atom(env, term))
        put_int((long)bin.size);
    enif_release_binary(&bin);
}

static void make_trips(ErlNifEnv *env, const struct terms *terms, enum trip trip)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        begin_row("%s%s", trips[trip], terms->kinds[kind].name);
        for (size_t i = terms->kinds[kind].first; i < terms->kinds[kind].end; i++)
            make_trip(env, terms->all[i], trip);
        end_row();
    }
    begin_row("%snested terms", trips[trip]);
    for (size_t i = terms->plain; i < terms->count; i++)
        make_trip(env, terms->all[i], trip);
    end_row_as_hash();
}

/* Writes the bytes of terms that have one order in each host and no atom. */
static void say_bytes(ErlNifEnv *env, const char *name, ERL_NIF_TERM term)
{
    ErlNifBinary bin;

    if (enif_term_to_binary(env, term, &bin))
        say(env, name, enif_make_binary(env, &bin));
}

static void ask_bytes(ErlNifEnv *env)
{
    ERL_NIF_TERM n = number(env, 5), map = enif_make_new_map(env);

    say_bytes(env, "enif_term_to_binary: 5", n);
    say_bytes(env, "255", number(env, 255));
    say_bytes(env, "256", number(env, 256));
    say_bytes(env, "-1", number(env, -1));
    say_bytes(env, "2^31 - 1", number(env, 0x7fffffffl));
    say_bytes(env, "2^31", number(env, 0x80000000l));
    say_bytes(env, "-2^31", number(env, -0x80000000l));
    say_bytes(env, "2^63", enif_make_uint64(env, 1ul << 63));
    say_bytes(env, "1.5", enif_make_double(env, 1.5));
    say_bytes(env, "-0.0", enif_make_double(env, -0.0));
    say_bytes(env, "[]", enif_make_list(env, 0));
    say_bytes(env, "a string", text(env, "text"));
    say_bytes(env, "a list with a large number", enif_make_list2(env, n, number(env, 256)));
    say_bytes(env, "an improper list", enif_make_list_cell(env, n, n));
    say_bytes(env, "a binary", bytes(env, "bytes", 5));
    say_bytes(env, "a tuple", enif_make_tuple2(env, n, n));
    say_bytes(env, "an empty map", map);
    enif_make_map_put(env, map, n, n, &map);
    say_bytes(env, "a map", map);
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

/* A BEAM spoils the output of a failure. */
static void read_input(ErlNifEnv *env, const struct input *input, unsigned opts, const char *how)
{
    ERL_NIF_TERM term;
    size_t used =
        enif_binary_to_term(env, (const unsigned char *)input->bytes, input->size, &term, opts);

    begin_row("enif_binary_to_term: %s, %s", input->name, how);
    put_int((long)used);
    if (used)
        put_term(env, term);
    end_row();
}

/* Encodings that only a BEAM, or only another host, decodes. */
static const struct input odd[] = {
    INPUT("enif_binary_to_term: compressed", "\x83\x50\x00\x00\x00\x2b" COMPRESSED),
    INPUT("enif_binary_to_term: a reference of no words", "\x83\x5a\0\0\x77\x05other\0\0\0\x05"),
    INPUT("enif_binary_to_term: a function of an unknown module, safe",
          "\x83\x71\x77\x02ok\x77\x02ok\x61\x01"),
};

static void read_odd(ErlNifEnv *env, const struct input *input)
{
    ERL_NIF_TERM term;

    say_differing(
        env, input->name,
        number(env, (long)enif_binary_to_term(env, (const unsigned char *)input->bytes, input->size,
                                              &term, ERL_NIF_BIN2TERM_SAFE)));
}

/* Latin-1 or UTF-8, depending on the release. */
static void say_atom_written(ErlNifEnv *env)
{
    ErlNifBinary bin;

    enif_term_to_binary(env, atom(env, "a"), &bin);
    say_differing(env, "enif_term_to_binary: an atom", enif_make_binary(env, &bin));
}

ERL_NIF_TERM external(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);

    (void)argc;
    (void)argv;
    for (enum trip trip = ALL; trip < TRIPS; trip++)
        make_trips(env, &terms, trip);
    ask_bytes(env);
    for (size_t i = 0; i < COUNT(inputs); i++)
        read_input(env, &inputs[i], ERL_NIF_BIN2TERM_SAFE, "safe");
    for (size_t i = 0; i < COUNT(inputs); i++)
        read_input(env, &inputs[i], 0, "not safe");
    for (size_t i = 0; i < 5; i++) /* their atoms are there now */
        read_input(env, &inputs[i], ERL_NIF_BIN2TERM_SAFE, "safe, a second time");
    for (size_t i = 0; i < COUNT(odd); i++)
        read_odd(env, &odd[i]);
    say_atom_written(env);
    free_terms(&terms);
    return atom(env, "ok");
}

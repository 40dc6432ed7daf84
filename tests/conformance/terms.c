/*
 * Creates the terms for all tests: each kind, with the edges of each range. They are the same in
 * each run and host. Identifiers are of other nodes, as those of this node differ in order and
 * hash.
 */
#include "nif_api.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000 };

ERL_NIF_TERM text(ErlNifEnv *env, const char *bytes)
{
    return enif_make_string(env, bytes, ERL_NIF_LATIN1);
}

ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

ERL_NIF_TERM number(ErlNifEnv *env, long value)
{
    return enif_make_long(env, value);
}

ERL_NIF_TERM bytes(ErlNifEnv *env, const char *data, size_t size)
{
    ERL_NIF_TERM term;

    memcpy(enif_make_new_binary(env, size, &term), data, size);
    return term;
}

static void add(struct terms *terms, ERL_NIF_TERM term)
{
    if (terms->count == MOST)
        abort();
    terms->all[terms->count++] = term;
}

/* Decodes bytes of the external format without the leading 131. */
static ERL_NIF_TERM decode(ErlNifEnv *env, const char *data, size_t size)
{
    unsigned char all[300] = {131};
    ERL_NIF_TERM term;

    memcpy(all + 1, data, size);
    if (!enif_binary_to_term(env, all, size + 1, &term, 0))
        abort();
    return term;
}

#define EXTERNAL(env, bytes) decode(env, bytes, sizeof bytes - 1)

ERL_NIF_TERM dead_pid(ErlNifEnv *env)
{
    ERL_NIF_TERM pid;
    ErlNifBinary bin;
    ErlNifPid self;

    enif_self(env, &self);
    enif_term_to_binary(env, enif_make_pid(env, &self), &bin);
    bin.data[bin.size - 10] ^= 0x40; /* in its number, to a value that is never reached */
    enif_binary_to_term(env, bin.data, bin.size, &pid, 0);
    enif_release_binary(&bin);
    return pid;
}

static void add_atoms(ErlNifEnv *env, struct terms *terms)
{
    static const char *const names[] = {"ok", "", "a", "b", "aa", "with space", "\xe5\xe4\xf6"};
    char longest[256];

    for (size_t i = 0; i < COUNT(names); i++)
        add(terms, atom(env, names[i]));
    memset(longest, 'x', 255);
    longest[255] = 0;
    add(terms, atom(env, longest));
    add(terms, EXTERNAL(env, "\x77\x06\xd0\x96\xf0\x9f\x98\x80"));
    add(terms, EXTERNAL(env, "\x77\x02\xce\xb1"));
}

/* Adds 2 to the power of BITS and its neighbours, and their negatives. */
static void add_edge(ErlNifEnv *env, struct terms *terms, unsigned bits)
{
    for (int more = -1; more <= 1; more++) {
        add(terms, enif_make_ulong(env, (1ul << bits) + (unsigned long)more));
        if (bits < 63)
            add(terms, enif_make_long(env, -(1l << bits) + more));
    }
}

static void add_integers(ErlNifEnv *env, struct terms *terms)
{
    static const unsigned edges[] = {7, 15, 27, 28, 31, 32, 53, 59, 60, 62, 63};

    for (size_t i = 0; i < COUNT(edges); i++)
        add_edge(env, terms, edges[i]);
    for (int i = -3; i < 4; i++)
        add(terms, enif_make_int(env, i));
    add(terms, enif_make_long(env, LONG_MIN));
    add(terms, enif_make_long(env, LONG_MIN + 1));
    add(terms, enif_make_ulong(env, ULONG_MAX));
    add(terms, EXTERNAL(env, "\x6e\x08\x01\x01\0\0\0\0\0\0\x80")); /* -2^63 - 1 */
    add(terms, EXTERNAL(env, "\x6e\x09\x00\0\0\0\0\0\0\0\0\x01")); /* 2^64 */
    add(terms, EXTERNAL(env, "\x6e\x09\x01\0\0\0\0\0\0\0\0\x01"));
    add(terms, EXTERNAL(env, "\x6e\x0d\x00\x01\0\0\0\0\0\0\0\0\0\0\0\x10")); /* 2^100 + 1 */
    add(terms, EXTERNAL(env, "\x6e\x0d\x01\x01\0\0\0\0\0\0\0\0\0\0\0\x10"));
}

static void add_floats(ErlNifEnv *env, struct terms *terms)
{
    static const double values[] = {0.0,    -0.0,    1.0,          2.0,     -1.5,   1e300,
                                    -1e300, 5e-324,  4294967296.0, DBL_MAX, 0x1p53, 0x1p60,
                                    0x1p63, -0x1p63, 0x1p64,       0x1p100, 0.1};

    for (size_t i = 0; i < COUNT(values); i++)
        add(terms, enif_make_double(env, values[i]));
}

static ERL_NIF_TERM sequence(ErlNifEnv *env, int count, bool as_tuple)
{
    ERL_NIF_TERM all[1000];

    for (int i = 0; i < count; i++)
        all[i] = enif_make_int(env, i + 1);
    return as_tuple ? enif_make_tuple_from_array(env, all, (unsigned)count)
                    : enif_make_list_from_array(env, all, (unsigned)count);
}

static ERL_NIF_TERM codes(ErlNifEnv *env, unsigned count, const int *values)
{
    ERL_NIF_TERM all[8];

    for (unsigned i = 0; i < count; i++)
        all[i] = enif_make_int(env, values[i]);
    return enif_make_list_from_array(env, all, count);
}

static void add_lists(ErlNifEnv *env, struct terms *terms)
{
    ERL_NIF_TERM nil = enif_make_list(env, 0), a = atom(env, "a"), io;

    add(terms, nil);
    add(terms, text(env, "text"));
    add(terms, enif_make_list1(env, nil));
    add(terms, enif_make_list1(env, enif_make_double(env, 1.0)));
    add(terms, enif_make_list_cell(env, a, atom(env, "b")));
    add(terms, enif_make_list_cell(env, number(env, 'a'), number(env, 'b')));
    add(terms, enif_make_list2(env, number(env, 'a'), a));
    add(terms, codes(env, 1, (int[]){1}));
    add(terms, codes(env, 1, (int[]){256}));
    add(terms, codes(env, 2, (int[]){255, 1}));
    add(terms, codes(env, 2, (int[]){0, 'a'}));
    add(terms, codes(env, 2, (int[]){0x1F600, 'a'}));
    add(terms, codes(env, 1, (int[]){0xD800}));
    add(terms, codes(env, 1, (int[]){-1}));
    add(terms, sequence(env, 1000, false));
    io = enif_make_list3(env, bytes(env, "list", 4), number(env, '!'), nil);
    add(terms, enif_make_list2(env, text(env, "io"), io));
    add(terms, enif_make_list_cell(env, io, bytes(env, "tail", 4)));
    add(terms, enif_make_list_cell(env, io, a));
    add(terms, enif_make_list_cell(env, number(env, 256), bytes(env, "x", 1)));
    io = EXTERNAL(env, "\x4d\0\0\0\x01\x03\x20");
    add(terms, enif_make_list1(env, io));
    add(terms, enif_make_list_cell(env, text(env, "bits"), io));
    io = enif_make_list1(env, enif_make_list1(env, enif_make_list1(env, text(env, "deep"))));
    add(terms, enif_make_list2(env, io, text(env, "b")));
}

static void add_bits(ErlNifEnv *env, struct terms *terms)
{
    ERL_NIF_TERM whole;
    unsigned char *data = enif_make_new_binary(env, 200, &whole);

    for (size_t i = 0; i < 200; i++)
        data[i] = (unsigned char)('0' + i % 10);
    add(terms, whole);
    add(terms, enif_make_sub_binary(env, whole, 5, 100));
    add(terms, enif_make_sub_binary(env, enif_make_sub_binary(env, whole, 5, 100), 7, 0));
    add(terms, bytes(env, "", 0));
    add(terms, bytes(env, "bytes", 5));
    add(terms, bytes(env, "a", 1));
    add(terms, bytes(env, "\0", 1));
    add(terms, EXTERNAL(env, "\x4d\0\0\0\x01\x01\x80"));
    add(terms, EXTERNAL(env, "\x4d\0\0\0\x01\x07\x80"));
    add(terms, EXTERNAL(env, "\x4d\0\0\0\x04\x03\x61\x62\x63\xa0"));
}

/* Creates a map with the keys from 1 to COUNT; each value is the negated key. */
static ERL_NIF_TERM large_map(ErlNifEnv *env, int count)
{
    ERL_NIF_TERM map = enif_make_new_map(env);

    for (int i = 1; i <= count; i++)
        enif_make_map_put(env, map, number(env, i), number(env, -i), &map);
    return map;
}

static void add_maps(ErlNifEnv *env, struct terms *terms)
{
    ERL_NIF_TERM map = enif_make_new_map(env), a = atom(env, "a");
    ERL_NIF_TERM keys[] = {number(env, 1), enif_make_double(env, 1.0), a, text(env, "s"),
                           enif_make_tuple(env, 0)};

    add(terms, map);
    for (size_t i = 0; i < COUNT(keys); i++) {
        enif_make_map_put(env, map, keys[i], a, &map);
        add(terms, map);
    }
    add(terms, large_map(env, 32));
    add(terms, large_map(env, 33));
    add(terms, large_map(env, 40));
    add(terms, large_map(env, 500));
}

static void add_identifiers(ErlNifEnv *env, struct terms *terms)
{
    add(terms, EXTERNAL(env, "\x58\x77\x05other\0\0\0\x07\0\0\0\x01\0\0\0\x05"));
    add(terms, EXTERNAL(env, "\x58\x77\x05other\0\0\0\x08\0\0\0\0\0\0\0\x05"));
    add(terms, EXTERNAL(env, "\x58\x77\x07nodes@x\0\0\0\x07\0\0\0\x01\0\0\0\x05"));
    add(terms, EXTERNAL(env, "\x59\x77\x05other\0\0\0\x09\0\0\0\x05"));
    add(terms, EXTERNAL(env, "\x59\x77\x05other\0\0\0\x0a\0\0\0\x05"));
    add(terms, EXTERNAL(env, "\x5a\0\x03\x77\x05other\0\0\0\x05\0\0\0\x01\0\0\0\x02\0\0\0\x03"));
    add(terms, EXTERNAL(env, "\x5a\0\x01\x77\x05other\0\0\0\x05\0\0\0\x01"));
    add(terms, EXTERNAL(env, "\x71\x77\x06"
                             "erlang\x77\x03"
                             "abs\x61\x01"));
    add(terms, EXTERNAL(env, "\x71\x77\x05lists\x77\x03map\x61\x02"));
    add(terms, EXTERNAL(env, "\x70\0\0\0\x3e\x02uniq5678uniq5678\0\0\0\x01\0\0\0\0"
                             "\x77\x07nowhere\x61\x03\x61\x07"
                             "\x58\x77\x05other\0\0\0\x07\0\0\0\x01\0\0\0\x05"));
    add(terms, EXTERNAL(env, "\x70\0\0\0\x41\x02uniq5678uniq5678\0\0\0\x01\0\0\0\x01"
                             "\x77\x07nowhere\x61\x03\x61\x07"
                             "\x58\x77\x05other\0\0\0\x07\0\0\0\x01\0\0\0\x05"
                             "\x77\x01"
                             "a"));
}

static void add_tuples(ErlNifEnv *env, struct terms *terms)
{
    ERL_NIF_TERM a = atom(env, "a"), empty = enif_make_tuple(env, 0);

    add(terms, empty);
    add(terms, enif_make_tuple1(env, a));
    add(terms, enif_make_tuple2(env, a, a));
    add(terms, enif_make_tuple4(env, a, number(env, 1), text(env, "b"), empty));
    add(terms, sequence(env, 300, true));
}

/* Adds each of the first COUNT terms again, inside of other terms. */
static void add_nested(ErlNifEnv *env, struct terms *terms, size_t count)
{
    ERL_NIF_TERM map, nil = enif_make_list(env, 0), a = atom(env, "a");

    for (size_t i = 0; i < count; i += 3) {
        ERL_NIF_TERM term = terms->all[i];
        add(terms, enif_make_tuple1(env, term));
        add(terms, enif_make_list_cell(env, term, nil));
        add(terms, enif_make_list_cell(env, a, term));
        enif_make_map_put(env, enif_make_new_map(env), term, a, &map);
        add(terms, map);
        enif_make_map_put(env, enif_make_new_map(env), a, term, &map);
        add(terms, map);
    }
}

struct terms make_terms(ErlNifEnv *env)
{
    static const struct {
        const char *name;
        void (*add)(ErlNifEnv *env, struct terms *terms);
    } kinds[KINDS] = {
        {"atoms", add_atoms},      {"integers", add_integers},
        {"floats", add_floats},    {"lists", add_lists},
        {"bit strings", add_bits}, {"tuples", add_tuples},
        {"maps", add_maps},        {"pids, ports, references and funs", add_identifiers}};
    struct terms terms = {.all = calloc(MOST, sizeof *terms.all)};

    if (!terms.all)
        abort();
    for (size_t i = 0; i < KINDS; i++) {
        terms.kinds[i].name = kinds[i].name;
        terms.kinds[i].first = terms.count;
        kinds[i].add(env, &terms);
        terms.kinds[i].end = terms.count;
    }
    terms.plain = terms.count;
    add_nested(env, &terms, terms.plain);
    return terms;
}

void free_terms(struct terms *terms)
{
    free(terms->all);
}

/*
 * Generates JSON documents and runs jiffy on them.
 *
 *     documents:text(N)         the Nth document: the same text for the same N, some hundred bytes;
 *                               each tenth is much larger
 *     documents:round_trips(N)  jiffy decodes and encodes the first N, by external calls of its
 *                               library's functions, as jiffy.erl does. Returns {Calls, Same}: the
 *                               number of calls, and the number of documents whose encoded text is
 *                               decoded to the same term
 */
#include <nif_module.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --- Documents -------------------------------------------------------------------------------- */

struct document {
    ErlNifBinary bytes;
    size_t used;
    uint64_t random;
};

static unsigned choose(struct document *d, unsigned count)
{
    d->random = d->random * 6364136223846793005 + 1442695040888963407;
    return (unsigned)((d->random >> 33) % count);
}

static void put(struct document *d, const char *text)
{
    size_t size = strlen(text);

    if (d->used + size > d->bytes.size)
        enif_realloc_binary(&d->bytes, 2 * (d->used + size));
    memcpy(d->bytes.data + d->used, text, size);
    d->used += size;
}

static void put_leaf(struct document *d)
{
    static const char *const words[] = {"true",
                                        "false",
                                        "null",
                                        "\"\"",
                                        "\"\\u00e9t\\u00e9\"",
                                        "\"two\\nlines\"",
                                        "\"\xE2\x82\xAC\"",
                                        "[]",
                                        "{}"};
    char number[64];

    switch (choose(d, 3)) {
    case 0:
        snprintf(number, sizeof number, "%d", (int)choose(d, 2000000) - 1000000);
        put(d, number);
        break;
    case 1:
        snprintf(number, sizeof number, "%u.%ue-%u", choose(d, 1000), choose(d, 1000),
                 choose(d, 30));
        put(d, number);
        break;
    default:
        put(d, words[choose(d, sizeof words / sizeof words[0])]);
    }
}

static void put_value(struct document *d, unsigned levels)
{
    bool object = choose(d, 2);
    unsigned count = 1 + choose(d, 6);
    char key[32];

    if (levels == 0) {
        put_leaf(d);
        return;
    }
    put(d, object ? "{" : "[");
    for (unsigned i = 0; i < count; i++) {
        snprintf(key, sizeof key, "\"%c%u\": ", 'a' + (int)choose(d, 26), i);
        put(d, i ? ", " : "");
        put(d, object ? key : "");
        put_value(d, levels - 1);
    }
    put(d, object ? "}" : "]");
}

static ERL_NIF_TERM make_text(ErlNifEnv *env, unsigned number)
{
    struct document d = {.used = 0, .random = number};

    enif_alloc_binary(1024, &d.bytes);
    choose(&d, 2);
    put_value(&d, number % 10 == 0 ? 6 : 2);
    enif_realloc_binary(&d.bytes, d.used);
    return enif_make_binary(env, &d.bytes);
}

static ERL_NIF_TERM text(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned number;

    (void)argc;
    return enif_get_uint(env, argv[0], &number) ? make_text(env, number) : enif_make_badarg(env);
}

/* --- jiffy ------------------------------------------------------------------------------------ */

static ERL_NIF_TERM jiffy(ErlNifEnv *env, const char *function, int argc, const ERL_NIF_TERM argv[],
                          unsigned *calls)
{
    ++*calls;
    return th_call(env, enif_make_atom(env, "jiffy"), enif_make_atom(env, function), argc, argv);
}

static ERL_NIF_TERM decode(ErlNifEnv *env, ERL_NIF_TERM text, unsigned *calls)
{
    ERL_NIF_TERM argv[] = {text, enif_make_list1(env, enif_make_atom(env, "return_maps"))};

    return jiffy(env, "nif_decode_init", 2, argv, calls);
}

/* The encoded pieces are in reverse order. */
static ERL_NIF_TERM encode(ErlNifEnv *env, ERL_NIF_TERM term, unsigned *calls)
{
    ERL_NIF_TERM argv[] = {term, enif_make_list(env, 0)};
    ERL_NIF_TERM pieces = jiffy(env, "nif_encode_init", 2, argv, calls), whole;
    ErlNifBinary bytes;

    if (!pieces || !enif_make_reverse_list(env, pieces, &whole) ||
        !enif_inspect_iolist_as_binary(env, whole, &bytes))
        return 0;
    return enif_make_binary(env, &bytes);
}

static ERL_NIF_TERM round_trips(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned count, same = 0, calls = 0;

    (void)argc;
    if (!enif_get_uint(env, argv[0], &count))
        return enif_make_badarg(env);
    for (unsigned i = 1; i <= count; i++) {
        ERL_NIF_TERM term = decode(env, make_text(env, i), &calls), again;
        ERL_NIF_TERM encoded = term ? encode(env, term, &calls) : 0;
        if (!encoded || !(again = decode(env, encoded, &calls)))
            return 0;
        same += enif_is_identical(term, again);
    }
    return enif_make_tuple2(env, enif_make_uint(env, calls), enif_make_uint(env, same));
}

static ErlNifFunc functions[] = {{"text", 1, text, 0}, {"round_trips", 1, round_trips, 0}};

ERL_NIF_INIT(documents, functions, NULL, NULL, NULL, NULL)

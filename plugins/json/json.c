/*
 * json: a NIF library that parses and prints JSON, with Jansson. README.md describes how terms and
 * JSON correspond.
 *
 *     decode(Text)           the term of a binary; error:{Position, Reason}
 *     encode(Term)           the text as a binary; error:{Reason, Term}
 *     encode(Term, Options)  of sort_keys, escape_unicode, {indent, N}
 *
 * Jansson cannot be interrupted. So work for longer than a timeslice, about a millisecond, is done
 * on a dirty scheduler: for a text, depending on its size; for a term, whose size is unknown, from
 * its beginning again, once it has turned out to be large.
 */
#include "parts.h"

#include <limits.h>

enum { SLICE_BYTES = 20000 }; /* bytes of text for a timeslice */

/* --- Decoding --------------------------------------------------------------------------------- */

static ERL_NIF_TERM decode_whole(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifBinary text;

    (void)argc;
    if (!enif_inspect_binary(env, argv[0], &text) || text.size > INT_MAX / 2)
        return enif_make_badarg(env);
    return decode_text(env, (const char *)text.data, text.size);
}

static ERL_NIF_TERM decode(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifBinary text;

    if (!enif_inspect_binary(env, argv[0], &text))
        return enif_make_badarg(env);
    if (text.size > SLICE_BYTES)
        return enif_schedule_nif(env, "decode", ERL_NIF_DIRTY_JOB_CPU_BOUND, decode_whole, argc,
                                 argv);
    enif_consume_timeslice(env, 1 + (int)(99 * text.size / SLICE_BYTES));
    return decode_whole(env, argc, argv);
}

/* --- Encoding --------------------------------------------------------------------------------- */

static bool read_option(ErlNifEnv *env, ERL_NIF_TERM option, size_t *flags)
{
    const ERL_NIF_TERM *pair;
    unsigned indent;
    int size;

    if (enif_is_identical(option, enif_make_atom(env, "sort_keys"))) {
        *flags |= JSON_SORT_KEYS;
        return true;
    }
    if (enif_is_identical(option, enif_make_atom(env, "escape_unicode"))) {
        *flags |= JSON_ENSURE_ASCII;
        return true;
    }
    if (!enif_get_tuple(env, option, &size, &pair) || size != 2 ||
        !enif_is_identical(pair[0], enif_make_atom(env, "indent")) ||
        !enif_get_uint(env, pair[1], &indent) || indent < 1 || indent > JSON_MAX_INDENT)
        return false;
    *flags = (*flags & ~(size_t)(JSON_COMPACT | JSON_MAX_INDENT)) | JSON_INDENT(indent);
    return true;
}

/* Gets the flags for Jansson; false if OPTIONS are invalid. */
static bool read_options(ErlNifEnv *env, ERL_NIF_TERM options, size_t *flags)
{
    ERL_NIF_TERM option;

    *flags = JSON_COMPACT;
    while (enif_get_list_cell(env, options, &option, &options))
        if (!read_option(env, option, flags))
            return false;
    return enif_is_empty_list(env, options);
}

/* Encodes; on a dirty scheduler if STEPS do not suffice. */
static ERL_NIF_TERM encode_within(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[], long *steps);

static ERL_NIF_TERM encode_whole(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    long steps = LONG_MAX;

    return encode_within(env, argc, argv, &steps);
}

static ERL_NIF_TERM encode_within(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[], long *steps)
{
    ERL_NIF_TERM options = argc == 2 ? argv[1] : enif_make_list(env, 0), text;
    size_t flags;

    if (!read_options(env, options, &flags))
        return enif_make_badarg(env);
    switch (encode_term(env, argv[0], flags, steps, &text)) {
    case ENCODE_DONE:
        return text;
    case ENCODE_TOO_MUCH:
        return enif_schedule_nif(env, "encode", ERL_NIF_DIRTY_JOB_CPU_BOUND, encode_whole, argc,
                                 argv);
    case ENCODE_RAISED:
        break;
    }
    return 0; /* ignored by the host */
}

static ERL_NIF_TERM encode(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    long steps = SLICE_STEPS;
    ERL_NIF_TERM result = encode_within(env, argc, argv, &steps);

    enif_consume_timeslice(env,
                           steps > 0 ? 1 + (int)(99 * (SLICE_STEPS - steps) / SLICE_STEPS) : 100);
    return result;
}

/* --- The library ------------------------------------------------------------------------------ */

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    (void)env;
    (void)data;
    (void)info;
    return 0;
}

static int upgrade(ErlNifEnv *env, void **data, void **old_data, ERL_NIF_TERM info)
{
    (void)old_data;
    return load(env, data, info);
}

static ErlNifFunc functions[] = {
    {"decode", 1, decode, 0}, {"encode", 1, encode, 0}, {"encode", 2, encode, 0}};

ERL_NIF_INIT(json, functions, load, NULL, upgrade, NULL)

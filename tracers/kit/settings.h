/*
 * Readers of a tracer's settings, whose rows are the table th_tracer_settings of the tracer, and the
 * report of its failures. The state that they get is a map, or 0 for one without settings.
 */
#ifndef TRACER_SETTINGS_H
#define TRACER_SETTINGS_H

#include <erl_tracer.h>
#include <nif_module.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Returns false for states without settings, which need no look-up. */
static inline bool output_has_settings(ErlNifEnv *env, ERL_NIF_TERM state)
{
    size_t size;

    return enif_get_map_size(env, state, &size) && size > 0;
}

/* Copies the state's text under KEY, an atom, string, binary or integer, cut to SIZE. False if
 * there is none. */
static inline bool output_setting(ErlNifEnv *env, ERL_NIF_TERM state, const char *key, char *text,
                                  size_t size)
{
    ERL_NIF_TERM value;
    ErlNifBinary bytes;
    size_t length;

    if (!enif_get_map_value(env, state, enif_make_atom(env, key), &value))
        return false;
    if (enif_get_atom(env, value, text, (unsigned)size, ERL_NIF_LATIN1))
        return true;
    if (enif_is_number(env, value))
        return enif_snprintf(text, size, "%T", value) > 0;
    if (!enif_inspect_iolist_as_binary(env, value, &bytes))
        return false;
    length = bytes.size < size - 1 ? bytes.size : size - 1;
    memcpy(text, bytes.data, length);
    text[length] = 0;
    return true;
}

/* Returns the row of KEY, which must have one. */
static inline const struct th_tracer_setting *output_row(const char *key)
{
    const struct th_tracer_setting *row = th_tracer_settings;

    while (strcmp(row->name, key) != 0)
        row++;
    return row;
}

/* Returns the index of WORD in WORDS, or the number of WORDS. */
static inline unsigned output_place(const char *words, const char *word)
{
    unsigned place = 0;

    while (*words) {
        size_t length = strcspn(words, " ");
        if (length == strlen(word) && memcmp(words, word, length) == 0)
            break;
        place++;
        words += length + strspn(words + length, " ");
    }
    return place;
}

/* Returns the index of the state's word under KEY; of the default word if there is none, or if the
 * term is another one, which is reported; the number of words if there is no default. STATE may be
 * 0. */
static inline unsigned output_choice(ErlNifEnv *env, ERL_NIF_TERM state, const char *key)
{
    const struct th_tracer_setting *row = output_row(key);
    const char *otherwise = row->otherwise ? row->otherwise : "";
    char text[64];

    if (!state || !output_setting(env, state, key, text, sizeof text))
        return output_place(row->words, otherwise);
    if (output_place(row->words, text) < output_place(row->words, ""))
        return output_place(row->words, text);
    fprintf(stderr, "tracer: the setting '%s' cannot be '%s'; the setting must be one of: %s\n",
            key, text, row->words);
    return output_place(row->words, otherwise);
}

/* Returns whether the state has a number under KEY. */
static inline bool output_has_number(ErlNifEnv *env, ERL_NIF_TERM state, const char *key,
                                     unsigned *number)
{
    ERL_NIF_TERM value;

    return state && enif_get_map_value(env, state, enif_make_atom(env, key), &value) &&
           enif_get_uint(env, value, number);
}

/* Returns the number under KEY; without one the default. */
static inline unsigned output_number(ErlNifEnv *env, ERL_NIF_TERM state, const char *key)
{
    unsigned number;

    if (output_has_number(env, state, key, &number))
        return number;
    return (unsigned)strtoul(output_row(key)->otherwise, NULL, 10);
}

/* Returns the nanoseconds under KEY; of the default if there are none, or if the text is no time, which
 * is reported. */
static inline ErlNifTime output_time(ErlNifEnv *env, ERL_NIF_TERM state, const char *key)
{
    char text[64];
    ErlNifTime ns = 0;

    th_setting_time(output_row(key)->otherwise, &ns);
    if (state && output_setting(env, state, key, text, sizeof text) && !th_setting_time(text, &ns))
        fprintf(stderr, "tracer: the setting '%s' cannot be '%s'; it must be a time such as 10us\n",
                key, text);
    return ns;
}

/* Warns about unknown settings, which an Erlang node does not check. */
static inline void output_check_keys(ErlNifEnv *env, ERL_NIF_TERM state)
{
    const struct th_tracer_setting *row;
    size_t known = 0, size;
    ERL_NIF_TERM value;

    for (row = th_tracer_settings; row->name; row++)
        known += !!enif_get_map_value(env, state, enif_make_atom(env, row->name), &value);
    if (!enif_get_map_size(env, state, &size) || size == known)
        return;
    fputs("tracer: a setting is unknown; the settings are", stderr);
    for (row = th_tracer_settings; row->name; row++)
        fprintf(stderr, " %s", row->name);
    fputc('\n', stderr);
}

/* Reports that the tracer cannot do its work, with the reason TEXT. */
static inline void output_fail(ErlNifEnv *env, const char *text)
{
    if (TH_HAS(th_tracer_failed))
        th_tracer_failed(env, text);
    else
        fprintf(stderr, "tracer: %s\n", text);
}

/* For unload: reports that COUNT of WHAT are missing in the output for want of memory. */
static inline void output_report_lost(ErlNifEnv *env, const char *what, uint64_t count)
{
    char text[200];

    if (!count)
        return;
    snprintf(text, sizeof text, "%s lost, out of memory: %llu", what, (unsigned long long)count);
    output_fail(env, text);
}

#endif

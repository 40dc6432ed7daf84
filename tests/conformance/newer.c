/* Tests functions of NIF 2.17 (OTP 26) if the header has them: UTF-8, options of a library. */
#include "nif_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if NEWER

/* Each name has a size, as some contain a zero byte. */
static const struct {
    const char *bytes;
    size_t size;
} names[] = {
#define NAME(bytes)              \
    {                            \
        bytes, sizeof(bytes) - 1 \
    }
    NAME(""),
    NAME("ok"),
    NAME("nif_api_new"),
    NAME("a\0b"),
    NAME("\xe5\xe4\xf6"),             /* Latin-1 */
    NAME("\xc3\xa5\xc3\xa4"),         /* UTF-8, of Latin-1 */
    NAME("\xce\xb1\xce\xb2"),         /* beyond Latin-1 */
    NAME("\xe2\x82\xac"),             /* three bytes */
    NAME("\xf0\x9f\x98\x80"),         /* four */
    NAME("\xf4\x8f\xbf\xbf"),         /* U+10FFFF */
    NAME("\xf4\x90\x80\x80"),         /* above it */
    NAME("\xed\xa0\x80"),             /* a surrogate */
    NAME("\xef\xbf\xbe\xef\xbf\xbf"), /* no characters */
    NAME("\xc0\x80"),                 /* overlong */
    NAME("\xe0\x80\xaf"),             /* overlong */
    NAME("a\x80"),                    /* starts with a continuation byte */
    NAME("a\xc3"),                    /* truncated */
    NAME("a\xe2\x82"),                /* truncated */
    NAME("\xfe\xff"),
};
static const ErlNifCharEncoding encodings[] = {ERL_NIF_LATIN1, ERL_NIF_UTF8, (ErlNifCharEncoding)0,
                                               (ErlNifCharEncoding)9};

/* Reports the code points of an atom's name. */
static void say_atom(ErlNifEnv *env, const char *name, int result, ERL_NIF_TERM term)
{
    char buffer[2000] = "";
    unsigned length = 77;

    say_int(name, result);
    if (!result)
        return;
    say_int("its length", enif_get_atom_length(env, term, &length, ERL_NIF_UTF8));
    say_int("its length", length);
    say_int("its name", enif_get_atom(env, term, buffer, sizeof buffer, ERL_NIF_UTF8));
    say_text("its name", buffer);
    length = 77;
    say_int("its length in Latin-1", enif_get_atom_length(env, term, &length, ERL_NIF_LATIN1));
    say_int("its length in Latin-1", length);
    for (unsigned size = 0; size < 6; size++) {
        strcpy(buffer, "untouched");
        say_int("into few bytes", enif_get_atom(env, term, buffer, size, ERL_NIF_UTF8));
        say_text("into few bytes", buffer);
    }
}

static void ask_atoms(ErlNifEnv *env, const char *bytes, size_t size, ErlNifCharEncoding encoding)
{
    ERL_NIF_TERM made = number(env, 77);

    say_atom(env, "make_existing_atom_len, too early",
             enif_make_existing_atom_len(env, bytes, size, &made, encoding), made);
    say_atom(env, "make_new_atom", enif_make_new_atom(env, bytes, &made, encoding), made);
    say_atom(env, "make_new_atom_len", enif_make_new_atom_len(env, bytes, size, &made, encoding),
             made);
    say_atom(env, "make_existing_atom", enif_make_existing_atom(env, bytes, &made, encoding), made);
    say_atom(env, "make_existing_atom_len",
             enif_make_existing_atom_len(env, bytes, size, &made, encoding), made);
    say_int("an exception", enif_has_pending_exception(env, &made));
}

/* Creates an atom of COUNT characters, of SIZE bytes each. */
static void ask_long_atom(ErlNifEnv *env, const char *character, size_t count,
                          ErlNifCharEncoding encoding)
{
    size_t size = strlen(character);
    char *name = malloc(count * size + 1);
    ERL_NIF_TERM made = number(env, 77);

    for (size_t i = 0; name && i < count; i++)
        strcpy(name + i * size, character);
    say_atom(env, "a long atom", enif_make_new_atom(env, name, &made, encoding), made);
    say_atom(env, "a long atom", enif_make_new_atom_len(env, name, count * size, &made, encoding),
             made);
    free(name);
}

/* --- Strings ---------------------------------------------------------------------------------- */

static void ask_get_string(ErlNifEnv *env, ERL_NIF_TERM list, ErlNifCharEncoding encoding)
{
    unsigned length = 77;
    char buffer[2000];

    say_int("get_string_length", enif_get_string_length(env, list, &length, encoding));
    say_int("the length", length);
    for (unsigned size = 0; size < 12; size++) {
        strcpy(buffer, "untouched....");
        say_int("get_string", enif_get_string(env, list, buffer, size, encoding));
        say_text("the text", size ? buffer : "none");
    }
}

static ERL_NIF_TERM characters(ErlNifEnv *env, const long *codes, size_t count)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);

    while (count-- > 0)
        list = enif_make_list_cell(env, number(env, codes[count]), list);
    return list;
}

/* Creates a string in an environment of its own, where an exception stays. */
static void ask_make_string(const char *bytes, size_t size, ErlNifCharEncoding encoding)
{
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM made = enif_make_string_len(env, bytes, size, encoding);

    say(env, "make_string_len",
        enif_has_pending_exception(env, NULL) ? atom(env, "an exception") : made);
    enif_clear_env(env);
    made = enif_make_string(env, bytes, encoding);
    say(env, "make_string",
        enif_has_pending_exception(env, NULL) ? atom(env, "an exception") : made);
    enif_free_env(env);
}

static void ask_strings(ErlNifEnv *env, ErlNifCharEncoding encoding)
{
    static const long codes[][3] = {{'a', 'b', 'c'},       {'a', 0xe5, 0xff}, {0x3b1, 'b', 0x20ac},
                                    {0x1f600, 'a', 'b'},   {0x10ffff, 1, 2},  {0x110000, 1, 2},
                                    {'a', 0xd800, 'b'},    {'a', 0, 'b'},     {'a', -1, 'b'},
                                    {0x7ff, 0x800, 0xffff}};
    ERL_NIF_TERM improper = enif_make_list_cell(env, number(env, 'a'), number(env, 'b'));
    struct terms terms = make_terms(env);

    for (size_t i = 0; i < COUNT(names); i++)
        ask_make_string(names[i].bytes, names[i].size, encoding);
    for (size_t i = 0; i < COUNT(codes); i++)
        ask_get_string(env, characters(env, codes[i], 3), encoding);
    ask_get_string(env, improper, encoding);
    for (size_t i = 0; i < terms.plain; i++) {
        unsigned length = 77;
        say_int("get_string_length", enif_get_string_length(env, terms.all[i], &length, encoding));
        say_int("the length", length);
    }
    free_terms(&terms);
}

/* --- Options ---------------------------------------------------------------------------------- */

static unsigned threads_unloaded; /* threads for which the callback ran */

static void on_unload_thread(void *priv_data)
{
    __atomic_fetch_add(&threads_unloaded, priv_data != NULL, __ATOMIC_RELAXED);
}

static void on_halt(void *priv_data)
{
    (void)priv_data;
}

void set_options(ErlNifEnv *env)
{
    say_int("set_option: on_unload_thread",
            enif_set_option(env, ERL_NIF_OPT_ON_UNLOAD_THREAD, on_unload_thread));
    say_int("set_option: on_unload_thread again",
            enif_set_option(env, ERL_NIF_OPT_ON_UNLOAD_THREAD, on_unload_thread));
    say_int("set_option: on_halt", enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt));
    say_int("set_option: on_halt again", enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt));
    say_int("set_option: delay_halt", enif_set_option(env, ERL_NIF_OPT_DELAY_HALT));
    say_int("set_option: delay_halt again", enif_set_option(env, ERL_NIF_OPT_DELAY_HALT));
    say_int("set_option: none", enif_set_option(env, (ErlNifOption)0));
    say_int("set_option: unknown", enif_set_option(env, (ErlNifOption)9, on_halt));
}

void say_unloaded_threads(void)
{
    say_int("threads have unloaded it before", threads_unloaded > 0);
}

ERL_NIF_TERM newer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *other = enif_alloc_env();

    (void)argc;
    (void)argv;
    topic("NIF 2.17");
    for (size_t e = 0; e < COUNT(encodings); e++) {
        say_int("encoding", encodings[e]);
        for (size_t i = 0; i < COUNT(names); i++)
            ask_atoms(other, names[i].bytes, names[i].size, encodings[e]);
        for (size_t count = 254; count < 257; count++) {
            ask_long_atom(other, "n", count, encodings[e]);
            ask_long_atom(other, "\xce\xb1", count, encodings[e]);
            ask_long_atom(other, "\xf0\x9f\x98\x80", count, encodings[e]);
        }
        ask_strings(other, encodings[e]);
    }
    say_int("set_option, too late", enif_set_option(env, ERL_NIF_OPT_DELAY_HALT));
    enif_free_env(other);
    return atom(env, "ok");
}

#else

void set_options(ErlNifEnv *env)
{
    (void)env;
}

void say_unloaded_threads(void)
{
}

ERL_NIF_TERM newer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return atom(env, "ok");
}

#endif

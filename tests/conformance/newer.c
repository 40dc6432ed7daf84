/*
 * Tests functions of NIF 2.17 (OTP 26) and 2.18 (OTP 29) if the host has them: UTF-8, options of a
 * library, sizes of terms, indices of atoms. They are looked up, so that a library that was
 * compiled with an older header tests them, too.
 */
#include "nif_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UTF8 = 2 }; /* ERL_NIF_UTF8 */
enum { DELAY_HALT = 1, ON_HALT, ON_UNLOAD_THREAD };

static int (*make_new_atom)(ErlNifEnv *, const char *, ERL_NIF_TERM *, ErlNifCharEncoding);
static int (*make_new_atom_len)(ErlNifEnv *, const char *, size_t, ERL_NIF_TERM *,
                                ErlNifCharEncoding);
static int (*get_string_length)(ErlNifEnv *, ERL_NIF_TERM, unsigned *, ErlNifCharEncoding);
static int (*set_option)(ErlNifEnv *, int, ...);

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
static const struct {
    ErlNifCharEncoding code;
    const char *name;
} encodings[] = {{ERL_NIF_LATIN1, "Latin-1"},
                 {(ErlNifCharEncoding)UTF8, "UTF-8"},
                 {(ErlNifCharEncoding)0, "encoding 0"},
                 {(ErlNifCharEncoding)9, "encoding 9"}};

/* The functions that make an atom; each gives a row for each encoding. */
enum maker { EXISTING_EARLY, NEW, NEW_LEN, EXISTING, EXISTING_LEN, MAKERS };
static const char *const makers_of_atoms[MAKERS] = {
    "enif_make_existing_atom_len: too early", "enif_make_new_atom: 19 names",
    "enif_make_new_atom_len: 19 names", "enif_make_existing_atom: 19 names",
    "enif_make_existing_atom_len: 19 names"};

static int make_atom_by(enum maker maker, ErlNifEnv *env, const char *bytes, size_t size,
                        ERL_NIF_TERM *made, ErlNifCharEncoding encoding)
{
    switch (maker) {
    case NEW:
        return make_new_atom(env, bytes, made, encoding);
    case NEW_LEN:
        return make_new_atom_len(env, bytes, size, made, encoding);
    case EXISTING:
        return enif_make_existing_atom(env, bytes, made, encoding);
    default:
        return enif_make_existing_atom_len(env, bytes, size, made, encoding);
    }
}

static void make_atoms_by(enum maker maker, ErlNifEnv *env, size_t e)
{
    begin_row("%s, %s", makers_of_atoms[maker], encodings[e].name);
    for (size_t i = 0; i < COUNT(names); i++) {
        ERL_NIF_TERM made = number(env, 77);
        int result =
            make_atom_by(maker, env, names[i].bytes, names[i].size, &made, encodings[e].code);
        put_output(env, result, made, number(env, 77));
    }
    put_int(enif_has_pending_exception(env, NULL));
    end_row();
}

/* Puts the bytes of the names that the encoding can give. */
static void ask_names(ErlNifEnv *env, size_t e, unsigned room)
{
    begin_row("enif_get_atom: 19 names into %u bytes, %s", room, encodings[e].name);
    for (size_t i = 0; i < COUNT(names); i++) {
        char buffer[2000] = "untouched";
        ERL_NIF_TERM made;
        if (!make_new_atom_len(env, names[i].bytes, names[i].size, &made, (ErlNifCharEncoding)UTF8))
            continue;
        put_int(enif_get_atom(env, made, buffer, room, encodings[e].code));
        put_text(buffer);
    }
    end_row();
}

static void ask_lengths(ErlNifEnv *env, size_t e)
{
    begin_row("enif_get_atom_length: 19 names, %s", encodings[e].name);
    for (size_t i = 0; i < COUNT(names); i++) {
        ERL_NIF_TERM made;
        unsigned length = 77;
        if (!make_new_atom_len(env, names[i].bytes, names[i].size, &made, (ErlNifCharEncoding)UTF8))
            continue;
        put_int(enif_get_atom_length(env, made, &length, encodings[e].code));
        put_int(length);
    }
    end_row();
}

/* Creates atoms of 254 to 256 characters, which have SIZE bytes each. */
static void ask_long_atoms(ErlNifEnv *env, const char *character, size_t e)
{
    size_t size = strlen(character);
    char *name = malloc(256 * size + 1);

    begin_row("enif_make_new_atom: 254 to 256 characters of %zu bytes, %s", size,
              encodings[e].name);
    for (size_t count = 254; name && count < 257; count++) {
        ERL_NIF_TERM made = number(env, 77);
        unsigned length = 77;
        for (size_t i = 0; i < count; i++)
            strcpy(name + i * size, character);
        put_int(make_new_atom(env, name, &made, encodings[e].code));
        put_int(enif_get_atom_length(env, made, &length, (ErlNifCharEncoding)UTF8));
        put_int(length);
        put_int(make_new_atom_len(env, name, count * size, &made, encodings[e].code));
    }
    end_row();
    free(name);
}

/* --- Strings ---------------------------------------------------------------------------------- */

static ERL_NIF_TERM characters(ErlNifEnv *env, const long *codes, size_t count)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);

    while (count-- > 0)
        list = enif_make_list_cell(env, number(env, codes[count]), list);
    return list;
}

/* Lists of characters: valid, too large, in the range of surrogates, 0, below 0, improper. */
enum { LISTS = 11 };
static ERL_NIF_TERM character_list(ErlNifEnv *env, size_t i)
{
    static const long codes[][3] = {{'a', 'b', 'c'},       {'a', 0xe5, 0xff}, {0x3b1, 'b', 0x20ac},
                                    {0x1f600, 'a', 'b'},   {0x10ffff, 1, 2},  {0x110000, 1, 2},
                                    {'a', 0xd800, 'b'},    {'a', 0, 'b'},     {'a', -1, 'b'},
                                    {0x7ff, 0x800, 0xffff}};

    return i < COUNT(codes) ? characters(env, codes[i], 3)
                            : enif_make_list_cell(env, number(env, 'a'), number(env, 'b'));
}

static void ask_get_string(ErlNifEnv *env, size_t e, unsigned room)
{
    begin_row("enif_get_string: 11 lists into %u bytes, %s", room, encodings[e].name);
    for (size_t i = 0; i < LISTS; i++) {
        char buffer[2000] = "untouched....";
        put_int(enif_get_string(env, character_list(env, i), buffer, room, encodings[e].code));
        put_text(room ? buffer : "none");
    }
    end_row();
}

static void ask_string_length(ErlNifEnv *env, size_t e)
{
    struct terms terms = make_terms(env);

    begin_row("enif_get_string_length: 11 lists, %s", encodings[e].name);
    for (size_t i = 0; i < LISTS; i++) {
        unsigned length = 77;
        put_int(get_string_length(env, character_list(env, i), &length, encodings[e].code));
        put_int(length);
    }
    end_row();
    begin_row("enif_get_string_length: terms of all kinds, %s", encodings[e].name);
    for (size_t i = 0; i < terms.plain; i++) {
        unsigned length = 77;
        int result = get_string_length(env, terms.all[i], &length, encodings[e].code);
        put_output(env, result, enif_make_uint(env, length), number(env, 77));
    }
    end_row();
    free_terms(&terms);
}

/* Creates strings in an environment of its own, where an exception stays. */
static void ask_make_string(size_t e, bool with_length)
{
    begin_row("enif_make_string%s: 19 texts, %s", with_length ? "_len" : "", encodings[e].name);
    for (size_t i = 0; i < COUNT(names); i++) {
        ErlNifEnv *env = enif_alloc_env();
        ERL_NIF_TERM made = with_length ? enif_make_string_len(env, names[i].bytes, names[i].size,
                                                               encodings[e].code)
                                        : enif_make_string(env, names[i].bytes, encodings[e].code);
        if (enif_has_pending_exception(env, NULL))
            put_text("exception");
        else
            put_term(env, made);
        enif_free_env(env);
    }
    end_row();
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

/* Finds a function of the host: POINTER is of its type, which C does not convert. */
static void *find(void *pointer, const char *name)
{
    void *function = find_function(name);

    memcpy(pointer, &function, sizeof function);
    return function;
}

void set_options(ErlNifEnv *env)
{
    if (!find(&set_option, "enif_set_option"))
        return;
    say_int("enif_set_option: on_unload_thread",
            set_option(env, ON_UNLOAD_THREAD, on_unload_thread));
    say_int("on_unload_thread again", set_option(env, ON_UNLOAD_THREAD, on_unload_thread));
    say_int("on_halt", set_option(env, ON_HALT, on_halt));
    say_int("on_halt again", set_option(env, ON_HALT, on_halt));
    say_int("delay_halt", set_option(env, DELAY_HALT));
    say_int("delay_halt again", set_option(env, DELAY_HALT));
    say_int("0", set_option(env, 0));
    say_int("9", set_option(env, 9, on_halt));
}

void say_unloaded_threads(void)
{
    if (set_option)
        say_int("enif_set_option: threads have unloaded the library before", threads_unloaded > 0);
}

/* --- NIF 2.18: no BEAM has shown these lines yet; they follow the manual --------------------- */

static void ask_term_sizes(ErlNifEnv *env)
{
    size_t (*term_size)(ERL_NIF_TERM);
    ERL_NIF_TERM three[] = {number(env, 1), number(env, 2), number(env, 3)};

    if (!find(&term_size, "enif_term_size"))
        return;
    say_int("enif_term_size: an atom", (long)term_size(atom(env, "ok")));
    say_int("a small integer", (long)term_size(three[0]));
    say_int("a list of 3", (long)term_size(enif_make_list_from_array(env, three, 3)));
    say_int("a tuple of 3", (long)term_size(enif_make_tuple_from_array(env, three, 3)));
}

static void ask_atom_indices(ErlNifEnv *env)
{
    int (*get_index)(ErlNifEnv *, ERL_NIF_TERM, unsigned *);
    unsigned (*max_index)(void);
    unsigned one = 77, again = 77;
    int result;

    if (!find(&get_index, "enif_get_atom_cache_index") ||
        !find(&max_index, "enif_max_atom_cache_index"))
        return;
    result = get_index(env, number(env, 5), &one);
    say_pair(env, "enif_get_atom_cache_index: an integer", result, enif_make_uint(env, one));
    say_int("an atom", get_index(env, atom(env, "ok"), &one));
    get_index(env, atom(env, "ok"), &again);
    say_int("the same each time", one == again);
    say_int("enif_max_atom_cache_index: is not below an index", one <= max_index());
    say_int("the same each time", max_index() == max_index());
}

ERL_NIF_TERM newer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *other = enif_alloc_env();

    (void)argc;
    (void)argv;
    if (!find(&make_new_atom, "enif_make_new_atom"))
        return atom(env, "ok");
    find(&make_new_atom_len, "enif_make_new_atom_len");
    find(&get_string_length, "enif_get_string_length");
    say_since(17);
    for (size_t e = 0; e < COUNT(encodings); e++) {
        for (enum maker maker = EXISTING_EARLY; maker < MAKERS; maker++)
            make_atoms_by(maker, other, e);
        for (unsigned room = 0; room <= 8; room += room < 5 ? 1 : 3)
            ask_names(other, e, room);
        ask_names(other, e, 2000);
        ask_lengths(other, e);
        ask_long_atoms(other, "n", e);
        ask_long_atoms(other, "\xce\xb1", e);
        ask_long_atoms(other, "\xf0\x9f\x98\x80", e);
        for (unsigned room = 0; room <= 12; room += 2)
            ask_get_string(other, e, room);
        ask_string_length(other, e);
        ask_make_string(e, false);
        ask_make_string(e, true);
    }
    say_int("enif_set_option: too late", set_option(env, DELAY_HALT));
    say_since(0);
    ask_term_sizes(env);
    ask_atom_indices(env);
    enif_free_env(other);
    return atom(env, "ok");
}

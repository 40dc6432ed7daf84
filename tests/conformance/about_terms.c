/* Applies each predicate and each getter of the API to each kind of term: one check for a kind. */
#include "nif_api.h"

#include <string.h>

enum { TEXT = 600 };

/* Puts the answer of a function for T. OF is a size or the number of a key. */
typedef void ask(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of);

#define PREDICATE(name)                                           \
    static void name(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of) \
    {                                                             \
        (void)of;                                                 \
        put_int(enif_##name(env, t));                             \
    }
PREDICATE(is_atom)
PREDICATE(is_binary)
PREDICATE(is_list)
PREDICATE(is_empty_list)
PREDICATE(is_tuple)
PREDICATE(is_map)
PREDICATE(is_pid)
PREDICATE(is_port)
PREDICATE(is_ref)
PREDICATE(is_fun)
PREDICATE(is_number)
PREDICATE(is_exception)
PREDICATE(term_type)

/* A getter of a number, which leaves 77 if it fails; a BEAM may spoil the output where SPOILS. */
#define GETTER(name, type, make, spoils)                                   \
    static void get_##name(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)    \
    {                                                                      \
        type value = 77;                                                   \
        int result = enif_get_##name(env, t, &value);                      \
        ERL_NIF_TERM output = make(env, (spoils) && !result ? 77 : value); \
        (void)of;                                                          \
        put_output(env, result, output, make(env, 77));                    \
    }
GETTER(int, int, enif_make_int, false)
GETTER(uint, unsigned, enif_make_uint, false)
GETTER(long, long, enif_make_long, false)
GETTER(ulong, unsigned long, enif_make_ulong, true)
GETTER(double, double, enif_make_double, false)

/* The header defines enif_get_int64 as another function where it can. */
static void get_int64(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifSInt64 value = 77;
    int result = enif_get_int64(env, t, &value);

    (void)of;
    put_output(env, result, enif_make_int64(env, value), enif_make_int64(env, 77));
}

static void get_uint64(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifUInt64 value = 77;
    int result = enif_get_uint64(env, t, &value);

    (void)of;
    put_output(env, result, enif_make_uint64(env, result ? value : 77), enif_make_uint64(env, 77));
}

static void get_atom(ErlNifEnv *env, ERL_NIF_TERM t, unsigned size)
{
    char name[TEXT] = "untouched";
    int result = enif_get_atom(env, t, name, size, ERL_NIF_LATIN1);

    put_int(result);
    if (strcmp(name, "untouched") != 0)
        put_term(env, text(env, name));
}

static void get_atom_length(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    unsigned length = 77;
    int result = enif_get_atom_length(env, t, &length, ERL_NIF_LATIN1);

    (void)of;
    put_output(env, result, enif_make_uint(env, length), number(env, 77));
}

static void get_string(ErlNifEnv *env, ERL_NIF_TERM t, unsigned size)
{
    char chars[TEXT] = "untouched";
    int result = enif_get_string(env, t, chars, size, ERL_NIF_LATIN1);

    put_int(result);
    if (strcmp(chars, "untouched") != 0)
        put_term(env, text(env, chars));
}

static void get_list_length(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    unsigned length = 77;
    int result = enif_get_list_length(env, t, &length);

    (void)of;
    put_output(env, result, enif_make_uint(env, length), number(env, 77));
}

static void get_list_cell(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ERL_NIF_TERM untouched = number(env, 77), head = untouched, tail = untouched;
    int result = enif_get_list_cell(env, t, &head, &tail);

    (void)of;
    put_output(env, result, enif_make_tuple2(env, head, tail),
               enif_make_tuple2(env, untouched, untouched));
}

static void make_reverse_list(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ERL_NIF_TERM reversed = number(env, 77);
    int result = enif_make_reverse_list(env, t, &reversed);

    (void)of;
    put_output(env, result, reversed, number(env, 77));
}

static void inspect_binary(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifBinary bin = {.size = 77};
    int result = enif_inspect_binary(env, t, &bin);

    (void)of;
    put_output(env, result, enif_make_ulong(env, bin.size), number(env, 77));
}

static void make_binary_inspected(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifBinary bin;

    (void)of;
    if (enif_inspect_binary(env, t, &bin))
        put_term(env, enif_make_binary(env, &bin));
}

/* Makes an inspected binary half as long. */
static void realloc_binary_inspected(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifBinary bin;

    (void)of;
    if (!enif_inspect_binary(env, t, &bin))
        return;
    put_int(enif_realloc_binary(&bin, bin.size / 2));
    put_term(env, enif_make_binary(env, &bin));
}

static void make_sub_binary(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifBinary bin;

    (void)of;
    if (enif_inspect_binary(env, t, &bin))
        put_term(env, enif_make_sub_binary(env, t, bin.size / 2, bin.size / 2));
}

static void inspect_iolist_as_binary(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifBinary bin = {.size = 77};
    int result = enif_inspect_iolist_as_binary(env, t, &bin);

    (void)of;
    if (result)
        put_output(env, result, enif_make_binary(env, &bin), number(env, 77));
    else
        put_output(env, result, enif_make_ulong(env, bin.size), number(env, 77));
}

static void get_tuple(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    const ERL_NIF_TERM *elements = NULL;
    int arity = 77;
    int result = enif_get_tuple(env, t, &arity, &elements);

    (void)of;
    if (result)
        put_output(env, result, enif_make_list_from_array(env, elements, (unsigned)arity),
                   number(env, 77));
    else
        put_output(env, elements != NULL, number(env, arity), number(env, 77));
}

static void get_map_size(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    size_t size = 77;
    int result = enif_get_map_size(env, t, &size);

    (void)of;
    put_output(env, result, enif_make_ulong(env, size), number(env, 77));
}

enum { KEY_1, KEY_A, NO_KEY };

static ERL_NIF_TERM key(ErlNifEnv *env, unsigned of)
{
    return of == KEY_1 ? number(env, 1) : atom(env, of == KEY_A ? "a" : "nokey");
}

static void get_map_value(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ERL_NIF_TERM value = number(env, 77);
    int result = enif_get_map_value(env, t, key(env, of), &value);

    put_output(env, result, value, number(env, 77));
}

static void make_map_put(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ERL_NIF_TERM map = number(env, 77);
    int result = enif_make_map_put(env, t, key(env, of), number(env, 1), &map);

    put_output(env, result, map, number(env, 77));
}

/* A BEAM spoils the output if the key is missing. */
static void make_map_update(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ERL_NIF_TERM map = number(env, 77);
    int result = enif_make_map_update(env, t, key(env, of), number(env, 78), &map);

    put_output(env, result, result ? map : number(env, 77), number(env, 77));
}

static void make_map_remove(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ERL_NIF_TERM map = number(env, 77);
    int result = enif_make_map_remove(env, t, key(env, of), &map);

    put_output(env, result, map, number(env, 77));
}

static void map_iterator_create(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifMapIterator iterator;
    int result = enif_map_iterator_create(env, t, &iterator, ERL_NIF_MAP_ITERATOR_FIRST);

    (void)of;
    put_int(result);
    if (result)
        enif_map_iterator_destroy(env, &iterator);
}

static void get_local_pid(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifPid pid = {number(env, 77)};
    int result = enif_get_local_pid(env, t, &pid);

    (void)of;
    put_output(env, result, enif_make_pid(env, &pid), number(env, 77));
}

static void get_local_port(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifPort port = {number(env, 77)};
    int result = enif_get_local_port(env, t, &port);

    (void)of;
    put_output(env, result, port.port_id, number(env, 77));
}

static void whereis_pid(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifPid pid = {number(env, 77)};
    int result = enif_whereis_pid(env, t, &pid);

    (void)of;
    put_output(env, result, enif_make_pid(env, &pid), number(env, 77));
}

static void whereis_port(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    ErlNifPort port = {number(env, 77)};
    int result = enif_whereis_port(env, t, &port);

    (void)of;
    put_output(env, result, port.port_id, number(env, 77));
}

static void get_resource(ErlNifEnv *env, ERL_NIF_TERM t, unsigned of)
{
    void *object = NULL;
    int result = enif_get_resource(env, t, plain_type, &object);

    (void)of;
    put_output(env, result, number(env, object != NULL), number(env, 0));
}

/* A function, and the one kind of term that it is asked about, or NULL for all. */
struct question {
    const char *name;
    ask *ask;
    unsigned of;
    const char *kind;
};

static const struct question questions[] = {
    {"enif_is_atom: of", is_atom, 0, NULL},
    {"enif_is_binary: of", is_binary, 0, NULL},
    {"enif_is_list: of", is_list, 0, NULL},
    {"enif_is_empty_list: of", is_empty_list, 0, NULL},
    {"enif_is_tuple: of", is_tuple, 0, NULL},
    {"enif_is_map: of", is_map, 0, NULL},
    {"enif_is_pid: of", is_pid, 0, NULL},
    {"enif_is_port: of", is_port, 0, NULL},
    {"enif_is_ref: of", is_ref, 0, NULL},
    {"enif_is_fun: of", is_fun, 0, NULL},
    {"enif_is_number: of", is_number, 0, NULL},
    {"enif_is_exception: of", is_exception, 0, NULL},
    {"enif_term_type: of", term_type, 0, NULL},
    {"enif_get_int: of", get_int, 0, NULL},
    {"enif_get_uint: of", get_uint, 0, NULL},
    {"enif_get_long: of", get_long, 0, NULL},
    {"enif_get_ulong: of", get_ulong, 0, NULL},
    {"enif_get_int64: of", get_int64, 0, NULL},
    {"enif_get_uint64: of", get_uint64, 0, NULL},
    {"enif_get_double: of", get_double, 0, NULL},
    {"enif_get_atom: of", get_atom, TEXT, NULL},
    {"enif_get_atom: into no byte,", get_atom, 0, "atoms"},
    {"enif_get_atom: into 1 byte,", get_atom, 1, "atoms"},
    {"enif_get_atom: into 3 bytes,", get_atom, 3, "atoms"},
    {"enif_get_atom: into 4 bytes,", get_atom, 4, "atoms"},
    {"enif_get_atom: into 255 bytes,", get_atom, 255, "atoms"},
    {"enif_get_atom: into 256 bytes,", get_atom, 256, "atoms"},
    {"enif_get_atom_length: of", get_atom_length, 0, NULL},
    {"enif_get_string: of", get_string, TEXT, NULL},
    {"enif_get_string: into no byte,", get_string, 0, "lists"},
    {"enif_get_string: into 1 byte,", get_string, 1, "lists"},
    {"enif_get_string: into 2 bytes,", get_string, 2, "lists"},
    {"enif_get_string: into 4 bytes,", get_string, 4, "lists"},
    {"enif_get_string: into 5 bytes,", get_string, 5, "lists"},
    {"enif_get_string: into 6 bytes,", get_string, 6, "lists"},
    {"enif_get_list_length: of", get_list_length, 0, NULL},
    {"enif_get_list_cell: of", get_list_cell, 0, NULL},
    {"enif_make_reverse_list: of", make_reverse_list, 0, NULL},
    {"enif_inspect_binary: of", inspect_binary, 0, NULL},
    {"enif_make_binary: of inspected", make_binary_inspected, 0, "bit strings"},
    {"enif_realloc_binary: of inspected", realloc_binary_inspected, 0, "bit strings"},
    {"enif_make_sub_binary: a half of", make_sub_binary, 0, "bit strings"},
    {"enif_inspect_iolist_as_binary: of", inspect_iolist_as_binary, 0, NULL},
    {"enif_get_tuple: of", get_tuple, 0, NULL},
    {"enif_get_map_size: of", get_map_size, 0, NULL},
    {"enif_get_map_value: a in", get_map_value, KEY_A, NULL},
    {"enif_get_map_value: 1 in", get_map_value, KEY_1, "maps"},
    {"enif_get_map_value: a missing key in", get_map_value, NO_KEY, "maps"},
    {"enif_make_map_put: a in", make_map_put, KEY_A, NULL},
    {"enif_make_map_put: a missing key in", make_map_put, NO_KEY, "maps"},
    {"enif_make_map_update: a in", make_map_update, KEY_A, NULL},
    {"enif_make_map_update: a missing key in", make_map_update, NO_KEY, "maps"},
    {"enif_make_map_remove: a in", make_map_remove, KEY_A, NULL},
    {"enif_make_map_remove: a missing key in", make_map_remove, NO_KEY, "maps"},
    {"enif_map_iterator_create: of", map_iterator_create, 0, NULL},
    {"enif_get_local_pid: of", get_local_pid, 0, NULL},
    {"enif_get_local_port: of", get_local_port, 0, NULL},
    {"enif_whereis_pid: of", whereis_pid, 0, NULL},
    {"enif_whereis_port: of", whereis_port, 0, NULL},
    {"enif_get_resource: of", get_resource, 0, NULL},
};

/* The terms of each kind, in the order in which rows have their results. */
static void say_terms(ErlNifEnv *env, const struct terms *terms)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        begin_row("enif_make_copy: %s", terms->kinds[kind].name);
        for (size_t i = terms->kinds[kind].first; i < terms->kinds[kind].end; i++)
            put_term(env, enif_make_copy(env, terms->all[i]));
        end_row();
    }
}

static void ask_kinds(ErlNifEnv *env, const struct question *question, const struct terms *terms)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        if (question->kind && strcmp(question->kind, terms->kinds[kind].name) != 0)
            continue;
        begin_row("%s %s", question->name, terms->kinds[kind].name);
        for (size_t i = terms->kinds[kind].first; i < terms->kinds[kind].end; i++)
            question->ask(env, terms->all[i], question->of);
        end_row();
    }
}

/* Before NIF 2.17 a BEAM ignores the encoding, as there is only one. */
static void ask_encoding(ErlNifEnv *env)
{
    ErlNifCharEncoding none = (ErlNifCharEncoding)9;
    ERL_NIF_TERM ok = atom(env, "ok"), out;
    unsigned length;
    char buffer[10];

    say_differing(env, "enif_get_atom: an unknown encoding",
                  number(env, enif_get_atom(env, ok, buffer, sizeof buffer, none)));
    say_differing(env, "enif_get_atom_length: an unknown encoding",
                  number(env, enif_get_atom_length(env, ok, &length, none)));
    say_differing(env, "enif_get_string: an unknown encoding",
                  number(env, enif_get_string(env, text(env, "ok"), buffer, sizeof buffer, none)));
    say_differing(env, "enif_make_existing_atom: an unknown encoding",
                  number(env, enif_make_existing_atom(env, "ok", &out, none)));
}

ERL_NIF_TERM about_terms(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);

    (void)argc;
    (void)argv;
    say_terms(env, &terms);
    for (size_t i = 0; i < COUNT(questions); i++)
        ask_kinds(env, &questions[i], &terms);
    ask_encoding(env);
    free_terms(&terms);
    return atom(env, "ok");
}

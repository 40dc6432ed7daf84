/*
 * Prints terms as Erlang text that reads back as the same term.
 *
 * %T is unsuitable: a BEAM cuts floats and long terms there, and prints funs and identifiers of
 * other nodes in a form that cannot be read. A term with any part that this file cannot print
 * exactly is written as external term format.
 */
#include "value.h"

#include <stdbool.h>

enum {
    DEEPEST = 200, /* nesting of terms, as printing them recurses */
    ATOM_SIZE = 256,
    NEWER_REFERENCE = 90,
    ATOM = 100,
    SMALL_ATOM = 115,
    ATOM_UTF8 = 118,
    SMALL_ATOM_UTF8 = 119
};

/* Prints TERM. False if it cannot be printed; the text in LINE is then useless. */
static bool print(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term, int depth);

static void add(struct line *line, const char *text)
{
    line_add_bytes(line, text, strlen(text));
}

static bool is_printable(int c)
{
    return c >= ' ' && c <= '~';
}

/* Adds a character between two QUOTEs. */
static void add_quoted(struct line *line, unsigned char c, char quote)
{
    static const char lines[] = "\n\r\t", letters[] = "nrt";
    const char escaped[] = {'\\', (char)c};
    const char *found = c ? strchr(lines, c) : NULL;

    if (found)
        line_add(line, "\\%c", letters[found - lines]);
    else if (!is_printable(c))
        line_add(line, "\\x{%x}", c);
    else if (c == (unsigned char)quote || c == '\\')
        line_add_bytes(line, escaped, 2);
    else
        line_add_bytes(line, escaped + 1, 1);
}

/* --- Atoms and numbers --- */

static bool is_reserved(const char *name)
{
    static const char *const words[] = {
        "after", "and",   "andalso", "band",   "begin",   "bnot", "bor", "bsl",  "bsr", "bxor",
        "case",  "catch", "cond",    "div",    "else",    "end",  "fun", "if",   "let", "maybe",
        "not",   "of",    "or",      "orelse", "receive", "rem",  "try", "when", "xor"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

static bool is_bare(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

    return *name && strchr(letters, *name) && !is_reserved(name) &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@")] ==
               0;
}

/* Prints ATOM. NIF 2.16 cannot return characters beyond Latin-1; and a character of an atom may be
 * 0. */
static bool print_atom(struct line *line, ErlNifEnv *env, ERL_NIF_TERM atom)
{
    char name[ATOM_SIZE];
    int size = enif_get_atom(env, atom, name, sizeof name, ERL_NIF_LATIN1);

    if (size == 0)
        return false;
    if (is_bare(name) && strlen(name) + 1 == (size_t)size) {
        add(line, name);
        return true;
    }
    add(line, "'");
    for (int i = 0; i < size - 1; i++)
        add_quoted(line, (unsigned char)name[i], '\'');
    add(line, "'");
    return true;
}

/* Prints a float with as many digits as it needs, and the point that Erlang requires. */
static void print_float(struct line *line, double number)
{
    int digits = 15;
    char text[40];
    size_t whole;

    do
        snprintf(text, sizeof text, "%.*g", digits, number);
    while (strtod(text, NULL) != number && ++digits <= 17);
    whole = strspn(text, "-0123456789");
    line_add_bytes(line, text, whole);
    add(line, ".");
    if (text[whole] && text[whole] != 'e')
        add(line, text + whole + 1); /* behind the decimal point, whatever it is in the locale */
    else
        line_add(line, "0%s", text + whole);
}

/* Prints a number. No function of the NIF API returns larger integers. */
static bool print_number(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifSInt64 integer;
    ErlNifUInt64 natural;
    double number;

    if (enif_get_int64(env, term, &integer))
        line_add(line, "%lld", (long long)integer);
    else if (enif_get_uint64(env, term, &natural))
        line_add(line, "%llu", (unsigned long long)natural);
    else if (enif_get_double(env, term, &number))
        print_float(line, number);
    else
        return false;
    return true;
}

/* --- Binaries, lists, tuples, maps --- */

static bool print_binary(struct line *line, const ErlNifBinary *bytes)
{
    bool text = bytes->size > 0;

    for (size_t i = 0; i < bytes->size && text; i++)
        text = is_printable(bytes->data[i]) || memchr("\n\r\t", bytes->data[i], 3);
    add(line, text ? "<<\"" : "<<");
    for (size_t i = 0; i < bytes->size; i++)
        if (text)
            add_quoted(line, bytes->data[i], '"');
        else
            line_add(line, i ? ",%u" : "%u", bytes->data[i]);
    add(line, text ? "\">>" : ">>");
    return true;
}

static bool is_string(ErlNifEnv *env, ERL_NIF_TERM list)
{
    ERL_NIF_TERM head;
    int c;

    while (enif_get_list_cell(env, list, &head, &list))
        if (!enif_get_int(env, head, &c) || !is_printable(c))
            return false;
    return enif_is_empty_list(env, list);
}

static bool print_string(struct line *line, ErlNifEnv *env, ERL_NIF_TERM list)
{
    ERL_NIF_TERM head;
    int c = 0;

    add(line, "\"");
    while (enif_get_list_cell(env, list, &head, &list)) {
        enif_get_int(env, head, &c);
        add_quoted(line, (unsigned char)c, '"');
    }
    add(line, "\"");
    return true;
}

static bool print_list(struct line *line, ErlNifEnv *env, ERL_NIF_TERM list, int depth)
{
    const char *before = "[";
    ERL_NIF_TERM head;

    if (is_string(env, list))
        return print_string(line, env, list);
    for (; enif_get_list_cell(env, list, &head, &list); before = ",") {
        add(line, before);
        if (!print(line, env, head, depth))
            return false;
    }
    if (!enif_is_empty_list(env, list)) {
        add(line, "|");
        if (!print(line, env, list, depth))
            return false;
    }
    add(line, "]");
    return true;
}

static bool print_tuple(struct line *line, ErlNifEnv *env, const ERL_NIF_TERM *elements, int count,
                        int depth)
{
    add(line, "{");
    for (int i = 0; i < count; i++) {
        add(line, i ? "," : "");
        if (!print(line, env, elements[i], depth))
            return false;
    }
    add(line, "}");
    return true;
}

static bool print_map(struct line *line, ErlNifEnv *env, ERL_NIF_TERM map, int depth)
{
    const char *before = "#{";
    ERL_NIF_TERM key, value;
    ErlNifMapIterator at;
    bool good = true;

    if (!enif_map_iterator_create(env, map, &at, ERL_NIF_MAP_ITERATOR_FIRST))
        return false;
    for (; good && enif_map_iterator_get_pair(env, &at, &key, &value); before = ",") {
        add(line, before);
        good = print(line, env, key, depth);
        add(line, " => ");
        good = good && print(line, env, value, depth);
        enif_map_iterator_next(env, &at);
    }
    enif_map_iterator_destroy(env, &at);
    add(line, *before == '#' ? "#{}" : "}");
    return good;
}

/* --- Identifiers --- */

static uint32_t get32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Layout: the version, the tag, the number of words, the node, its creation, the words. */
int reference_read(const ErlNifBinary *bytes, struct reference *reference)
{
    enum { NODE = 4 };
    const unsigned char *at = bytes->data + NODE;
    size_t head;

    if (bytes->size < NODE + 3 || bytes->data[1] != NEWER_REFERENCE)
        return 0;
    reference->latin1 = *at == ATOM || *at == SMALL_ATOM;
    head = *at == SMALL_ATOM || *at == SMALL_ATOM_UTF8 ? 2 : 3;
    reference->words = (unsigned)bytes->data[2] << 8 | bytes->data[3];
    reference->node_size = head == 2 ? at[1] : (size_t)at[1] << 8 | at[2];
    reference->node = at + head;
    if (bytes->size - NODE != head + reference->node_size + 4 + 4 * (size_t)reference->words)
        return 0;
    reference->creation = get32(reference->node + reference->node_size);
    return 1;
}

/* Returns whether the text of a reference shows all of it, as the text of one with three words
 * does. */
static bool is_plain_reference(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term)
{
    struct reference reference;
    ErlNifBinary bytes;
    bool plain;

    if (!enif_term_to_binary(env, term, &bytes)) {
        line_fall_short(line);
        return false;
    }
    plain = reference_read(&bytes, &reference) && reference.words == 3;
    enif_release_binary(&bytes);
    return plain;
}

/* Prints identifiers of this node. In a replay of several nodes, the pids and ports of each are local
 * ones; the text shows whose they are. */
static bool print_identifier(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term)
{
    size_t before = line->used;
    const char *here;
    ErlNifPort port;
    ErlNifPid pid;

    if (enif_get_local_pid(env, term, &pid))
        here = "<0.";
    else if (enif_get_local_port(env, term, &port))
        here = "#Port<0.";
    else if (enif_is_ref(env, term) && is_plain_reference(line, env, term))
        here = "#Ref<0.";
    else
        return false;
    line_add(line, "%#T", term);
    return line->short_of_memory || strncmp(line->text + before, here, strlen(here)) == 0;
}

/* --- Any term --- */

static bool print(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term, int depth)
{
    const ERL_NIF_TERM *elements;
    ErlNifBinary bytes;
    int count;

    if (depth == DEEPEST)
        return false;
    if (enif_is_atom(env, term))
        return print_atom(line, env, term);
    if (enif_is_number(env, term))
        return print_number(line, env, term);
    if (enif_is_empty_list(env, term)) {
        add(line, "[]");
        return true;
    }
    if (enif_is_list(env, term))
        return print_list(line, env, term, depth + 1);
    if (enif_get_tuple(env, term, &count, &elements))
        return print_tuple(line, env, elements, count, depth + 1);
    if (enif_is_map(env, term))
        return print_map(line, env, term, depth + 1);
    if (enif_inspect_binary(env, term, &bytes))
        return print_binary(line, &bytes);
    return print_identifier(line, env, term);
}

static void add_base64(struct line *line, const unsigned char *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < size; i += 3) {
        unsigned second = i + 1 < size ? data[i + 1] : 0, third = i + 2 < size ? data[i + 2] : 0;
        unsigned group = (unsigned)data[i] << 16 | second << 8 | third;
        const char text[] = {digits[group >> 18], digits[group >> 12 & 63],
                             i + 1 < size ? digits[group >> 6 & 63] : '=',
                             i + 2 < size ? digits[group & 63] : '='};
        line_add_bytes(line, text, sizeof text);
    }
}

static int add_external(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifBinary bytes;

    if (!enif_term_to_binary(env, term, &bytes)) {
        line_fall_short(line);
        return 0;
    }
    add(line, "{\"$etf\":\"");
    add_base64(line, bytes.data, bytes.size);
    add(line, "\"}");
    enif_release_binary(&bytes);
    return 1;
}

int value_add(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term)
{
    struct line text;
    int good;

    line_start(&text);
    good = print(&text, env, term, 0);
    if (good) {
        add(line, "\"");
        line_add_json(line, text.text, text.used, SIZE_MAX);
        add(line, "\"");
        good = !text.short_of_memory;
    } else {
        good = add_external(line, env, term);
    }
    line_drop(&text);
    return good;
}

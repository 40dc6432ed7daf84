/* Prints terms as line_add_term() does, and bounded. */
#include "term.h"

#include <stdbool.h>

struct bounded {
    struct line *line;
    ErlNifEnv *env;
    unsigned left; /* elements that may still be shown */
};

static void print(struct bounded *bounded, ERL_NIF_TERM term, unsigned depth);

/* Returns the number of cells of a list, which may be improper. */
static size_t length_of(ErlNifEnv *env, ERL_NIF_TERM list)
{
    ERL_NIF_TERM head;
    size_t length = 0;

    while (enif_get_list_cell(env, list, &head, &list))
        length++;
    return length;
}

/* Returns whether a list begins with characters, as many as would be shown. The host decides which
 * characters beyond Latin-1 are printable. */
static bool is_text(struct bounded *bounded, ERL_NIF_TERM list)
{
    ERL_NIF_TERM characters[MOST_CHARACTERS];
    size_t start = bounded->line->used;
    unsigned count = 0;
    bool text, wide = false;
    int c;

    for (; count < MOST_CHARACTERS &&
           enif_get_list_cell(bounded->env, list, &characters[count], &list);
         count++) {
        if (!enif_get_int(bounded->env, characters[count], &c) ||
            !((c >= 32 && c < 127) || c >= 160 || (c >= 8 && c <= 13) || c == 27))
            return false;
        wide |= c > 255;
    }
    if (!wide)
        return true;
    line_add_term(bounded->line, enif_make_list_from_array(bounded->env, characters, count));
    text = bounded->line->used > start && bounded->line->text[start] == '"';
    bounded->line->used = start;
    return text;
}

/* --- Search for long parts --- */

static bool fits(struct bounded *bounded, ERL_NIF_TERM term, unsigned depth, unsigned *left);

static bool list_fits(struct bounded *bounded, ERL_NIF_TERM list, unsigned depth, unsigned *left)
{
    ERL_NIF_TERM head, tail = list;
    int most = is_text(bounded, list) ? MOST_CHARACTERS : MOST_ELEMENTS;
    bool text = most == MOST_CHARACTERS;

    for (int i = 0; enif_get_list_cell(bounded->env, tail, &head, &tail); i++)
        if (i == most || (!text && !fits(bounded, head, depth, left)))
            return false;
    return enif_is_empty_list(bounded->env, tail) || fits(bounded, tail, depth, left);
}

static bool map_fits(struct bounded *bounded, ERL_NIF_TERM map, unsigned depth, unsigned *left)
{
    ERL_NIF_TERM key, value;
    ErlNifMapIterator at;
    bool all = true;

    if (!enif_map_iterator_create(bounded->env, map, &at, ERL_NIF_MAP_ITERATOR_FIRST))
        return false;
    while (all && enif_map_iterator_get_pair(bounded->env, &at, &key, &value)) {
        all = fits(bounded, key, depth, left) && fits(bounded, value, depth, left);
        enif_map_iterator_next(bounded->env, &at);
    }
    enif_map_iterator_destroy(bounded->env, &at);
    return all;
}

static bool fits(struct bounded *bounded, ERL_NIF_TERM term, unsigned depth, unsigned *left)
{
    const ERL_NIF_TERM *elements;
    ErlNifBinary bytes;
    ErlNifSInt64 small;
    double number;
    size_t size;
    int count;

    if (*left == 0)
        return false;
    --*left;
    if (enif_is_atom(bounded->env, term) || enif_is_empty_list(bounded->env, term))
        return true;
    if (enif_is_list(bounded->env, term))
        return depth < MOST_DEPTH && list_fits(bounded, term, depth + 1, left);
    if (enif_get_tuple(bounded->env, term, &count, &elements)) {
        if (count > MOST_ELEMENTS || depth == MOST_DEPTH)
            return count == 0;
        for (int i = 0; i < count; i++)
            if (!fits(bounded, elements[i], depth + 1, left))
                return false;
        return true;
    }
    if (enif_get_map_size(bounded->env, term, &size))
        return size == 0 || (size <= MOST_ELEMENTS && depth < MOST_DEPTH &&
                             map_fits(bounded, term, depth + 1, left));
    if (enif_inspect_binary(bounded->env, term, &bytes))
        return bytes.size <= MOST_BYTES;
    return enif_is_pid(bounded->env, term) || enif_is_port(bounded->env, term) ||
           enif_is_ref(bounded->env, term) || enif_is_fun(bounded->env, term) ||
           enif_get_int64(bounded->env, term, &small) ||
           enif_get_double(bounded->env, term,
                           &number); /* other kinds must be printed to be recognised */
}

/* --- Bounded printing --- */

static void print_rest(struct bounded *bounded, size_t size)
{
    line_add(bounded->line, "...(%lu)", (unsigned long)size);
}

/* Prints a further element of a term; false if the rest is left out. */
static bool print_element(struct bounded *bounded, const char *before, ERL_NIF_TERM element,
                          unsigned depth, int number)
{
    if (number == MOST_ELEMENTS || bounded->left == 0) {
        line_add(bounded->line, "%s", number ? "," : "");
        return false;
    }
    line_add(bounded->line, "%s", before);
    print(bounded, element, depth);
    return true;
}

static void print_text(struct bounded *bounded, ERL_NIF_TERM list)
{
    ERL_NIF_TERM characters[MOST_CHARACTERS], rest = list;
    unsigned count = 0;

    while (count < MOST_CHARACTERS &&
           enif_get_list_cell(bounded->env, rest, &characters[count], &rest))
        count++;
    line_add_term(bounded->line, enif_make_list_from_array(bounded->env, characters, count));
    print_rest(bounded, length_of(bounded->env, list));
}

static void print_list(struct bounded *bounded, ERL_NIF_TERM list, unsigned depth)
{
    size_t length = length_of(bounded->env, list);
    ERL_NIF_TERM head, tail = list;
    bool all = depth < MOST_DEPTH;

    if (length > MOST_CHARACTERS && is_text(bounded, list)) {
        print_text(bounded, list);
        return;
    }
    line_add(bounded->line, "[");
    for (int i = 0; all && enif_get_list_cell(bounded->env, tail, &head, &tail); i++)
        all = print_element(bounded, i ? "," : "", head, depth + 1, i);
    if (!all)
        print_rest(bounded, length);
    else if (!enif_is_empty_list(bounded->env, tail))
        print_element(bounded, "|", tail, depth + 1, 0);
    line_add(bounded->line, "]");
}

static void print_tuple(struct bounded *bounded, const ERL_NIF_TERM *elements, int count,
                        unsigned depth)
{
    bool all = depth < MOST_DEPTH;

    line_add(bounded->line, "{");
    for (int i = 0; all && i < count; i++)
        all = print_element(bounded, i ? "," : "", elements[i], depth + 1, i);
    if (!all)
        print_rest(bounded, (size_t)count);
    line_add(bounded->line, "}");
}

static void print_map(struct bounded *bounded, ERL_NIF_TERM map, size_t size, unsigned depth)
{
    bool all = depth < MOST_DEPTH;
    ERL_NIF_TERM key, value;
    ErlNifMapIterator at;

    line_add(bounded->line, "#{");
    if (enif_map_iterator_create(bounded->env, map, &at, ERL_NIF_MAP_ITERATOR_FIRST)) {
        for (int i = 0; all && enif_map_iterator_get_pair(bounded->env, &at, &key, &value); i++) {
            all = print_element(bounded, i ? "," : "", key, depth + 1, i);
            if (all) {
                line_add(bounded->line, " => ");
                print(bounded, value, depth + 1);
            }
            enif_map_iterator_next(bounded->env, &at);
        }
        enif_map_iterator_destroy(bounded->env, &at);
    }
    if (!all)
        print_rest(bounded, size);
    line_add(bounded->line, "}");
}

/* Prints the first bytes without the closing quote, then the number of all. Bytes shown as UTF-8
 * end with a whole character. */
static void print_bytes(struct bounded *bounded, ERL_NIF_TERM binary, const ErlNifBinary *bytes)
{
    struct line *line = bounded->line;
    static const char utf8[] = "/utf8>>";
    size_t start = line->used, most = MOST_BYTES, end = strlen(utf8);

    while (MOST_BYTES - most < 3 && (bytes->data[most] & 0xC0) == 0x80)
        most--;
    line_add_term(line, enif_make_sub_binary(bounded->env, binary, 0, most));
    if (most < MOST_BYTES &&
        (line->used < start + end || memcmp(line->text + line->used - end, utf8, end) != 0)) {
        line->used = start;
        line_add_term(line, enif_make_sub_binary(bounded->env, binary, 0, MOST_BYTES));
    }
    line->used -= strlen(">>");
    print_rest(bounded, bytes->size);
    line_add(bounded->line, ">>");
}

/* Prints a number, or a term of another kind. */
static void print_digits(struct bounded *bounded, ERL_NIF_TERM term)
{
    size_t start = bounded->line->used, size;

    line_add_term(bounded->line, term);
    size = bounded->line->used - start;
    if (size <= MOST_DIGITS)
        return;
    bounded->line->used = start + MOST_DIGITS;
    print_rest(bounded, size);
}

static void print(struct bounded *bounded, ERL_NIF_TERM term, unsigned depth)
{
    const ERL_NIF_TERM *elements;
    unsigned left = bounded->left;
    ErlNifBinary bytes;
    size_t size;
    int count;

    if (fits(bounded, term, depth, &left)) {
        line_add_term(bounded->line, term);
        bounded->left = left;
        return;
    }
    if (bounded->left)
        bounded->left--;
    if (enif_is_list(bounded->env, term))
        print_list(bounded, term, depth);
    else if (enif_get_tuple(bounded->env, term, &count, &elements))
        print_tuple(bounded, elements, count, depth);
    else if (enif_get_map_size(bounded->env, term, &size))
        print_map(bounded, term, size, depth);
    else if (enif_inspect_binary(bounded->env, term, &bytes) && bytes.size > MOST_BYTES)
        print_bytes(bounded, term, &bytes);
    else
        print_digits(bounded, term);
}

/* --- Shapes --- */

static void print_shape(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term)
{
    const ERL_NIF_TERM *elements;
    ErlNifBinary bytes;
    double number;
    size_t size;
    int count;

    if (enif_is_list(env, term))
        line_add(line, "list(%lu)", (unsigned long)length_of(env, term));
    else if (enif_get_tuple(env, term, &count, &elements))
        line_add(line, "tuple(%d)", count);
    else if (enif_get_map_size(env, term, &size))
        line_add(line, "map(%lu)", (unsigned long)size);
    else if (enif_inspect_binary(env, term, &bytes))
        line_add(line, "binary(%lu)", (unsigned long)bytes.size);
    else
        line_add(line, "%s",
                 enif_is_atom(env, term)               ? "atom"
                 : enif_get_double(env, term, &number) ? "float"
                 : enif_is_number(env, term)           ? "integer"
                 : enif_is_pid(env, term)              ? "pid"
                 : enif_is_port(env, term)             ? "port"
                 : enif_is_ref(env, term)              ? "reference"
                 : enif_is_fun(env, term)              ? "fun"
                                                       : "bitstring");
}

void term_print(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term, enum args args)
{
    struct bounded bounded = {line, env, MOST_TOGETHER};

    if (args == ARGS_FULL)
        line_add_term(line, term);
    else if (args == ARGS_BOUNDED)
        print(&bounded, term, 0);
    else if (args == ARGS_SHAPE)
        print_shape(line, env, term);
}

void term_print_after(struct line *line, const char *before, ErlNifEnv *env, ERL_NIF_TERM term,
                      enum args args)
{
    if (args == ARGS_NONE)
        return;
    line_add(line, "%s", before);
    term_print(line, env, term, args);
}

void term_print_arguments(struct line *line, ErlNifEnv *env, ERL_NIF_TERM arguments, enum args args)
{
    const char *before = "(";
    ERL_NIF_TERM argument;
    unsigned arity;

    if (!enif_is_list(env, arguments)) {
        line_add(line, "/");
        line_add_term(line, arguments);
        return;
    }
    if (args == ARGS_NONE) {
        if (enif_get_list_length(env, arguments, &arity))
            line_add(line, "/%u", arity);
        return;
    }
    for (; enif_get_list_cell(env, arguments, &argument, &arguments); before = ",")
        term_print_after(line, before, env, argument, args);
    if (!enif_is_empty_list(env, arguments))
        term_print_after(line, "|", env, arguments, args);
    line_add(line, *before == '(' ? "()" : ")");
}

void term_print_exception(struct line *line, ErlNifEnv *env, ERL_NIF_TERM exception, enum args args)
{
    const ERL_NIF_TERM *elements;
    int size;

    if (!enif_get_tuple(env, exception, &size, &elements) || size != 2) {
        term_print_after(line, " ! ", env, exception, args);
        return;
    }
    line_add(line, " ! ");
    line_add_term(line, elements[0]);
    term_print_after(line, ":", env, elements[1], args);
}

void term_print_type(struct line *line, ErlNifEnv *env, ERL_NIF_TERM class, ERL_NIF_TERM reason)
{
    const ERL_NIF_TERM *elements;
    int size;

    line_add(line, "%#T", class);
    if (enif_get_tuple(env, reason, &size, &elements) && size > 0)
        reason = elements[0];
    if (enif_is_atom(env, reason))
        line_add(line, ":%#T", reason);
}

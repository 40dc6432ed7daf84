/* The functions term_element(), term_text() and term_json(), on the text of a term. */
#include "table.h"

#include "host/term/json.h"
#include "host/term/make.h"
#include "host/term/map.h"
#include "host/term/text.h"
#include "host/term/utf8.h"

enum { DEEPEST = 1000 }; /* of JSON, as SQLite reads no more */

/*
 * Text of a row may have what no text can make again: funs, #Fun<m.0.1>, and identifiers of other nodes,
 * <9.1.0>. Such a text is read as an atom whose name begins with MARK, and written as it was.
 */
enum { MARK = 1 };

/* Returns the end of the quoted text that begins at P. */
static const char *quoted_end(const char *p, const char *end)
{
    const char quote = *p++;

    while (p < end && *p != quote)
        p += *p == '\\' && p + 1 < end ? 2 : 1;
    return p < end ? p + 1 : end;
}

/* Returns the end of the text at P if it stands for something that cannot be made; else P. */
static const char *unmade_end(const char *p, const char *end)
{
    static const char *const kinds[] = {"#Fun<", "#Ref<", "#Port<", "<"};
    const char *from = p;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && p == from; i++)
        if ((size_t)(end - p) > strlen(kinds[i]) && memcmp(p, kinds[i], strlen(kinds[i])) == 0)
            p += strlen(kinds[i]);
    if (p == from || (from[1] != 'F' && (*p < '1' || *p > '9')))
        return from;
    while (p < end && *p != '>')
        p = *p == '\'' ? quoted_end(p, end) : p + 1;
    return p < end ? p + 1 : from;
}

/* Appends TEXT with an atom for each text that cannot be made. */
static void add_marked(struct th_buffer *out, const char *text, size_t size)
{
    const char *end = text + size, *next;

    for (const char *p = text; p < end; p = next) {
        next = *p == '"' || *p == '\''                     ? quoted_end(p, end)
               : *p == '$'                                 ? (p + 2 < end ? p + 2 : end)
               : p + 1 < end && p[0] == '<' && p[1] == '<' ? p + 2
                                                           : unmade_end(p, end);
        if (next != p && (*p == '#' || (*p == '<' && p[1] != '<'))) {
            th_buffer_printf(out, "'\\%03o", MARK);
            for (; p < next; p++)
                th_buffer_printf(out, *p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
            th_buffer_add_byte(out, '\'');
            continue;
        }
        next = next == p ? p + 1 : next;
        th_buffer_add(out, p, (size_t)(next - p));
    }
}

/* Appends the text of T, with the texts that were marked as they were. */
static void add_unmarked(struct th_buffer *out, th_term t)
{
    static const char mark[] = "'\\001";
    struct th_buffer text = {0};
    const char *p, *end, *next;

    th_text_print(&text, t);
    p = th_buffer_text(&text);
    for (end = p + text.size; p < end; p = next) {
        next = *p == '"' || *p == '\'' ? quoted_end(p, end) : p + 1;
        if (strncmp(p, mark, sizeof mark - 1) != 0) {
            th_buffer_add(out, p, (size_t)(next - p));
            continue;
        }
        for (p += sizeof mark - 1; p < next - 1; p++) {
            p += *p == '\\';
            th_buffer_add_byte(out, (unsigned char)*p);
        }
    }
    th_buffer_free(&text);
}

/* Reads the term of an argument. Returns false, with the result given, for NULL and for a text that is no term. */
static bool read_term(sqlite3_context *context, sqlite3_value *value, th_env *env, th_term *term)
{
    const char *text = (const char *)sqlite3_value_text(value);
    struct th_buffer marked = {0};
    enum th_status status;

    if (!text)
        return false;
    add_marked(&marked, text, (size_t)sqlite3_value_bytes(value));
    status = th_text_parse(env, (const char *)marked.data, marked.size, term);
    th_buffer_free(&marked);
    if (status == TH_OK)
        return true;
    th_error_context("this is not the text of a term");
    th_sql_cell_error(context);
    return false;
}

/* Returns element NUMBER, from 1, of a tuple or list; TH_NONE: there is none. */
static th_term element_of(th_term term, int64_t number)
{
    if (number < 1)
        return TH_NONE;
    if (th_is_tuple(term))
        return (uint64_t)number <= th_tuple_arity(term) ? th_tuple_elements(term)[number - 1]
                                                        : TH_NONE;
    while (th_is_list(term) && --number > 0)
        term = th_cell(term)[1];
    return th_is_list(term) ? th_cell(term)[0] : TH_NONE;
}

static void term_element(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct th_buffer text = {0};
    th_term term, element;
    th_env env;

    (void)argc;
    th_env_init(&env, TH_ENV_PLAIN);
    if (read_term(context, argv[0], &env, &term) && sqlite3_value_type(argv[1]) == SQLITE_INTEGER &&
        (element = element_of(term, sqlite3_value_int64(argv[1]))) != TH_NONE) {
        add_unmarked(&text, element);
        sqlite3_result_text64(context, (const char *)text.data, text.size, SQLITE_TRANSIENT,
                              SQLITE_UTF8);
        th_buffer_free(&text);
    }
    th_env_release(&env);
}

/* --- Bytes ------------------------------------------------------------------------------------ */

static bool is_valid_utf8(const unsigned char *bytes, size_t size)
{
    uint32_t c;

    for (size_t i = 0, step; i < size; i += step) {
        step = th_utf8_get((const char *)bytes + i, size - i, &c);
        if (step == 0)
            return false;
    }
    return true;
}

static void term_text(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    unsigned char *bytes;
    th_term term;
    th_env env;
    size_t size;

    (void)argc;
    th_env_init(&env, TH_ENV_PLAIN);
    if (read_term(context, argv[0], &env, &term) && th_term_iodata_size(term, &size)) {
        bytes = th_alloc(size + 1);
        th_term_iodata_copy(term, bytes);
        if (is_valid_utf8(bytes, size))
            sqlite3_result_text64(context, (const char *)bytes, size, SQLITE_TRANSIENT,
                                  SQLITE_UTF8);
        th_free(bytes);
    }
    th_env_release(&env);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static bool add_json(struct th_buffer *out, th_term t, unsigned depth);

/* Adds COUNT elements; STEP words are between them. */
static bool add_json_elements(struct th_buffer *out, const th_term *elements, size_t count,
                              unsigned depth)
{
    th_buffer_add_byte(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            th_buffer_add_byte(out, ',');
        if (!add_json(out, elements[i], depth))
            return false;
    }
    th_buffer_add_byte(out, ']');
    return true;
}

static bool add_json_list(struct th_buffer *out, th_term list, unsigned depth)
{
    char before = '[';

    for (; th_is_list(list); list = th_cell(list)[1], before = ',') {
        th_buffer_add_byte(out, (unsigned char)before);
        if (!add_json(out, th_cell(list)[0], depth))
            return false;
    }
    if (before == '[')
        th_buffer_add_byte(out, '[');
    th_buffer_add_byte(out, ']');
    return list == TH_NIL;
}

/* Adds T as a string: the name of an atom, a binary of UTF-8. */
static bool add_json_text_of(struct th_buffer *out, th_term t)
{
    const unsigned char *bytes;
    size_t size;

    if (th_is_atom(t)) {
        const struct th_atom_name *name = th_atom_name(t);
        size_t marked = name->text[0] == MARK;
        th_json_add_string(out, name->text + marked, name->bytes - marked);
        return true;
    }
    if (!th_get_bytes(t, &bytes, &size) || !is_valid_utf8(bytes, size))
        return false;
    th_json_add_string(out, (const char *)bytes, size);
    return true;
}

static bool add_json_map(struct th_buffer *out, th_term map, unsigned depth)
{
    th_buffer_add_byte(out, '{');
    for (size_t i = 0; i < th_map_size(map); i++) {
        if (i)
            th_buffer_add_byte(out, ',');
        if (!add_json_text_of(out, th_map_keys(map)[i]))
            return false;
        th_buffer_add_byte(out, ':');
        if (!add_json(out, th_map_values(map)[i], depth))
            return false;
    }
    th_buffer_add_byte(out, '}');
    return true;
}

/* Adds the Erlang text of T, as a string if QUOTED. */
static bool add_json_text(struct th_buffer *out, th_term t, bool quoted)
{
    struct th_buffer text = {0};

    th_text_print(quoted ? &text : out, t);
    if (quoted)
        th_json_add_string(out, (const char *)text.data, text.size);
    th_buffer_free(&text);
    return true;
}

/* Appends T. Returns false if T has no JSON: a binary that is no UTF-8, an improper list, a map with other keys
 * than atoms and binaries, or too many brackets. */
static bool add_json(struct th_buffer *out, th_term t, unsigned depth)
{
    const unsigned char *bytes;
    size_t size;

    if (depth == DEEPEST)
        return false;
    if (t == TH_AM(true) || t == TH_AM(false) || th_is_integer(t) || th_is_float(t))
        return add_json_text(out, t, false);
    if (t == TH_AM(null) || t == TH_AM(undefined)) {
        th_buffer_add_text(out, "null");
        return true;
    }
    if (t == TH_NIL || th_is_list(t))
        return add_json_list(out, t, depth + 1);
    if (th_is_tuple(t))
        return add_json_elements(out, th_tuple_elements(t), th_tuple_arity(t), depth + 1);
    if (th_is_map(t))
        return add_json_map(out, t, depth + 1);
    if (th_is_atom(t) || th_get_bytes(t, &bytes, &size))
        return add_json_text_of(out, t);
    return add_json_text(out, t, true);
}

static void term_json(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct th_buffer text = {0};
    th_term term;
    th_env env;

    (void)argc;
    th_env_init(&env, TH_ENV_PLAIN);
    if (read_term(context, argv[0], &env, &term) && add_json(&text, term, 0))
        sqlite3_result_text64(context, (const char *)text.data, text.size, SQLITE_TRANSIENT,
                              SQLITE_UTF8);
    th_buffer_free(&text);
    th_env_release(&env);
}

int th_sql_register_term_functions(sqlite3 *db)
{
    static const struct {
        const char *name;
        int arguments;
        void (*function)(sqlite3_context *context, int argc, sqlite3_value **argv);
    } functions[] = {{"term_element", 2, term_element},
                     {"term_text", 1, term_text},
                     {"term_json", 1, term_json}};
    int status = SQLITE_OK;

    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && status == SQLITE_OK; i++)
        status = sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                            NULL, functions[i].function, NULL, NULL, NULL);
    return status;
}

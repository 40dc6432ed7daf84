/* Prints values of answers as text and as tables, for people. */
#include "ctl.h"

#include "host/base/buffer.h"
#include "host/term/make.h"
#include "host/term/text.h"
#include "host/trace/event.h"

#include <jansson.h>
#include <string.h>

enum { MOST_COLUMNS = 16, GAP = 2 };

char *th_ctl_text(const json_t *value)
{
    struct th_buffer joined = {0};
    size_t i;
    json_t *item;

    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING:
        return th_strdup(json_string_value(value));
    case JSON_INTEGER:
        return th_printf("%lld", (long long)json_integer_value(value));
    case JSON_REAL:
        return th_printf("%.3f", json_real_value(value));
    case JSON_ARRAY:
        json_array_foreach(value, i, item)
        {
            char *text = th_ctl_text(item);
            th_buffer_printf(&joined, "%s%s", i > 0 ? "," : "", text);
            th_free(text);
        }
        if (joined.size == 0)
            th_buffer_add_byte(&joined, '-');
        return th_buffer_take_text(&joined);
    case JSON_TRUE:
        return th_strdup("yes");
    default:
        return th_strdup("-");
    }
}

/* Returns the number of characters; each counts as one column. */
static int width_of(const char *text)
{
    int width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static char *cell(const struct th_ctl_column *column, const json_t *row)
{
    return column->text ? column->text(row) : th_ctl_text(json_object_get(row, column->key));
}

/* Prints ROW; if ROW is NULL, the titles. A line has no trailing blanks. */
static void put_row(const struct th_ctl_column columns[], const int widths[], const json_t *row)
{
    int missing = 0; /* blanks before the next cell */

    for (size_t i = 0; columns[i].title; i++) {
        char *text = row ? cell(&columns[i], row) : th_strdup(columns[i].title);
        int rest = widths[i] - width_of(text);
        if (widths[i] > 0) {
            printf("%*s%s", missing + (columns[i].right ? rest : 0), "", text);
            missing = (columns[i].right ? 0 : rest) + GAP;
        }
        th_free(text);
    }
    putchar('\n');
}

void th_ctl_table(const struct th_ctl_column columns[], const json_t *rows)
{
    int widths[MOST_COLUMNS]; /* 0: the column is empty and left out */
    size_t i;
    json_t *row;

    for (size_t k = 0; columns[k].title; k++) {
        bool empty = true;
        widths[k] = width_of(columns[k].title);
        json_array_foreach(rows, i, row)
        {
            char *text = cell(&columns[k], row);
            int width = width_of(text);
            empty &= strcmp(text, "-") == 0;
            widths[k] = width > widths[k] ? width : widths[k];
            th_free(text);
        }
        if (empty)
            widths[k] = 0;
    }
    put_row(columns, widths, NULL);
    json_array_foreach(rows, i, row)
    {
        put_row(columns, widths, row);
    }
}

/* --- Terms in answers, in the reader's encoding ----------------------------------------------- */

static void ctl_table_show_function(struct th_buffer *out, th_term fun)
{
    struct th_mfa function;

    if (th_get_export(fun, &function.module, &function.function, &function.arity))
        th_trace_function_show(out, &function);
}

/* Parses the text in TEXT, prefixed with PREFIX, as Erlang text, and replaces TEXT by the output of
 * SHOW. Text that cannot be parsed (a reference) stays: the host writes text for all readers. */
static void show_text(json_t *text, const char *prefix,
                      void (*show)(struct th_buffer *out, th_term term))
{
    char *whole = th_printf("%s%s", prefix, json_string_value(text));
    struct th_buffer out = {0};
    th_env env;
    th_term term;

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse(&env, whole, strlen(whole), &term) == TH_OK)
        show(&out, term);
    if (out.size > 0)
        json_string_set(text, th_buffer_text(&out));
    th_error_clear();
    th_env_release(&env);
    th_buffer_free(&out);
    th_free(whole);
}

void th_ctl_show_terms(json_t *value)
{
    const char *key;
    json_t *part;
    size_t i;

    json_array_foreach(value, i, part)
    {
        th_ctl_show_terms(part);
    }
    json_object_foreach(value, key, part)
    {
        /* Only the name of a process is Erlang text. */
        if (json_is_string(part) && (strcmp(key, "function") == 0 || strcmp(key, "first") == 0))
            show_text(part, "fun ", ctl_table_show_function);
        else if (json_is_string(part) &&
                 (strstr(key, "match_spec") ||
                  (strcmp(key, "name") == 0 && json_object_get(value, "pid"))))
            show_text(part, "", th_text_show);
        else
            th_ctl_show_terms(part);
    }
}

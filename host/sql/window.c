#include "window.h"

#include "host/base/buffer.h"
#include "host/term/text.h"
#include "host/trace/tags.h"

#include <string.h>

void th_sql_window_begin(struct th_sql_window *window)
{
    *window = (struct th_sql_window){.tags = UINT64_MAX};
    for (size_t i = 0; i < TH_SQL_ASKS; i++) {
        window->limits[i].least = INT64_MIN;
        window->limits[i].most = INT64_MAX;
    }
}

void th_sql_window_free(struct th_sql_window *window)
{
    for (size_t i = 0; i < TH_SQL_ASKS; i++)
        th_hash_table_free(&window->limits[i].items);
    th_sql_window_begin(window);
}

void th_sql_window_add(struct th_sql_window *window, enum th_sql_asks asks, th_term element)
{
    struct th_sql_limit *limit = &window->limits[asks];

    limit->bounded = true;
    if (limit->only == TH_NONE && limit->items.count == 0) {
        limit->only = element;
        return;
    }
    if (limit->only != TH_NONE)
        th_hash_table_set(&limit->items, limit->only, limit);
    th_hash_table_set(&limit->items, element, limit);
    limit->only = TH_NONE;
}

/* The text of a tracee that is a word is read back to the same word. */
static th_term tracee_of_text(const char *text, size_t size)
{
    th_term tracee = TH_NONE;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse(&env, text, size, &tracee) != TH_OK)
        th_error_clear();
    th_env_release(&env);
    return tracee != TH_NONE && th_is_immediate(tracee) ? tracee : TH_NONE;
}

/* The text of a name that begins with a quote may be that of a name with control characters. */
void th_sql_window_text(struct th_sql_window *window, enum th_sql_asks asks, const char *text,
                        size_t size)
{
    bool names = asks != TH_SQL_ASKS_TRACEE;
    th_term term = names ? th_atom_utf8(text, size) : tracee_of_text(text, size);

    window->limits[asks].bounded = true;
    window->limits[asks].open |= names && size > 0 && text[0] == '\'';
    if (term != TH_NONE)
        th_sql_window_add(window, asks, term);
}

uint64_t th_sql_window_tag(const char *text, size_t size)
{
    th_term atom = th_atom_existing_utf8(text, size);
    enum th_tracer_tag tag = th_trace_tag_of(atom);

    if (atom != TH_NONE && tag != (enum th_tracer_tag)TH_TAG_COUNT)
        return UINT64_C(1) << tag;
    if (size == 4 && memcmp(text, "drop", size) == 0)
        return UINT64_C(1) << TH_SQL_TAG_DROP;
    return size == 5 && memcmp(text, "other", size) == 0 ? UINT64_C(1) << TH_SQL_TAG_OTHER : 0;
}

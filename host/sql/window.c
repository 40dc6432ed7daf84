#include "window.h"

#include "host/base/buffer.h"
#include "host/term/text.h"
#include "host/trace/tags.h"

#include <string.h>

void th_sql_window_begin(struct th_sql_window *window)
{
    *window = (struct th_sql_window){.from_ns = INT64_MIN,
                                     .to_ns = INT64_MAX,
                                     .last = UINT64_MAX,
                                     .tags = UINT64_MAX,
                                     .least_arity = INT64_MIN,
                                     .most_arity = INT64_MAX};
}

void th_sql_window_free(struct th_sql_window *window)
{
    th_hash_table_free(&window->tracees.items);
    th_hash_table_free(&window->modules.items);
    th_hash_table_free(&window->functions.items);
    th_hash_table_free(&window->recordings.items);
    th_sql_window_begin(window);
}

void th_sql_set_add(struct th_sql_set *set, th_term element)
{
    set->bounded = true;
    if (set->only == TH_NONE && set->items.count == 0) {
        set->only = element;
        return;
    }
    if (set->only != TH_NONE)
        th_hash_table_set(&set->items, set->only, set);
    th_hash_table_set(&set->items, element, set);
    set->only = TH_NONE;
}

/* The text of a tracee that is a word is read back to the same word. */
void th_sql_window_tracee(struct th_sql_set *set, const char *text, size_t size)
{
    th_term tracee;
    th_env env;

    set->bounded = true;
    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse(&env, text, size, &tracee) != TH_OK)
        th_error_clear();
    else if (th_is_immediate(tracee))
        th_sql_set_add(set, tracee);
    th_env_release(&env);
}

/* A text that begins with a quote may be that of a name with control characters. */
void th_sql_window_name(struct th_sql_set *set, const char *text, size_t size)
{
    th_term atom = th_atom_utf8(text, size);

    set->bounded = true;
    set->open |= size > 0 && text[0] == '\'';
    if (atom != TH_NONE)
        th_sql_set_add(set, atom);
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

/* What the patterns of sessions have counted. */
#include "replay_pattern.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counted {
    struct th_function name;
    uint64_t calls;
};

struct counts {
    struct counted *items;
    size_t count, capacity;
};

static void collect(void *context, const struct th_function *name, const struct th_bp_info *info)
{
    struct counts *counts = context;

    if (!(info->kinds & TH_BP_COUNT))
        return;
    TH_ARRAY_GROW(counts->items, counts->count, counts->capacity);
    counts->items[counts->count++] = (struct counted){*name, info->calls};
}

static int by_name(const struct th_function *a, const struct th_function *b)
{
    int order = strcmp(th_atom_name(a->module)->text, th_atom_name(b->module)->text);

    if (!order)
        order = strcmp(th_atom_name(a->function)->text, th_atom_name(b->function)->text);
    return order ? order : (a->arity > b->arity) - (a->arity < b->arity);
}

/* Most calls first. */
static int compare(const void *a, const void *b)
{
    const struct counted *one = a, *other = b;

    if (one->calls != other->calls)
        return one->calls < other->calls ? 1 : -1;
    return by_name(&one->name, &other->name);
}

static void print_name(struct th_buffer *out, const struct th_function *name)
{
    th_text_print_atom(out, name->module);
    th_buffer_add_byte(out, ':');
    th_text_print_atom(out, name->function);
    th_buffer_printf(out, "/%u", name->arity);
}

static void show(const struct th_session *session, const struct counts *counts)
{
    struct th_buffer out = {0};

    if (th_session_title(session))
        th_buffer_printf(&out, "session '%s'\n", th_session_title(session));
    th_buffer_add_text(&out, "       calls  function\n");
    for (size_t i = 0; i < counts->count; i++) {
        th_buffer_printf(&out, "%12llu  ", (unsigned long long)counts->items[i].calls);
        print_name(&out, &counts->items[i].name);
        th_buffer_add_byte(&out, '\n');
    }
    fputs(th_buffer_text(&out), stdout);
    th_buffer_free(&out);
}

static void show_json(const struct th_session *session, const struct counts *counts)
{
    json_t *functions = json_array(), *all;

    for (size_t i = 0; i < counts->count; i++) {
        struct th_buffer name = {0};
        print_name(&name, &counts->items[i].name);
        json_array_append_new(functions, json_pack("{s:s, s:I}", "function", th_buffer_text(&name),
                                                   "calls", (json_int_t)counts->items[i].calls));
        th_buffer_free(&name);
    }
    all = json_pack("{s:s?, s:s, s:o}", "session", th_session_title(session), "tracer",
                    th_session_name(session), "functions", functions);
    json_dumpf(all, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(all);
}

void th_pattern_results(const struct th_tracing *tracing, bool json)
{
    for (size_t i = 0; i < th_tracing_sessions(tracing); i++) {
        const struct th_session *session = th_tracing_session(tracing, i);
        struct counts counts = {0};

        th_session_functions(session, collect, &counts);
        if (counts.count)
            qsort(counts.items, counts.count, sizeof *counts.items, compare);
        if (counts.count && json)
            show_json(session, &counts);
        else if (counts.count)
            show(session, &counts);
        th_free(counts.items);
    }
}

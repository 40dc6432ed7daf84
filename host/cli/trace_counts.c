/* What the patterns of sessions have counted. */
#include "trace_summary.h"
#include "subcommand.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 4 /* functions that were not called, and are shown one by one */ };

struct counted {
    struct th_mfa name;
    uint32_t kinds;
    uint64_t calls;
    struct usage {
        struct th_bp_usage *items; /* of each process */
        size_t count;
        uint64_t calls;
        int64_t amount; /* of all: nanoseconds, words */
    } time, memory;
};

struct counts {
    struct counted *items;
    size_t count, capacity;
    uint32_t kinds; /* of all of them */
};

static struct usage copy(const struct th_bp_usage *items, size_t count)
{
    struct usage usage = {.count = count};

    if (!count)
        return usage;
    usage.items = th_alloc(count * sizeof *items);
    memcpy(usage.items, items, count * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        usage.calls += items[i].calls;
        usage.amount += items[i].amount;
    }
    return usage;
}

static void collect(void *context, const struct th_mfa *name, const struct th_bp_info *info)
{
    struct counts *counts = context;

    struct counted one = {*name, info->kinds & TH_BP_COUNTING, info->calls, {0}, {0}};

    if (!one.kinds)
        return;
    one.time = copy(info->time, info->time_count);
    one.memory = copy(info->memory, info->memory_count);
    if (!(one.kinds & TH_BP_COUNT))
        one.calls = one.kinds & TH_BP_TIME ? one.time.calls : one.memory.calls;
    counts->kinds |= one.kinds;
    TH_ARRAY_GROW(counts->items, counts->count, counts->capacity);
    counts->items[counts->count++] = one;
}

/* Most calls first, then by name. */
static int compare(const void *a, const void *b)
{
    const struct counted *one = a, *other = b;
    int order =
        strcmp(th_atom_name(one->name.module)->text, th_atom_name(other->name.module)->text);

    if (one->calls != other->calls)
        return one->calls < other->calls ? 1 : -1;
    if (!order)
        order = strcmp(th_atom_name(one->name.function)->text,
                       th_atom_name(other->name.function)->text);
    return order ? order
                 : (one->name.arity > other->name.arity) - (one->name.arity < other->name.arity);
}

/* Those that nobody has called are the last ones, and a number if they are many. SEVERAL: there are
 * other sessions. */
static void show(const struct th_session *session, const struct counts *counts, bool several)
{
    struct th_buffer out = {0};
    size_t shown = 0;

    if (th_trace_session_title(session))
        th_buffer_printf(&out, "session '%s'\n", th_trace_session_title(session));
    else if (several)
        th_buffer_printf(&out, "tracer '%s'\n", th_trace_session_name(session));
    th_buffer_add_text(&out, "       calls");
    th_buffer_add_text(&out, counts->kinds & TH_BP_TIME ? "       seconds" : "");
    th_buffer_add_text(&out, counts->kinds & TH_BP_MEMORY ? "         words" : "");
    th_buffer_add_text(&out, "  function\n");
    while (shown < counts->count && counts->items[shown].calls)
        shown++;
    if (counts->count - shown <= FEW)
        shown = counts->count;
    for (size_t i = 0; i < shown; i++) {
        const struct counted *one = &counts->items[i];
        th_buffer_printf(&out, "%12llu", (unsigned long long)one->calls);
        if (one->kinds & TH_BP_TIME)
            th_buffer_printf(&out, "%14.6f", (double)one->time.amount / 1e9);
        else if (counts->kinds & TH_BP_TIME)
            th_buffer_printf(&out, "%14s", "-");
        if (one->kinds & TH_BP_MEMORY)
            th_buffer_printf(&out, "%14lld", (long long)one->memory.amount);
        else if (counts->kinds & TH_BP_MEMORY)
            th_buffer_printf(&out, "%14s", "-");
        th_buffer_add_text(&out, "  ");
        th_trace_function_show(&out, &one->name);
        th_buffer_add_byte(&out, '\n');
    }
    if (shown < counts->count)
        th_buffer_printf(&out, "%12d  %zu more functions\n", 0, counts->count - shown);
    fputs(th_buffer_text(&out), stdout);
    th_buffer_free(&out);
}

/* UNIT is what its amounts are called. */
static json_t *json_usage(const struct usage *usage, const char *unit)
{
    json_t *array = json_array();

    for (size_t i = 0; i < usage->count; i++) {
        struct th_buffer process = {0};
        th_text_print(&process, usage->items[i].process);
        json_array_append_new(array,
                              json_pack("{s:s, s:I, s:I}", "process", th_buffer_text(&process),
                                        "calls", (json_int_t)usage->items[i].calls, unit,
                                        (json_int_t)usage->items[i].amount));
        th_buffer_free(&process);
    }
    return array;
}

static void show_json(const struct th_session *session, const struct counts *counts)
{
    json_t *functions = json_array();

    for (size_t i = 0; i < counts->count; i++) {
        const struct counted *one = &counts->items[i];
        struct th_buffer name = {0};
        json_t *object;
        th_trace_function_print(&name, &one->name);
        object = json_pack("{s:s, s:I}", "function", th_buffer_text(&name), "calls",
                           (json_int_t)one->calls);
        if (one->kinds & TH_BP_TIME)
            json_object_set_new(object, "time", json_usage(&one->time, "ns"));
        if (one->kinds & TH_BP_MEMORY)
            json_object_set_new(object, "memory", json_usage(&one->memory, "words"));
        th_buffer_free(&name);
        json_array_append_new(functions, object);
    }
    th_cli_command_print_json(json_pack("{s:s?, s:s, s:o}", "session",
                                        th_trace_session_title(session), "tracer",
                                        th_trace_session_name(session), "functions", functions),
                              JSON_COMPACT);
}

void th_cli_trace_results(const struct th_tracing *tracing, bool json)
{
    size_t sessions = th_trace_sessions(tracing);

    for (size_t i = 0; i < sessions; i++) {
        const struct th_session *session = th_trace_session(tracing, i);
        struct counts counts = {0};

        th_trace_session_functions(session, collect, &counts);
        if (counts.count)
            qsort(counts.items, counts.count, sizeof *counts.items, compare);
        if (counts.count && json)
            show_json(session, &counts);
        else if (counts.count)
            show(session, &counts, sessions > 1);
        for (size_t k = 0; k < counts.count; k++) {
            th_free(counts.items[k].time.items);
            th_free(counts.items[k].memory.items);
        }
        th_free(counts.items);
    }
}

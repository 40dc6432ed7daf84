#include "stream_stats.h"

#include <stdlib.h>

/* A function as a key: the module's atom index + 1, so that no key is 0, the function's, the arity.
 * Atom indices have 20 bits (TH_ATOM_LIMIT). */
enum { ARITY_BITS = 23, ATOM_BITS = 20, ARITY_MASK = (1 << ARITY_BITS) - 1 };
_Static_assert(TH_ATOM_LIMIT <= 1 << ATOM_BITS, "a function must fit a key");

static th_term atom_of(uint64_t index)
{
    return (index & ((1 << ATOM_BITS) - 1)) << 6 | TH_TAG_ATOM;
}

struct th_mfa th_cli_stream_stats_function(uint64_t key)
{
    return (struct th_mfa){
        .module = atom_of((key >> (ATOM_BITS + ARITY_BITS)) - 1),
        .function = atom_of(key >> ARITY_BITS),
        .arity = (uint32_t)(key & ARITY_MASK),
    };
}

static void count_in(struct th_table *table, uint64_t key)
{
    uintptr_t count = (uintptr_t)th_hash_table_get(table, key);

    th_hash_table_set(table, key, (void *)(count + 1)); /* a count, not an address */
}

static bool is_row(const struct th_stream_stats_row *row, const struct th_stream_stats_row *wanted)
{
    return row->kind == wanted->kind && row->tag == wanted->tag &&
           row->tuple_size == wanted->tuple_size;
}

static void count_row(struct th_stream_stats *census, const struct th_event *event)
{
    struct th_stream_stats_row wanted = {event->kind, th_trace_tag_atom(event->tag),
                                         event->tuple_size, 0};
    size_t i = census->row_last;

    /* Of seq_trace the kind of its info, {print | send | 'receive', ...}, is the tag. */
    if (event->kind == TH_EVENT_SEQ_TRACE)
        wanted.tag = th_is_tuple(event->term) && th_tuple_arity(event->term) > 0 &&
                             th_is_atom(th_tuple_elements(event->term)[0])
                         ? th_tuple_elements(event->term)[0]
                         : TH_AM(undefined);
    if (i >= census->row_count || !is_row(&census->rows[i], &wanted))
        for (i = 0; i < census->row_count && !is_row(&census->rows[i], &wanted);)
            i++;
    if (i == census->row_count) {
        TH_ARRAY_GROW(census->rows, census->row_count, census->row_capacity);
        census->rows[census->row_count++] = wanted;
    }
    census->rows[i].count++;
    census->row_last = i;
}

enum th_status th_cli_stream_stats_look_into(struct th_event *event, th_env *env,
                                             struct th_mfa *function)
{
    enum th_status status;

    if (event->kind == TH_EVENT_DROP)
        return TH_OK;
    if (event->kind == TH_EVENT_OTHER)
        return th_error_raise(TH_MALFORMED, "it is no trace message");
    status = th_trace_event_decode(event, env);
    if (status == TH_OK && event->tag == TH_TAG_call && event->kind != TH_EVENT_SEQ_TRACE)
        status = event->source->function(event, function);
    if (status == TH_OK)
        status = th_trace_event_time(event);
    return status;
}

static void count_event(struct th_stream_stats *census, const struct th_event *event,
                        const struct th_mfa *function)
{
    bool has_tracee = event->kind != TH_EVENT_SEQ_TRACE;
    struct th_span *span = &census->spans[event->time.kind];

    count_row(census, event);
    if (has_tracee && event->tag == TH_TAG_call) {
        census->calls++;
        count_in(&census->functions,
                 ((uint64_t)th_atom_index(function->module) + 1) << (ATOM_BITS + ARITY_BITS) |
                     (uint64_t)th_atom_index(function->function) << ARITY_BITS |
                     (function->arity < ARITY_MASK ? function->arity : ARITY_MASK));
    }
    if (has_tracee && th_is_immediate(event->tracee))
        count_in(&census->tracees, event->tracee);
    else if (has_tracee)
        census->foreign++;
    if (!span->used)
        span->first = event->time.ns;
    span->used = event->time.kind != TH_TIME_NONE;
    span->last = event->time.ns;
}

enum th_status th_cli_stream_stats_add(struct th_stream_stats *census, struct th_event *event,
                                       th_env *env)
{
    struct th_mfa function = {0};
    enum th_status status = th_cli_stream_stats_look_into(event, env, &function);

    census->other += event->kind == TH_EVENT_OTHER;
    if (status != TH_OK)
        return status;
    if (event->kind == TH_EVENT_DROP) {
        census->drops++;
        census->lost += event->dropped;
    } else {
        count_event(census, event, &function);
    }
    census->total++;
    return TH_OK;
}

static int by_kind_and_tag(const void *a, const void *b)
{
    const struct th_stream_stats_row *x = a, *y = b;
    int tags = th_atom_compare(x->tag, y->tag);

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (tags)
        return tags;
    return (x->tuple_size > y->tuple_size) - (x->tuple_size < y->tuple_size);
}

void th_cli_stream_stats_sort_rows(struct th_stream_stats *census)
{
    if (census->row_count)
        qsort(census->rows, census->row_count, sizeof *census->rows, by_kind_and_tag);
}

/* Functions as Erlang orders {M, F, A}. */
static int by_count_and_function(const void *a, const void *b)
{
    const struct th_stream_stats_item *x = a, *y = b;
    struct th_mfa f = th_cli_stream_stats_function(x->key),
                  g = th_cli_stream_stats_function(y->key);
    int order = th_atom_compare(f.module, g.module);

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (!order)
        order = th_atom_compare(f.function, g.function);
    return order ? order : (f.arity > g.arity) - (f.arity < g.arity);
}

static int by_count_and_id(const void *a, const void *b)
{
    const struct th_stream_stats_item *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return th_compare(x->key, y->key);
}

static struct th_stream_stats_list list_of(const struct th_table *table, uint64_t top,
                                           int (*order)(const void *, const void *))
{
    struct th_stream_stats_list list = {.items = th_alloc(table->count * sizeof *list.items)};
    struct th_slot *slot;
    size_t position = 0;

    while ((slot = th_hash_table_next(table, &position)))
        list.items[list.count++] = (struct th_stream_stats_item){slot->key, (uintptr_t)slot->value};
    qsort(list.items, list.count, sizeof *list.items, order);
    list.shown = top && top < list.count ? (size_t)top : list.count;
    return list;
}

struct th_stream_stats_list th_cli_stream_stats_functions(const struct th_stream_stats *census,
                                                          uint64_t top)
{
    return list_of(&census->functions, top, by_count_and_function);
}

struct th_stream_stats_list th_cli_stream_stats_tracees(const struct th_stream_stats *census,
                                                        uint64_t top)
{
    return list_of(&census->tracees, top, by_count_and_id);
}

const char *const th_cli_stream_stats_kinds[] = {"trace", "trace_ts", "seq_trace", "drop", "other"};

void th_cli_stream_stats_free(struct th_stream_stats *census)
{
    th_free(census->rows);
    th_hash_table_free(&census->functions);
    th_hash_table_free(&census->tracees);
}

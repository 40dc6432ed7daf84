#include "stream_stats.h"

#include <stdlib.h>

/* A function as a key: the module's atom index + 1, so that no key is 0, the function's, the arity.
 * Atom indices have 20 bits (TH_ATOM_LIMIT). */
enum { ARITY_BITS = 23, ATOM_BITS = 20, ARITY_MASK = (1 << ARITY_BITS) - 1 };
_Static_assert(TH_ATOM_LIMIT <= 1 << ATOM_BITS, "a function must fit a key");

static uint64_t function_key(const struct th_mfa *f)
{
    uint64_t arity = f->arity < ARITY_MASK ? f->arity : ARITY_MASK;

    return ((uint64_t)th_atom_index(f->module) + 1) << (ATOM_BITS + ARITY_BITS) |
           (uint64_t)th_atom_index(f->function) << ARITY_BITS | arity;
}

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

static void count_row(struct th_stream_stats *census, struct th_stream_stats_row wanted)
{
    size_t i = census->row_last;

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

/* The tag of a row; of seq_trace the kind of its info, {print | send | 'receive', ...}. */
static th_term row_tag(const struct th_event *event)
{
    if (event->kind != TH_EVENT_SEQ_TRACE)
        return th_trace_tag_atom(event->tag);
    if (!th_is_tuple(event->term) || th_tuple_arity(event->term) == 0 ||
        !th_is_atom(th_tuple_elements(event->term)[0]))
        return TH_AM(undefined);
    return th_tuple_elements(event->term)[0];
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

static void count_time(struct th_stream_stats *census, const struct th_event_time *time)
{
    struct th_span *span = &census->spans[time->kind];

    if (!span->used)
        span->first = time->ns;
    span->used = time->kind != TH_TIME_NONE;
    span->last = time->ns;
}

static void count_event(struct th_stream_stats *census, const struct th_event *event,
                        const struct th_mfa *function)
{
    bool has_tracee = event->kind != TH_EVENT_SEQ_TRACE;

    count_row(census,
              (struct th_stream_stats_row){event->kind, row_tag(event), event->tuple_size, 0});
    if (has_tracee && event->tag == TH_TAG_call) {
        census->calls++;
        count_in(&census->functions, function_key(function));
    }
    if (has_tracee && th_is_immediate(event->tracee))
        count_in(&census->tracees, event->tracee);
    else if (has_tracee)
        census->foreign++;
    count_time(census, &event->time);
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

static struct th_stream_stats_list list_of(const struct th_table *table,
                                           int (*order)(const void *, const void *))
{
    struct th_stream_stats_list list = {th_alloc(table->count * sizeof *list.items), 0};
    struct th_slot *slot;
    size_t position = 0;

    while ((slot = th_hash_table_next(table, &position)))
        list.items[list.count++] = (struct th_stream_stats_item){slot->key, (uintptr_t)slot->value};
    qsort(list.items, list.count, sizeof *list.items, order);
    return list;
}

struct th_stream_stats_list th_cli_stream_stats_functions(const struct th_stream_stats *census)
{
    return list_of(&census->functions, by_count_and_function);
}

struct th_stream_stats_list th_cli_stream_stats_tracees(const struct th_stream_stats *census)
{
    return list_of(&census->tracees, by_count_and_id);
}

const char *th_cli_stream_stats_kind(enum th_event_kind kind)
{
    static const char *const names[] = {"trace", "trace_ts", "seq_trace", "drop", "other"};

    return names[kind];
}

void th_cli_stream_stats_free(struct th_stream_stats *census)
{
    th_free(census->rows);
    th_hash_table_free(&census->functions);
    th_hash_table_free(&census->tracees);
}

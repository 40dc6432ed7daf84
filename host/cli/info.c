/* tracehost info: counts the records of a stream. */
#include "interrupt.h"
#include "stream.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"
#include "host/cli/options/usage.h"
#include "host/replay/reader.h"
#include "host/term/compare.h"
#include "host/term/text.h"
#include "host/trace/note.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct info {
    struct th_stream_options stream;
    struct th_control_session_options sessions; /* for running nodes */
    bool json;
    uint64_t top; /* number of functions and tracees shown; 0: all */
    struct th_texts streams;
};

static enum th_status choose_top(void *input)
{
    struct info *info = input;

    if (info->top == UINT64_MAX)
        info->top = info->json ? 0 : 20;
    return TH_OK;
}

static const struct th_argument arguments[] = {
    TH_WORD("STREAM", FILE, TH_ARGUMENT_NEEDED | TH_ARGUMENT_REPEATS,
            TH_INTO(struct info, streams)),
    TH_OPTION("format", "FORMAT", CHOICE, OUTPUT, "text (default) or json",
              .words = TH_WORDS("text", "json"), TH_INTO(struct info, json)),
    TH_OPTION("top", "N", NUMBER, OUTPUT,
              "Show the N most frequent functions and tracees; 0: all (default: 20 as text, all as "
              "json)",
              TH_INTO(struct info, top)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments, .check = choose_top},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct info, stream)},
    {.items = th_cli_limit_arguments, .offset = offsetof(struct info, stream)},
    {.items = th_control_session_arguments,
     .offset = offsetof(struct info, sessions),
     .has = th_cli_node_is_of_session,
     .check = th_cli_node_check},
    {.items = th_cli_node_arguments, .offset = offsetof(struct info, stream)},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Counts the records of streams: by tag, by tracee and by called function. "
              "Several are merged by time.\n" TH_STREAM_HELP,
    .after = TH_STREAM_MORE_HELP "\n\n" TH_NODE_HELP,
    .examples = "  tracehost info samples/recordings/s04_genserver_pingpong.trace\n"
                "  tracehost info --top=5 samples/recordings/s04_genserver_pingpong.trace",
};

/* --- Counting: memory grows with distinct tracees and functions, not with the stream ---------- */

struct th_stream_stats_row {
    enum th_event_kind kind;
    th_term tag;         /* an atom; for seq_trace print, send or receive; for a note its key */
    uint32_t tuple_size; /* number of elements in the records' tuples */
    uint64_t count;
};

struct th_stream_stats_item {
    uint64_t key; /* a pid or port, or a function's key: info_function_of() */
    uint64_t count;
};

struct th_stream_stats_list {
    struct th_stream_stats_item *items; /* the most frequent first */
    size_t count;
    size_t shown; /* number of items shown */
};

struct th_stream_stats {
    uint64_t total; /* sound records, drops included */
    uint64_t drops; /* drop records */
    uint64_t lost;  /* events that these records count as dropped */
    uint64_t other; /* records that are neither trace messages nor notes */
    uint64_t calls;
    int64_t offset;        /* nanoseconds from monotonic to system time; 0: no note tells it */
    struct th_buffer told; /* lines of notes for users */
    struct th_stream_stats_row *rows;
    size_t row_count, row_capacity, row_last;
    struct th_table functions, tracees; /* values: counts */
    struct th_span {
        int64_t first, last; /* nanoseconds, in the order of the records */
        bool used;
    } spans[TH_TIME_STRICT_MONOTONIC + 1]; /* by enum th_time_kind; a stream may have several */
    struct th_stream_stats_list function_list, tracee_list; /* made at the end */
};

/* A function as a key: the module's atom index + 1 (so that no key is 0), the function's index, the
 * arity. Atom indices have 20 bits (TH_ATOM_LIMIT). */
enum { ARITY_BITS = 23, ATOM_BITS = 20, ARITY_MASK = (1 << ARITY_BITS) - 1 };
_Static_assert(TH_ATOM_LIMIT <= 1 << ATOM_BITS, "a function must fit a key");

static th_term atom_of(uint64_t index)
{
    return (index & ((1 << ATOM_BITS) - 1)) << 6 | TH_TAG_ATOM;
}

static struct th_mfa info_function_of(uint64_t key)
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

    th_hash_table_set(table, key, (void *)(count + 1)); /* the pointer is a count */
}

static bool is_row(const struct th_stream_stats_row *row, const struct th_stream_stats_row *wanted)
{
    return row->kind == wanted->kind && row->tag == wanted->tag &&
           row->tuple_size == wanted->tuple_size;
}

/* TAG is the event's, or the key of a note. */
static void count_row(struct th_stream_stats *stats, const struct th_event *event, th_term tag)
{
    uint32_t size = event->kind == TH_EVENT_OTHER ? 3 : event->tuple_size; /* of a note */
    struct th_stream_stats_row wanted = {event->kind, tag, size, 0};
    size_t i = stats->row_last;

    /* For seq_trace, the kind of the info {print | send | 'receive', ...} is shown as the tag. */
    if (event->kind == TH_EVENT_SEQ_TRACE)
        wanted.tag = th_is_tuple(event->term) && th_tuple_arity(event->term) > 0 &&
                             th_is_atom(th_tuple_elements(event->term)[0])
                         ? th_tuple_elements(event->term)[0]
                         : TH_AM(undefined);
    if (i >= stats->row_count || !is_row(&stats->rows[i], &wanted))
        for (i = 0; i < stats->row_count && !is_row(&stats->rows[i], &wanted);)
            i++;
    if (i == stats->row_count) {
        TH_ARRAY_GROW(stats->rows, stats->row_count, stats->row_capacity);
        stats->rows[stats->row_count++] = wanted;
    }
    stats->rows[i].count++;
    stats->row_last = i;
}

/* Counts one event. Errors: TH_MALFORMED if its content is damaged; such an event is not
 * counted. */
static enum th_status add_event(struct th_stream_stats *stats, struct th_event *event, th_env *env)
{
    struct th_mfa function = {0};
    enum th_status status = th_cli_stream_look_into(event, env, &function);
    struct th_note note;

    stats->other += event->kind == TH_EVENT_OTHER && status != TH_OK;
    if (status != TH_OK)
        return status;
    if (event->kind == TH_EVENT_DROP) {
        stats->drops++;
        stats->lost += event->dropped;
    } else if (th_trace_note(event, env, &note)) {
        count_row(stats, event, note.key);
        th_trace_note_offset(&note, &stats->offset);
        if (th_trace_note_told(&note, &stats->told))
            th_buffer_add_byte(&stats->told, '\n');
    } else {
        struct th_span *span = &stats->spans[event->time.kind];
        bool has_tracee = event->kind != TH_EVENT_SEQ_TRACE;
        count_row(stats, event, th_trace_tag_atom(event->tag));
        if (has_tracee && event->tag == TH_TAG_call) {
            stats->calls++;
            count_in(&stats->functions,
                     ((uint64_t)th_atom_index(function.module) + 1) << (ATOM_BITS + ARITY_BITS) |
                         (uint64_t)th_atom_index(function.function) << ARITY_BITS |
                         (function.arity < ARITY_MASK ? function.arity : ARITY_MASK));
        }
        if (has_tracee && th_is_immediate(event->tracee))
            count_in(&stats->tracees, event->tracee);
        if (!span->used)
            span->first = event->time.ns;
        span->used = event->time.kind != TH_TIME_NONE;
        span->last = event->time.ns;
    }
    stats->total++;
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

/* Orders functions as Erlang orders {M, F, A}. */
static int by_count_and_function(const void *a, const void *b)
{
    const struct th_stream_stats_item *x = a, *y = b;
    struct th_mfa f = info_function_of(x->key), g = info_function_of(y->key);
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

/* Returns the sorted list of TABLE's counts; TOP of them are shown (0: all). Owner: the caller
 * frees items. */
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

static const char *const kinds[] = {"trace", "trace_ts", "seq_trace", "drop", "note"};

/* --- Output ----------------------------------------------------------------------------------- */

static void info_show_function(struct th_buffer *text, uint64_t key)
{
    struct th_mfa function = info_function_of(key);

    th_trace_function_show(text, &function);
}

static void info_print_function(struct th_buffer *text, uint64_t key)
{
    struct th_mfa function = info_function_of(key);

    th_trace_function_print(text, &function);
}

static const char *const time_kinds[] = {"none", "timestamp", "cpu_timestamp",
                                         "monotonic_timestamp", "strict_monotonic_timestamp"};

/* --- Text ------------------------------------------------------------------------------------- */

static void print_list(const char *title, const struct th_stream_stats_list *list,
                       void (*add)(struct th_buffer *text, uint64_t key))
{
    struct th_buffer text = {0};

    if (list->count == 0)
        return;
    printf("\n%s\n", title);
    for (size_t i = 0; i < list->shown; i++) {
        text.size = 0;
        add(&text, list->items[i].key);
        printf("%10llu  %s\n", (unsigned long long)list->items[i].count, th_buffer_text(&text));
    }
    if (list->shown < list->count)
        printf("            and %zu more\n", list->count - list->shown);
    th_buffer_free(&text);
}

/* Prints what is known of the clocks of merged streams. */
static void print_clocks(const struct th_reader *reader)
{
    struct th_part_clock clock;

    for (size_t i = 0; th_replay_reader_clock(reader, i, &clock); i++) {
        if (clock.node == TH_NONE)
            continue;
        printf("clock       %s: ", th_atom_name(clock.node)->text);
        if (clock.is_first)
            printf("all times are by this clock\n");
        else if (clock.shared)
            printf("the same, as the host is the same\n");
        else if (!clock.known)
            printf("taken for the same, as nothing tells the difference\n");
        else
            printf("%.6f s %s, at most %.6f s wrong\n", (double)llabs(clock.behind) / 1e9,
                   clock.behind < 0 ? "ahead" : "behind", (double)clock.doubt / 1e9);
    }
}

static void print_text(struct th_stream_stats *stats, const struct th_stream *stream)
{
    const struct th_reader_info *reader = th_replay_reader_info(stream->reader);
    const struct th_atom_name *node = th_atom_name(reader->node.node);
    bool timed = false;
    char title[96];

    printf("stream      %s (%s)\n", th_cli_stream_title(stream->name), reader->format);
    if (reader->node.node)
        printf("node        %s\n", node->text);
    print_clocks(stream->reader);
    printf("records     %llu, %llu byte%s\n", (unsigned long long)stats->total,
           (unsigned long long)reader->bytes, th_log_plural(reader->bytes));
    for (int kind = TH_TIME_TIMESTAMP; kind <= TH_TIME_STRICT_MONOTONIC; kind++) {
        const struct th_span *span = &stats->spans[kind];
        long double length = ((long double)span->last - (long double)span->first) / 1e9L;
        int64_t offset = kind < TH_TIME_MONOTONIC ? 0 : stats->offset;
        time_t second = (time_t)((span->first + offset) / 1000000000);
        char date[64] = "";
        if (!span->used)
            continue;
        if (kind == TH_TIME_TIMESTAMP || offset)
            strftime(date, sizeof date, ", from %Y-%m-%d %H:%M:%S UTC", gmtime(&second));
        printf("time        %.6Lf s by %s%s\n", length, time_kinds[kind], date);
        timed = true;
    }
    if (!timed)
        printf("time        none recorded\n");
    if (stats->drops > reader->gaps)
        printf("dropped     %llu event%s, in %llu place%s\n", (unsigned long long)stats->lost,
               th_log_plural(stats->lost), (unsigned long long)(stats->drops - reader->gaps),
               th_log_plural(stats->drops - reader->gaps));
    if (reader->gaps)
        printf("lost        an unknown number of events in %llu place%s\n",
               (unsigned long long)reader->gaps, th_log_plural(reader->gaps));
    th_buffer_text(&stats->told);
    for (char *line = (char *)stats->told.data, *end; line && (end = strchr(line, '\n'));
         line = end + 1)
        printf("note        %.*s\n", (int)(end - line), line);
    if (stats->other)
        printf("other       %llu record%s of another kind than trace messages\n",
               (unsigned long long)stats->other, th_log_plural(stats->other));
    if (stream->skipped)
        printf("damage      %llu record%s skipped\n", (unsigned long long)stream->skipped,
               th_log_plural(stream->skipped));
    if (stream->damages)
        printf("damage      truncated or damaged in %llu place%s\n",
               (unsigned long long)stream->damages, th_log_plural(stream->damages));
    if (stats->row_count)
        printf("\n   records  tag\n");
    for (size_t i = 0; i < stats->row_count; i++)
        printf("%10llu  %s %s/%u\n", (unsigned long long)stats->rows[i].count,
               kinds[stats->rows[i].kind], th_atom_name(stats->rows[i].tag)->text,
               stats->rows[i].tuple_size);
    snprintf(title, sizeof title, "   records  tracee (%zu)", stats->tracee_list.count);
    print_list(title, &stats->tracee_list, th_text_show);
    snprintf(title, sizeof title, "     calls  function (%llu call%s of %zu function%s)",
             (unsigned long long)stats->calls, th_log_plural(stats->calls),
             stats->function_list.count, th_log_plural(stats->function_list.count));
    print_list(title, &stats->function_list, info_show_function);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *json_rows(const struct th_stream_stats *stats)
{
    json_t *tags = json_array();

    for (size_t i = 0; i < stats->row_count;) {
        const struct th_stream_stats_row *first = &stats->rows[i];
        json_t *sizes = json_object();
        json_int_t count = 0;
        char size[16];
        for (; i < stats->row_count && stats->rows[i].kind == first->kind &&
               stats->rows[i].tag == first->tag;
             i++) {
            snprintf(size, sizeof size, "%u", stats->rows[i].tuple_size);
            json_object_set_new(sizes, size, json_integer((json_int_t)stats->rows[i].count));
            count += (json_int_t)stats->rows[i].count;
        }
        json_array_append_new(tags, json_pack("{s:s, s:s, s:o, s:I}", "kind", kinds[first->kind],
                                              "tag", th_atom_name(first->tag)->text, "tuple_sizes",
                                              sizes, "count", count));
    }
    return tags;
}

static json_t *json_list(const char *name, const struct th_stream_stats_list *list,
                         void (*add)(struct th_buffer *text, uint64_t key))
{
    json_t *array = json_array();
    struct th_buffer text = {0};

    for (size_t i = 0; i < list->shown; i++) {
        text.size = 0;
        add(&text, list->items[i].key);
        json_array_append_new(array, json_pack("{s:s, s:I}", name, th_buffer_text(&text), "count",
                                               (json_int_t)list->items[i].count));
    }
    th_buffer_free(&text);
    return array;
}

static void print_json(struct th_stream_stats *stats, const struct th_stream *stream)
{
    const struct th_reader_info *reader = th_replay_reader_info(stream->reader);
    const struct th_atom_name *node = th_atom_name(reader->node.node);
    json_t *times = json_array();
    json_t *all = json_pack("{s:s, s:s?, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "format",
                            reader->format, "node", reader->node.node ? node->text : NULL, "bytes",
                            (json_int_t)reader->bytes, "total", (json_int_t)stats->total, "drops",
                            (json_int_t)stats->drops, "lost", (json_int_t)stats->lost, "gaps",
                            (json_int_t)reader->gaps, "other", (json_int_t)stats->other,
                            "malformed", (json_int_t)stream->skipped, "damages",
                            (json_int_t)stream->damages, "partial", stream->status != TH_OK);

    for (int kind = TH_TIME_TIMESTAMP; kind <= TH_TIME_STRICT_MONOTONIC; kind++) {
        const struct th_span *span = &stats->spans[kind];
        if (span->used)
            json_array_append_new(times, json_pack("{s:s, s:I, s:I}", "kind", time_kinds[kind],
                                                   "first", (json_int_t)span->first, "last",
                                                   (json_int_t)span->last));
    }
    json_object_update_new(
        all, json_pack("{s:o, s:o, s:I, s:I, s:o, s:I, s:o}", "times", times, "tags",
                       json_rows(stats), "calls_total", (json_int_t)stats->calls, "calls_distinct",
                       (json_int_t)stats->function_list.count, "calls",
                       json_list("mfa", &stats->function_list, info_print_function),
                       "tracees_distinct", (json_int_t)stats->tracee_list.count, "tracees",
                       json_list("id", &stats->tracee_list, th_text_print)));
    if (stats->told.size)
        json_object_set_new(all, "notes", json_string(th_buffer_text(&stats->told)));
    th_cli_command_print_json(all, JSON_INDENT(2));
}

int th_cli_command_info(int argc, char **argv)
{
    static struct info info = {
        .top = UINT64_MAX}; /* its list of streams is used until the program ends */
    struct th_stream_stats stats = {0};
    struct th_stream stream = {.command = "info", .options = &info.stream};
    struct th_event event = {0};
    th_env env;
    int status;

    th_control_session_options_init(&info.sessions, false);
    th_cli_command_parse(&usage, argc, argv, &info);
    th_cli_node_ask_only("info", &info.stream, (const char *const *)info.streams.items,
                         info.streams.count, &info.sessions);
    th_control_session_options_free(&info.sessions);
    th_cli_interrupt_install();
    th_cli_stream_take(&stream, &info.streams);
    status = th_cli_stream_open(&stream);
    if (status != TH_OK)
        return status;
    th_env_init(&env, TH_ENV_PLAIN);
    while (th_cli_stream_next(&stream, &event)) {
        if (add_event(&stats, &event, &env) != TH_OK)
            th_cli_stream_malformed(&stream, &event);
        th_env_clear(&env);
    }
    th_env_release(&env);
    if (stats.row_count)
        qsort(stats.rows, stats.row_count, sizeof *stats.rows, by_kind_and_tag);
    stats.function_list = list_of(&stats.functions, info.top, by_count_and_function);
    stats.tracee_list = list_of(&stats.tracees, info.top, by_count_and_id);
    if (info.json)
        print_json(&stats, &stream);
    else
        print_text(&stats, &stream);
    status = th_cli_stream_close(&stream);
    th_free(stats.function_list.items);
    th_free(stats.tracee_list.items);
    th_free(stats.rows);
    th_buffer_free(&stats.told);
    th_hash_table_free(&stats.functions);
    th_hash_table_free(&stats.tracees);
    return th_cli_command_finish("info", status);
}

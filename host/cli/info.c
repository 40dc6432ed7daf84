/* tracehost info: what is in a stream. */
#include "stream_stats.h"
#include "interrupt.h"
#include "stream.h"

#include <jansson.h>
#include <string.h>
#include <time.h>

struct info {
    struct th_stream_options stream;
    bool json;
    uint64_t top; /* of functions and tracees; 0: all */
    const char *name;
};

static enum th_status choose_top(void *input)
{
    struct info *info = input;

    if (info->top == UINT64_MAX)
        info->top = info->json ? 0 : 20;
    return TH_OK;
}

static const struct th_argument arguments[] = {
    TH_WORD("STREAM", FILE, TH_ARGUMENT_NEEDED, TH_INTO(struct info, name)),
    TH_OPTION("format", "FORMAT", CHOICE, 0, "text (the default) or json",
              .words = TH_WORDS("text", "json"), TH_INTO(struct info, json)),
    TH_OPTION("top", "N", NUMBER, 0,
              "Show the N most frequent functions and tracees; 0: all (the default: 20 as text, "
              "all as json)",
              TH_INTO(struct info, top)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments, .check = choose_top},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct info, stream)},
    {.items = th_cli_limit_arguments, .offset = offsetof(struct info, stream)},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Counts the records of a stream: by tag, by tracee, by function called; its time "
              "span; what was dropped or is damaged.",
    .after = "Example:\n"
             "  tracehost info --top=5 calls.trace",
};

static void show_function(struct th_buffer *text, uint64_t key)
{
    struct th_mfa function = th_cli_stream_stats_function(key);

    th_trace_function_show(text, &function);
}

static void print_function(struct th_buffer *text, uint64_t key)
{
    struct th_mfa function = th_cli_stream_stats_function(key);

    th_trace_function_print(text, &function);
}

static const char *const time_kinds[] = {"none", "timestamp", "cpu_timestamp",
                                         "monotonic_timestamp", "strict_monotonic_timestamp"};

/* --- text --- */

static void print_times(const struct th_stream_stats *census)
{
    bool any = false;

    for (int kind = TH_TIME_TIMESTAMP; kind <= TH_TIME_STRICT_MONOTONIC; kind++) {
        const struct th_span *span = &census->spans[kind];
        long double length = ((long double)span->last - (long double)span->first) / 1e9L;
        time_t second = (time_t)(span->first / 1000000000);
        char date[64] = "";
        if (!span->used)
            continue;
        if (kind == TH_TIME_TIMESTAMP)
            strftime(date, sizeof date, ", from %Y-%m-%d %H:%M:%S UTC", gmtime(&second));
        printf("time        %.6Lf s by %s%s\n", length, time_kinds[kind], date);
        any = true;
    }
    if (!any)
        printf("time        none recorded\n");
}

static void print_head(const struct info *info, const struct th_stream_stats *census,
                       const struct th_stream *stream)
{
    const struct th_reader_info *reader = th_replay_reader_info(stream->reader);
    const struct th_atom_name *node = th_atom_name(reader->node.node);

    printf("stream      %s (%s)\n", th_cli_stream_title(info->name), reader->format);
    if (reader->node.node)
        printf("node        %s\n", node->text);
    printf("records     %llu, %llu byte%s\n", (unsigned long long)census->total,
           (unsigned long long)reader->bytes, th_log_plural(reader->bytes));
    print_times(census);
    if (census->drops > reader->gaps)
        printf("dropped     %llu event%s, in %llu place%s\n", (unsigned long long)census->lost,
               th_log_plural(census->lost), (unsigned long long)(census->drops - reader->gaps),
               th_log_plural(census->drops - reader->gaps));
    if (reader->gaps)
        printf("lost        in %llu place%s, nobody knows how many events\n",
               (unsigned long long)reader->gaps, th_log_plural(reader->gaps));
    if (census->other)
        printf("other       %llu record%s of another kind than trace messages\n",
               (unsigned long long)census->other, th_log_plural(census->other));
    if (stream->skipped)
        printf("damage      %llu record%s skipped\n", (unsigned long long)stream->skipped,
               th_log_plural(stream->skipped));
    if (stream->damages)
        printf("damage      cut off or damaged in %llu place%s\n",
               (unsigned long long)stream->damages, th_log_plural(stream->damages));
}

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

static void print_text(const struct info *info, struct th_stream_stats *census,
                       const struct th_stream *stream)
{
    struct th_stream_stats_list functions = th_cli_stream_stats_functions(census, info->top);
    struct th_stream_stats_list tracees = th_cli_stream_stats_tracees(census, info->top);
    char title[96];

    print_head(info, census, stream);
    if (census->row_count)
        printf("\n   records  tag\n");
    for (size_t i = 0; i < census->row_count; i++)
        printf("%10llu  %s %s/%u\n", (unsigned long long)census->rows[i].count,
               th_cli_stream_stats_kinds[census->rows[i].kind],
               th_atom_name(census->rows[i].tag)->text, census->rows[i].tuple_size);
    snprintf(title, sizeof title, "   records  tracee (%zu)", tracees.count);
    print_list(title, &tracees, th_text_show);
    snprintf(title, sizeof title, "     calls  function (%llu call%s of %zu function%s)",
             (unsigned long long)census->calls, th_log_plural(census->calls), functions.count,
             th_log_plural(functions.count));
    print_list(title, &functions, show_function);
    th_free(functions.items);
    th_free(tracees.items);
}

/* --- json --- */

static json_t *json_rows(const struct th_stream_stats *census)
{
    json_t *tags = json_array();

    for (size_t i = 0; i < census->row_count;) {
        const struct th_stream_stats_row *first = &census->rows[i];
        json_t *sizes = json_object();
        json_int_t count = 0;
        char size[16];
        for (; i < census->row_count && census->rows[i].kind == first->kind &&
               census->rows[i].tag == first->tag;
             i++) {
            snprintf(size, sizeof size, "%u", census->rows[i].tuple_size);
            json_object_set_new(sizes, size, json_integer((json_int_t)census->rows[i].count));
            count += (json_int_t)census->rows[i].count;
        }
        json_array_append_new(tags, json_pack("{s:s, s:s, s:o, s:I}", "kind",
                                              th_cli_stream_stats_kinds[first->kind], "tag",
                                              th_atom_name(first->tag)->text, "tuple_sizes", sizes,
                                              "count", count));
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

static json_t *json_times(const struct th_stream_stats *census)
{
    json_t *times = json_array();

    for (int kind = TH_TIME_TIMESTAMP; kind <= TH_TIME_STRICT_MONOTONIC; kind++) {
        const struct th_span *span = &census->spans[kind];
        if (span->used)
            json_array_append_new(times, json_pack("{s:s, s:I, s:I}", "kind", time_kinds[kind],
                                                   "first", (json_int_t)span->first, "last",
                                                   (json_int_t)span->last));
    }
    return times;
}

static void print_json(const struct info *info, const struct th_stream_stats *census,
                       const struct th_stream *stream)
{
    const struct th_reader_info *reader = th_replay_reader_info(stream->reader);
    struct th_stream_stats_list functions = th_cli_stream_stats_functions(census, info->top);
    struct th_stream_stats_list tracees = th_cli_stream_stats_tracees(census, info->top);
    const struct th_atom_name *node = th_atom_name(reader->node.node);
    json_t *all = json_pack("{s:s, s:s?, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "format",
                            reader->format, "node", reader->node.node ? node->text : NULL, "bytes",
                            (json_int_t)reader->bytes, "total", (json_int_t)census->total, "drops",
                            (json_int_t)census->drops, "lost", (json_int_t)census->lost, "gaps",
                            (json_int_t)reader->gaps, "other", (json_int_t)census->other,
                            "malformed", (json_int_t)stream->skipped, "damages",
                            (json_int_t)stream->damages, "partial", stream->status != TH_OK);

    json_object_update_new(all, json_pack("{s:o, s:o, s:I, s:I, s:o, s:I, s:o}", "times",
                                          json_times(census), "tags", json_rows(census),
                                          "calls_total", (json_int_t)census->calls,
                                          "calls_distinct", (json_int_t)functions.count, "calls",
                                          json_list("mfa", &functions, print_function),
                                          "tracees_distinct", (json_int_t)tracees.count, "tracees",
                                          json_list("id", &tracees, th_text_print)));
    th_cli_command_print_json(all, JSON_INDENT(2));
    th_free(functions.items);
    th_free(tracees.items);
}

int th_cli_command_info(int argc, char **argv)
{
    struct info info = {.top = UINT64_MAX};
    struct th_stream_stats census = {0};
    struct th_stream stream = {.command = "info", .options = &info.stream};
    struct th_event event = {0};
    th_env env;
    int status;

    th_cli_command_parse(&usage, argc, argv, &info);
    th_cli_interrupt_install();
    stream.name = info.name;
    status = th_cli_stream_open(&stream);
    if (status != TH_OK)
        return status;
    th_env_init(&env, TH_ENV_PLAIN);
    while (th_cli_stream_next(&stream, &event)) {
        if (th_cli_stream_stats_add(&census, &event, &env) != TH_OK)
            th_cli_stream_malformed(&stream, &event);
        th_env_clear(&env);
    }
    th_env_release(&env);
    th_cli_stream_stats_sort_rows(&census);
    if (info.json)
        print_json(&info, &census, &stream);
    else
        print_text(&info, &census, &stream);
    status = th_cli_stream_close(&stream);
    th_cli_stream_stats_free(&census);
    return th_cli_command_finish("info", status);
}

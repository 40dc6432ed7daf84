/* Writes the page: its own three files, which the build inserts here, and the data. */
#include "page.h"

#include "../kit/stamp.h"

#include <nif_module.h>

extern const char page_html[], page_css[], page_js[];

/* --- streams --- */

/* Writes a number of the map STREAM. */
static void write_member(struct writing *writing, ERL_NIF_TERM stream, const char *name)
{
    ErlNifUInt64 count = 0;
    ERL_NIF_TERM value;

    if (enif_get_map_value(writing->env, stream, enif_make_atom(writing->env, name), &value))
        enif_get_uint64(writing->env, value, &count);
    fprintf(writing->file, ",\"%s\":%" PRIu64, name, (uint64_t)count);
}

static bool stream_name(ErlNifEnv *env, ERL_NIF_TERM stream, ErlNifBinary *name)
{
    ERL_NIF_TERM value;

    return enif_get_map_value(env, stream, enif_make_atom(env, "name"), &value) &&
           enif_inspect_binary(env, value, name);
}

static ERL_NIF_TERM streams_of(ErlNifEnv *env)
{
    return TH_HAS(th_recordings) ? th_recordings(env) : enif_make_list(env, 0);
}

static void write_streams(struct writing *writing)
{
    ERL_NIF_TERM list = streams_of(writing->env), stream;
    ErlNifBinary name = {0};
    bool first = true;

    fputc('[', writing->file);
    for (; enif_get_list_cell(writing->env, list, &stream, &list); first = false) {
        if (!stream_name(writing->env, stream, &name))
            continue;
        fputs(first ? "{\"name\":" : ",\n{\"name\":", writing->file);
        write_text(writing->file, (const char *)name.data, name.size);
        write_member(writing, stream, "records");
        write_member(writing, stream, "lost");
        write_member(writing, stream, "gaps");
        write_member(writing, stream, "damaged");
        fputc('}', writing->file);
    }
    fputc(']', writing->file);
}

/* Writes whether the reading of a stream was ended before its end. */
static void write_interrupted(struct writing *writing)
{
    ERL_NIF_TERM list = streams_of(writing->env), stream, value;
    int interrupted = 0, of_this = 0;

    while (enif_get_list_cell(writing->env, list, &stream, &list))
        if (enif_get_map_value(writing->env, stream, enif_make_atom(writing->env, "interrupted"),
                               &value) &&
            enif_get_int(writing->env, value, &of_this))
            interrupted |= of_this;
    fputs(interrupted ? "true" : "false", writing->file);
}

/* Writes TITLE, or the name of the first stream without its folders. */
static void write_title(struct writing *writing, const char *title)
{
    ERL_NIF_TERM list = streams_of(writing->env), stream;
    ErlNifBinary name;
    size_t begin;

    if (*title || !enif_get_list_cell(writing->env, list, &stream, &list) ||
        !stream_name(writing->env, stream, &name)) {
        write_string(writing->file, *title ? title : "trace");
        return;
    }
    for (begin = name.size; begin && name.data[begin - 1] != '/';)
        begin--;
    write_text(writing->file, (const char *)name.data + begin, name.size - begin);
}

/* --- head --- */

static void write_clock(struct writing *writing)
{
    static const char *const kinds[] = {[STAMP_NONE] = "none",
                                        [STAMP_SYSTEM] = "system",
                                        [STAMP_CPU] = "cpu",
                                        [STAMP_MONOTONIC] = "monotonic",
                                        [STAMP_STRICT] = "strict"};
    const struct clock *clock = &writing->report->clock;

    fprintf(writing->file, "{\"kind\":\"%s\",\"first\":%" PRId64 ",\"last\":%" PRId64 ",\"unix\":",
            kinds[clock->kind], clock->first, clock->first + clock->latest);
    if (clock->system)
        fprintf(writing->file, "\"%" PRId64 "\"}", clock->system);
    else
        fputs("null}", writing->file);
}

static uint64_t calls_ended(const struct figures_table *functions)
{
    uint64_t ended = functions->rest.ended;

    for (size_t i = 0; i < functions->size; i++)
        if (functions->slots[i])
            ended += functions->slots[i]->ended;
    return ended;
}

static void write_sums(FILE *file, const struct sums *sums)
{
    fprintf(file,
            "\"events\":%" PRIu64 ",\"calls\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"sent\":%" PRIu64
            ",\"received\":%" PRIu64 ",\"processes\":%" PRIu64 ",\"ports\":%" PRIu64,
            sums->events, sums->calls, sums->errors, sums->sent, sums->received, sums->processes,
            sums->ports);
}

static void write_summary(struct writing *writing)
{
    struct report *report = writing->report;
    struct sums sums = report->sums;

    sums.processes = report->others.processes;
    sums.ports = report->others.ports;
    for (struct process *process = report->first; process; process = process->next) {
        sums.processes += process->sums.processes;
        sums.ports += process->sums.ports;
    }
    fputc('{', writing->file);
    write_sums(writing->file, &sums);
    fprintf(writing->file, ",\"ended\":%" PRIu64 ",\"functions\":%zu}",
            calls_ended(&report->functions), report->functions.used);
}

static void write_others(struct writing *writing)
{
    fputc('{', writing->file);
    write_sums(writing->file, &writing->report->others);
    fputc('}', writing->file);
}

static int compare_tags(const void *left, const void *right)
{
    const struct count *a = left, *b = right;

    if (a->events != b->events)
        return a->events < b->events ? 1 : -1;
    return enif_compare(a->function, b->function);
}

static void write_tags(struct writing *writing)
{
    struct counts *tags = &writing->report->tags;
    size_t used = 0;

    for (size_t i = 0; i < tags->size; i++)
        if (tags->slots[i].function)
            tags->slots[used++] = tags->slots[i];
    if (used)
        qsort(tags->slots, used, sizeof *tags->slots, compare_tags);
    fputc('[', writing->file);
    for (size_t i = 0; i < used; i++) {
        char name[256] = "";
        enif_get_atom(writing->env, tags->slots[i].function, name, sizeof name, ERL_NIF_LATIN1);
        fputs(i ? ",[" : "[", writing->file);
        write_string(writing->file, name);
        fprintf(writing->file, ",%" PRIu64 "]", tags->slots[i].events);
    }
    fputc(']', writing->file);
}

/* --- repairs, cuts and losses --- */

static void write_repair(struct writing *writing, bool first, const char *what, uint64_t count,
                         const char *cure)
{
    fputs(first ? "\n[" : ",\n[", writing->file);
    write_string(writing->file, what);
    fprintf(writing->file, ",%" PRIu64 ",", count);
    write_string(writing->file, cure);
    fputc(']', writing->file);
}

static void write_doubts(struct writing *writing, const char *effect, const struct repairs *repairs)
{
    const struct mfa *mfa = &repairs->doubted;
    struct line line;

    line_start(&line);
    line_add(&line, STACK_DOUBTFUL ", so that %s (the first is to ", effect);
    line_add_function(&line, mfa->module, mfa->function, mfa->arity);
    line_add(&line, ")");
    write_repair(writing, true, line.text, repairs->doubtful, STACK_CURE);
    line_drop(&line);
}

/* Writes [text, count, cure]. Limits of the page, and calls that are not in the recording, are not
 * doubtful: their cure is null. */
static void write_repairs(struct writing *writing)
{
    static const char less[] = "select less, with -p, --processes, --from or --to";
    struct report *report = writing->report;
    const struct messages *messages = &report->messages;
    uint64_t lost = report->lost + report->functions.lost + report->tags.lost +
                    report->stacks.starved + writing->names.short_of_memory;
    struct losses losses = report->losses;
    struct repairs untimed = report->untimed;
    bool first = true;

    calls_losses(&report->calls, &losses, &untimed);
    lost += losses.lost;
    report->starved = lost;
    const struct {
        const char *what;
        uint64_t count;
        const char *cure;
    } repairs[] = {
        {"events without a time stamp", report->clock.timed ? report->clock.untimed : 0,
         "trace all processes and ports with a flag like monotonic_timestamp"},
        {"events with a time stamp of another clock, which was ignored", report->clock.others,
         "trace all processes and ports with the same time stamps"},
        {"events older than the first one, counted at the time of the first one",
         report->clock.early, "trace with monotonic_timestamp, which does not go back"},
        {"ends of calls that are not in the recording", report->strays, NULL},
        {"calls ended by the return of a caller", report->repairs.cut, STACK_CURE},
        {"returns from calls that are not in the recording", report->repairs.uncalled, NULL},
        {"calls and returns of processes that were not scheduled in", report->unscheduled,
         "set the flag running together with the flag call"},
        {"calls too deep to follow", report->repairs.beyond, less},
        {"open calls forgotten, as a process had too many", losses.forgotten, STACK_CURE},
        {CALLS_UNWATCHED, losses.unwatched, NULL},
        {"functions shown as one, as there are too many",
         report->functions.used > FUNCTIONS_SHOWN ? report->functions.used - FUNCTIONS_SHOWN : 0,
         NULL},
        {"calls of functions beyond the maximum number", writing->beyond, less},
        {"calls counted for their callers, as there are too many stacks", report->stacks.lost,
         NULL},
        {"processes and ports shown as others, as there are too many",
         report->others.processes + report->others.ports, NULL},
        {"events of processes beyond the maximum number", report->unkept, less},
        {"pairs of sender and receiver shown as one, as there are too many", messages->merged,
         NULL},
        {"messages forgotten before their receipt, as too many were waiting", messages->forgotten,
         "trace with the flag receive, too"},
        {"registered names not kept, as there are too many", messages->nameless, less},
        {"events lost, out of memory", lost, less},
    };
    fputc('[', writing->file);
    if (report->repairs.doubtful) {
        write_doubts(writing, "the flame graph may be wrong and times of functions are missing",
                     &report->repairs);
        first = false;
    } else if (untimed.doubtful) {
        write_doubts(writing, "times of functions are missing", &untimed);
        first = false;
    }
    for (size_t i = 0; i < sizeof repairs / sizeof repairs[0]; i++)
        if (repairs[i].count) {
            write_repair(writing, first, repairs[i].what, repairs[i].count, repairs[i].cure);
            first = false;
        }
    fputc(']', writing->file);
}

/* --- the page --- */

/* Writes the data, and only then what was repaired, and the names of functions. */
static void write_data(struct writing *writing, const char *title)
{
    static const struct {
        const char *name;
        void (*write)(struct writing *writing);
    } members[] = {
        {"streams", write_streams},     {"interrupted", write_interrupted},
        {"time", write_clock},          {"summary", write_summary},
        {"tags", write_tags},           {"functions", write_functions},
        {"processes", write_processes}, {"others", write_others},
        {"flame", write_flame},         {"timeline", write_timeline},
        {"messages", write_messages},   {"slowest", write_slowest},
        {"requests", write_requests},   {"names", write_names},
        {"repairs", write_repairs},
    };
    FILE *file = writing->file;

    fputs("<script type=\"application/json\" id=\"data\">\n{\"version\":1,\n\"title\":", file);
    write_title(writing, title);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        fprintf(file, ",\n\"%s\":", members[i].name);
        members[i].write(writing);
    }
    fputs("}\n</script>\n", file);
}

static bool is_mark(const char *line, size_t length, const char *mark)
{
    return strlen(mark) == length && memcmp(line, mark, length) == 0;
}

/* Writes the template of the page; the contents replace each line that is a mark. */
static void write_template(struct writing *writing, const char *title)
{
    const char *line = page_html;

    while (*line) {
        size_t length = strcspn(line, "\n");
        if (is_mark(line, length, "@CSS@"))
            fputs(page_css, writing->file);
        else if (is_mark(line, length, "@JS@"))
            fputs(page_js, writing->file);
        else if (is_mark(line, length, "@DATA@"))
            write_data(writing, title);
        else
            fprintf(writing->file, "%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void write_page(FILE *file, ErlNifEnv *env, struct report *report, const char *title)
{
    struct writing writing = {.file = file, .env = env, .report = report};

    writing.beyond = report->functions.rest.calls;
    processes_stop(report);
    processes_forget(report, PROCESSES_SHOWN, false);
    pairs_forget(&report->messages, PAIRS_SHOWN);
    write_template(&writing, title);
    free(writing.names.functions);
    free(writing.names.numbers.slots);
}

/*
 * count: numbers of events by tag, of calls and exceptions by function, or of all three by process.
 *
 * The tables are printed when the tracer is unloaded, the most frequent first. Each thread counts
 * in tables of its own, so counting takes no lock.
 *
 * State: see ../output.h; and
 *
 *     by        function, process or tag; without it tags, then functions
 *     format    table, json or csv (which has one table: without `by` that of functions)
 *     top       number of functions or processes that a table shows; 0: all; 20 without it, and all
 *               in JSON and CSV
 */
#define TRACER_DECLARES                                                                        \
    {"by", TH_SETTING_WORD, "function process tag", NULL,                                      \
     "what is counted; tags, then functions without it"},                                      \
        {"format", TH_SETTING_WORD, "table json csv", "table", "how the figures are written"}, \
        {"top", TH_SETTING_NUMBER, NULL, "20",                                                 \
         "how many rows are shown, 0 for all; all in JSON and CSV without it"},
#define TRACER_SETTINGS read_settings
#define TRACER_WHOLE
#define TRACER_PART struct counts
#include "../kit/counts.h"
#include "../kit/labels.h"

struct settings {
    unsigned by, format, top;
    struct tracees labels; /* of the counted processes */
};

#include "../kit/counts_share.h"
#include "../kit/line.h"
#include "../kit/table.h"
#include "../kit/tracee.h"

/* Counting needs no terms but functions, whatever is counted. */
const char th_tracer_functions_only = 1;

enum by { BY_FUNCTION, BY_PROCESS, BY_TAG, BY_TAG_AND_FUNCTION };

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    settings->format = output_choice(env, state, "format");
    settings->by = output_choice(env, state, "by");
    settings->top = 0;
    if (!output_has_number(env, state, "top", &settings->top) && settings->format == TABLE_TEXT)
        settings->top = output_number(env, state, "top");
    if (settings->by == BY_TAG_AND_FUNCTION && settings->format == TABLE_CSV)
        settings->by = BY_FUNCTION;
}

static void count(struct counts *counts, const struct count *more)
{
    if (!counts_add(counts, more))
        counts_insert(counts, more);
}

static void count_process(ErlNifEnv *env, struct part *part, ERL_NIF_TERM tag, ERL_NIF_TERM tracee)
{
    const struct count more = {.function = tracee_word(env, tracee),
                               .events = 1,
                               .calls = tag == TH_TRACER_ATOM(env, call),
                               .errors = tag == TH_TRACER_ATOM(env, exception_from)};

    if (counts_add(&part->own, &more))
        return;
    labels_note(&part->output->settings.labels, more.function);
    counts_insert(&part->own, &more);
}

/* Counts an event of MFA, a function; false if MFA is none. */
static bool count_function(ErlNifEnv *env, struct counts *counts, ERL_NIF_TERM mfa, bool call)
{
    struct count more, *place;

    if (!counts_read_function(env, mfa, &more))
        return false;
    place = counts->size ? counts_place(counts, &more) : NULL;
    if (place && place->function) {
        place->events += call;
        place->errors += !call;
        return true;
    }
    more.events = call;
    more.errors = !call;
    /* Names already in the table are atoms; only new ones are checked. */
    if (!enif_is_atom(env, more.module) || !enif_is_atom(env, more.function))
        return false;
    counts_insert(counts, &more);
    return true;
}

TH_TRACER_ENABLED(generic)
{
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, trace));
}

TH_TRACER_TRACE(generic)
{
    struct part *part = part_of(env, state);

    if (part && part->output->settings.by == BY_PROCESS)
        count_process(env, part, tag, tracee);
    else if (part)
        count(&part->own, &(struct count){.function = tag, .events = 1});
}

/* Counts a call or an exception for its function; the report adds up the tag. */
TH_TRACER_TRACE(call)
{
    bool called = tag == TH_TRACER_ATOM(env, call);
    bool thrown = tag == TH_TRACER_ATOM(env, exception_from);
    struct part *part = part_of(env, state);

    if (!part)
        return;
    if (part->output->settings.by == BY_PROCESS)
        count_process(env, part, tag, tracee);
    else if (!(called || thrown) || !count_function(env, &part->own, term, called))
        count(&part->own, &(struct count){.function = tag, .events = 1});
}

/* --- Shares --- */

/* {Counts, Labels}. */
static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    ERL_NIF_TERM counts = counts_save_output(env, output);

    return counts ? enif_make_tuple2(env, counts, labels_save(env, &output->settings.labels)) : 0;
}

static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved)
{
    const ERL_NIF_TERM *elements;
    int size;

    return enif_get_tuple(env, saved, &size, &elements) && size == 2 &&
           counts_merge_output(env, output, elements[0]) &&
           labels_take(env, &output->settings.labels, elements[1]);
}

TH_TRACER_SAVE()
{
    return parts.lost ? 0 : share_save(env, save_output);
}

TH_TRACER_MERGE()
{
    return share_merge(env, saved, merge_output);
}

/* --- the report --- */

/* Sorts entries without a module before functions, then the most frequent first, then by name. */
static int compare(const void *left, const void *right)
{
    const struct count *a = left, *b = right;
    int names;

    if (!a->module != !b->module)
        return a->module ? 1 : -1;
    if (a->events != b->events)
        return a->events < b->events ? 1 : -1;
    names = a->module ? enif_compare(a->module, b->module) : 0;
    if (names == 0)
        names = enif_compare(a->function, b->function);
    return names ? names : (a->arity > b->arity) - (a->arity < b->arity);
}

static void add_up(ErlNifEnv *env, struct counts *sum, const struct counts *counts)
{
    for (size_t i = 0; i < counts->size; i++) {
        const struct count *slot = &counts->slots[i];
        if (slot->function)
            count(sum, slot);
        if (slot->module && slot->events)
            count(sum,
                  &(struct count){.function = TH_TRACER_ATOM(env, call), .events = slot->events});
        if (slot->module && slot->errors)
            count(sum, &(struct count){.function = TH_TRACER_ATOM(env, exception_from),
                                       .events = slot->errors});
    }
    sum->lost += counts->lost;
}

/* Returns the sum of all threads' counts for OUTPUT, sorted and without gaps: `used` slots. */
static struct counts sum_of(ErlNifEnv *env, const struct output *output)
{
    struct counts sum = {0};
    size_t used = 0;

    for (struct part *part = parts.first; part; part = part->next)
        if (part->output == output)
            add_up(env, &sum, &part->own);
    for (size_t i = 0; i < sum.size; i++)
        if (sum.slots[i].function)
            sum.slots[used++] = sum.slots[i];
    if (used)
        qsort(sum.slots, used, sizeof *sum.slots, compare);
    return sum;
}

static struct count total(const struct count *counts, size_t count)
{
    struct count sum = {0};

    for (size_t i = 0; i < count; i++) {
        sum.events += counts[i].events;
        sum.calls += counts[i].calls;
        sum.errors += counts[i].errors;
    }
    return sum;
}

/* Columns of a table, in the order of its cells. */
enum { EVENTS, PART, CALLS, ERRORS, NAME, LABEL, COLUMNS };

static void fill(union cell cells[COLUMNS], struct count count, uint64_t all, const char *name,
                 const char *label)
{
    cells[EVENTS].count = count.events;
    cells[PART].part = all ? 100.0 * (double)count.events / (double)all : 0.0;
    cells[CALLS].count = count.calls;
    cells[ERRORS].count = count.errors;
    cells[NAME].text = name;
    cells[LABEL].text = label;
}

/* Starts NAME, and LABEL with what a process is called; returns the text of LABEL, NULL if there is
 * none. */
static const char *name_of(ErlNifEnv *env, const struct tracees *labels, const struct count *count,
                           int for_people, struct line *name, struct line *label)
{
    char tag[256]; /* without the quotes that 'receive' would have */

    line_start(name);
    line_start(label);
    name->for_people = for_people;
    name->for_programs = !for_people;
    if (count->module)
        line_add_function(name, count->module, count->function, count->arity);
    else if (enif_get_atom(env, count->function, tag, sizeof tag, ERL_NIF_LATIN1))
        line_add(name, "%s", tag);
    else
        return labels_add(name, label, labels, count->function);
    return NULL;
}

static void columns_of(enum by by, struct count all, struct column columns[COLUMNS])
{
    static const char *const names[] = {"function", "process", "tag"};
    const char *first = by == BY_FUNCTION ? "calls" : "events";

    columns[EVENTS] = (struct column){first, first, COLUMN_COUNT, 12};
    columns[PART] = (struct column){"", "%", COLUMN_PART, 7};
    columns[CALLS] = (struct column){.kind = COLUMN_ABSENT};
    columns[ERRORS] = (struct column){.kind = COLUMN_ABSENT};
    columns[NAME] = (struct column){names[by], names[by], COLUMN_NAME, 0};
    columns[LABEL] = (struct column){.kind = COLUMN_ABSENT};
    if (by == BY_PROCESS) {
        columns[CALLS] = (struct column){"calls", "calls", COLUMN_COUNT, 12};
        columns[LABEL] = (struct column){"name", NULL, COLUMN_NAME, 0};
    }
    if (by != BY_TAG) /* a column of zeros is useless */
        columns[ERRORS] = (struct column){"errors", all.errors ? "errors" : NULL, COLUMN_COUNT, 8};
}

static void print(ErlNifEnv *env, struct document *document, enum by by,
                  const struct settings *settings, const struct count *counts, size_t count)
{
    static const char *const names[] = {"functions", "processes", "tags"};
    size_t top = by == BY_TAG ? 0 : settings->top;
    size_t shown = top && top < count ? top : count;
    struct count all = total(counts, count);
    struct column columns[COLUMNS];
    union cell cells[COLUMNS];
    struct table table;
    struct line line, label;
    const char *labelled;

    if (count == 0 && document->format == TABLE_TEXT)
        return;
    columns_of(by, all, columns);
    table_begin(&table, document, names[by], columns, COLUMNS);
    for (size_t i = 0; i < shown; i++) {
        labelled = name_of(env, &settings->labels, &counts[i], document->format == TABLE_TEXT,
                           &line, &label);
        fill(cells, counts[i], all.events, line.text, labelled);
        table_row(&table, cells);
        line_drop(&line);
        line_drop(&label);
    }
    table_end(&table);
    if (document->format != TABLE_TEXT || (by == BY_FUNCTION && shown == count))
        return;
    line_start(&line);
    if (shown == count)
        line_add(&line, "all");
    else
        line_add(&line, "%lu more", (unsigned long)(count - shown));
    fill(cells, shown == count ? all : total(counts + shown, count - shown), all.events, line.text,
         NULL);
    table_text_row(&table, cells);
}

static void report(ErlNifEnv *env, struct output *output)
{
    struct settings *settings = &output->settings;
    struct counts sum = sum_of(env, output);
    struct document document;
    size_t tags = 0;

    while (tags < sum.used && !sum.slots[tags].module)
        tags++;
    document_begin(&document, output->file, settings->format);
    if (settings->by == BY_PROCESS)
        print(env, &document, BY_PROCESS, settings, sum.slots, tags);
    if (settings->by == BY_TAG || settings->by == BY_TAG_AND_FUNCTION)
        print(env, &document, BY_TAG, settings, sum.slots, tags);
    if (settings->by == BY_FUNCTION || (settings->by == BY_TAG_AND_FUNCTION &&
                                        (tags < sum.used || settings->format == TABLE_JSON)))
        print(env, &document, BY_FUNCTION, settings, sum.slots + tags, sum.used - tags);
    document_end(&document);
    output_report_lost(env, "events", sum.lost);
    labels_free(&settings->labels);
    free(sum.slots);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next)
        report(env, output);
    output_report_lost(env, "events", parts.lost);
    for (struct part *part = parts.first; part; part = part->next)
        free(part->own.slots);
    parts_free();
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {
    {"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}, {"trace_call", 5, trace_call, 0}};
ERL_NIF_INIT(tracehost_count, callbacks, NULL, NULL, NULL, unload)

/* Writes the comparison as text: the most important difference first. */
#include "write.h"

#include <inttypes.h>
#include <string.h>

enum { CALLERS_SHOWN = 12, PROCESSES_SHOWN = 10 };

const char *const kind_names[KINDS] = {"dropped", "new",       "arguments",
                                       "result",  "exception", "order"};

const char *const loss_names[LOSSES] = {
    [LOST_CALLS] = "calls that are not compared, as there are too many",
    [LOST_TEXTS] = "texts of arguments and results that are not kept, as there are too many",
    [LOST_IDENTIFIERS] = "pids that are not compared, as there are too many",
    [LOST_NESTED] = "terms nested too deeply to find their pids",
    [LOST_STRAYS] = "ends of unknown calls",
    [LOST_FRAMES] = "open calls that were forgotten",
    [LOST_DOUBTS] = "returns that end an unknown number of calls",
    [LOST_CLOCKS] = "events by another clock than the first, compared without times",
    [LOST_MEMORY] = "events lost, out of memory",
};

/* Words behind a number of calls. */
static const char *const kind_counts[KINDS] = {"dropped",
                                               "new",
                                               "with other arguments",
                                               "with another result",
                                               "with another exception",
                                               "in another order"};

static const char *const kind_sentences[KINDS] = {
    [KIND_DROPPED] = "a call is missing",
    [KIND_NEW] = "a call is new",
    [KIND_ARGUMENTS] = "a call has other arguments",
    [KIND_RESULT] = "a call has another result",
    [KIND_EXCEPTION] = "a call ends with another exception, or with an exception on one side",
    [KIND_ORDER] = "a call has another place among the calls of its caller",
};

void add_call_text(struct line *line, const struct side *side, uint32_t call)
{
    const struct call *one = &side->calls[call - 1];
    const char *name = text_at(side, side->functions[one->function].name);
    const char *slash = strrchr(name, '/');

    if (one->arguments_text || (slash && strcmp(slash, "/0") == 0))
        line_add(line, "%.*s(%s)", slash ? (int)(slash - name) : (int)strlen(name), name,
                 text_at(side, one->arguments_text));
    else
        line_add(line, "%s", name);
}

void add_outcome(struct line *line, const struct side *side, uint32_t call)
{
    const struct call *one = &side->calls[call - 1];
    const char *text = one->outcome_text ? text_at(side, one->outcome_text) : "...";

    if (one->end == END_UNKNOWN)
        line_add(line, "(its end is unknown)");
    else if (one->end == END_RETURNED)
        line_add(line, "(returned)");
    else
        line_add(line, "%s %s", one->end == END_ERROR ? "!" : "->", text);
}

const char *process_of(const struct comparison *comparison, const struct difference *difference,
                       size_t i)
{
    const struct woods *woods = &comparison->sides[i], *other = &comparison->sides[!i];
    uint32_t call = i == 0 ? difference->before : difference->after;
    uint32_t away = i == 0 ? difference->after : difference->before;
    uint32_t process = call ? woods->side->calls[call - 1].process + 1
                            : other->partner[other->side->calls[away - 1].process];

    return process ? text_at(woods->side, woods->side->parties[process - 1].label) : NULL;
}

/* --- One difference --- */

struct styles {
    const char *bold, *before, *after, *end;
};

/* Writes the callers of a call, the outermost first. */
static void write_callers(FILE *file, const struct side *side, uint32_t call)
{
    uint32_t callers[CALLERS_SHOWN], caller = side->calls[call - 1].parent;
    uint64_t count = 0;

    for (; caller; caller = side->calls[caller - 1].parent, count++)
        if (count < CALLERS_SHOWN)
            callers[count] = caller;
    if (count > CALLERS_SHOWN) {
        fprintf(file, "  called by  (%" PRIu64 " more callers)\n", count - CALLERS_SHOWN);
        count = CALLERS_SHOWN;
    }
    while (count-- > 0) {
        struct line line;
        line_start(&line);
        line_add(&line, "  called by  ");
        add_call_text(&line, side, callers[count]);
        line_end(&line, file);
    }
}

static void write_side(FILE *file, const struct side *side, uint32_t call, const char *word,
                       const struct styles *styles, const char *style)
{
    struct line line;

    line_start(&line);
    line_add(&line, "  %s%-9s  ", style, word);
    if (call) {
        add_call_text(&line, side, call);
        line_add(&line, " ");
        add_outcome(&line, side, call);
    } else {
        line_add(&line, "no such call");
    }
    line_add(&line, "%s", styles->end);
    line_end(&line, file);
}

static void write_difference(FILE *file, const struct comparison *comparison,
                             const struct difference *difference, const struct styles *styles)
{
    const struct side *a = comparison->sides[0].side, *b = comparison->sides[1].side;
    const char *before = process_of(comparison, difference, 0);
    const char *after = process_of(comparison, difference, 1);

    fprintf(file, "%s%s%s\n", styles->bold, kind_sentences[difference->kind], styles->end);
    fprintf(file, "  process    %s -> %s\n", before ? before : "?", after ? after : "?");
    if (!comparison->flat)
        write_callers(file, difference->before ? a : b,
                      difference->before ? difference->before : difference->after);
    write_side(file, a, difference->before, "before", styles, styles->before);
    write_side(file, b, difference->after, "after", styles, styles->after);
}

static void write_differences(FILE *file, const struct comparison *comparison,
                              const struct styles *styles, unsigned top)
{
    uint64_t all = 0;
    size_t shown = comparison->shown_used;

    for (size_t i = 0; i < KINDS; i++)
        all += comparison->counts[i];
    if (!all)
        return;
    shown = top && top < shown ? top : shown;
    fprintf(file, "%" PRIu64 " difference%s of calls:", all, all == 1 ? "" : "s");
    for (size_t i = 0, n = 0; i < KINDS; i++)
        if (comparison->counts[i])
            fprintf(file, "%s %" PRIu64 " %s", n++ ? "," : "", comparison->counts[i],
                    kind_counts[i]);
    fputs(shown < all ? "; the first ones:\n" : "\n", file);
    for (size_t i = 0; i < shown; i++) {
        fputc('\n', file);
        write_difference(file, comparison, &comparison->shown[i], styles);
    }
    fputc('\n', file);
}

/* --- Processes and functions --- */

static void write_unmatched(FILE *file, const struct comparison *comparison)
{
    static const char *const words[2] = {"before", "after"};

    for (size_t i = 0; i < 2; i++) {
        const struct woods *woods = &comparison->sides[i];
        size_t shown = 0;
        if (!comparison->unmatched[i])
            continue;
        fprintf(file, "processes only %s: %zu\n", words[i], comparison->unmatched[i]);
        for (size_t k = 0; k < woods->side->parties_used && shown < PROCESSES_SHOWN; k++) {
            const struct party *party = &woods->side->parties[k];
            if (!party->calls || woods->partner[k])
                continue;
            struct line line;
            line_start(&line);
            line_add(&line, "  %s: %u call%s, first ", text_at(woods->side, party->label),
                     party->calls, party->calls == 1 ? "" : "s");
            add_call_text(&line, woods->side, party->first);
            line_end(&line, file);
            shown++;
        }
        fputc('\n', file);
    }
}

/* Columns, in the order of the cells. */
enum {
    CALLS = 0,
    ERRORS = 2,
    P50 = 4,
    P90 = 6,
    P99 = 8,
    MAX = 10,
    TOTAL = 12,
    OWN = 14,
    CHANGE = 16,
    PROBABILITY,
    NAME,
    COLUMNS
};

static const struct column all_columns[COLUMNS] = {
    {"calls_before", "calls", COLUMN_COUNT, 8},
    {"calls_after", "after", COLUMN_COUNT, 8},
    {"errors_before", "errors", COLUMN_COUNT, 8},
    {"errors_after", "after", COLUMN_COUNT, 8},
    {"p50_before_ns", "p50 us", COLUMN_TIME, 9},
    {"p50_after_ns", "after", COLUMN_TIME, 9},
    {"p90_before_ns", "p90 us", COLUMN_TIME, 9},
    {"p90_after_ns", "after", COLUMN_TIME, 9},
    {"p99_before_ns", "p99 us", COLUMN_TIME, 9},
    {"p99_after_ns", "after", COLUMN_TIME, 9},
    {"max_before_ns", NULL, COLUMN_TIME, 9},
    {"max_after_ns", NULL, COLUMN_TIME, 9},
    {"total_before_ns", "total us", COLUMN_TIME, 11},
    {"total_after_ns", "after", COLUMN_TIME, 11},
    {"own_before_ns", NULL, COLUMN_TIME, 11},
    {"own_after_ns", NULL, COLUMN_TIME, 11},
    {"change", "change", COLUMN_NAME, 14},
    {"probability", NULL, COLUMN_NAME, 0},
    {"function", "function", COLUMN_NAME, 0},
};

static const char *const verdict_names[] = {
    [TIMES_UNKNOWN] = "unknown",
    [TIMES_FEW] = "few calls",
    [TIMES_NOISE] = "none",
    [TIMES_SLOWER] = "slower",
    [TIMES_FASTER] = "faster",
    [TIMES_SLOWER_CALLEES] = "slower callees",
    [TIMES_FASTER_CALLEES] = "faster callees",
};

static void write_function(struct table *table, const struct compared *compared)
{
    bool tested = compared->verdict != TIMES_UNKNOWN;
    union cell cells[COLUMNS];
    struct line probability;

    line_start(&probability);
    line_add(&probability, "%.3g", compared->probability);
    for (size_t i = 0; i < 2; i++) {
        const struct figures_of_side *figures = &compared->sides[i];
        uint64_t times[] = {figures->p50, figures->p90,   figures->p99,
                            figures->max, figures->total, figures->own};
        cells[CALLS + i].count = figures->calls;
        cells[ERRORS + i].count = figures->errors;
        for (size_t k = 0; k < sizeof times / sizeof times[0]; k++)
            cells[P50 + 2 * k + i].count = figures->timed ? times[k] : CELL_NONE;
    }
    cells[CHANGE].text = verdict_names[compared->verdict];
    cells[PROBABILITY].text = tested ? probability.text : NULL;
    cells[NAME].text = compared->name;
    table_row(table, cells);
    line_drop(&probability);
}

/* Writes functions whose slowest calls differ much: MOST of them. */
static void write_slowest(FILE *file, const struct comparison *comparison, size_t most)
{
    size_t shown = 0;

    for (size_t i = 0; i < comparison->functions_used && shown < most; i++) {
        const struct compared *compared = &comparison->functions[i];
        struct line line;
        if (!slowest_differ(comparison, compared))
            continue;
        if (!shown++)
            fputs("slowest calls by own time; a single call makes no change certain:\n", file);
        line_start(&line);
        for (size_t k = 0; k < 2; k++) {
            const struct side *side = comparison->sides[k].side;
            uint64_t own = side->calls[compared->slowest[k] - 1].own;
            line_add(&line, "%s%llu.%03llu us  ", k ? " -> " : "  ",
                     (unsigned long long)(own / 1000), (unsigned long long)(own % 1000));
            add_call_text(&line, side, compared->slowest[k]);
        }
        line_end(&line, file);
    }
    if (shown)
        fputc('\n', file);
}

/* Returns whether a time is no whole number of microseconds. */
static bool has_fractions(const struct comparison *comparison)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < comparison->sides[i].side->calls_used; k++) {
            const struct call *call = &comparison->sides[i].side->calls[k];
            if (call->took != NO_TIME && call->took % 1000)
                return true;
        }
    return false;
}

void write_functions(struct document *document, const struct comparison *comparison, bool changed,
                     size_t most)
{
    struct column columns[COLUMNS];
    uint64_t errors = 0;
    struct table table;
    size_t shown = 0;

    memcpy(columns, all_columns, sizeof columns);
    document->fractions = has_fractions(comparison);
    for (size_t i = 0; i < comparison->functions_used; i++)
        errors +=
            comparison->functions[i].sides[0].errors + comparison->functions[i].sides[1].errors;
    if (!errors)
        columns[ERRORS].heading = columns[ERRORS + 1].heading = NULL;
    table_begin(&table, document, "functions", columns, COLUMNS);
    for (size_t i = 0; i < comparison->functions_used && shown < most; i++)
        if (!changed || has_changed(&comparison->functions[i])) {
            write_function(&table, &comparison->functions[i]);
            shown++;
        }
    table_end(&table);
}

/* --- All --- */

static size_t count_verdicts(const struct comparison *comparison, enum verdict verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < comparison->functions_used; i++)
        count += comparison->functions[i].verdict == verdict;
    return count;
}

/* Writes the number of functions without a certain change of times, and for how many of them this
 * cannot be decided. */
static void write_uncertain(FILE *file, const struct comparison *comparison)
{
    size_t few = count_verdicts(comparison, TIMES_FEW);
    size_t unknown = count_verdicts(comparison, TIMES_UNKNOWN);
    size_t all = few + unknown + count_verdicts(comparison, TIMES_NOISE);

    fprintf(file, "%zu function%s", all, all == 1 ? "" : "s");
    if (few)
        fprintf(file, " (%zu: too few calls%s", few, unknown ? "" : ")");
    if (unknown)
        fprintf(file, "%s%zu: no times)", few ? "; " : " (", unknown);
    fputc('\n', file);
}

void write_text(FILE *file, const struct comparison *comparison, bool colour, unsigned top)
{
    static const struct styles plain = {"", "", "", ""};
    static const struct styles coloured = {"\033[1m", "\033[31m", "\033[32m", "\033[0m"};
    size_t calls = comparison->sides[0].side->calls_used, changed = 0, slowest = 0;
    struct document document;

    for (size_t i = 0; i < comparison->functions_used; i++) {
        changed += has_changed(&comparison->functions[i]);
        slowest += slowest_differ(comparison, &comparison->functions[i]);
    }
    if (!trees_differ(comparison) && !changed && !slowest) {
        fprintf(file, "no difference: %zu call%s, times of ", calls, calls == 1 ? "" : "s");
        write_uncertain(file, comparison);
        return;
    }
    write_differences(file, comparison, colour ? &coloured : &plain, top);
    write_unmatched(file, comparison);
    if (changed) {
        document_begin(&document, file, TABLE_TEXT);
        write_functions(&document, comparison, true, top ? top : SIZE_MAX);
        document_end(&document);
        if (top && changed > top)
            fprintf(file, "%zu more functions have changed\n", changed - top);
        fputc('\n', file);
    }
    write_slowest(file, comparison, top ? top : SIZE_MAX);
    fputs("times without a certain change: ", file);
    write_uncertain(file, comparison);
}

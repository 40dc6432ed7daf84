#include "print.h"

#include "../kit/calls.h"
#include "../kit/colour.h"
#include "../kit/escape.h"
#include "../kit/labels.h"

#include <inttypes.h>

enum {
    TIME_WIDTH = 11,
    PROCESS_WIDTH = 10,
    LABELLED_MOST = 65536, /* if more processes have labels, all labels are printed again */
    INDENTED_MOST = 30,    /* deeper calls are not indented further: their depth is printed */
};

/* Adds a duration with a unit, so that it fills a column: "  1.234 ms". */
static void add_duration(struct line *line, uint64_t ns, int width)
{
    static const char *const units[] = {"us", "ms", "s "};
    uint64_t thousandths = ns;
    size_t unit = 0;

    while (thousandths >= 1000000 && unit < 2) {
        thousandths /= 1000;
        unit++;
    }
    line_add(line, "%*" PRIu64 ".%03" PRIu64 " %.*s", width > 7 ? width - 7 : 0, thousandths / 1000,
             thousandths % 1000, width || unit < 2 ? 2 : 1, units[unit]);
}

/* Adds a column with NS, or a word if that is not KNOWN. */
static void add_time(struct line *line, const struct print *print, const struct held *held,
                     bool known, uint64_t ns)
{
    const char *word = held->end == HELD_OPEN ? "open" : held->end == HELD_UNTOLD ? "untold" : "-";

    line_colour(line, print->colour, known ? DIM : YELLOW);
    if (known)
        add_duration(line, ns, TIME_WIDTH);
    else
        line_add(line, "%*s", TIME_WIDTH, word);
    line_colour(line, print->colour, PLAIN);
    line_add(line, "  ");
}

/* Adds the column of processes. */
static void add_process(struct line *line, const struct tracee *process)
{
    size_t start = line->used;

    line_add_term(line, process->term);
    line_pad(line, start + PROCESS_WIDTH + 1);
}

/* Adds the indentation of a call. */
static void add_depth(struct line *line, uint32_t depth)
{
    uint32_t indented = depth < INDENTED_MOST ? depth : INDENTED_MOST;

    line_add(line, "%*s", (int)(2 * indented), "");
    if (indented < depth)
        line_add(line, "[%" PRIu32 "] ", depth);
}

/* Adds what stands behind a row of repeated calls. */
static void add_row(struct line *line, const struct print *print, const struct held *held)
{
    line_colour(line, print->colour, CYAN);
    line_add(line, " x %" PRIu64, held->calls);
    if (held->timed) {
        line_add(line, ", ");
        add_duration(line, held->shortest, 0);
        line_add(line, " to ");
        add_duration(line, held->longest, 0);
    }
    line_colour(line, print->colour, PLAIN);
}

static void print_headings(struct print *print)
{
    struct line line;

    print->begun = true;
    if (print->by_process && !print->own && !print->running)
        return;
    line_start(&line);
    line_add(&line, "%*s  ", TIME_WIDTH, "duration");
    if (print->running)
        line_add(&line, "%*s  %*s  ", TIME_WIDTH, "on", TIME_WIDTH, "off");
    if (print->own)
        line_add(&line, "%*s  ", TIME_WIDTH, "own");
    if (print->own && print->running)
        line_add(&line, "%*s  ", TIME_WIDTH, "own on");
    if (print->by_process)
        line_add(&line, "call");
    else
        line_add(&line, "%-*s call", PROCESS_WIDTH, "process");
    line_end(&line, print->file);
}

static void print_text(struct print *print, const struct held *held, const struct tracee *process,
                       bool again)
{
    struct line line;
    const struct held_times *times = &held->times;
    bool timed = held->timed;
    /* Some of the time may be unknown, or all. */
    bool spent = timed && (times->took == 0 || times->spent.on + times->spent.off > 0);

    line_start(&line);
    line.for_people = 1;
    add_time(&line, print, held, timed, times->took);
    if (print->running) {
        add_time(&line, print, held, spent, times->spent.on);
        add_time(&line, print, held, spent, times->spent.off);
    }
    if (print->own)
        add_time(&line, print, held, timed, times->own);
    if (print->own && print->running)
        add_time(&line, print, held, spent, times->own_spent.on);
    if (!print->by_process)
        add_process(&line, process);
    add_depth(&line, held->depth);
    if (again)
        line_add(&line, "end of ");
    line_colour(&line, print->colour, GREEN);
    line_add_called(&line, held->mfa.module, held->mfa.function);
    line_colour(&line, print->colour, PLAIN);
    if (held->arguments)
        line_add(&line, "%s", held->arguments);
    else
        line_add(&line, "/%u", held->mfa.arity);
    line_colour(&line, print->colour && held->outcome, held->thrown ? RED : CYAN);
    line_add(&line, "%s", held->outcome ? held->outcome : "");
    line_colour(&line, print->colour && held->outcome, PLAIN);
    if (held->calls > 1)
        add_row(&line, print, held);
    line_end(&line, print->file);
}

/* Adds a member, a text or null. */
static void add_text(struct line *line, const char *name, const char *text)
{
    line_add(line, ",\"%s\":", name);
    if (!text) {
        line_add(line, "null");
        return;
    }
    line_add(line, "\"");
    line_add_json(line, text, strlen(text), SIZE_MAX);
    line_add(line, "\"");
}

static void add_number(struct line *line, const char *name, bool known, uint64_t number)
{
    if (known)
        line_add(line, ",\"%s\":%" PRIu64, name, number);
    else
        line_add(line, ",\"%s\":null", name);
}

/* Adds the members about the process and the function. */
static void add_names(struct line *line, const struct held *held, const struct tracee *process)
{
    struct line text;
    bool labelled;

    line_start(&text);
    text.for_programs = 1;
    line_add(&text, "%#T", process->term);
    line_add(line, "{\"process\":\"%s\"", text.text);
    text.used = 0;
    labelled = tracee_add_label(&text, process);
    add_text(line, "name", labelled ? text.text : NULL);
    text.used = 0;
    line_add_function(&text, held->mfa.module, held->mfa.function, held->mfa.arity);
    add_text(line, "function", text.text);
    line_drop(&text);
}

static void print_json(struct print *print, const struct held *held, const struct tracee *process,
                       bool again)
{
    static const char *const ends[] = {"open", "told", "untold"};
    bool spent = held->timed && print->running;
    struct line line;

    line_start(&line);
    add_names(&line, held, process);
    line_add(&line, ",\"depth\":%" PRIu32 ",\"calls\":%" PRIu64 ",\"end\":\"%s\"", held->depth,
             again ? 0 : held->calls, ends[held->end]);
    if (held->began == TIME_NONE)
        line_add(&line, ",\"start_ns\":null");
    else
        line_add(&line, ",\"start_ns\":%" PRId64, held->began);
    add_number(&line, "duration_ns", held->timed, held->times.took);
    add_number(&line, "own_ns", held->timed, held->times.own);
    add_number(&line, "total_ns", held->timed, held->times.total);
    add_number(&line, "shortest_ns", held->timed, held->shortest);
    add_number(&line, "longest_ns", held->timed, held->longest);
    add_number(&line, "on_ns", spent, held->times.spent.on);
    add_number(&line, "off_ns", spent, held->times.spent.off);
    add_number(&line, "own_on_ns", spent, held->times.own_spent.on);
    add_number(&line, "own_off_ns", spent, held->times.own_spent.off);
    line_add(&line, ",\"error\":%s", held->thrown ? "true" : "false");
    add_text(&line, "arguments", held->arguments);
    add_text(&line, "outcome", held->outcome);
    line_add(&line, "}");
    line_end(&line, print->file);
}

static void print_heading(struct print *print, const struct tracee *process)
{
    struct line line;

    line_start(&line);
    line.for_people = 1;
    line_add(&line, print->under ? "\n" : "");
    if (tracee_add_label(&line, process))
        line_add(&line, " ");
    line_add_term(&line, process->term);
    line_add(&line, ":");
    line_end(&line, print->file);
    print->under = process->term;
}

/* Notes that the label of PROCESS is printed. Returns whether it was not printed before. */
static bool note_label(struct print *print, const struct tracee *process)
{
    struct tracee *printed = tracees_find(&print->labelled, process->term);

    if (printed && printed->name == process->name)
        return false;
    if (!printed && print->labelled.used == LABELLED_MOST)
        labels_free(&print->labelled);
    if (!printed)
        printed = tracees_add(&print->labelled, process->term, sizeof *printed);
    if (printed)
        printed->name = process->name;
    return true;
}

/* Prints a line with the label of PROCESS, if it has one that was not printed before. */
static void print_label(struct print *print, const struct tracee *process)
{
    int columns = 1 + 2 * print->running + print->own + (print->own && print->running);
    struct line line;

    if ((!process->name && !process->first.module) || !note_label(print, process))
        return;
    line_start(&line);
    line.for_people = 1;
    line_colour(&line, print->colour, DIM);
    line_add(&line, "%*s", columns * (TIME_WIDTH + 2), "");
    add_process(&line, process);
    tracee_add_label(&line, process);
    line_colour(&line, print->colour, PLAIN);
    line_end(&line, print->file);
}

static void print_one(struct print *print, const struct held *held, const struct tracee *process,
                      bool again)
{
    if (print->format == PRINT_JSON) {
        print_json(print, held, process, again);
        return;
    }
    if (!print->begun)
        print_headings(print);
    if (print->by_process && print->under != process->term)
        print_heading(print, process);
    if (!print->by_process)
        print_label(print, process);
    print_text(print, held, process, again);
}

void print_tree(struct print *print, const struct forest *forest, uint32_t root,
                const struct tracee *process)
{
    uint32_t depth = 0; /* is in the slots */

    for (uint32_t i = root; i; i = held_next(forest, root, i, &depth))
        if (forest->slots[i].mfa.module)
            print_one(print, &forest->slots[i], process, false);
}

void print_end(struct print *print, const struct held *held, const struct tracee *process)
{
    print_one(print, held, process, true);
}

void print_forget(struct print *print, ERL_NIF_TERM process)
{
    struct tracee *printed = tracees_find(&print->labelled, process);

    if (!printed)
        return;
    tracees_remove(&print->labelled, printed);
    free(printed);
}

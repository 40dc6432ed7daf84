/*
 * Draws the diagram as SVG: time goes down, each participant is a column, each message an arrow.
 *
 * Rows are equally high, but a gap of time has a row of its own. Between two messages time is
 * linear, so that bars are as long as the times that they show. picture/sequence.js fits the columns
 * to the window.
 */
#include "../kit/escape.h"
#include "../kit/picture.h"
#include "diagram.h"

#include <inttypes.h>

enum {
    TIMES = 110,  /* width of the times, on the left */
    COLUMN = 180, /* least width of a participant's column, and its width if there are few */
    WIDE_COLUMN = 340,
    WIDTH = 1060, /* width of all columns, if between the two */
    ROW = 26,
    GAP = 26,                 /* height of a gap's row */
    FIRST = PICTURE_BAR + 64, /* height of the first arrow */
    LETTER = 8,               /* maximum width of a letter */
    LOOP = 30,                /* width of a message to oneself */
    SHORT = 3,                /* height of bars that are too short to be seen beside another bar */
    GAP_MEDIANS = 10,         /* a gap is longer than so many times the median, */
    GAP_PART = 50             /* and than this part of the whole time */
};

/* Rows of the picture. */
struct rows {
    const struct diagram *diagram;
    unsigned *y;     /* by message: height of its arrow */
    int64_t *times;  /* times of messages that can be compared, never less than those before */
    uint32_t *timed; /* the numbers of these messages */
    uint64_t *gaps;  /* by timed message: time since the timed message before it */
    uint32_t count;  /* number of timed messages */
    uint64_t least;  /* the shortest time that is a gap; 0: there is none */
    unsigned height;
};

static unsigned column_width(const struct diagram *diagram)
{
    unsigned width = WIDTH / (diagram->columns ? diagram->columns : 1);

    return width < COLUMN ? COLUMN : width > WIDE_COLUMN ? WIDE_COLUMN : width;
}

static unsigned middle(const struct diagram *diagram, uint32_t column)
{
    return TIMES + column_width(diagram) * column + column_width(diagram) / 2;
}

/* --- rows --- */

/* Finds the messages whose times can be compared. */
static void find_times(struct rows *rows)
{
    const struct diagram *diagram = rows->diagram;
    int64_t time;

    for (uint32_t i = 0; i < diagram->sent; i++) {
        const struct moment *moment = &diagram->messages[i].moment;
        if (!diagram_time(diagram, moment, &time) ||
            (diagram->timed && moment->clock != diagram->clock) ||
            (rows->count && time < rows->times[rows->count - 1]))
            continue;
        rows->gaps[rows->count] =
            rows->count ? (uint64_t)moment_between(rows->times[rows->count - 1], time) : 0;
        rows->times[rows->count] = time;
        rows->timed[rows->count++] = i;
    }
}

static int compare_times(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* Finds the shortest gap. False if there is no memory. */
static bool find_least_gap(struct rows *rows)
{
    uint64_t *sorted, whole, median;

    if (rows->count < 3)
        return true;
    sorted = calloc(rows->count, sizeof *sorted);
    if (!sorted)
        return false;
    memcpy(sorted, rows->gaps, rows->count * sizeof *sorted);
    qsort(sorted + 1, rows->count - 1, sizeof *sorted, compare_times);
    median = sorted[rows->count / 2];
    whole = (uint64_t)moment_between(rows->times[0], rows->times[rows->count - 1]);
    rows->least =
        (median > whole / GAP_PART / GAP_MEDIANS ? median * GAP_MEDIANS : whole / GAP_PART) + 1;
    free(sorted);
    return true;
}

static void place_rows(struct rows *rows)
{
    unsigned y = FIRST;

    for (uint32_t i = 0, timed = 0; i < rows->diagram->sent; i++, y += ROW) {
        if (timed < rows->count && rows->timed[timed] == i)
            if (rows->gaps[timed++] >= rows->least && rows->least)
                y += GAP;
        rows->y[i] = y;
    }
    rows->height = y + ROW;
}

static bool make_rows(struct rows *rows)
{
    size_t size = rows->diagram->sent + 1;

    rows->y = calloc(size, sizeof *rows->y);
    rows->times = calloc(size, sizeof *rows->times);
    rows->timed = calloc(size, sizeof *rows->timed);
    rows->gaps = calloc(size, sizeof *rows->gaps);
    if (!rows->y || !rows->times || !rows->timed || !rows->gaps)
        return false;
    find_times(rows);
    if (!find_least_gap(rows))
        return false;
    place_rows(rows);
    return true;
}

static void free_rows(struct rows *rows)
{
    free(rows->y);
    free(rows->times);
    free(rows->timed);
    free(rows->gaps);
}

/* Returns the height of TIME, which is not before the first message, and not after the last one. */
static double height_of(const struct rows *rows, int64_t time)
{
    uint32_t low = 0, high = rows->count - 1, middle_one;
    double part, from, to;

    while (high - low > 1) {
        middle_one = low + (high - low) / 2;
        if (rows->times[middle_one] <= time)
            low = middle_one;
        else
            high = middle_one;
    }
    from = rows->y[rows->timed[low]];
    to = rows->y[rows->timed[high]];
    if (rows->gaps[high] == 0)
        return to;
    part = (double)moment_between(rows->times[low], time) / (double)rows->gaps[high];
    return from + part * (to - from);
}

/* --- times --- */

/* Adds a duration with three digits: "12.3 us". */
static void add_duration(struct line *line, uint64_t ns)
{
    static const char *const units[] = {"ns", "\302\265s", "ms", "s"};
    double amount = (double)ns;
    size_t unit = 0;

    for (; amount >= 999.5 && unit < 3; unit++)
        amount /= 1000;
    line_add(line, "%.*f %s",
             unit == 0 || amount >= 99.95 ? 0
             : amount >= 9.995            ? 1
                                          : 2,
             amount, units[unit]);
}

/* Adds a time in the unit of the whole picture, to the microsecond; of a shorter picture to the
 * nanosecond. */
static void add_time(struct line *line, const struct rows *rows, int64_t time)
{
    int64_t last = rows->count ? rows->times[rows->count - 1] : 0;

    if (last < 100000)
        line_add(line, "%.3f \302\265s", (double)time / 1e3);
    else if (last < 10000000000)
        line_add(line, "%.3f ms", (double)time / 1e6);
    else
        line_add(line, "%.6f s", (double)time / 1e9);
}

/* --- elements --- */

/* Draws the lifeline below the messages; the participant's box is above them, always visible. */
static void draw_lifeline(FILE *file, const struct rows *rows, uint32_t column)
{
    unsigned x = middle(rows->diagram, column);

    fprintf(file, "<line class=\"l\" x1=\"%u\" y1=\"%d\" x2=\"%u\" y2=\"%u\"/>\n", x, FIRST - 32, x,
            rows->height);
}

static void draw_participant(FILE *file, const struct diagram *diagram, uint32_t column)
{
    unsigned x = middle(diagram, column), wide = column_width(diagram);
    struct line line, name;

    diagram_name(diagram, column, &name);
    line_start(&line);
    line_add(&line,
             "<g class=\"p\" role=\"button\" tabindex=\"0\" aria-pressed=\"false\" data-c=\"%u\">"
             "<title>",
             column);
    line_add_xml(&line, name.text, name.used, TEXT_KEPT);
    line_add(&line,
             "</title><rect x=\"%u\" y=\"%d\" width=\"%u\" height=\"28\" rx=\"3\"/>"
             "<text x=\"%u\" y=\"%d\">",
             x - wide / 2 + 6, FIRST - 60, wide - 12, x, FIRST - 42);
    line_add_xml(&line, name.text, name.used, (wide - 12) / LETTER - 3);
    line_add(&line, "</text></g>");
    line_end(&line, file);
    line_drop(&name);
}

/* Adds the arrow. Returns the number of letters that fit above it. */
static unsigned add_arrow(struct line *line, unsigned from, unsigned to, unsigned y, unsigned wide)
{
    int back = to > from ? -6 : 6;

    if (from == to) {
        line_add(line, "<path d=\"M%u,%uh%dv10h-%dm6,-4l-6,4l6,4\"/>", from, y - 8, LOOP, LOOP);
        return (wide - LOOP) / LETTER - 6;
    }
    line_add(line, "<path d=\"M%u,%uH%um%d,-4l%d,4l%d,4\"/>", from, y, to, back, -back, back);
    return (to > from ? to - from : from - to) / LETTER - 6;
}

static void draw_message(FILE *file, const struct rows *rows, uint32_t number)
{
    const struct diagram *diagram = rows->diagram;
    const struct message *message = &diagram->messages[number];
    uint32_t a = diagram_column(diagram, message->from), b = diagram_column(diagram, message->to);
    unsigned from = middle(diagram, a), to = middle(diagram, b), y = rows->y[number], room;
    char text[TEXT_KEPT];
    struct line line;
    int64_t time;

    line_start(&line);
    message_text(message, text);
    line_add(&line, "<g class=\"m%s\" data-a=\"%u\" data-b=\"%u\">", message->gone ? " gone" : "",
             a, b);
    if (diagram_time(diagram, &message->moment, &time)) {
        line_add(&line, "<text class=\"t\" x=\"%d\" y=\"%u\">", TIMES - 6, y + 4);
        add_time(&line, rows, time);
        line_add(&line, "</text>");
    }
    room = add_arrow(&line, from, to, y, column_width(diagram));
    room = room < TEXT_DRAWN ? room : TEXT_DRAWN;
    if (a == b)
        line_add(&line, "<text class=\"w side\" x=\"%u\" y=\"%u\">", from + LOOP + 4, y + 2);
    else
        line_add(&line, "<text class=\"w\" x=\"%u\" y=\"%u\">", (from + to) / 2, y - 5);
    line_add_xml(&line, text, strlen(text), room);
    line_add(&line, "</text>");
    if (strlen(text) > room || strcmp(text, message->text) != 0) {
        line_add(&line, "<title>");
        line_add_xml(&line, message->text, strlen(message->text), TEXT_KEPT);
        line_add(&line, "</title>");
    }
    line_add(&line, "</g>");
    line_end(&line, file);
}

/* Marks the gap of time before a message. */
static void draw_gap(FILE *file, const struct rows *rows, uint32_t timed)
{
    unsigned y = rows->y[rows->timed[timed]] - (ROW + GAP) / 2;
    struct line line, duration;

    line_start(&duration);
    add_duration(&duration, rows->gaps[timed]);
    line_start(&line);
    line_add(&line,
             "<g class=\"gap\"><title>%s without a message</title>"
             "<path d=\"M0,%uH%u\"/><text class=\"t\" x=\"%d\" y=\"%u\">+%s</text></g>",
             duration.text, y, TIMES + column_width(rows->diagram) * rows->diagram->columns,
             TIMES - 6, y + 4, duration.text);
    line_end(&line, file);
    line_drop(&duration);
}

/* --- bars --- */

/* One interval, or several that are too short and too near to each other to be seen apart. */
struct bar {
    struct interval all; /* the first one, with the calls of all */
    uint64_t ns;         /* time in all of them */
    uint32_t count;      /* stretches of time; 0: no bar yet */
    int64_t end;         /* of the latest */
    double from, to;     /* heights */
};

static void draw_bar(FILE *file, const struct rows *rows, uint32_t column, const struct bar *bar)
{
    const struct interval *all = &bar->all;
    struct line line, name;

    if (!bar->count)
        return;
    line_start(&line);
    line_add(&line, "<path class=\"b%s\" data-c=\"%u\" d=\"M%u,%.1fv%.1f\"><title>",
             all->running ? "" : " calls", column, middle(rows->diagram, column), bar->from,
             bar->to - bar->from < 1 ? 1 : bar->to - bar->from);
    add_duration(&line, bar->ns);
    line_add(&line, all->running ? " running" : " in calls");
    if (bar->count > 1)
        line_add(&line, ", %u times", bar->count);
    if (all->calls) {
        line_start(&name);
        line_add_function(&name, all->first.module, all->first.function, all->first.arity);
        line_add(&line, ": ");
        line_add_xml(&line, name.text, name.used, TEXT_KEPT);
        line_drop(&name);
    }
    if (all->calls > 1)
        line_add(&line, " and %llu more call%s", (unsigned long long)all->calls - 1,
                 all->calls == 2 ? "" : "s");
    line_add(&line, "</title></path>");
    line_end(&line, file);
}

/* Draws the part of INTERVAL that is between the first message and the last one. */
static void draw_interval(FILE *file, const struct rows *rows, const struct interval *interval,
                          struct bar *bars)
{
    const struct diagram *diagram = rows->diagram;
    uint32_t column = diagram_column(diagram, interval->participant);
    struct bar *bar = &bars[column];
    int64_t from, to;
    double above, below;

    if (!diagram_time(diagram, &interval->from, &from) ||
        !diagram_time(diagram, &interval->to, &to) || interval->from.clock != interval->to.clock ||
        (diagram->timed && interval->from.clock != diagram->clock) ||
        (diagram->merged && column + 1 == diagram->columns))
        return;
    from = from < rows->times[0] ? rows->times[0] : from;
    to = to > rows->times[rows->count - 1] ? rows->times[rows->count - 1] : to;
    if (to <= from)
        return;
    above = height_of(rows, from);
    below = height_of(rows, to);
    if (!bar->count || above > bar->to + 1 ||
        (bar->to - bar->from >= SHORT && below - above >= SHORT)) {
        draw_bar(file, rows, column, bar);
        *bar = (struct bar){.all = *interval, .from = above};
        bar->all.calls = 0;
    }
    if (interval->calls && !bar->all.calls)
        bar->all.first = interval->first;
    bar->all.calls += interval->calls;
    bar->ns += (uint64_t)moment_between(from, to);
    bar->count += !bar->count || from > bar->end;
    bar->end = to;
    bar->to = below;
}

/* False if there is no memory. */
static bool draw_bars(FILE *file, const struct rows *rows)
{
    const struct diagram *diagram = rows->diagram;
    const struct activity *activity = &diagram->activity;
    struct bar *bars = calloc(diagram->columns + 1, sizeof *bars);

    if (!bars)
        return false;
    for (uint32_t i = 0; i < activity->count && rows->count > 1; i++)
        if (activity->all[i].known && activity->all[i].participant != UINT32_MAX)
            draw_interval(file, rows, &activity->all[i], bars);
    for (uint32_t i = 0; i < diagram->columns; i++)
        draw_bar(file, rows, i, &bars[i]);
    free(bars);
    return true;
}

/* --- the picture --- */

static void add_note(struct line *line, const char *what, uint64_t count)
{
    if (count)
        line_add(line, "<span class=\"note\">%s: %llu</span>", what, (unsigned long long)count);
}

static void draw_bar_of_controls(FILE *file, const struct diagram *diagram, unsigned width)
{
    const struct activity *activity = &diagram->activity;
    struct line notes;

    line_start(&notes);
    line_add(&notes, "%s", "");
    add_note(&notes, "times with no known end, not drawn", diagram->unknown);
    add_note(&notes, "messages that are not drawn", diagram->more);
    add_note(&notes, "times on a scheduler and in calls that are not drawn", activity->more);
    picture_bar(file, width, "<button id=\"all\" type=\"button\" disabled=\"\">all: Esc</button>",
                notes.text);
    line_drop(&notes);
}

bool draw_svg(FILE *file, const struct diagram *diagram)
{
    struct rows rows = {.diagram = diagram};
    unsigned width = TIMES + column_width(diagram) * diagram->columns + 20;
    bool complete = make_rows(&rows);

    if (complete) {
        picture_begin(file, width, rows.height, "", "Messages between processes");
        fputs("<g id=\"body\">\n", file);
        for (uint32_t i = 0; i < diagram->columns; i++)
            draw_lifeline(file, &rows, i);
        complete = draw_bars(file, &rows);
        for (uint32_t i = 0; i < rows.count; i++)
            if (rows.least && rows.gaps[i] >= rows.least)
                draw_gap(file, &rows, i);
        for (uint32_t i = 0; i < diagram->sent; i++)
            draw_message(file, &rows, i);
        fputs("</g>\n<g id=\"heads\"><rect id=\"cover\"/>\n", file);
        for (uint32_t i = 0; i < diagram->columns; i++)
            draw_participant(file, diagram, i);
        fputs("</g>\n", file);
        draw_bar_of_controls(file, diagram, width);
        picture_end(file);
    }
    free_rows(&rows);
    return complete;
}

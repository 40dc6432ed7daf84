/* Draws the diagram as SVG: time goes down, each participant is a column, each message an arrow. */
#include "../kit/escape.h"
#include "diagram.h"
#include "script.h"

enum {
    TIMES = 110,  /* width of the times, on the left */
    COLUMN = 180, /* least width of a participant's column, and its width if there are few */
    WIDE_COLUMN = 340,
    WIDTH = 1060, /* width of all columns, if between the two */
    ROW = 26,
    FIRST = 108, /* height of the first arrow */
    LETTER = 7,  /* maximum width of a letter */
    LOOP = 30    /* width of a message to oneself */
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

static unsigned height_of(const struct diagram *diagram)
{
    return FIRST + ROW * (diagram->sent + 1);
}

/* Draws the lifeline below the messages; the participant's box is above them, always visible. */
static void draw_lifeline(FILE *file, const struct diagram *diagram, uint32_t column)
{
    unsigned x = middle(diagram, column);

    fprintf(file, "<line class=\"l\" x1=\"%u\" y1=\"76\" x2=\"%u\" y2=\"%u\"/>\n", x, x,
            height_of(diagram));
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
             "</title><rect x=\"%u\" y=\"48\" width=\"%u\" height=\"28\" rx=\"3\"/>"
             "<text x=\"%u\" y=\"66\" text-anchor=\"middle\">",
             x - wide / 2 + 6, wide - 12, x);
    line_add_xml(&line, name.text, name.used, (wide - 26) / LETTER);
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

static void draw_message(FILE *file, const struct diagram *diagram, uint32_t number)
{
    const struct message *message = &diagram->messages[number];
    uint32_t a = diagram_column(diagram, message->from), b = diagram_column(diagram, message->to);
    unsigned from = middle(diagram, a), to = middle(diagram, b), y = FIRST + ROW * number, room;
    char text[TEXT_KEPT];
    struct line line;
    int64_t time;

    line_start(&line);
    line_add(&line, "<g class=\"m%s\" data-a=\"%u\" data-b=\"%u\"><title>",
             message->gone ? " gone" : "", a, b);
    line_add_xml(&line, message->text, strlen(message->text), TEXT_KEPT);
    line_add(&line, "%s</title>", message->gone ? " (the receiver does not exist)" : "");
    if (diagram_time(diagram, message, &time))
        line_add(&line, "<text class=\"t\" x=\"%d\" y=\"%u\" text-anchor=\"end\">%.6f ms</text>",
                 TIMES - 6, y + 4, (double)time / 1e6);
    room = add_arrow(&line, from, to, y, column_width(diagram));
    if (a == b)
        line_add(&line, "<text class=\"w\" x=\"%u\" y=\"%u\">", from + LOOP + 4, y + 2);
    else
        line_add(&line, "<text class=\"w\" x=\"%u\" y=\"%u\" text-anchor=\"middle\">",
                 (from + to) / 2, y - 5);
    message_text(message, text);
    line_add_xml(&line, text, strlen(text), room < TEXT_DRAWN ? room : TEXT_DRAWN);
    line_add(&line, "</text></g>");
    line_end(&line, file);
}

void draw_svg(FILE *file, const struct diagram *diagram)
{
    /* The search field needs some room, too. */
    unsigned columns = column_width(diagram) * diagram->columns;
    unsigned width = TIMES + (columns > 3 * COLUMN ? columns : 3 * COLUMN) + 20;
    unsigned height = height_of(diagram) + 30;

    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "viewBox=\"0 0 %u %u\">\n<title>Messages between processes</title>\n"
            "<style>\n%s</style>\n"
            "<foreignObject x=\"10\" y=\"8\" width=\"240\" height=\"28\">"
            "<div xmlns=\"http://www.w3.org/1999/xhtml\">"
            "<input id=\"search\" type=\"search\" placeholder=\"search: /\" "
            "aria-label=\"search\"/></div></foreignObject>\n"
            "<text id=\"told\" x=\"260\" y=\"26\" role=\"status\"></text>\n",
            width, height, width, height, style);
    for (uint32_t i = 0; i < diagram->columns; i++)
        draw_lifeline(file, diagram, i);
    for (uint32_t i = 0; i < diagram->sent; i++)
        draw_message(file, diagram, i);
    for (uint32_t i = 0; i < diagram->columns; i++)
        draw_participant(file, diagram, i);
    if (diagram->more)
        fprintf(file, "<text x=\"%d\" y=\"%u\">%llu more messages</text>\n", TIMES, height - 14,
                (unsigned long long)diagram->more);
    fprintf(file, "<script><![CDATA[\n%s]]></script>\n</svg>\n", script);
}

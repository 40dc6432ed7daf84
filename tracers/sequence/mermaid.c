/* The diagram in Mermaid's language (mermaid.js.org/syntax/sequenceDiagram.html). */
#include "../escape.h"
#include "diagram.h"

/* What means something there is written as an entity: a number between # and ;. */
static void add_text(struct line *line, const char *text, size_t size, size_t most)
{
    static const struct mark marks[] = {
        {'#', "#35;"}, {';', "#59;"}, {'<', "#60;"}, {'>', "#62;"}, {'&', "#38;"},
        {'%', "#37;"}, {'$', "#36;"}, {'\n', " "},   {'\r', " "},   {0, "\xEF\xBF\xBD"}};

    line_add_marked(line, text, size, most, marks);
}

static void draw_participant(FILE *file, const struct diagram *diagram, uint32_t column)
{
    struct line line, name;

    diagram_name(diagram, column, &name);
    line_start(&line);
    line_add(&line, "    participant p%u as ", column + 1);
    add_text(&line, name.text, name.used, TEXT_DRAWN);
    line_end(&line, file);
    line_drop(&name);
}

void draw_mermaid(FILE *file, const struct diagram *diagram)
{
    const struct message *message;
    char text[TEXT_KEPT];
    struct line line;

    fputs("sequenceDiagram\n", file);
    for (uint32_t i = 0; i < diagram->columns; i++)
        draw_participant(file, diagram, i);
    for (uint32_t i = 0; i < diagram->sent; i++) {
        message = &diagram->messages[i];
        line_start(&line);
        line_add(&line, "    p%u%sp%u: ", diagram_column(diagram, message->from) + 1,
                 message->gone ? "-x" : "->>", diagram_column(diagram, message->to) + 1);
        message_text(message, text);
        add_text(&line, text, strlen(text), TEXT_DRAWN);
        line_end(&line, file);
    }
    if (diagram->more && diagram->columns > 1)
        fprintf(file, "    Note over p1,p%u: %llu more messages\n", diagram->columns,
                (unsigned long long)diagram->more);
    else if (diagram->more && diagram->columns)
        fprintf(file, "    Note over p1: %llu more messages\n", (unsigned long long)diagram->more);
}

/* The diagram in Mermaid's language (mermaid.js.org/syntax/sequenceDiagram.html). */
#include "../escape.h"
#include "diagram.h"

enum { NOTE_MOST = 80 }; /* characters of the note that more messages come */

/* What means something there is written as an entity: a number between # and ;. */
static void add_text(struct line *line, const char *text, size_t size, size_t most)
{
    static const struct mark marks[] = {
        {'#', "#35;"}, {';', "#59;"}, {'<', "#60;"}, {'>', "#62;"}, {'&', "#38;"},
        {'%', "#37;"}, {'$', "#36;"}, {'\n', " "},   {'\r', " "},   {0, "\xEF\xBF\xBD"}};

    line_add_marked(line, text, size, most, marks);
}

/* As a browser counts: those beyond U+FFFF are two. */
static size_t characters(const struct line *line)
{
    size_t count = 0;

    for (size_t i = 0; i < line->used; i++)
        count += ((unsigned char)line->text[i] & 0xC0) != 0x80;
    for (size_t i = 0; i < line->used; i++)
        count += (unsigned char)line->text[i] >= 0xF0;
    return count + 1;
}

/* How many characters were written. */
static size_t draw_participant(FILE *file, const struct diagram *diagram, uint32_t column)
{
    struct line line, name;
    size_t size;

    diagram_name(diagram, column, &name);
    line_start(&line);
    line_add(&line, "    participant p%u as ", column + 1);
    add_text(&line, name.text, name.used, TEXT_DRAWN);
    size = characters(&line);
    line_end(&line, file);
    line_drop(&name);
    return size;
}

static void add_message(struct line *line, const struct diagram *diagram,
                        const struct message *message)
{
    char text[TEXT_KEPT];

    line_start(line);
    line_add(line, "    p%u%sp%u: ", diagram_column(diagram, message->from) + 1,
             message->gone ? "-x" : "->>", diagram_column(diagram, message->to) + 1);
    message_text(message, text);
    add_text(line, text, strlen(text), TEXT_DRAWN);
}

void draw_mermaid(FILE *file, struct diagram *diagram, size_t most)
{
    static const char first[] = "sequenceDiagram\n";
    size_t written = sizeof first - 1, size;
    struct line line;
    uint32_t drawn;

    fputs(first, file);
    for (uint32_t i = 0; i < diagram->columns; i++)
        written += draw_participant(file, diagram, i);
    for (drawn = 0; drawn < diagram->sent; drawn++) {
        add_message(&line, diagram, &diagram->messages[drawn]);
        size = characters(&line);
        if (most && written + size + NOTE_MOST > most) {
            line_drop(&line);
            break;
        }
        written += size;
        line_end(&line, file);
    }
    diagram->more += diagram->sent - drawn;
    if (diagram->more && diagram->columns > 1)
        fprintf(file, "    Note over p1,p%u: %llu more messages\n", diagram->columns,
                (unsigned long long)diagram->more);
    else if (diagram->more && diagram->columns)
        fprintf(file, "    Note over p1: %llu more messages\n", (unsigned long long)diagram->more);
}

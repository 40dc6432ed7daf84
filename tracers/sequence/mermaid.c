/* Draws the diagram in Mermaid's language (mermaid.js.org/syntax/sequenceDiagram.html). */
#include "../kit/escape.h"
#include "diagram.h"

enum { NOTE_MOST = 80 }; /* characters of the note about more messages */

/* Adds text; characters with a meaning in Mermaid become entities: a number between # and ;. */
static void add_text(struct line *line, const char *text, size_t size, size_t most)
{
    static const struct mark marks[] = {
        {'#', "#35;"}, {';', "#59;"}, {'<', "#60;"}, {'>', "#62;"}, {'&', "#38;"},
        {'%', "#37;"}, {'$', "#36;"}, {'\n', " "},   {'\r', " "},   {0, "\xEF\xBF\xBD"}};

    line_add_marked(line, text, size, most, marks);
}

/* Counts characters as a browser does: those beyond U+FFFF count twice. */
static size_t characters(const struct line *line)
{
    size_t count = 0;

    for (size_t i = 0; i < line->used; i++)
        count += ((unsigned char)line->text[i] & 0xC0) != 0x80;
    for (size_t i = 0; i < line->used; i++)
        count += (unsigned char)line->text[i] >= 0xF0;
    return count + 1;
}

/* Starts the line with a participant. */
static void add_participant(struct line *line, const struct diagram *diagram, uint32_t column)
{
    struct line name;

    diagram_name(diagram, column, &name);
    line_start(line);
    line_add(line, "    participant p%u as ", column + 1);
    add_text(line, name.text, name.used, TEXT_DRAWN);
    line_drop(&name);
}

/* Ends the line, and writes it to FILE if it fits into MOST characters (0: no limit). */
static bool draw_line(FILE *file, struct line *line, size_t *written, size_t most)
{
    size_t size = characters(line);

    if (most && *written + size > most) {
        line_drop(line);
        return false;
    }
    *written += size;
    line_end(line, file);
    return true;
}

/* Draws participants in half of the text, so that messages have room. Returns their number. */
static uint32_t draw_participants(FILE *file, struct diagram *diagram, size_t *written, size_t most)
{
    struct line line;
    uint32_t drawn;

    for (drawn = 0; drawn < diagram->columns; drawn++) {
        add_participant(&line, diagram, drawn);
        if (!draw_line(file, &line, written, most ? most / 2 + 1 : 0))
            break;
    }
    diagram->absent = diagram->columns - drawn;
    if (diagram->absent && diagram->merged)
        diagram->absent += diagram->merged - 1;
    return drawn;
}

static void draw_note(FILE *file, uint32_t columns, uint64_t more, const char *what)
{
    if (more && columns > 1)
        fprintf(file, "    Note over p1,p%u: %llu more %s\n", columns, (unsigned long long)more,
                what);
    else if (more && columns)
        fprintf(file, "    Note over p1: %llu more %s\n", (unsigned long long)more, what);
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
    size_t written = sizeof first - 1, notes;
    uint32_t columns, drawn = 0;
    struct line line;

    fputs(first, file);
    columns = draw_participants(file, diagram, &written, most);
    notes = diagram->absent ? 2 * NOTE_MOST : NOTE_MOST;
    for (uint32_t i = 0; i < diagram->sent; i++) {
        const struct message *message = &diagram->messages[i];
        if (diagram_column(diagram, message->from) >= columns ||
            diagram_column(diagram, message->to) >= columns)
            continue;
        add_message(&line, diagram, message);
        if (!draw_line(file, &line, &written, most > notes ? most - notes : most ? 1 : 0))
            break;
        drawn++;
    }
    diagram->more += diagram->sent - drawn;
    draw_note(file, columns, diagram->more, "messages");
    draw_note(file, columns, diagram->absent, "participants");
}

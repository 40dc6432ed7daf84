#include "shell_line.h"

#include <ctype.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

struct reading {
    struct th_shell_line *line;
    const char *breaks;
    struct th_buffer word;
    size_t unquoted; /* what is kept once the quote has ended */
    bool inside;
};

static void add_word(struct reading *r)
{
    struct th_shell_line *line = r->line;

    TH_ARRAY_GROW(line->words, line->count, line->capacity);
    line->words[line->count++] = th_strdup(th_buffer_text(&r->word));
}

static void begin_word(struct reading *r)
{
    th_buffer_free(&r->word);
    r->word = (struct th_buffer){0};
    r->inside = false;
    r->line->kept = 0;
}

static void end_word(struct reading *r)
{
    if (r->inside && !r->line->redirected)
        add_word(r);
    if (r->inside)
        r->line->redirected = false;
    begin_word(r);
}

static void take_quote(struct reading *r, char c)
{
    struct th_shell_line *line = r->line;

    if (!line->quote)
        r->unquoted = line->kept;
    line->quote = line->quote ? 0 : c;
    line->kept = line->quote ? r->word.size : r->unquoted;
}

/* One character, or two, of a word; how many. */
static size_t take(struct reading *r, const char *text)
{
    struct th_shell_line *line = r->line;
    char c = *text;
    bool escapes =
        c == '\\' && text[1] && (!line->quote || (line->quote == '"' && strchr("\\\"$`", text[1])));

    r->inside = true;
    if (!escapes && (line->quote ? c == line->quote : c == '"' || c == '\'')) {
        take_quote(r, c);
        return 1;
    }
    th_buffer_add_byte(&r->word, (unsigned char)text[escapes]);
    if (!escapes && !line->quote && strchr(r->breaks, c))
        line->kept = r->word.size;
    return 1 + escapes;
}

void th_cli_shell_line_read(struct th_shell_line *line, const char *text, const char *breaks)
{
    struct reading r = {.line = line, .breaks = breaks};

    *line = (struct th_shell_line){0};
    while (*text) {
        if (!line->quote && is_blank(*text)) {
            end_word(&r);
            text++;
        } else if (!line->quote && (*text == '<' || *text == '>')) {
            r.inside = r.inside && strspn(th_buffer_text(&r.word), "0123456789") < r.word.size;
            end_word(&r);
            line->redirected = true;
            text++;
        } else {
            text += take(&r, text);
        }
    }
    add_word(&r);
    th_buffer_free(&r.word);
}

void th_cli_shell_line_free(struct th_shell_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        th_free(line->words[i]);
    th_free(line->words);
}

void th_cli_shell_line_quote(const struct th_shell_line *line, const char *text,
                             struct th_buffer *out)
{
    for (; *text; text++) {
        bool plain = isalnum((unsigned char)*text) || strchr("_-./:=,@%+", *text) || *text < 0;
        if (line->quote == '\'' && *text == '\'')
            th_buffer_add_text(out, "'\\'");
        else if (line->quote == '"' ? strchr("\\\"$`", *text) != NULL : !line->quote && !plain)
            th_buffer_add_byte(out, '\\');
        th_buffer_add_byte(out, (unsigned char)*text);
    }
}

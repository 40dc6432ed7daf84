#include "complete.h"

#include "host/base/buffer.h"
#include "host/cli/subcommand.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SECONDS = 2 }; /* limit of a completion */

/* --- The line --------------------------------------------------------------------------------- */

struct reading {
    struct th_shell_line *line;
    const char *breaks;
    struct th_buffer word;
    size_t unquoted; /* `kept` to restore at the end of the quote */
    bool inside;
};

static void end_word(struct reading *r)
{
    if (r->inside && !r->line->redirected)
        th_library_names_add(&r->line->words, th_buffer_text(&r->word));
    if (r->inside)
        r->line->redirected = false;
    r->word.size = 0;
    r->inside = false;
    r->line->kept = 0;
}

/* Adds one character, escaped or not, to the word. Returns the number of bytes read. */
static size_t complete_take(struct reading *r, const char *text)
{
    struct th_shell_line *line = r->line;
    char c = *text;
    bool escapes =
        c == '\\' && text[1] && (!line->quote || (line->quote == '"' && strchr("\\\"$`", text[1])));

    r->inside = true;
    if (!escapes && (line->quote ? c == line->quote : c == '"' || c == '\'')) {
        if (!line->quote)
            r->unquoted = line->kept;
        line->quote = line->quote ? 0 : c;
        line->kept = line->quote ? r->word.size : r->unquoted;
        return 1;
    }
    th_buffer_add_byte(&r->word, (unsigned char)text[escapes]);
    if (!escapes && !line->quote && strchr(r->breaks, c))
        line->kept = r->word.size;
    return 1 + escapes;
}

/* Splits TEXT, which ends at the cursor, into words. BREAKS ($COMP_WORDBREAKS): the shell replaces
 * only the text after the last of these characters; they do not end a word, except for blanks, <
 * and >. */
static void complete_read_line(struct th_shell_line *line, const char *text, const char *breaks)
{
    struct reading r = {.line = line, .breaks = breaks};

    *line = (struct th_shell_line){0};
    while (*text) {
        if (!line->quote && strchr(" \t\n", *text)) {
            end_word(&r);
            text++;
        } else if (!line->quote && (*text == '<' || *text == '>')) {
            r.inside = r.inside && strspn(th_buffer_text(&r.word), "0123456789") < r.word.size;
            end_word(&r);
            line->redirected = true;
            text++;
        } else {
            text += complete_take(&r, text);
        }
    }
    th_library_names_add(&line->words, th_buffer_text(&r.word));
    th_buffer_free(&r.word);
}

/* Quotes TEXT as a part of the last word. */
static void quote(const struct th_shell_line *line, const char *text, struct th_buffer *out)
{
    for (; *text; text++) {
        bool plain =
            isalnum((unsigned char)*text) || strchr("_-./:=,@%+", *text) || (signed char)*text < 0;
        if (line->quote == '\'' && *text == '\'')
            th_buffer_add_text(out, "'\\'");
        else if (line->quote == '"' ? strchr("\\\"$`", *text) != NULL : !line->quote && !plain)
            th_buffer_add_byte(out, '\\');
        th_buffer_add_byte(out, (unsigned char)*text);
    }
}

/* --- Offering --------------------------------------------------------------------------------- */

/* Offers TEXT. The bytes before typed->begin stay, and the shell keeps the first line.kept bytes of
 * the word. */
static void complete_offer(struct th_typed_word *typed, const char *text)
{
    const struct th_completion *c = (struct th_completion *)typed;
    const char *begun = typed->word + typed->begin;
    size_t length = strlen(text), before = typed->begin, left = c->line.kept;
    bool part = length > 0 && strchr("=:.", text[length - 1]);
    struct th_buffer out = {0}, kept = {0};
    char *head;

    if (strncmp(text, begun, strlen(begun)) != 0 || before + length < left)
        return;
    head = th_printf("%.*s", (int)before, typed->word);
    quote(&c->line, left < before ? head + left : "", &kept);
    quote(&c->line, left > before ? text + (left - before) : text, &out);
    printf("%s\x1f%s\x1f%s\n", part ? "part" : "word", th_buffer_text(&out), th_buffer_text(&kept));
    th_buffer_free(&out);
    th_buffer_free(&kept);
    th_free(head);
}

void th_options_completion_add_files(struct th_completion *c, const char *kind)
{
    const char *word = c->typed.word;
    size_t begin = c->typed.begin, kept = c->line.kept;

    if (strlen(word) >= kept)
        printf("%s\x1f%s\x1f%.*s\n", kind, word + (kept > begin ? kept : begin),
               kept < begin ? (int)(begin - kept) : 0, word + kept);
}

void th_options_typed_skip(struct th_typed_word *typed, char separator)
{
    const char *last = strrchr(typed->word + typed->begin, separator);

    if (last)
        typed->begin = (size_t)(last + 1 - typed->word);
}

/* --- Options ---------------------------------------------------------------------------------- */

static void add_options(struct th_completion *c)
{
    for (size_t i = 0; i < c->options.count; i++) {
        const struct th_argument *option = c->options.items[i].argument;
        char text[64];
        if (option->letter) {
            snprintf(text, sizeof text, "-%c", option->letter);
            complete_offer(&c->typed, text);
        }
        if (option->name && (!option->value || option->how & TH_ARGUMENT_OPTIONAL)) {
            snprintf(text, sizeof text, "--%s", option->name);
            complete_offer(&c->typed, text);
        }
        if (option->name && option->value) {
            snprintf(text, sizeof text, "--%s=", option->name);
            complete_offer(&c->typed, text);
        }
    }
}

static bool needs_value(const struct th_argument_row *row)
{
    return row->argument->value && !(row->argument->how & TH_ARGUMENT_OPTIONAL);
}

/* Finds the option in WORD that has a value; *VALUE points to the value, "" if it is the next word.
 * If WORD has several letters, only the last may have a value. Returns NULL if none has a value. */
static const struct th_argument_row *valued(const struct th_argument_rows *options,
                                            const char *word, const char **value)
{
    size_t length = strcspn(word, "=");
    const struct th_argument_row *row;

    if (strncmp(word, "--", 2) != 0) {
        for (word++; *word; word++) {
            row = th_options_usage_lettered(options, *word);
            *value = word + 1;
            if (!row || needs_value(row))
                return row;
        }
        return NULL;
    }
    row = th_options_usage_named(options, word + 2, length - 2);
    *value = word + length + (word[length] == '=');
    return row && row->argument->value && (word[length] || needs_value(row)) ? row : NULL;
}

/* --- The words before the last one ------------------------------------------------------------ */

static void complete_note(struct th_texts *texts, const char *text)
{
    TH_ARRAY_GROW(texts->items, texts->count, texts->capacity);
    texts->items[texts->count++] = text;
}

static void note_value(struct th_completion *c, const struct th_argument *option, const char *value)
{
    if (option->type == TH_ARGUMENT_FOLDER)
        complete_note(&c->folders, value);
    else if (option->name && strcmp(option->name, "cookie") == 0)
        c->cookie = value;
    else if (option->name && strcmp(option->name, "cookie-file") == 0)
        c->cookie_file = value;
}

/* Collects arguments, folders and the cookie from the complete words. Returns true if no option can follow.
 * *WANTING gets the option whose value is the last word; NULL: none. */
static bool note_words(struct th_completion *c, const struct th_argument_row **wanting)
{
    bool plain = false;

    *wanting = NULL;
    for (size_t i = 2; i + 1 < c->line.words.count; i++) {
        const char *word = c->line.words.items[i], *value = NULL;
        const struct th_argument_row *option = *wanting;
        *wanting = NULL;
        if (option) {
            value = word;
        } else if (!plain && strcmp(word, "--") == 0) {
            plain = true;
        } else if (plain || word[0] != '-' || !word[1]) {
            complete_note(&c->arguments, word);
            plain = plain || c->usage->commands;
        } else {
            option = valued(&c->options, word, &value);
            if (option && !*value && !strchr(word, '=')) {
                *wanting = option;
                option = NULL;
            }
        }
        if (option)
            note_value(c, option->argument, value);
    }
    return plain;
}

/* --- The command ------------------------------------------------------------------------------ */

static struct th_completion completion = {
    .typed.add =
        complete_offer}; /* for complete_tell(), which th_cli_command_parse() calls; main thread
                            only */

static int complete_end(struct th_completion *c)
{
    th_library_names_free(&c->line.words);
    return th_cli_command_finish("complete", TH_OK);
}

static int complete_tell(const struct th_usage *usage)
{
    struct th_completion *c = &completion;
    const struct th_argument_row *row, *wanting;
    const char *word = c->typed.word, *value = "";
    bool plain;

    c->usage = usage;
    c->rows = th_options_usage_rows(usage);
    c->options = th_options_usage_rows(usage);
    th_options_usage_sort(&c->options, true);
    plain = note_words(c, &wanting);
    if (c->line.redirected) {
        th_options_completion_add_files(c, "files");
    } else if (wanting) {
        th_options_completion_add_value(c, wanting);
    } else if (!plain && word[0] == '-') {
        row = valued(&c->options, word, &value);
        if (row && (*value || strchr(word, '='))) {
            c->typed.begin = (size_t)(value - word);
            th_options_completion_add_value(c, row);
        } else {
            add_options(c);
        }
    } else if (usage->commands && c->arguments.count > 0) {
        th_options_completion_add_ctl(c);
    } else {
        row = th_options_usage_positional(&c->rows, c->arguments.count);
        if (row)
            th_options_completion_add_value(c, row);
    }
    th_free(c->rows.items);
    th_free(c->options.items);
    th_free(c->folders.items);
    th_free(c->arguments.items);
    return complete_end(c);
}

int th_cli_complete(const struct th_command commands[], size_t count, int argc, char **argv)
{
    static const char *const others[] = {"help", "--help", "-h", "--version", "-V", NULL};
    struct th_completion *c = &completion;
    char **words;
    bool first;

    if (argc != 4) {
        fputs("tracehost complete: arguments LINE and BREAKS are needed\n", stderr);
        return TH_USAGE;
    }
    alarm(MOST_SECONDS);
    complete_read_line(&c->line, argv[2], argv[3]);
    words = c->line.words.items;
    c->typed.word = words[c->line.words.count - 1];
    for (size_t i = 0; c->line.words.count > 2 && i < count; i++)
        if (strcmp(commands[i].name, words[1]) == 0) {
            th_cli_command_ask(complete_tell);
            return commands[i].run(1, (char *[]){words[1], NULL});
        }

    /* The first word, or the word after `help`. */
    first = c->line.words.count == 2;
    if (c->line.redirected) {
        th_options_completion_add_files(c, "files");
        return complete_end(c);
    }
    for (size_t i = 0; i < count; i++)
        if (first || (c->line.words.count == 3 && strcmp(words[1], "help") == 0))
            complete_offer(&c->typed, commands[i].name);
    for (size_t i = 0; first && others[i]; i++)
        complete_offer(&c->typed, others[i]);
    return complete_end(c);
}

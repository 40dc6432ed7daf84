#include "complete.h"

#include "host/cli/subcommand.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SECONDS = 2 }; /* nobody waits longer */

/* --- Offering --------------------------------------------------------------------------------- */

/* BEFORE of the word's bytes stay; the shell leaves line.kept of them alone. */
static void offer(const struct th_completion *c, const char *kind, size_t before, const char *text)
{
    struct th_buffer out = {0}, kept = {0};
    char *head = th_printf("%.*s", (int)before, c->word);
    size_t left = c->line.kept;

    th_cli_shell_line_quote(&c->line, left < before ? head + left : "", &kept);
    th_cli_shell_line_quote(&c->line, left > before ? text + (left - before) : text, &out);
    printf("%s\x1f%s\x1f%s\n", kind, th_buffer_text(&out), th_buffer_text(&kept));
    th_buffer_free(&out);
    th_buffer_free(&kept);
    th_free(head);
}

void th_options_completion_add(struct th_completion *c, const char *kind, const char *text)
{
    const char *typed = c->word + c->begin;

    if (strncmp(text, typed, strlen(typed)) == 0 && c->begin + strlen(text) >= c->line.kept)
        offer(c, kind, c->begin, text);
}

void th_options_completion_add_files(struct th_completion *c, const char *kind)
{
    const char *typed = c->word + c->begin;

    if (strlen(c->word) >= c->line.kept)
        printf("%s\x1f%s\x1f%.*s\n", kind,
               typed + (c->line.kept > c->begin ? c->line.kept - c->begin : 0),
               c->line.kept < c->begin ? (int)(c->begin - c->line.kept) : 0,
               c->word + c->line.kept);
}

void th_options_completion_skip(struct th_completion *c, char separator)
{
    const char *last = strrchr(c->word + c->begin, separator);

    if (last)
        c->begin = (size_t)(last + 1 - c->word);
}

/* --- Options ---------------------------------------------------------------------------------- */

static void add_long(struct th_completion *c, const struct th_argument *option)
{
    char *text = th_printf("--%s", option->name);
    char *with = th_printf("--%s=", option->name);

    if (!option->value || option->how & TH_ARGUMENT_OPTIONAL)
        th_options_completion_add(c, "word", text);
    if (option->value)
        th_options_completion_add(c, "part", with);
    th_free(text);
    th_free(with);
}

static void add_options(struct th_completion *c)
{
    for (size_t i = 0; i < c->options.count; i++) {
        const struct th_argument *option = c->options.items[i].argument;
        const char letter[] = {'-', option->letter, '\0'};
        if (option->letter)
            th_options_completion_add(c, "word", letter);
        if (option->name)
            add_long(c, option);
    }
}

static bool needs_value(const struct th_argument_row *row)
{
    return row->argument->value && !(row->argument->how & TH_ARGUMENT_OPTIONAL);
}

/* The letters of WORD, which begins with a dash; *VALUE is that of the last one, "" if that is in
 * the next word. NULL: none has a value. */
static const struct th_argument_row *valued_letter(const struct th_argument_rows *options,
                                                   const char *word, const char **value)
{
    for (word++; *word; word++) {
        const struct th_argument_row *row = th_options_usage_lettered(options, *word);
        *value = word + 1;
        if (!row || needs_value(row))
            return row;
    }
    return NULL;
}

/* The option of a WORD that has a value, which *VALUE is; "" if it is the next word. */
static const struct th_argument_row *valued(const struct th_argument_rows *options,
                                            const char *word, const char **value)
{
    size_t length = strcspn(word, "=");
    const struct th_argument_row *row;

    if (strncmp(word, "--", 2) != 0)
        return valued_letter(options, word, value);
    row = th_options_usage_named(options, word + 2, length - 2);
    *value = word + length + (word[length] == '=');
    return row && row->argument->value && (word[length] || needs_value(row)) ? row : NULL;
}

static void add_for_dash(struct th_completion *c)
{
    const char *value = "";
    const struct th_argument_row *row = valued(&c->options, c->word, &value);

    if (row && (*value || strchr(c->word, '='))) {
        c->begin = (size_t)(value - c->word);
        th_options_completion_add_value(c, row);
    } else {
        add_options(c);
    }
}

/* --- Arguments -------------------------------------------------------------------------------- */

static void add_argument(struct th_completion *c)
{
    const struct th_argument_row *row = th_options_usage_positional(&c->rows, c->argument_count);

    if (c->usage->commands && c->argument_count > 0)
        th_options_completion_add_ctl(c);
    else if (row)
        th_options_completion_add_value(c, row);
}

static void note_argument(struct th_completion *c, const char *word)
{
    TH_ARRAY_GROW(c->arguments, c->argument_count, c->argument_capacity);
    c->arguments[c->argument_count++] = word;
}

static void note_value(struct th_completion *c, const struct th_argument_row *option,
                       const char *value)
{
    if (option->argument->type != TH_ARGUMENT_FOLDER)
        return;
    TH_ARRAY_GROW(c->folders, c->folder_count, c->folder_capacity);
    c->folders[c->folder_count++] = value;
}

/* All words but the last one; true: no option can follow. *WANTING: the one whose value is to. */
static bool note_words(struct th_completion *c, const struct th_argument_row **wanting)
{
    bool plain = false;

    *wanting = NULL;
    for (size_t i = 2; i + 1 < c->line.count; i++) {
        const char *word = c->line.words[i], *value;
        if (*wanting) {
            note_value(c, *wanting, word);
            *wanting = NULL;
        } else if (!plain && strcmp(word, "--") == 0) {
            plain = true;
        } else if (plain || word[0] != '-' || !word[1]) {
            note_argument(c, word);
            plain = plain || c->usage->commands;
        } else {
            *wanting = valued(&c->options, word, &value);
            if (*wanting && (*value || strchr(word, '='))) {
                note_value(c, *wanting, value);
                *wanting = NULL;
            }
        }
    }
    return plain;
}

/* --- The command ------------------------------------------------------------------------------ */

static struct th_completion
    completion; /* for tell(), which th_cli_command_parse() calls; of the main thread */

static int tell(const struct th_usage *usage)
{
    struct th_completion *c = &completion;
    const struct th_argument_row *wanting;
    bool plain;

    c->usage = usage;
    c->rows = th_options_usage_rows(usage);
    c->options = th_options_usage_rows(usage);
    th_options_usage_sort(&c->options);
    plain = note_words(c, &wanting);
    if (c->line.redirected)
        th_options_completion_add_files(c, "files");
    else if (wanting)
        th_options_completion_add_value(c, wanting);
    else if (!plain && c->word[0] == '-')
        add_for_dash(c);
    else
        add_argument(c);
    th_free(c->rows.items);
    th_free(c->options.items);
    th_cli_shell_line_free(&c->line);
    th_free(c->folders);
    th_free(c->arguments);
    return th_cli_command_finish("complete", TH_OK);
}

static void add_commands(struct th_completion *c, const struct th_command commands[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        th_options_completion_add(c, "word", commands[i].name);
}

/* What may be the first word, or follow `help`. */
static int begin(struct th_completion *c, const struct th_command commands[], size_t count)
{
    static const char *const others[] = {"help", "--help", "-h", "--version", "-V", NULL};
    bool first = c->line.count == 2;

    if (c->line.redirected)
        th_options_completion_add_files(c, "files");
    else if (first || (c->line.count == 3 && strcmp(c->line.words[1], "help") == 0))
        add_commands(c, commands, count);
    for (size_t i = 0; first && others[i] && !c->line.redirected; i++)
        th_options_completion_add(c, "word", others[i]);
    th_cli_shell_line_free(&c->line);
    return th_cli_command_finish("complete", TH_OK);
}

int th_cli_complete(const struct th_command commands[], size_t count, int argc, char **argv)
{
    struct th_completion *c = &completion;

    if (argc != 4) {
        fputs("tracehost complete: LINE and BREAKS are wanted\n", stderr);
        return TH_USAGE;
    }
    alarm(MOST_SECONDS);
    th_cli_shell_line_read(&c->line, argv[2], argv[3]);
    c->word = c->line.words[c->line.count - 1];
    for (size_t i = 0; c->line.count > 2 && i < count; i++)
        if (strcmp(commands[i].name, c->line.words[1]) == 0) {
            char *words[] = {c->line.words[1], NULL};
            th_cli_command_ask(tell);
            return commands[i].run(1, words);
        }
    return begin(c, commands, count);
}

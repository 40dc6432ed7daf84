#include "option_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What argp itself adds to every table. */
static const struct argp_option added[] = {
    {"help", '?', NULL, 0, "Give this help list", -1},
    {"usage", 0x100000, NULL, 0, "Give a short usage message", -1},
    {"version", 'V', NULL, 0, "Print program version", -1},
    {0},
};

static bool is_last(const struct argp_option *option)
{
    return !option->name && !option->key && !option->doc && !option->group;
}

static const struct th_choices *choices_of(const struct th_choices table[], int key)
{
    for (; table && table->option; table++)
        if (table->key == key)
            return table;
    return NULL;
}

/* --- Choices ---------------------------------------------------------------------------------- */

/* "text or json", "always, never or auto". The caller's to free. */
static char *list_words(const char *const *words)
{
    struct th_buffer text = {0};
    char *copy;

    for (size_t i = 0; words[i]; i++)
        th_buffer_printf(&text, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    copy = th_strdup(th_buffer_text(&text));
    th_buffer_free(&text);
    return copy;
}

size_t th_option_choice(const struct th_choices table[], int key, const char *value,
                        struct argp_state *state)
{
    const struct th_choices *choices = choices_of(table, key);
    char *words;

    for (size_t i = 0; choices->words[i]; i++)
        if (strcmp(choices->words[i], value) == 0)
            return i;
    words = list_words(choices->words);
    argp_error(state, "%s is %s, not '%s'", choices->option, words, value);
    th_free(words);
    return 0;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Two tables of a command: what is told of it at its end is added to what was told before. */
static void add_text(char **all, const char *text)
{
    char *before = *all;

    if (!text || !*text)
        return;
    *all = before ? th_printf("%s\n%s", before, text) : th_strdup(text);
    th_free(before);
}

/* What the table's filter makes of TEXT, the caller's to free. */
static char *filtered(const struct argp *argp, int key, const char *text, void *input)
{
    char *made = argp->help_filter ? argp->help_filter(key, text, input) : (char *)text;

    return made == text ? th_strdup(text ? text : "") : made ? made : th_strdup("");
}

static void add_option(struct th_option_table *table, const struct argp *argp,
                       const struct argp_option *option, const struct th_about *about, void *input)
{
    const struct th_choices *instead = about->instead;

    if (option->flags & (OPTION_HIDDEN | OPTION_DOC) || (!option->name && !option->key))
        return;
    TH_ARRAY_GROW(table->items, table->count, table->capacity);
    table->items[table->count++] = (struct th_option_row){
        .name = option->name,
        .letter = option->key > 32 && option->key < 127 ? (char)option->key : 0,
        .argument = option->arg,
        .optional = option->flags & OPTION_ARG_OPTIONAL,
        .group = option->group,
        .help = filtered(argp, option->key, option->doc, input),
        .choices = instead && instead->key == option->key ? instead
                                                          : choices_of(about->choices, option->key),
    };
}

static void add_docs(struct th_option_table *table, const struct argp *argp, void *input)
{
    size_t split = argp->doc ? strcspn(argp->doc, "\v") : 0;
    char *before = th_printf("%.*s", (int)split, argp->doc ? argp->doc : "");
    const char *after = argp->doc && argp->doc[split] ? argp->doc + split + 1 : NULL;
    char *texts[2] = {filtered(argp, ARGP_KEY_HELP_PRE_DOC, before, input),
                      filtered(argp, ARGP_KEY_HELP_POST_DOC, after, input)};

    add_text(&table->before, texts[0]);
    add_text(&table->after, texts[1]);
    th_free(texts[0]);
    th_free(texts[1]);
    th_free(before);
}

/* As argp_parse() begins: parsers say what their children's inputs are. */
static void read_one(struct th_option_table *table, const struct argp *argp, void *input)
{
    size_t children = 0;
    struct th_about about = {0};
    struct argp_state state = {.root_argp = argp, .input = input, .hook = &about};

    while (argp->children && argp->children[children].argp)
        children++;
    state.child_inputs = th_alloc_zero((children + 1) * sizeof *state.child_inputs);
    if (argp->parser && argp->parser(ARGP_KEY_INIT, NULL, &state) != ENOMEM)
        argp->parser(TH_KEY_ABOUT, NULL, &state);
    if (!table->usage) {
        table->usage = argp->args_doc ? argp->args_doc : "";
        table->about = about;
    }
    for (const struct argp_option *o = argp->options; o && !is_last(o); o++)
        add_option(table, argp, o, &about, input);
    add_docs(table, argp, input);
    for (size_t i = 0; i < children; i++)
        read_one(table, argp->children[i].argp, state.child_inputs[i]);
    th_free(state.child_inputs);
}

/* Groups below 0 come last. A letter stands where a name of that letter would. */
static int compare(const void *first, const void *second)
{
    const struct th_option_row *a = first, *b = second;
    const char letters[2][2] = {{a->letter}, {b->letter}};
    int order;

    if (a->group != b->group)
        return (a->group < 0) != (b->group < 0) ? (a->group < 0 ? 1 : -1) : a->group - b->group;
    order = strcasecmp(a->letter ? letters[0] : a->name, b->letter ? letters[1] : b->name);
    return order ? order : a->letter - b->letter;
}

void th_option_table_read(struct th_option_table *table, const struct argp *argp, void *input)
{
    static const struct argp nothing;

    *table = (struct th_option_table){0};
    read_one(table, argp, input);
    for (const struct argp_option *o = added; !is_last(o); o++)
        add_option(table, &nothing, o, &(struct th_about){0}, NULL);
    qsort(table->items, table->count, sizeof *table->items, compare);
}

void th_option_table_free(struct th_option_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        th_free(table->items[i].help);
    th_free(table->items);
    th_free(table->before);
    th_free(table->after);
}

/* --- Looking up ------------------------------------------------------------------------------- */

const struct th_option_row *th_option_named(const struct th_option_table *table, const char *name,
                                            size_t length)
{
    const struct th_option_row *found = NULL;
    size_t count = 0;

    for (size_t i = 0; i < table->count; i++) {
        const struct th_option_row *option = &table->items[i];
        if (!option->name || strncmp(option->name, name, length) != 0)
            continue;
        if (!option->name[length])
            return option;
        found = option;
        count++;
    }
    return count == 1 ? found : NULL;
}

const struct th_option_row *th_option_lettered(const struct th_option_table *table, char letter)
{
    for (size_t i = 0; i < table->count; i++)
        if (letter && table->items[i].letter == letter)
            return &table->items[i];
    return NULL;
}

#include "argument.h"

#include "control_internal.h"

#include "host/base/buffer.h"
#include "host/library/name_list.h"

#include <erl_tracer.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *th_control_argument_title(const struct th_argument *argument)
{
    static _Thread_local char title[64];

    if (argument->name)
        snprintf(title, sizeof title, "--%s", argument->name);
    else if (argument->letter)
        snprintf(title, sizeof title, "-%c", argument->letter);
    else
        snprintf(title, sizeof title, "%s", argument->value);
    return title;
}

/* --- Values ----------------------------------------------------------------------------------- */

static enum th_status argument_refuse(const struct th_argument *argument, const char *wanted,
                                      const char *value)
{
    return th_error_raise(TH_USAGE, "%s must be %s, not '%s'", th_control_argument_title(argument),
                          wanted, value);
}

/* Reads a whole number; for bytes also with KiB, MiB, GiB (or K, M, G). */
static enum th_status read_count(const struct th_argument *argument, const char *text,
                                 int64_t *number)
{
    static const char letters[] = "KMG";
    bool bytes = argument->type == TH_ARGUMENT_BYTES;
    const char *letter;
    char *end;
    uint64_t count;
    unsigned shift = 0;

    errno = 0;
    count = strtoull(text, &end, 10);
    if (bytes && !errno && end > text && *end && (letter = strchr(letters, *end))) {
        shift = 10 * (unsigned)(letter - letters + 1);
        end += end[1] == 'i' && end[2] == 'B' ? 3 : 1;
    }
    if (errno || end == text || *end || *text == '-' || count > (uint64_t)INT64_MAX >> shift)
        return argument_refuse(argument,
                               bytes ? "a size such as 1048576, 64KiB or 2GiB" : "a number", text);
    *number = (int64_t)(count << shift);
    return TH_OK;
}

static enum th_status read_time(const struct th_argument *argument, const char *text,
                                int64_t *number)
{
    ErlNifTime ns;

    if (th_setting_time(text, &ns)) {
        *number = ns;
        return TH_OK;
    }
    return argument_refuse(argument, "a time such as 1.5, 250ms, 10us or 2min", text);
}

/* Reads one of ->words. An error lists the words: "text or json", "always, never or auto". */
static enum th_status read_choice(const struct th_argument *argument, const char *text,
                                  int64_t *number)
{
    struct th_buffer list = {0};

    for (size_t i = 0; argument->words[i]; i++) {
        if (strcmp(argument->words[i], text) == 0) {
            *number = (int64_t)i;
            th_buffer_free(&list);
            return TH_OK;
        }
        th_buffer_printf(&list, "%s%s",
                         i == 0                   ? ""
                         : argument->words[i + 1] ? ", "
                                                  : " or ",
                         argument->words[i]);
    }
    th_error_raise(TH_USAGE, "%s must be %s, not '%s'", th_control_argument_title(argument),
                   th_buffer_text(&list), text);
    th_buffer_free(&list);
    return TH_USAGE;
}

enum th_status th_control_argument_number(const struct th_argument *argument, const char *text,
                                          int64_t *number)
{
    enum th_status status = argument->type == TH_ARGUMENT_TIME ? read_time(argument, text, number)
                            : argument->type == TH_ARGUMENT_CHOICE
                                ? read_choice(argument, text, number)
                                : read_count(argument, text, number);
    char wanted[80];

    if (status != TH_OK || !argument->most ||
        (*number >= argument->least && *number <= argument->most))
        return status;
    if (argument->wanted)
        return argument_refuse(argument, argument->wanted, text);
    if (argument->type == TH_ARGUMENT_TIME)
        return argument_refuse(argument, "a time of 0 or more", text);
    snprintf(wanted, sizeof wanted, "a number from %lld to %lld", (long long)argument->least,
             (long long)argument->most);
    return argument_refuse(argument, wanted, text);
}

enum th_status th_control_argument_store(const struct th_argument *argument, const char *value,
                                         void *input)
{
    void *member = (char *)input + argument->into;
    struct th_texts *texts = member;
    enum th_status status = TH_OK;
    int64_t number;

    if (!value)
        value = argument->otherwise;
    if (argument->take)
        return argument->take(argument, value, input);
    if (argument->type == TH_ARGUMENT_FLAG) {
        *(bool *)member = true;
    } else if (argument->type <= TH_ARGUMENT_CHOICE) {
        status = th_control_argument_number(argument, value, &number);
        if (status == TH_OK) /* integers are little-endian on this machine */
            memcpy(member, &number, argument->size);
    } else if (argument->how & TH_ARGUMENT_REPEATS || argument->type == TH_ARGUMENT_REST) {
        TH_ARRAY_GROW(texts->items, texts->count, texts->capacity);
        texts->items[texts->count++] = value;
    } else {
        *(const char **)member = value;
    }
    return status;
}

/* --- Words ------------------------------------------------------------------------------------ */

struct words {
    const struct th_argument *const *arguments;
    int left;
    char *const *next;
    th_control_argument_visitor *visit;
    void *context;
};

static enum th_status refuse_option(const struct words *words, const char *word)
{
    struct th_names names = {0};
    char *given = th_printf("%.*s", (int)strcspn(word, "="), word), *question;

    for (const struct th_argument *const *a = words->arguments; *a; a++)
        if ((*a)->name && !((*a)->how & TH_ARGUMENT_HIDDEN))
            th_library_names_take(&names, th_printf("--%s", (*a)->name));
    question = th_library_suggest_question(given, (const char *const *)names.items,
                                           strlen(given) > 2 ? names.count : 0);
    th_error_raise(TH_USAGE, "this command has no option %.60s%s", word, question);
    th_free(question);
    th_free(given);
    th_library_names_free(&names);
    return TH_USAGE;
}

/* Visits the option WORD, --name or -x. The value follows in the same word or is the next word. */
static enum th_status visit_option(struct words *words, const char *word)
{
    bool named = word[1] == '-';
    const char *name = word + 1 + named, *value = name + (named ? strcspn(name, "=") : 1);
    size_t length = (size_t)(value - name);
    const struct th_argument *const *a = words->arguments, *option;

    while (*a && !(named ? (*a)->name && strlen((*a)->name) == length &&
                               memcmp((*a)->name, name, length) == 0
                         : (*a)->letter == *name))
        a++;
    option = *a;
    value = *value ? value + named : NULL;
    if (!option)
        return refuse_option(words, word);
    if (!option->value && value)
        return th_error_raise(TH_USAGE, "%s takes no value", th_control_argument_title(option));
    if (option->value && !value && !(option->how & TH_ARGUMENT_OPTIONAL)) {
        if (words->left == 0)
            return th_error_raise(TH_USAGE, "%.60s needs a value", word);
        value = *words->next++;
        words->left--;
    }
    return words->visit(words->context, option, value);
}

enum th_status th_control_arguments_visit(const struct th_argument *const arguments[], int count,
                                          char *const items[], th_control_argument_visitor *visit,
                                          void *context)
{
    struct words words = {arguments, count, items, visit, context};
    const struct th_argument *const *positional = arguments; /* for the next positional word */
    enum th_status status = TH_OK;
    bool plain = false; /* all further words are positional */

    while (words.left > 0 && status == TH_OK) {
        const char *word = *words.next++;
        words.left--;
        if (!plain && strcmp(word, "--") == 0) {
            plain = true;
        } else if (plain || word[0] != '-' || !word[1]) {
            const struct th_argument *argument;
            while (*positional && th_control_argument_is_option(*positional))
                positional++;
            argument = *positional;
            if (!argument)
                return th_error_raise(TH_USAGE, "unexpected argument '%.60s'", word);
            if (!(argument->how & TH_ARGUMENT_REPEATS))
                positional++;
            status = visit(context, argument, word);
        } else {
            status = visit_option(&words, word);
        }
    }
    return status;
}

struct taking {
    void *input;
    const struct th_argument *latest; /* the latest positional argument */
};

static enum th_status argument_take(void *context, const struct th_argument *argument,
                                    const char *value)
{
    struct taking *taking = context;

    if (!th_control_argument_is_option(argument))
        taking->latest = argument;
    return th_control_argument_store(argument, value, taking->input);
}

enum th_status th_control_arguments_take(const struct th_argument *const arguments[],
                                         const char *missing, int count, char *const words[],
                                         void *input)
{
    struct taking taking = {.input = input};
    const struct th_argument *needed = NULL; /* the last required argument after it */
    enum th_status status =
        th_control_arguments_visit(arguments, count, words, argument_take, &taking);

    if (status != TH_OK)
        return status;
    for (; *arguments; arguments++) {
        if ((*arguments)->how & TH_ARGUMENT_NEEDED)
            needed = *arguments;
        if (*arguments == taking.latest)
            needed = NULL;
    }
    return needed ? th_error_raise(TH_USAGE, "%s", missing) : TH_OK;
}

/* --- Usage ------------------------------------------------------------------------------------ */

void th_control_arguments_usage(const struct th_argument *const arguments[],
                                struct th_buffer *usage)
{
    bool open = false; /* an option that repeats is open: its own options follow in its brackets */
    const char *blank = "";

    for (; *arguments; arguments++) {
        const struct th_argument *argument = *arguments;
        const char *value = argument->value ? argument->value : "";
        bool option = th_control_argument_is_option(argument);
        bool repeats = argument->how & TH_ARGUMENT_REPEATS;
        bool optional = option || !(argument->how & TH_ARGUMENT_NEEDED);
        if (argument->how & TH_ARGUMENT_HIDDEN)
            continue;
        if (open && !(argument->how & TH_ARGUMENT_BELONGS)) {
            th_buffer_add_text(usage, "]...");
            open = false;
        }
        th_buffer_printf(usage, "%s%s", blank, optional ? "[" : "");
        if (option && repeats)
            th_buffer_printf(usage, "-%c %s", argument->letter, value);
        else if (option)
            th_buffer_printf(usage, "--%s%s%s]", argument->name, *value ? "=" : "", value);
        else
            th_buffer_printf(usage, "%s%s%s", value, repeats ? "..." : "", optional ? "]" : "");
        open |= option && repeats;
        blank = " ";
    }
    th_buffer_add_text(usage, open ? "]..." : "");
}

#include "control_words.h"

#include "host/library/library.h"

#include <string.h>

struct words {
    const struct argp_option *table;
    const char *usage;
    int left;
    char *const *next;
    enum th_status (*take)(void *context, int key, const char *value);
    void *context;
};

static bool is_last(const struct argp_option *option)
{
    return !option->name && !option->key && !option->doc;
}

/* Of a letter, or of a name of LENGTH bytes. */
static const struct argp_option *find(const struct argp_option *table, int letter, const char *name,
                                      size_t length)
{
    for (const struct argp_option *option = table; !is_last(option); option++) {
        bool named = name && option->name && strlen(option->name) == length &&
                     memcmp(option->name, name, length) == 0;
        if (named || (letter && option->key == letter))
            return option;
    }
    return NULL;
}

/* WORD is no option of the command. WHY ends in "no option". */
static enum th_status refuse_option(const struct words *words, const char *why, const char *word)
{
    struct th_names names = {0};
    char *given = th_printf("%.*s", (int)strcspn(word, "="), word), *question;

    for (const char *option = words->usage; (option = strstr(option, "--"));) {
        size_t length = strcspn(option, "=] ");
        th_names_take(&names, th_printf("%.*s", (int)length, option));
        option += length;
    }
    question = th_spelling_question(given, (const char *const *)names.items,
                                    strlen(given) > 2 ? names.count : 0);
    th_error_raise(TH_USAGE, "%s %.60s%s", why, word, question);
    th_free(question);
    th_free(given);
    th_names_free(&names);
    return TH_USAGE;
}

static enum th_status hand_over(struct words *words, int key, const char *value, const char *word)
{
    enum th_status status = words->take(words->context, key, value);

    if (status != TH_END)
        return status;
    if (key == TH_WORD)
        return th_error_raise(TH_USAGE, "what is '%.60s' for? it is one word too many", word);
    return refuse_option(words, "this command has no option", word);
}

/* The value that stands behind the option, or is the next word. */
static enum th_status take_option(struct words *words, const struct argp_option *option,
                                  const char *word, const char *value)
{
    if (!option)
        return refuse_option(words, "there is no option", word);
    if (!option->arg && value)
        return th_error_raise(TH_USAGE, "--%s has no value", option->name);
    if (option->arg && !value) {
        if (words->left == 0)
            return th_error_raise(TH_USAGE, "%.60s wants a value", word);
        value = *words->next++;
        words->left--;
    }
    return hand_over(words, option->key, value, word);
}

static enum th_status take_long(struct words *words, const char *word)
{
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL;

    return take_option(words, find(words->table, 0, name, length), word, value);
}

static enum th_status take_short(struct words *words, const char *word)
{
    const struct argp_option *option = find(words->table, (unsigned char)word[1], NULL, 0);

    if (option && !option->arg && word[2])
        return th_error_raise(TH_USAGE, "-%c has no value", word[1]);
    return take_option(words, option, word, word[2] ? word + 2 : NULL);
}

enum th_status th_words_take(const struct argp_option table[], const char *usage, int count,
                             char *const items[],
                             enum th_status (*take)(void *context, int key, const char *value),
                             void *context)
{
    struct words words = {table, usage, count, items, take, context};
    enum th_status status = TH_OK;
    bool plain = false; /* no options any more */

    while (words.left > 0 && status == TH_OK) {
        const char *word = *words.next++;
        words.left--;
        if (!plain && strcmp(word, "--") == 0)
            plain = true;
        else if (plain || word[0] != '-' || !word[1])
            status = hand_over(&words, TH_WORD, word, word);
        else if (word[1] == '-')
            status = take_long(&words, word);
        else
            status = take_short(&words, word);
    }
    return status;
}

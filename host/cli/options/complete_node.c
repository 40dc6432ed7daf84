/*
 * Offers patterns for the functions of a running node: lists: and Enum. for modules, lists:sort/1 and
 * Enum.sort/1 for the functions of a module whose name is typed. Modules of Elixir have Elixir's form,
 * and so have all modules once a colon begins the word.
 */
#include "complete.h"

#include "host/base/buffer.h"
#include "host/replay/reader.h"
#include "host/term/text.h"
#include "host/trace/pattern.h"

#include <string.h>

enum { LIMIT_MS = 1000 };

struct node_completion {
    struct th_completion *c;
    const char *value;  /* the typed text */
    bool has_functions; /* functions of a module were found */
};

/* Appends Module:Function or Module.Function, `_` for TH_NONE, in the form in which VALUE begins. */
static void print_candidate(struct th_buffer *out, const char *value, th_term module,
                            th_term function)
{
    bool elixir = *value == ':' || (*value != '\'' && th_text_elixir_alias(out, module));

    out->size = 0;
    if (elixir) {
        th_text_elixir_function(out, module, function);
        return;
    }
    th_text_print_atom(out, module);
    th_buffer_add_byte(out, ':');
    if (function == TH_NONE)
        th_buffer_add_byte(out, '_');
    else
        th_text_print_atom(out, function);
}

static void offer_module(void *context, const struct th_mfa *found)
{
    struct node_completion *completion = context;
    struct th_buffer text = {0};

    print_candidate(&text, completion->value, found->module, TH_NONE);
    text.size--; /* without `_` */
    if (strcmp(th_buffer_text(&text), completion->value) != 0)
        completion->c->typed.add(&completion->c->typed, th_buffer_text(&text));
    th_buffer_free(&text);
}

static void offer_function(void *context, const struct th_mfa *found)
{
    struct node_completion *completion = context;
    struct th_buffer text = {0};

    print_candidate(&text, completion->value, found->module, found->function);
    th_buffer_printf(&text, "/%u", found->arity);
    completion->has_functions = true;
    completion->c->typed.add(&completion->c->typed, th_buffer_text(&text));
    th_buffer_free(&text);
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Returns the module that VALUE has before its last SEPARATOR; TH_NONE: none. */
static th_term typed_module(const char *value, const char *separator)
{
    struct th_pattern pattern = {.module = TH_NONE};
    char *text;

    if (!separator || (*separator == '.' && is_capital(separator[1]))) /* MyApp.Shop */
        return TH_NONE;
    text = th_printf("%.*s_", (int)(separator + 1 - value), value);
    if (!th_trace_pattern_parse(text, &pattern))
        pattern.module = TH_NONE;
    th_free(text);
    return pattern.module;
}

void th_options_completion_add_node(struct th_completion *c, const char *node)
{
    struct node_completion completion = {.c = c, .value = c->typed.word + c->typed.begin};
    const struct th_node_options options = {.cookie = c->cookie, .cookie_file = c->cookie_file};
    bool elixir = *completion.value == ':' || is_capital(*completion.value);
    const char *separator = strrchr(completion.value, elixir ? '.' : ':');
    th_term module = typed_module(completion.value, separator);
    struct th_buffer all = {0};
    int left_ms = LIMIT_MS;

    if (module != TH_NONE)
        th_replay_node_list(node, &options, module, &left_ms, offer_function, &completion);
    if (completion.has_functions) {
        print_candidate(&all, completion.value, module, TH_NONE);
        th_buffer_add_text(&all, "/_");
        c->typed.add(&c->typed, th_buffer_text(&all));
    }
    /* A function or Shop may follow MyApp. */
    if (module == TH_NONE || (is_capital(*completion.value) && !separator[1]))
        th_replay_node_list(node, &options, TH_NONE, &left_ms, offer_module, &completion);
    th_buffer_free(&all);
}

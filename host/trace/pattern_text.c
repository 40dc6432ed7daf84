/* Function patterns as people write them: M:F/A, with _ for any. */
#include "pattern.h"

#include <string.h>

const char *const th_trace_pattern_kind_names[] = {
#define X(name, bit) #name,
    TH_PATTERN_LIVE_KINDS(X)
#undef X
        NULL};

const enum th_bp_kind th_trace_pattern_kinds[] = {
#define X(name, bit) TH_BP_##bit,
    TH_PATTERN_LIVE_KINDS(X)
#undef X
};

/* Up to a ':' or '/' outside of quotes. */
static size_t part_length(const char *text)
{
    size_t i = 0;
    bool quoted = false;

    for (; text[i] && (quoted || (text[i] != ':' && text[i] != '/')); i++) {
        if (quoted && text[i] == '\\' && text[i + 1])
            i++;
        else if (text[i] == '\'')
            quoted = !quoted;
    }
    return i;
}

/* An atom or _; TH_NONE for that. */
static bool take_atom(const char **text, th_term *atom)
{
    size_t length = part_length(*text);
    const char *from = *text;
    th_env env;
    bool good;

    *text += length;
    *atom = TH_NONE;
    if (length == 1 && from[0] == '_')
        return true;
    th_env_init(&env, TH_ENV_PLAIN);
    good = th_text_parse(&env, from, length, atom) == TH_OK && th_is_atom(*atom);
    th_env_release(&env);
    th_error_clear();
    return good;
}

static bool take_arity(const char *text, int *arity)
{
    *arity = TH_ANY_ARITY;
    if (strcmp(text, "_") == 0)
        return true;
    *arity = 0;
    for (; *text >= '0' && *text <= '9' && *arity <= TH_FUNCTION_ARITY_MAX; text++)
        *arity = *arity * 10 + (*text - '0');
    return !*text && *arity <= TH_FUNCTION_ARITY_MAX;
}

bool th_trace_pattern_parse(const char *text, struct th_pattern *pattern)
{
    *pattern = (struct th_pattern){.arity = TH_ANY_ARITY};
    if (!take_atom(&text, &pattern->module) || *text++ != ':' ||
        !take_atom(&text, &pattern->function))
        return false;
    if (*text == '/' && (!text[1] || !take_arity(text + 1, &pattern->arity)))
        return false;
    return *text != ':' && (pattern->module != TH_NONE || pattern->function == TH_NONE) &&
           (pattern->function != TH_NONE || pattern->arity == TH_ANY_ARITY);
}

static void print_part(struct th_buffer *out, th_term atom,
                       void (*print)(struct th_buffer *out, th_term atom))
{
    if (atom == TH_NONE)
        th_buffer_add_byte(out, '_');
    else
        print(out, atom);
}

static void print_pattern(struct th_buffer *out, const struct th_pattern *pattern,
                          void (*print)(struct th_buffer *out, th_term atom))
{
    if (pattern->on_load && pattern->module == TH_NONE) {
        th_buffer_printf(out, "on_load");
        return;
    }
    print_part(out, pattern->module, print);
    th_buffer_add_byte(out, ':');
    print_part(out, pattern->function, print);
    if (pattern->arity == TH_ANY_ARITY)
        th_buffer_printf(out, "/_");
    else
        th_buffer_printf(out, "/%d", pattern->arity);
}

void th_trace_pattern_print(struct th_buffer *out, const struct th_pattern *pattern)
{
    print_pattern(out, pattern, th_text_print_atom);
}

void th_trace_pattern_show(struct th_buffer *out, const struct th_pattern *pattern)
{
    print_pattern(out, pattern, th_text_show_atom);
}

/* Warnings of patterns that are for no function, or for functions that cannot have them. */
#include "pattern_options.h"

#include <string.h>

/* Patterns like PATTERN for the functions that there are. */
struct candidates {
    const struct th_pattern *pattern;
    struct th_names names;
};

/* WORD may have been meant where NAME stands, which is given if it is not TH_NONE. */
static bool is_like(th_term name, th_term word)
{
    const char *text = name == TH_NONE ? NULL : th_atom_name(name)->text;

    return !text || th_library_suggest_nearest(text, &(const char *){th_atom_name(word)->text}, 1);
}

static void add_candidate(void *context, const struct th_function_info *function)
{
    struct candidates *candidates = context;
    struct th_pattern like = *candidates->pattern;
    struct th_buffer text = {0}, own = {0};

    if (!is_like(like.module, function->name.module) ||
        !is_like(like.function, function->name.function))
        return;
    like.module = function->name.module;
    like.function = like.function == TH_NONE ? TH_NONE : function->name.function;
    like.arity = like.arity == TH_ANY_ARITY ? TH_ANY_ARITY : (int)function->name.arity;
    th_trace_pattern_show(&own, candidates->pattern);
    th_trace_pattern_show(&text, &like);
    if (strcmp(th_buffer_text(&text), th_buffer_text(&own)) != 0) /* named, and no more than that */
        th_library_names_add(&candidates->names, th_buffer_text(&text));
    th_buffer_free(&text);
    th_buffer_free(&own);
}

char *th_control_pattern_question(const struct th_pattern *pattern,
                                  const struct th_tracing *tracing)
{
    struct candidates candidates = {.pattern = pattern};
    struct th_buffer text = {0};
    char *question;

    th_trace_functions(tracing, add_candidate, &candidates);
    th_trace_pattern_show(&text, pattern);
    question = th_library_suggest_question(
        th_buffer_text(&text), (const char *const *)candidates.names.items, candidates.names.count);
    th_buffer_free(&text);
    th_library_names_free(&candidates.names);
    return question;
}

void th_control_pattern_warn_of_spelling(const struct th_pattern *pattern, const char *text,
                                         const struct th_tracing *tracing)
{
    char *question = th_control_pattern_question(pattern, tracing);

    if (*question)
        th_warn("%.60s: there is no such function%s", text, question);
    th_free(question);
}

/* Warns that there is no function that OPTION is for, which is WHAT. */
static void warn_of_none(const struct th_control_pattern_option *option,
                         const struct th_tracing *tracing, const char *what)
{
    char *question = th_control_pattern_question(&option->pattern, tracing);

    th_warn("-p %s: %s%s", option->text, what, question);
    th_free(question);
}

void th_control_pattern_option_tell_left_out(const struct th_control_pattern_option *option,
                                             const struct th_session *session, bool sets)
{
    struct th_pattern_refusals refusals;
    size_t told = 0;

    if (option->pattern.on_load)
        return;
    th_trace_session_pattern_refusals(session, &option->pattern, option->kinds, &refusals);
    if (refusals.concerned == 0)
        warn_of_none(option, th_trace_session_tracing(session), "there is no such function yet");
    for (size_t i = 0; i < refusals.count && sets; i++) {
        struct th_buffer text = {0};
        th_trace_pattern_refusal_print(&text, &refusals.items[i]);
        th_warn("-p %s leaves out %s", option->text, th_buffer_text(&text));
        th_buffer_free(&text);
        told += refusals.items[i].functions;
    }
    if (told < refusals.functions && sets)
        th_warn("-p %s leaves out %zu more function%s", option->text, refusals.functions - told,
                th_log_plural(refusals.functions - told));
}

void th_control_pattern_options_tell_uncalled(const struct th_control_pattern_options *options,
                                              const struct th_tracing *tracing)
{
    for (size_t i = 0; i < options->count; i++) {
        const struct th_control_pattern_option *option = &options->items[i];
        if (option->object == TH_PATTERN_FUNCTIONS && !th_control_pattern_option_clears(option) &&
            !th_trace_called(tracing, &option->pattern))
            warn_of_none(option, tracing, "no such function was called");
    }
}

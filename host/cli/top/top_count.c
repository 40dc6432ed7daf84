/* What `--top` counts. */
#include "top.h"
#include "top_terminal.h"

#include <string.h>

enum { COUNTS = TH_BP_COUNT | TH_BP_TIME };

static bool clears(const struct th_control_pattern_option *option)
{
    return option->spec && strcmp(option->spec, "false") == 0;
}

/* What of -p only a tracer could do; NULL: nothing. */
static const char *for_tracers(const struct th_control_pattern_option *option)
{
    if (option->object != TH_PATTERN_FUNCTIONS)
        return "messages";
    if (option->kind_list && option->kinds & ~(uint32_t)COUNTS)
        return "a --kind other than count and time";
    if (option->spec && !clears(option))
        return "--match-spec";
    if (option->returns || option->exceptions)
        return "--return and --exception";
    return option->callers ? "--caller" : NULL;
}

enum th_status th_top_check(const struct th_trace_options *options)
{
    const struct th_control_session_option *first = &options->sessions.items[0];
    const char *loose = first->flag_list ? "--flags" : first->chosen;

    if (first->tracer_count)
        return th_top_terminal_check();
    for (size_t i = 0; i < first->patterns.count && !loose; i++)
        loose = for_tracers(&first->patterns.items[i]);
    if (loose)
        return th_error_raise(
            TH_USAGE, "--top counts calls and their time: %s needs a tracer, and no -t names one",
            loose);
    return th_top_terminal_check();
}

/* With --kind=count alone no time is taken, which costs more. */
static enum th_status count_named(const struct th_control_pattern_option *option,
                                  struct th_session *session)
{
    uint32_t kinds = option->kind_list ? option->kinds & COUNTS : COUNTS;
    enum th_status status = th_trace_session_function(session, &option->pattern,
                                                      clears(option) ? TH_AM(false) : TH_AM(true),
                                                      kinds ? kinds : COUNTS, NULL);

    return status == TH_OK ? TH_OK : th_error_context("--top cannot count -p %s", option->text);
}

enum th_status th_top_count(const struct th_trace_options *options, struct th_session *session)
{
    static const struct th_pattern any = {.arity = TH_ANY_ARITY};
    const struct th_control_pattern_options *patterns = &options->sessions.items[0].patterns;
    enum th_status status = TH_OK;
    bool named = false;

    for (size_t i = 0; i < patterns->count && status == TH_OK; i++)
        if (patterns->items[i].object == TH_PATTERN_FUNCTIONS) {
            status = count_named(&patterns->items[i], session);
            named = true;
        }
    return named ? status : th_trace_session_function(session, &any, TH_AM(true), COUNTS, NULL);
}

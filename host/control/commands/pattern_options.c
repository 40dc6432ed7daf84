/* Sets patterns of sessions, and implements the command `pattern`. */
#include "commands.h"
#include "commands_internal.h"

#include "host/base/memory.h"
#include "host/control/control_internal.h"
#include "host/match/match.h"
#include "host/term/text.h"
#include "host/trace/named_tracer.h"

#include <jansson.h>
#include <string.h>

enum th_status th_control_match_read(th_env *env, const char *text, th_term *spec)
{
    *spec = th_match_short(env, text);
    if (*spec != TH_NONE || th_text_parse(env, text, strlen(text), spec) == TH_OK)
        return TH_OK;
    return th_error_context("cannot parse the match specification");
}

enum th_status th_control_pattern_take(const char *value,
                                       struct th_control_pattern_options *options)
{
    struct th_control_pattern_option *option;

    TH_ARRAY_GROW(options->items, options->count, options->capacity);
    option = &options->items[options->count++];
    *option = (struct th_control_pattern_option){.text = value};
    if (strcmp(value, "send") == 0) /* a pattern of functions contains a colon or a dot */
        option->object = TH_PATTERN_SEND;
    else if (strcmp(value, "receive") == 0 || strcmp(value, "'receive'") == 0)
        option->object = TH_PATTERN_RECEIVE;
    else
        option->kinds = options->live ? TH_PATTERN_EITHER : TH_BP_LOCAL;
    if (strcmp(value, "on_load") == 0)
        option->pattern = (struct th_pattern){.arity = TH_ANY_ARITY, .on_load = true};
    else if (option->object == TH_PATTERN_FUNCTIONS &&
             !th_trace_pattern_parse(value, &option->pattern))
        return th_error_raise(
            TH_USAGE, "-p must be " TH_PATTERN_FORMS ", or on_load, send or receive, not '%s'",
            value);
    return TH_OK;
}

static enum th_status set_spec(const struct th_control_pattern_option *option,
                               const struct th_search *search, struct th_session *session,
                               th_term spec, bool tells, size_t *matched)
{
    uint32_t kinds = option->kinds & ~(uint32_t)(option->meta_tracer ? TH_BP_META : 0);
    struct th_session_setup setup = {0};
    struct th_named_tracer tracer;
    enum th_status status = TH_OK;

    if (option->object == TH_PATTERN_SEND)
        return th_trace_session_send_pattern(session, spec);
    if (option->object == TH_PATTERN_RECEIVE)
        return th_trace_session_receive_pattern(session, spec);
    if (kinds)
        status = th_trace_session_function(session, &option->pattern, spec, kinds, matched);
    if (status == TH_OK && tells)
        th_control_pattern_option_report_left_out(option, session, spec != TH_AM(false));
    if (status != TH_OK || !option->meta_tracer)
        return status;
    status = th_trace_named_tracer_parse(option->meta_tracer, &tracer);
    if (status != TH_OK)
        return th_error_context("cannot use --meta-tracer '%s'", option->meta_tracer);
    status = th_trace_tracer_load(search, tracer.name, &setup.library);
    setup.name = tracer.name;
    setup.state = tracer.state;
    if (status == TH_OK)
        status = th_trace_session_meta_function(session, &option->pattern, spec, &setup, matched);
    th_trace_named_tracer_free(&tracer);
    return status;
}

enum th_status th_control_pattern_option_spec(const struct th_control_pattern_option *option,
                                              th_env *env, th_term *spec)
{
    enum th_status status;
    char *text;

    *spec = TH_AM(true);
    if (option->spec)
        return th_control_match_read(env, option->spec, spec);
    if (!th_control_pattern_option_asks(option))
        return TH_OK;
    text = th_printf("[{'_',[],[%s%s]}]",
                     option->exceptions ? "{exception_trace},"
                     : option->returns  ? "{return_trace},"
                                        : "",
                     option->lines     ? "{message,{caller_line}}"
                     : option->callers ? "{message,{caller}}"
                                       : "true");
    status = th_control_match_read(env, text, spec);
    th_free(text);
    return status;
}

enum th_status th_control_pattern_option_set(const struct th_control_pattern_option *option,
                                             const struct th_search *search,
                                             struct th_session *session, bool tells,
                                             size_t *matched)
{
    enum th_status status;
    th_term spec;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    status = th_control_pattern_option_spec(option, &env, &spec);
    if (status == TH_OK)
        status = set_spec(option, search, session, spec, tells, matched);
    th_env_release(&env);
    if (status == TH_OK)
        return TH_OK;
    th_error_context("cannot set -p %s%s", option->text,
                     option->spec && status == TH_MALFORMED ? TH_CONTROL_MATCH_ADVICE : "");
    return TH_USAGE;
}

bool th_control_pattern_option_clears(const struct th_control_pattern_option *option)
{
    return option->spec && strcmp(option->spec, "false") == 0;
}

/* --- The command ------------------------------------------------------------------------------ */

struct patterning {
    struct th_control_session_options options; /* of one session: the pattern is stored here */
    const char *which;
};

static enum th_status take_pattern(const struct th_argument *argument, const char *value,
                                   void *input)
{
    struct th_control_pattern_options *options =
        &((struct th_control_session_options *)input)->items[0].patterns;

    (void)argument;
    return options->count == 0 ? th_control_pattern_take(value, options)
                               : th_error_raise(TH_USAGE, "unexpected argument '%.60s'", value);
}

static const struct th_argument *const pattern_arguments[] = {
    &(const struct th_argument)TH_WORD("PATTERN", PATTERN, TH_ARGUMENT_NEEDED,
                                       .take = take_pattern),
    TH_SESSION_PATTERN_OPTIONS,
    &(const struct th_argument)TH_OPTION("session", "SESSION", SESSION, NONE, NULL,
                                         TH_INTO(struct patterning, which)),
    NULL};

/* Returns the answer. A function of this host exists or does not; a recorded one may still come. */
static json_t *told(const struct th_control_host *host,
                    const struct th_control_pattern_option *option,
                    const struct th_session *session, size_t matched)
{
    json_t *result = json_pack("{s:s, s:o}", "pattern", option->text, "session",
                               th_control_session_name(session));
    struct th_pattern_refusals refusals;
    json_t *reasons;

    if (option->object != TH_PATTERN_FUNCTIONS)
        return result;
    json_object_set_new(result, "functions", json_integer((json_int_t)matched));
    if (!host->live && matched == 0)
        th_control_pattern_warn_of_spelling(&option->pattern, option->text, host->tracing);
    if (!host->live)
        return result;
    if (option->pattern.on_load) {
        json_object_set_new(result, "waits",
                            json_boolean(!th_control_pattern_option_clears(option)));
        return result;
    }
    reasons = json_array();
    th_trace_session_pattern_refusals(session, &option->pattern, option->kinds, &refusals);
    json_object_set_new(result, "there", json_integer((json_int_t)refusals.concerned));
    if (refusals.concerned == 0)
        th_control_pattern_warn_of_spelling(&option->pattern, option->text, host->tracing);
    if (refusals.concerned == 0 && option->pattern.module != TH_NONE &&
        !th_control_pattern_option_clears(option))
        json_object_set_new(result, "waits", json_true());
    for (size_t i = 0; i < refusals.count; i++)
        json_array_append_new(reasons, json_pack("{s:I, s:o, s:s}", "functions",
                                                 (json_int_t)refusals.items[i].functions, "first",
                                                 th_control_function(&refusals.items[i].first),
                                                 "why", refusals.items[i].why));
    json_object_set_new(result, "left_out", reasons);
    return result;
}

static enum th_status carry_out_pattern(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;
    struct patterning patterning = {0};
    struct th_control_preloaded loaded = {0};
    const struct th_control_pattern_option *option;
    struct th_session *session;
    struct th_search search;
    size_t matched = 0;
    enum th_status status;

    th_control_session_options_init(&patterning.options, host->live);
    status = th_control_take(&th_control_command_pattern, count, words, &patterning);
    option = patterning.options.items[0].patterns.items;
    if (status == TH_OK && option->meta_tracer)
        status = th_control_session_options_preload(&patterning.options, host, &loaded);
    if (status == TH_OK)
        status = th_control_session_options_check(&patterning.options);
    if (status == TH_OK)
        status = th_control_session(host, patterning.which, &session);
    if (status == TH_OK) {
        th_control_host_search(host, TH_SEARCH_TRACERS, &search);
        status = th_control_pattern_option_set(option, &search, session, false, &matched);
        th_library_search_free(&search);
        if (status == TH_OK)
            *result = told(host, option, session, matched);
    }
    if (loaded.count > 0)
        th_control_preloaded_release(&loaded, host);
    th_control_session_options_free(&patterning.options);
    return status;
}

const struct th_control_command th_control_command_pattern = {
    "pattern",
    pattern_arguments,
    "argument PATTERN is missing: give M:F/A, M:F/_, M:_/_, _:_/_, on_load, send or receive",
    "Sets breakpoints, as -p does. --match-spec=false clears them; --match-spec=pause "
    "and restart pause and restart counts.",
    carry_out_pattern,
    .takes_long = true};

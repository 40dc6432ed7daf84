#include "pattern_options.h"

#include "commands.h"

#include <stdio.h>
#include <string.h>

/* No function's pattern is without a colon. */
static enum th_pattern_object object_of(const char *text)
{
    if (strcmp(text, "send") == 0)
        return TH_PATTERN_SEND;
    if (strcmp(text, "receive") == 0 || strcmp(text, "'receive'") == 0)
        return TH_PATTERN_RECEIVE;
    return TH_PATTERN_FUNCTIONS;
}

/* --- options, one by one --- */

enum th_status th_control_pattern_options_begin(struct th_control_pattern_options *options,
                                                const char *text)
{
    struct th_control_pattern_option *option;

    TH_ARRAY_GROW(options->items, options->count, options->capacity);
    option = &options->items[options->count++];
    *option = (struct th_control_pattern_option){.text = text, .object = object_of(text)};
    if (option->object != TH_PATTERN_FUNCTIONS)
        return TH_OK;
    option->kinds = options->live ? TH_PATTERN_EITHER : TH_BP_LOCAL;
    if (strcmp(text, "on_load") == 0)
        option->pattern = (struct th_pattern){.arity = TH_ANY_ARITY, .on_load = true};
    else if (!th_trace_pattern_parse(text, &option->pattern))
        return th_error_raise(TH_USAGE,
                              "-p wants M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1, or "
                              "on_load, send or receive, not '%s'",
                              text);
    return TH_OK;
}

static uint32_t kind_named(const char *name, size_t length)
{
    for (size_t i = 0; th_trace_pattern_kind_names[i]; i++)
        if (strlen(th_trace_pattern_kind_names[i]) == length &&
            memcmp(name, th_trace_pattern_kind_names[i], length) == 0)
            return th_trace_pattern_kinds[i];
    return 0;
}

static enum th_status raise_kind(bool live, const char *name, size_t length)
{
    return th_error_raise(TH_USAGE, "--kind wants local, global, meta, count%s, not '%.*s'",
                          live ? ", time or memory" : " or time", (int)length, name);
}

enum th_status th_control_kinds_parse(const char *list, bool live, uint32_t *kinds)
{
    *kinds = 0;
    for (;; list++) {
        size_t length = strcspn(list, ",");
        uint32_t kind = kind_named(list, length);
        if (!kind)
            return raise_kind(live, list, length);
        *kinds |= kind;
        list += length;
        if (!*list)
            return TH_OK;
    }
}

static bool asks_more(const struct th_control_pattern_option *option)
{
    return option->returns || option->exceptions || option->callers || option->lines;
}

enum th_status th_control_pattern_option_check_words(const struct th_control_pattern_option *option)
{
    if (option->spec && asks_more(option))
        return th_error_raise(TH_USAGE, "-p %s has --match-spec: say the rest there", option->text);
    if (option->kind_list && option->kinds & TH_BP_GLOBAL && option->kinds != TH_BP_GLOBAL)
        return th_error_raise(TH_USAGE, "-p %s: global goes with no other kind", option->text);
    return TH_OK;
}

enum th_status th_control_pattern_option_check(const struct th_control_pattern_option *option)
{
    if (option->meta_tracer && !(option->kinds & TH_BP_META))
        return th_error_raise(TH_USAGE, "-p %s has a --meta-tracer, but is not of --kind=meta",
                              option->text);
    return TH_OK;
}

uint32_t th_control_pattern_option_flag(const struct th_control_pattern_option *option,
                                        const char **name)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } of[] = {
        [TH_PATTERN_FUNCTIONS] = {TH_FLAG_CALL, "call"},
        [TH_PATTERN_SEND] = {TH_FLAG_SEND, "send"},
        [TH_PATTERN_RECEIVE] = {TH_FLAG_RECEIVE, "receive"},
    };

    *name = of[option->object].name;
    return of[option->object].flag;
}

/* --- setting --- */

/* The specification that --return, --exception, --caller and --caller-line ask for. */
static char *spec_text(const struct th_control_pattern_option *option)
{
    const char *end = option->exceptions ? "{exception_trace}," : "{return_trace},";

    return th_printf("[{'_',[],[%s%s]}]", option->exceptions || option->returns ? end : "",
                     option->lines     ? "{message,{caller_line}}"
                     : option->callers ? "{message,{caller}}"
                                       : "true");
}

static enum th_status read_spec(const struct th_control_pattern_option *option, th_env *env,
                                th_term *spec)
{
    char *text;
    enum th_status status;

    *spec = TH_AM(true);
    if (option->spec) {
        *spec = th_match_short(env, option->spec);
        return *spec != TH_NONE ? TH_OK
                                : th_text_parse(env, option->spec, strlen(option->spec), spec);
    }
    if (!asks_more(option))
        return TH_OK;
    text = spec_text(option);
    status = th_text_parse(env, text, strlen(text), spec);
    th_free(text);
    return status;
}

enum th_status th_control_preload(struct th_control_preloaded *loaded,
                                  const struct th_search *search, const char *tracer)
{
    struct th_library *library;
    enum th_status status = th_trace_tracer_preload(search, tracer, &library);

    if (library) {
        TH_ARRAY_GROW(loaded->items, loaded->count, loaded->capacity);
        loaded->items[loaded->count++] = library;
    }
    return status;
}

void th_control_preloaded_release(struct th_control_preloaded *loaded)
{
    while (loaded->count > 0)
        th_library_release(loaded->items[--loaded->count]);
    th_free(loaded->items);
    *loaded = (struct th_control_preloaded){0};
}

enum th_status th_control_pattern_options_preload(const struct th_control_pattern_options *options,
                                                  const struct th_search *search,
                                                  struct th_control_preloaded *loaded)
{
    enum th_status status = TH_OK;

    for (size_t i = 0; i < options->count && status == TH_OK; i++)
        if (options->items[i].meta_tracer)
            status = th_control_preload(loaded, search, options->items[i].meta_tracer);
    return status;
}

static enum th_status set_meta(const struct th_control_pattern_option *option,
                               const struct th_search *search, struct th_session *session,
                               th_term spec, size_t *matched)
{
    struct th_session_setup setup = {0};
    struct th_named_tracer tracer;
    enum th_status status = th_trace_named_tracer_parse(option->meta_tracer, &tracer);

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

static enum th_status set_function(const struct th_control_pattern_option *option,
                                   const struct th_search *search, struct th_session *session,
                                   th_term spec, bool tells, size_t *matched)
{
    uint32_t kinds = option->kinds & ~(uint32_t)(option->meta_tracer ? TH_BP_META : 0);
    enum th_status status = TH_OK;

    if (kinds)
        status = th_trace_session_function(session, &option->pattern, spec, kinds, matched);
    if (status == TH_OK && tells)
        th_control_pattern_option_tell_left_out(option, session, spec != TH_AM(false));
    if (status == TH_OK && option->meta_tracer)
        status = set_meta(option, search, session, spec, matched);
    return status;
}

static enum th_status set_spec(const struct th_control_pattern_option *option,
                               const struct th_search *search, struct th_session *session,
                               th_term spec, bool tells, size_t *matched)
{
    switch (option->object) {
    case TH_PATTERN_SEND:
        return th_trace_session_send_pattern(session, spec);
    case TH_PATTERN_RECEIVE:
        return th_trace_session_receive_pattern(session, spec);
    default:
        return set_function(option, search, session, spec, tells, matched);
    }
}

static enum th_status set_one(const struct th_control_pattern_option *option,
                              const struct th_search *search, struct th_session *session,
                              bool tells, size_t *matched)
{
    th_env env;
    th_term spec;
    enum th_status status;

    th_env_init(&env, TH_ENV_PLAIN);
    status = read_spec(option, &env, &spec);
    if (status != TH_OK)
        th_error_context("the match specification cannot be read");
    else
        status = set_spec(option, search, session, spec, tells, matched);
    th_env_release(&env);
    if (status == TH_OK)
        return TH_OK;
    th_error_context("-p %s cannot be set", option->text);
    return TH_USAGE;
}

enum th_status th_control_pattern_options_set(const struct th_control_pattern_options *options,
                                              const struct th_search *search,
                                              struct th_session *session, bool first)
{
    enum th_status status = TH_OK;

    for (size_t i = 0; i < options->count && status == TH_OK; i++)
        status = set_one(&options->items[i], search, session, options->live && first, NULL);
    return status;
}

bool th_control_pattern_option_clears(const struct th_control_pattern_option *option)
{
    return option->spec && strcmp(option->spec, "false") == 0;
}

enum th_status th_control_pattern_option_set(const struct th_control_pattern_option *option,
                                             const struct th_search *search,
                                             struct th_session *session, size_t *matched)
{
    *matched = 0;
    return set_one(option, search, session, false, matched);
}

/* --- The command ------------------------------------------------------------------------------ */

struct patterning {
    struct th_control_session_options options; /* of one session: the pattern is stored here */
    const char *which;
};

static enum th_status take_pattern(const struct th_argument *argument, const char *value,
                                   void *input)
{
    struct th_control_pattern_options *patterns = th_control_session_options_patterns(input);

    (void)argument;
    return patterns->count == 0
               ? th_control_pattern_options_begin(patterns, value)
               : th_error_raise(TH_USAGE, "what is '%.60s' for? it is one word too many", value);
}

static const struct th_argument *const pattern_arguments[] = {
    &(const struct th_argument)TH_WORD("PATTERN", PATTERN, TH_ARGUMENT_NEEDED,
                                       .take = take_pattern),
    &th_control_session_arguments[TH_SESSION_SPEC],
    &th_control_session_arguments[TH_SESSION_RETURN],
    &th_control_session_arguments[TH_SESSION_EXCEPTION],
    &th_control_session_arguments[TH_SESSION_CALLER],
    &th_control_session_arguments[TH_SESSION_CALLER_LINE],
    &th_control_session_arguments[TH_SESSION_KIND],
    &th_control_session_arguments[TH_SESSION_META_TRACER],
    &(const struct th_argument)TH_OPTION("session", "SESSION", SESSION, 0, NULL,
                                         TH_INTO(struct patterning, which)),
    NULL};

static json_t *left_out(const struct th_control_pattern_option *option,
                        const struct th_session *session, size_t *concerned)
{
    struct th_pattern_refusals refusals;
    json_t *reasons = json_array();

    th_trace_session_pattern_refusals(session, &option->pattern, option->kinds, &refusals);
    *concerned = refusals.concerned;
    for (size_t i = 0; i < refusals.count; i++)
        json_array_append_new(reasons, json_pack("{s:I, s:o, s:s}", "functions",
                                                 (json_int_t)refusals.items[i].functions, "first",
                                                 th_control_function(&refusals.items[i].first),
                                                 "why", refusals.items[i].why));
    return reasons;
}

/* Live functions are there or not; one of a recording may still come. */
static json_t *told(const struct th_control_host *host,
                    const struct th_control_pattern_option *option,
                    const struct th_session *session, size_t matched)
{
    json_t *result = json_pack("{s:s, s:o}", "pattern", option->text, "session",
                               th_control_session_name(session));
    size_t concerned;
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
    reasons = left_out(option, session, &concerned);
    json_object_set_new(result, "there", json_integer((json_int_t)concerned));
    if (concerned == 0)
        th_control_pattern_warn_of_spelling(&option->pattern, option->text, host->tracing);
    if (concerned == 0 && option->pattern.module != TH_NONE &&
        !th_control_pattern_option_clears(option))
        json_object_set_new(result, "waits", json_true());
    json_object_set_new(result, "left_out", reasons);
    return result;
}

static enum th_status set_pattern(const struct th_control_host *host,
                                  const struct patterning *patterning, json_t **result)
{
    const struct th_control_pattern_option *option =
        &patterning->options.items[0].patterns.items[0];
    struct th_session *session;
    struct th_search search;
    enum th_status status = th_control_pattern_option_check(option);
    size_t matched;

    if (status == TH_OK)
        status = th_control_session(host, patterning->which, &session);
    if (status != TH_OK)
        return status;
    th_control_host_search(host, TH_SEARCH_TRACERS, &search);
    status = th_control_pattern_option_set(option, &search, session, &matched);
    th_library_search_free(&search);
    if (status == TH_OK)
        *result = told(host, option, session, matched);
    return status;
}

/* Without the lock. */
static enum th_status load_meta_tracer(struct th_control_host *host,
                                       const struct patterning *patterning,
                                       struct th_control_preloaded *loaded)
{
    struct th_search search;
    enum th_status status;

    if (!patterning->options.items[0].patterns.items[0].meta_tracer)
        return TH_OK;
    th_control_host_search(host, TH_SEARCH_TRACERS, &search);
    th_trace_tracer_lock_leave(&host->lock);
    status =
        th_control_pattern_options_preload(&patterning->options.items[0].patterns, &search, loaded);
    th_trace_tracer_lock_return(&host->lock);
    th_library_search_free(&search);
    return status;
}

static enum th_status carry_out_pattern(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;
    struct patterning patterning = {0};
    struct th_control_preloaded loaded = {0};
    enum th_status status;

    th_control_session_options_init(&patterning.options, host->live);
    status = th_control_take(&th_control_command_pattern, count, words, &patterning);
    if (status == TH_OK)
        status = load_meta_tracer(host, &patterning, &loaded);
    if (status == TH_OK)
        status = set_pattern(host, &patterning, result);
    if (loaded.count > 0) {
        th_trace_tracer_lock_leave(&host->lock);
        th_control_preloaded_release(&loaded);
        th_trace_tracer_lock_return(&host->lock);
    }
    th_control_session_options_free(&patterning.options);
    return status;
}

const struct th_control_command th_control_command_pattern = {
    "pattern",
    pattern_arguments,
    "which PATTERN? M:F/A, M:F/_, M:_/_, _:_/_, on_load, send or receive",
    "sets breakpoints, as -p does; --match-spec=false clears, pause and restart are "
    "for counts",
    carry_out_pattern,
    .takes_long = true};

/* Commands about sessions: attach, detach, sessions, flags. */
#include "control_host.h"
#include "control_words.h"

#include <string.h>

/* --- What is told of a session ---------------------------------------------------------------- */

static void add_count(json_t *object, const char *name, uint64_t count)
{
    json_object_set_new(object, name, json_integer((json_int_t)count));
}

/* The counts that --stats and the remarks at the end show, too. */
static json_t *counts_of(const struct th_session *session)
{
    struct th_session_counts counts = th_session_counts(session);
    struct th_pattern_counts patterns = th_session_pattern_counts(session);
    struct th_message_counts messages = th_session_message_counts(session);
    json_t *object = json_object();

    add_count(object, "traced", counts.traced);
    add_count(object, "enabled", counts.enabled);
    add_count(object, "discarded", counts.discarded);
    add_count(object, "filtered", counts.filtered);
    add_count(object, "silenced", counts.silenced + messages.silenced);
    add_count(object, "untraced", counts.untraced);
    add_count(object, "removed", counts.removed);
    add_count(object, "kept", counts.kept);
    add_count(object, "refused", counts.refused);
    add_count(object, "left_out", messages.unmatched);
    add_count(object, "undecided", patterns.undecided + messages.undecided);
    add_count(object, "actions_unsure", patterns.actions_unsure + messages.actions_unsure);
    add_count(object, "callers_unknown", patterns.callers_unknown);
    add_count(object, "lines_unknown", patterns.lines_unknown);
    add_count(object, "external_unknown", patterns.external_unknown);
    add_count(object, "untimed", patterns.untimed);
    add_count(object, "returns_unknown", patterns.returns_unknown);
    add_count(object, "returns_doubtful", patterns.returns_doubtful);
    add_count(object, "meta_removed", patterns.meta_removed);
    add_count(object, "meta_untold", patterns.meta_untold);
    return object;
}

static json_t *flags_of(const struct th_session *session, enum th_tracees which)
{
    return th_control_flags(th_session_known_flags(session, which));
}

static void count_breakpoint(void *context, const struct th_function *function,
                             const struct th_bp_info *info)
{
    json_int_t *count = context;

    (void)function;
    (void)info;
    ++*count;
}

static void add_waiting(void *context, const struct th_pattern *pattern)
{
    struct th_buffer text = {0};

    th_pattern_print(&text, pattern);
    json_array_append_new(context, json_string(th_buffer_text(&text)));
    th_buffer_free(&text);
}

/* Patterns that have met no function yet. */
static void tell_waiting(json_t *object, const struct th_session *session)
{
    json_t *patterns = json_array();

    th_session_waiting(session, add_waiting, patterns);
    if (json_array_size(patterns) > 0)
        json_object_set(object, "waiting", patterns);
    json_decref(patterns);
}

static json_t *session_of(const struct th_session *session)
{
    json_t *object = th_control_session_name(session);
    json_int_t breakpoints = 0;

    th_session_functions(session, count_breakpoint, &breakpoints);
    json_object_set_new(object, "state", th_control_term(th_session_state_term(session)));
    json_object_set_new(object, "flags", flags_of(session, TH_PROCESSES_NEW));
    json_object_set_new(object, "flags_existing", flags_of(session, TH_PROCESSES_EXISTING));
    json_object_set_new(object, "flags_ports", flags_of(session, TH_PORTS_NEW));
    json_object_set_new(object, "attached", json_boolean(th_session_attached(session)));
    json_object_set_new(object, "failed", json_boolean(th_session_failed(session)));
    json_object_set_new(object, "breakpoints", json_integer(breakpoints));
    json_object_set_new(object, "counts", counts_of(session));
    tell_waiting(object, session);
    return object;
}

struct attaching {
    struct th_control_host *host;
    struct th_trace_options trace;
    struct attaching *next; /* of the host's */
};

static const char *title_of(const struct attaching *attaching)
{
    return attaching->trace.sessions.items[0].title;
}

/* By a session, or one that is being attached without the lock. */
static bool is_taken(const struct th_control_host *host, const char *title)
{
    const struct attaching *other = host->attaching;

    while (other && !(title_of(other) && strcmp(title_of(other), title) == 0))
        other = other->next;
    if (other)
        return true;
    for (size_t i = 0; i < th_tracing_sessions(host->tracing); i++) {
        const struct th_session *session = th_tracing_session(host->tracing, i);
        const char *its = session ? th_session_title(session) : NULL;
        if (its && strcmp(its, title) == 0)
            return true;
    }
    return false;
}

enum th_status th_control_do_sessions(void *context, int count, char **words, json_t **result)
{
    const struct th_control_host *host = context;
    enum th_status status = th_control_no_words(count, words);
    json_t *sessions;

    if (status != TH_OK)
        return status;
    sessions = json_array();
    for (size_t i = 0; i < th_tracing_sessions(host->tracing); i++) {
        struct th_session *session = th_tracing_session(host->tracing, i);
        if (session)
            json_array_append_new(sessions, session_of(session));
    }
    *result = json_pack("{s:o}", "sessions", sessions);
    return TH_OK;
}

/* --- attach ----------------------------------------------------------------------------------- */

static enum th_status take_attached(void *context, int key, const char *value)
{
    struct attaching *attaching = context;
    struct th_session_option *option = &attaching->trace.sessions.items[0];

    if (key == TH_WORD && option->tracer_count > 0)
        return TH_END;
    if (key == TH_WORD)
        key = 't';
    else if (key == 't')
        return TH_END;
    if (key != TH_TRACE_SESSION)
        return th_trace_options_take(&attaching->trace, key, value);
    if (!*value)
        return th_error_raise(TH_USAGE, "--session wants a name");
    option->title = value; /* in its place among the options: here all are for one session */
    return TH_OK;
}

static enum th_status refuse_taken(const struct attaching *attaching)
{
    const char *title = title_of(attaching);

    return title && is_taken(attaching->host, title)
               ? th_error_raise(TH_USAGE, "there is a session '%s' already", title)
               : TH_OK;
}

static enum th_status read_attached(struct attaching *attaching, int count, char **words)
{
    struct th_session_options *sessions = &attaching->trace.sessions;
    enum th_status status = th_words_take(th_trace_option_table, th_control_usage_attach, count,
                                          words, take_attached, attaching);

    if (status != TH_OK)
        return status;
    if (sessions->items[0].tracer_count == 0)
        return th_error_raise(TH_USAGE, "attach which TRACER? `tracers` lists them");
    status = refuse_taken(attaching);
    return status == TH_OK ? th_session_options_check(sessions) : status;
}

/* Loads the libraries of the tracers that are to be attached. Other commands may run meanwhile. */
static enum th_status load(struct attaching *attaching, struct th_control_host *host,
                           struct th_preloaded *loaded)
{
    struct th_search search;
    enum th_status status;

    th_trace_options_search(host->options, &search);
    th_tracer_lock_leave(&host->lock);
    status = th_session_options_preload(&attaching->trace.sessions, &search, loaded);
    th_tracer_lock_return(&host->lock);
    th_search_free(&search);
    return status == TH_OK ? refuse_taken(attaching) : status;
}

static enum th_status attach(void *argument)
{
    struct attaching *attaching = argument;
    const struct th_trace_options *options = attaching->host->options;
    struct th_tracing *tracing = attaching->host->tracing;
    bool holds = th_tracing_hold(); /* else the thread will go on */
    struct th_search search;
    enum th_status status;

    th_trace_options_search(options, &search);
    status = th_session_options_attach(&attaching->trace.sessions, &search, tracing);
    th_search_free(&search);
    if (holds)
        th_tracing_go(tracing);
    return status;
}

/* Nobody else may take the title until the session is there. */
static enum th_status attach_titled(struct attaching *attaching, struct th_control_host *host)
{
    struct attaching **place = &host->attaching;
    enum th_status status;

    attaching->next = host->attaching;
    host->attaching = attaching;
    status = th_session_options_name_tracees(&attaching->trace.sessions)
                 ? th_control_at_tracees(host, attach, attaching)
                 : attach(attaching);
    while (*place != attaching)
        place = &(*place)->next;
    *place = attaching->next;
    return status;
}

enum th_status th_control_do_attach(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;
    struct attaching attaching = {.host = host};
    struct th_preloaded loaded = {0};
    const struct th_session *session;
    enum th_status status;

    th_trace_options_init(&attaching.trace, attaching.host->options->live);
    attaching.trace.sessions.running = attaching.trace.live;
    status = read_attached(&attaching, count, words);
    if (status == TH_OK)
        status = load(&attaching, host, &loaded);
    if (status == TH_OK)
        status = attach_titled(&attaching, host);
    if (status == TH_OK) {
        th_watch_look(&host->watch);
        session = th_session_find(host->tracing, attaching.trace.sessions.items[0].began);
        if (session) /* another may have ended it meanwhile */
            *result = session_of(session);
    }
    th_trace_options_free(&attaching.trace);
    th_tracer_lock_leave(&host->lock);
    th_preloaded_release(&loaded);
    th_tracer_lock_return(&host->lock);
    return status;
}

/* --- detach ----------------------------------------------------------------------------------- */

/* With what it has counted, which goes with it. */
enum th_status th_control_do_detach(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;
    unsigned long failures = th_failures();
    struct th_session *session;
    struct th_library *library;
    enum th_status status;
    char *failure;

    if (count == 0)
        return th_error_raise(TH_USAGE, "detach which SESSION? `sessions` lists them");
    status = th_control_no_words(count - 1, words + 1);
    if (status == TH_OK)
        status = th_control_session(host, words[0], &session);
    if (status != TH_OK)
        return status;
    *result = session_of(session);
    json_object_set_new(*result, "functions", th_control_counted(session));
    failure = th_session_failure(session);
    library = th_session_library(session);
    th_library_keep(library); /* so that unload() is called here, without the lock */
    th_session_destroy(session);
    th_tracer_lock_leave(&host->lock);
    th_library_release(library);
    th_tracer_lock_return(&host->lock);
    status = failure ? th_error_raise(TH_FAILED, "%s", failure) : th_failures_raise(failures);
    th_free(failure);
    if (status != TH_OK)
        json_decref(*result);
    return status;
}

/* --- replace ---------------------------------------------------------------------------------- */

static enum th_status replace(struct th_control_host *host, struct th_session *session,
                              const char *text)
{
    struct th_search search;
    enum th_status status;

    th_trace_options_search(host->options, &search);
    status = th_tracer_replace(session, &search, text, &host->lock);
    th_search_free(&search);
    return status;
}

enum th_status th_control_do_replace(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;
    struct th_session *session;
    th_session_id id;
    enum th_status status;

    if (count < 2)
        return th_error_raise(TH_USAGE, "replace the tracer of which SESSION by which TRACER?");
    status = th_control_no_words(count - 2, words + 2);
    if (status == TH_OK)
        status = th_control_session(host, words[0], &session);
    if (status != TH_OK)
        return status;
    id = th_session_id_of(session);
    status = replace(host, session, words[1]);
    if (status != TH_OK)
        return th_error_context("the session keeps the tracer that it has");
    th_watch_look(&host->watch);
    session = th_session_find(host->tracing, id); /* another may have ended it meanwhile */
    if (session)
        *result = session_of(session);
    return TH_OK;
}

/* --- flags ------------------------------------------------------------------------------------ */

struct flagging {
    const struct th_control_host *host;
    const char *list, *mode, *which;
    bool whom;                         /* somebody was named */
    struct th_session_options options; /* of whom: they read --processes and --ports */
    uint32_t flags;
    struct th_session *session;
};

static enum th_status take_whom(struct flagging *flagging, bool ports, const char *list)
{
    flagging->whom = true;
    return th_session_options_tracees(&flagging->options, ports, list);
}

static enum th_status take_flagged(void *context, int key, const char *value)
{
    struct flagging *flagging = context;

    if (key == TH_TRACE_SESSION)
        flagging->which = value;
    else if (key == TH_TRACE_PROCESSES || key == TH_TRACE_PORTS)
        return take_whom(flagging, key == TH_TRACE_PORTS, value);
    else if (key != TH_WORD)
        return TH_END;
    else if (!flagging->list)
        flagging->list = value;
    else if (!flagging->mode && (strcmp(value, "on") == 0 || strcmp(value, "off") == 0))
        flagging->mode = value;
    else if (!flagging->whom)
        return take_whom(flagging, false, value);
    else
        return TH_END;
    return TH_OK;
}

static enum th_status read_flagged(struct flagging *flagging, int count, char **words)
{
    enum th_status status = th_words_take(th_trace_option_table, th_control_usage_flags, count,
                                          words, take_flagged, flagging);

    if (status == TH_OK && !flagging->list)
        return th_error_raise(TH_USAGE, "which flags? a LIST such as call,send");
    if (status == TH_OK)
        status = th_flags_parse(flagging->list, &flagging->flags);
    if (status == TH_OK && !flagging->whom) {
        status = take_whom(flagging, false, "all");
        if (status == TH_OK && flagging->flags & TH_FLAGS_OF_PORTS & ~TH_FLAG_CPU_TIMESTAMP)
            status = take_whom(flagging, true, "all");
    }
    return status == TH_OK ? th_control_session(flagging->host, flagging->which, &flagging->session)
                           : status;
}

static enum th_status set_flags(void *argument)
{
    const struct flagging *flagging = argument;
    const struct th_session_option *option = &flagging->options.items[0];
    bool on = !flagging->mode || strcmp(flagging->mode, "on") == 0;
    enum th_status status = TH_OK;

    for (size_t i = 0; i < option->tracee_count && status == TH_OK; i++)
        status = th_chosen_trace(&option->tracees[i], flagging->session, on, flagging->flags,
                                 flagging->options.live);
    return status;
}

enum th_status th_control_do_flags(void *context, int count, char **words, json_t **result)
{
    struct flagging flagging = {.host = context};
    enum th_status status;

    th_session_options_init(&flagging.options, flagging.host->options->live);
    flagging.options.running = flagging.options.live;
    status = read_flagged(&flagging, count, words);
    if (status == TH_OK && th_session_options_name_tracees(&flagging.options))
        status = th_control_at_tracees(flagging.host, set_flags, &flagging);
    else if (status == TH_OK)
        status = set_flags(&flagging);
    th_session_options_free(&flagging.options);
    if (status == TH_OK)
        *result = session_of(flagging.session);
    return status;
}

/* Commands for sessions: attach, detach, replace, sessions. */
#include "commands.h"
#include "commands_internal.h"

#include "host/base/buffer.h"
#include "host/breakpoint/account.h"
#include "host/control/control_internal.h"
#include "host/library/load.h"
#include "host/trace/callback.h"
#include "host/trace/named_tracer.h"
#include "host/trace/pattern.h"

#include <jansson.h>
#include <string.h>

/* --- Sessions as JSON ------------------------------------------------------------------------- */

static void add_count(json_t *object, const char *name, uint64_t count)
{
    json_object_set_new(object, name, json_integer((json_int_t)count));
}

/* Returns the counts that --stats and the final remarks also show. */
static json_t *session_commands_counts_of(const struct th_session *session)
{
    struct th_session_counts counts = th_trace_session_counts(session);
    struct th_pattern_counts patterns = th_trace_session_pattern_counts(session);
    struct th_message_counts messages = th_trace_session_message_counts(session);
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

static void count_breakpoint(void *context, const struct th_mfa *function,
                             const struct th_bp_info *info)
{
    json_int_t *count = context;

    (void)function;
    (void)info;
    ++*count;
}

static void session_commands_add_waiting(void *context, const struct th_pattern *pattern)
{
    struct th_buffer text = {0};

    th_trace_pattern_print(&text, pattern);
    json_array_append_new(context, json_string(th_buffer_text(&text)));
    th_buffer_free(&text);
}

json_t *th_control_session_json(const struct th_session *session)
{
    json_t *object = th_control_session_name(session);
    json_int_t breakpoints = 0;
    json_t *waiting = json_array(); /* patterns that no function has matched yet */

    th_trace_session_functions(session, count_breakpoint, &breakpoints);
    json_object_set_new(object, "state", th_control_term(th_trace_session_state_term(session)));
    json_object_set_new(object, "flags",
                        th_control_flags(th_trace_session_known_flags(session, TH_PROCESSES_NEW)));
    json_object_set_new(
        object, "flags_existing",
        th_control_flags(th_trace_session_known_flags(session, TH_PROCESSES_EXISTING)));
    json_object_set_new(object, "flags_ports",
                        th_control_flags(th_trace_session_known_flags(session, TH_PORTS_NEW)));
    json_object_set_new(object, "attached", json_boolean(th_trace_session_attached(session)));
    json_object_set_new(object, "failed", json_boolean(th_trace_session_failed(session)));
    json_object_set_new(object, "breakpoints", json_integer(breakpoints));
    json_object_set_new(object, "counts", session_commands_counts_of(session));
    th_trace_session_waiting(session, session_commands_add_waiting, waiting);
    if (json_array_size(waiting) > 0)
        json_object_set(object, "waiting", waiting);
    json_decref(waiting);
    return object;
}

struct attaching {
    struct th_control_session_options
        sessions; /* the command's one session; the arguments are stored here */
    struct th_control_host *host;
    struct attaching *next; /* next `attach` in progress */
};

static enum th_status carry_out_sessions(void *context, int count, char **words, json_t **result)
{
    const struct th_control_host *host = context;
    json_t *sessions = json_array();

    (void)count;
    (void)words;
    for (size_t i = 0; i < th_trace_sessions(host->tracing); i++) {
        struct th_session *session = th_trace_session(host->tracing, i);
        if (session)
            json_array_append_new(sessions, th_control_session_json(session));
    }
    *result = json_pack("{s:o}", "sessions", sessions);
    return TH_OK;
}

const struct th_control_command th_control_command_sessions = {
    "sessions", NULL, NULL,
    "Lists the sessions with tracer, flags, breakpoints and counts of events.",
    .carry_out = carry_out_sessions};

/* --- attach ----------------------------------------------------------------------------------- */

static enum th_status take_title(const struct th_argument *argument, const char *value, void *input)
{
    struct attaching *attaching = input;

    (void)argument;
    if (!*value)
        return th_error_raise(TH_USAGE, "--session needs a name");
    attaching->sessions.items[0].title = value; /* its position is free */
    return TH_OK;
}

static const struct th_argument *const attach_arguments[] = {
    &(const struct th_argument)TH_WORD("TRACER", TRACER, TH_ARGUMENT_NEEDED,
                                       .take = th_control_take_tracer),
    &(const struct th_argument)TH_OPTION("session", "NAME", SESSION, NONE, NULL,
                                         .take = take_title),
    &th_control_session_arguments[TH_SESSION_FLAGS],
    &th_control_session_arguments[TH_SESSION_PROCESSES],
    &th_control_session_arguments[TH_SESSION_PORTS],
    &th_control_session_arguments[TH_SESSION_PATTERN],
    TH_SESSION_PATTERN_OPTIONS,
    NULL};

/* Checks that no session, and no other `attach` in progress, has the title of ATTACHING. */
static enum th_status refuse_taken(const struct attaching *attaching)
{
    const struct th_control_host *host = attaching->host;
    const char *title = attaching->sessions.items[0].title, *other;
    bool taken = false;

    for (const struct attaching *a = host->attaching; title && a && !taken; a = a->next) {
        other = a->sessions.items[0].title;
        taken = other && strcmp(other, title) == 0;
    }
    for (size_t i = 0; title && !taken && i < th_trace_sessions(host->tracing); i++) {
        const struct th_session *session = th_trace_session(host->tracing, i);
        other = session ? th_trace_session_title(session) : NULL;
        taken = other && strcmp(other, title) == 0;
    }
    return taken
               ? th_error_raise(TH_USAGE, "session '%s' exists already: choose another name", title)
               : TH_OK;
}

static enum th_status session_commands_attach(void *argument)
{
    struct attaching *attaching = argument;
    struct th_tracing *tracing = attaching->host->tracing;
    bool holds = th_trace_hold(); /* false: the main thread continues by itself */
    struct th_search search;
    enum th_status status;

    th_control_host_search(attaching->host, TH_SEARCH_TRACERS, &search);
    status = th_control_session_options_attach(&attaching->sessions, &search, tracing);
    th_library_search_free(&search);
    if (holds)
        th_trace_go(tracing);
    return status;
}

static enum th_status carry_out_attach(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;
    struct attaching attaching = {.host = host}, **place = &host->attaching;
    struct th_control_preloaded loaded = {0};
    const struct th_session *session;
    enum th_status status;

    th_control_session_options_init(&attaching.sessions, host->live);
    attaching.sessions.running = host->live;
    status = th_control_take(&th_control_command_attach, count, words, &attaching);
    if (status == TH_OK)
        status = refuse_taken(&attaching);
    if (status == TH_OK)
        status = th_control_session_options_check(&attaching.sessions);
    if (status == TH_OK)
        status = th_control_session_options_preload(&attaching.sessions, host, &loaded);
    if (status == TH_OK)
        status = refuse_taken(&attaching); /* other commands ran meanwhile */
    if (status == TH_OK) {
        attaching.next = host->attaching; /* reserves the title until the session exists */
        host->attaching = &attaching;
        status = th_control_session_options_name_tracees(&attaching.sessions)
                     ? th_control_at_tracees(host, session_commands_attach, &attaching)
                     : session_commands_attach(&attaching);
        while (*place != &attaching)
            place = &(*place)->next;
        *place = attaching.next;
    }
    if (status == TH_OK) {
        th_control_watch_look(&host->watch);
        session = th_trace_session_find(host->tracing, attaching.sessions.items[0].began);
        if (session) /* another command may have ended the session */
            *result = th_control_session_json(session);
    }
    th_control_session_options_free(&attaching.sessions);
    th_control_preloaded_release(&loaded, host);
    return status;
}

const struct th_control_command th_control_command_attach = {
    "attach",
    attach_arguments,
    "argument TRACER is missing; `tracers` lists the tracers",
    "Begins a session with TRACER; the options are those that follow -t in `run` and "
    "`replay`.",
    carry_out_attach,
    .takes_long = true};

/* --- detach ----------------------------------------------------------------------------------- */

static const struct th_argument which_session = TH_WORD("SESSION", SESSION, TH_ARGUMENT_NEEDED);

static const struct th_argument *const detach_arguments[] = {&which_session, NULL};

/* Answers with the session's counts, which end with the session. */
static enum th_status carry_out_detach(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;
    unsigned long failures = th_trace_failures();
    struct th_session *session;
    struct th_library *library;
    const char *which;
    enum th_status status = th_control_take(&th_control_command_detach, count, words, &which);
    char *failure;

    if (status == TH_OK)
        status = th_control_session(host, which, &session);
    if (status != TH_OK)
        return status;
    *result = th_control_session_json(session);
    json_object_set_new(*result, "functions", th_control_counted(session));
    failure = th_trace_session_failure(session);
    library = th_trace_session_library(session);
    if (library)
        th_library_keep(library); /* so that unload() runs below, without the lock */
    th_trace_session_destroy(session);
    th_trace_tracer_lock_leave(&host->lock);
    if (library)
        th_library_release(library);
    th_trace_tracer_lock_return(&host->lock);
    status = failure ? th_error_raise(TH_FAILED, "%s", failure) : th_trace_failures_raise(failures);
    th_free(failure);
    if (status != TH_OK)
        json_decref(*result);
    return status;
}

const struct th_control_command th_control_command_detach = {
    "detach",
    detach_arguments,
    "argument SESSION is missing; `sessions` lists the sessions",
    "Ends SESSION, given by its number, name or tracer.",
    carry_out_detach,
    .takes_long = true};

/* --- replace ---------------------------------------------------------------------------------- */

struct replacing {
    const char *session, *tracer;
};

static const struct th_argument *const replace_arguments[] = {
    &(const struct th_argument)TH_WORD("SESSION", SESSION, TH_ARGUMENT_NEEDED,
                                       TH_INTO(struct replacing, session)),
    &(const struct th_argument)TH_WORD("TRACER", TRACER, TH_ARGUMENT_NEEDED,
                                       TH_INTO(struct replacing, tracer)),
    NULL};

static enum th_status carry_out_replace(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;
    struct th_session *session;
    struct replacing replacing;
    struct th_search search;
    th_session_id id;
    enum th_status status = th_control_take(&th_control_command_replace, count, words, &replacing);

    if (status == TH_OK)
        status = th_control_session(host, replacing.session, &session);
    if (status != TH_OK)
        return status;
    id = th_trace_session_id_of(session);
    th_control_host_search(host, TH_SEARCH_TRACERS, &search);
    status = th_trace_tracer_replace(session, &search, replacing.tracer, &host->lock);
    th_library_search_free(&search);
    if (status != TH_OK)
        return th_error_context("cannot replace the tracer: the session keeps its tracer");
    th_control_watch_look(&host->watch);
    session = th_trace_session_find(host->tracing, id); /* NULL: ended meanwhile */
    if (session)
        *result = th_control_session_json(session);
    return TH_OK;
}

const struct th_control_command th_control_command_replace = {
    "replace",
    replace_arguments,
    "arguments SESSION and TRACER are needed; `sessions` and `tracers` list them",
    "Replaces the tracer of SESSION by another tracer, or by new code of the same; if "
    "no state is given, the session keeps its state.",
    carry_out_replace,
    .takes_long = true};

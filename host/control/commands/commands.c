#include "commands.h"

#include "commands_internal.h"

#include "host/base/buffer.h"
#include "host/crash/crash.h"
#include "host/library/name_list.h"
#include "host/term/clock.h"
#include "host/term/text.h"
#include "host/trace/event.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct th_control_command *const th_control_commands[] = {
    &th_control_command_status,  &th_control_command_tracers,   &th_control_command_attach,
    &th_control_command_detach,  &th_control_command_replace,   &th_control_command_sessions,
    &th_control_command_pattern, &th_control_command_flags,     &th_control_command_functions,
    &th_control_command_info,    &th_control_command_processes, &th_control_command_load,
    &th_control_command_purge,   &th_control_command_delete,    &th_control_command_modules,
    &th_control_command_stop,    &th_control_command_help,      NULL,
};

/* --- The host --------------------------------------------------------------------------------- */

void th_control_host_prepare(struct th_control_host *host)
{
    host->server = NULL;
    pthread_mutex_init(&host->lock.mutex, NULL);
    atomic_init(&host->lock.away, 0);
    host->watch = (struct th_control_watch){.host = host};
    host->began = host->rate.time = th_clock_real_monotonic();
    host->setup = (struct th_control_setup){
        .path = host->path,
        .program = host->program,
        .version = TH_VERSION,
        .commands = th_control_commands,
        .context = host,
        .begin = th_crash_thread_begin, /* commands load and call tracers */
        .end = th_crash_thread_end,
        .lock = &host->lock,
    };
}

enum th_status th_control_host_begin(struct th_control_host *host)
{
    th_control_host_prepare(host);
    return host->path ? th_control_begin(&host->setup, &host->server) : TH_OK;
}

enum th_status th_control_host_watch(struct th_control_host *host)
{
    return host->watches ? th_control_watch_begin(&host->watch) : TH_OK;
}

void th_control_host_search(const struct th_control_host *host, enum th_search_kind kind,
                            struct th_search *search)
{
    if (host->folders_lock)
        pthread_mutex_lock(host->folders_lock);
    th_library_search_init(search, kind, host->folders->items, host->folders->count);
    if (host->folders_lock)
        pthread_mutex_unlock(host->folders_lock);
    search->replaceable = kind == TH_SEARCH_TRACERS && (host->path || host->watches);
}

void th_control_host_end(struct th_control_host *host)
{
    if (host->main_thread)
        th_control_main_thread_end(host->main_thread);
    th_control_end(host->server);
    host->server = NULL;
    th_control_watch_end(&host->watch); /* last, as commands call th_control_watch_look() */
}

void th_control_host_lock(struct th_control_host *host)
{
    th_trace_tracer_lock_take(&host->lock);
}

/* Polls, as the thread sanitizer does not know pthread_mutex_clocklock(). */
bool th_control_host_lock_soon(struct th_control_host *host)
{
    enum { TRIES = 100 };
    struct timespec nap = {0, 1000 * 1000 * 1000 / TRIES};

    for (int i = 0; i < TRIES; i++) {
        if (pthread_mutex_trylock(&host->lock.mutex) == 0) {
            th_trace_tracer_lock_taken(&host->lock);
            return true;
        }
        nanosleep(&nap, NULL);
    }
    return false;
}

void th_control_host_unlock(struct th_control_host *host)
{
    th_trace_tracer_lock_drop(&host->lock);
}

enum th_status th_control_at_tracees(const struct th_control_host *host,
                                     enum th_status (*task)(void *argument), void *argument)
{
    return host->main_thread ? th_control_main_thread_ask(host->main_thread, task, argument)
                             : task(argument);
}

/* --- Sessions --------------------------------------------------------------------------------- */

json_int_t th_control_session_number(const struct th_session *session)
{
    return (json_int_t)(th_trace_session_id_of(session) / TH_SESSIONS_LIMIT);
}

json_t *th_control_session_name(const struct th_session *session)
{
    return json_pack("{s:I, s:s, s:s?}", "number", th_control_session_number(session), "tracer",
                     th_trace_session_name(session), "title", th_trace_session_title(session));
}

enum rule { BY_TITLE, BY_NUMBER, BY_TRACER, ANY };

static bool is_meant(const struct th_session *session, const char *which, enum rule rule)
{
    const char *title = th_trace_session_title(session);
    char *end;
    long long number;

    switch (rule) {
    case BY_TITLE:
        return title && strcmp(title, which) == 0;
    case BY_NUMBER:
        number = strtoll(which, &end, 10);
        return !*end && end != which && number == th_control_session_number(session);
    case BY_TRACER:
        return strcmp(th_trace_session_name(session), which) == 0;
    default:
        return true;
    }
}

/* Counts the sessions that WHICH means; *FOUND gets the last one. A session without a tracer
 * belongs to the view (top.h) and is skipped. */
static size_t commands_find(const struct th_control_host *host, const char *which, enum rule rule,
                            struct th_session **found)
{
    size_t count = 0;

    for (size_t i = 0; i < th_trace_sessions(host->tracing); i++) {
        struct th_session *session = th_trace_session(host->tracing, i);
        if (!session || !th_trace_session_has_tracer(session) || !is_meant(session, which, rule))
            continue;
        *found = session;
        count++;
    }
    return count;
}

enum th_status th_control_session(const struct th_control_host *host, const char *which,
                                  struct th_session **session)
{
    struct th_names names = {0};
    char *question;
    size_t count;

    if (which && (commands_find(host, which, BY_TITLE, session) ||
                  commands_find(host, which, BY_NUMBER, session)))
        return TH_OK;
    count = commands_find(host, which, which ? BY_TRACER : ANY, session);
    if (count == 1)
        return TH_OK;
    if (!which && count == 0)
        return th_error_raise(TH_USAGE, "there is no session; `attach TRACER` begins one");
    if (!which)
        return th_error_raise(
            TH_USAGE,
            "there are %zu sessions: choose one with --session=NUMBER; `sessions` lists them",
            count);
    if (count > 0)
        return th_error_raise(
            TH_USAGE,
            "tracer '%.60s' has %zu sessions: give the number of one; `sessions` lists them", which,
            count);
    for (size_t i = 0; i < th_trace_sessions(host->tracing); i++) {
        const struct th_session *other = th_trace_session(host->tracing, i);
        if (!other || !th_trace_session_has_tracer(other))
            continue;
        if (th_trace_session_title(other))
            th_library_names_add(&names, th_trace_session_title(other));
        th_library_names_add(&names, th_trace_session_name(other));
    }
    question = th_library_suggest_question(which, (const char *const *)names.items, names.count);
    th_error_raise(TH_USAGE, "there is no session or tracer '%.60s'%s", which, question);
    th_free(question);
    th_library_names_free(&names);
    return TH_USAGE;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *commands_text_of(struct th_buffer *text)
{
    json_t *json = json_stringn((char *)text->data, text->size);

    th_buffer_free(text);
    return json ? json : json_string("?");
}

json_t *th_control_term(th_term term)
{
    struct th_buffer text = {0};

    th_text_print(&text, term);
    return commands_text_of(&text);
}

json_t *th_control_atom(th_term atom)
{
    return json_string(th_atom_name(atom)->text);
}

json_t *th_control_function(const struct th_mfa *function)
{
    struct th_buffer text = {0};

    th_trace_function_print(&text, function);
    return commands_text_of(&text);
}

json_t *th_control_flags(uint32_t flags)
{
    json_t *names = json_array();

#define X(name, bit, help)     \
    if (flags & TH_FLAG_##bit) \
        json_array_append_new(names, json_string(#name));
    TH_FLAGS(X)
#undef X
    if (flags & TH_FLAG_AS_RECORDED)
        json_array_append_new(names, json_string("as_recorded"));
    return names;
}

json_t *th_control_kinds(uint32_t kinds)
{
    json_t *names = json_array();

    for (size_t i = 0; th_trace_pattern_kind_names[i]; i++)
        if (kinds & th_trace_pattern_kinds[i])
            json_array_append_new(names, json_string(th_trace_pattern_kind_names[i]));
    return names;
}

/* Creates the sessions that options describe: loads the tracers, and sets tracees and patterns. */
#include "session_options.h"

#include "commands.h"
#include "commands_internal.h"

#include "host/base/buffer.h"
#include "host/library/load.h"
#include "host/process/process.h"

#include <string.h>

bool th_control_session_options_are_empty(const struct th_control_session_options *options)
{
    const struct th_control_session_option *first = &options->items[0];

    return options->count == 1 && !first->tracer_count && !first->flag_list && !first->chosen &&
           !first->patterns.count;
}

bool th_control_session_options_name_tracees(const struct th_control_session_options *options)
{
    for (size_t i = 0; i < options->count; i++)
        for (size_t k = 0; k < options->items[i].tracee_count; k++)
            if (options->items[i].tracees[k].one != TH_NONE)
                return true;
    return false;
}

enum th_status th_control_chosen_trace(const struct th_control_chosen *chosen,
                                       struct th_session *session, bool on, uint32_t flags,
                                       bool running)
{
    th_term one = chosen->one;

    if (one == TH_NONE)
        return th_trace_session_trace(session, chosen->group, on, flags);
    if (on && !running)
        return th_trace_session_expect(session, one, flags);
    if (th_is_atom(one))
        one = th_process_whereis(one);
    if (one == TH_NONE)
        return th_error_raise(TH_USAGE, "there is no registered name '%s'",
                              th_atom_name(chosen->one)->text);
    return th_trace_session_trace_one(session, one, on, flags);
}

/* Sets the tracees and patterns of a new session. Functions of this host need a pattern: without
 * one, all functions are traced. */
static enum th_status set_up(const struct th_control_session_option *option, bool first,
                             bool running, const struct th_search *search,
                             struct th_session *session)
{
    static const struct th_pattern any = {.arity = TH_ANY_ARITY};
    bool live = option->patterns.live, named = false;
    enum th_status status = TH_OK;

    for (size_t i = 0; option->chosen && i < option->tracee_count && status == TH_OK; i++) {
        status =
            th_control_chosen_trace(&option->tracees[i], session, true, option->flags, running);
        if (status != TH_OK && (running || !option->flag_list))
            th_error_context("cannot trace the tracees of %s", option->chosen);
        else if (status != TH_OK)
            th_error_context("%s cannot be combined with --flags=%s", option->chosen,
                             option->flag_list);
    }
    if (live && !option->chosen)
        status = th_trace_session_trace(session, TH_PROCESSES_ALL, true, option->flags);
    if (live && !option->chosen && status == TH_OK)
        status = th_trace_session_trace(session, TH_PORTS_ALL, true, option->flags);
    for (size_t i = 0; !option->decided && i < option->patterns.count && status == TH_OK; i++) {
        const struct th_control_pattern_option *pattern = &option->patterns.items[i];
        named |= pattern->object == TH_PATTERN_FUNCTIONS;
        status = th_control_pattern_option_set(pattern, search, session, live && first, NULL);
    }
    if (status == TH_OK && live && !named && option->flags & TH_FLAG_CALL)
        status = th_trace_session_function(session, &any, TH_AM(true), TH_PATTERN_EITHER, NULL);
    return status;
}

/* Creates a session, and destroys it if it cannot be set up; other sessions stay. All recorded
 * tracees are traced unless some are chosen. */
static enum th_status session_options_attach(struct th_control_session_option *option,
                                             const char *text, bool first, bool running,
                                             const struct th_search *search,
                                             struct th_tracing *tracing)
{
    struct th_session_setup setup = {.flags = option->flags, .title = option->title};
    struct th_named_tracer tracer;
    struct th_session *session = NULL;
    enum th_status status = th_trace_named_tracer_parse(text, &tracer);

    if (status != TH_OK)
        return th_error_context("cannot use -t '%s'", text);
    setup.name = tracer.name;
    setup.state = tracer.state;
    status = th_trace_tracer_load(search, tracer.name, &setup.library);
    if (status == TH_OK)
        status = option->chosen || option->patterns.live
                     ? th_trace_session_create(tracing, &setup, &session)
                     : th_trace_session_attach(tracing, &setup, &session);
    th_trace_named_tracer_free(&tracer);
    if (status != TH_OK)
        return status;
    option->began = th_trace_session_id_of(session);
    status = set_up(option, first, running, search, session);
    if (status != TH_OK) {
        session =
            th_trace_session_find(tracing, option->began); /* another command may have ended it */
        if (session)
            th_trace_session_destroy(session);
    }
    return status;
}

static enum th_status preload(struct th_control_preloaded *loaded, const struct th_search *search,
                              const char *tracer)
{
    struct th_library *library;
    enum th_status status = th_trace_tracer_preload(search, tracer, &library);

    if (library) {
        TH_ARRAY_GROW(loaded->items, loaded->count, loaded->capacity);
        loaded->items[loaded->count++] = library;
    }
    return status;
}

enum th_status th_control_session_options_preload(const struct th_control_session_options *options,
                                                  struct th_control_host *host,
                                                  struct th_control_preloaded *loaded)
{
    enum th_status status = TH_OK;
    struct th_search search;

    th_control_host_search(host, TH_SEARCH_TRACERS, &search);
    th_trace_tracer_lock_leave(&host->lock);
    for (size_t i = 0; i < options->count && status == TH_OK; i++) {
        const struct th_control_session_option *option = &options->items[i];
        const struct th_control_pattern_options *patterns = &option->patterns;
        for (size_t k = 0; k < option->tracer_count && status == TH_OK; k++)
            status = preload(loaded, &search, option->tracers[k]);
        for (size_t k = 0; k < patterns->count && status == TH_OK; k++)
            if (patterns->items[k].meta_tracer)
                status = preload(loaded, &search, patterns->items[k].meta_tracer);
        if (status != TH_OK && option->title)
            th_error_context("cannot start session '%s'", option->title);
    }
    th_trace_tracer_lock_return(&host->lock);
    th_library_search_free(&search);
    return status;
}

void th_control_preloaded_release(struct th_control_preloaded *loaded, struct th_control_host *host)
{
    th_trace_tracer_lock_leave(&host->lock);
    while (loaded->count > 0)
        th_library_release(loaded->items[--loaded->count]);
    th_trace_tracer_lock_return(&host->lock);
    th_free(loaded->items);
    *loaded = (struct th_control_preloaded){0};
}

/* The first item is no session if it has no tracer and others follow. */
size_t th_control_session_options_first(const struct th_control_session_options *options)
{
    return (options->count > 1 || options->optional) && !options->items[0].tracer_count;
}

static size_t sessions_of(const struct th_control_session_option *option)
{
    return option->tracer_count ? option->tracer_count : 1;
}

size_t th_control_session_options_sessions(const struct th_control_session_options *options)
{
    size_t sessions = 0;

    for (size_t i = th_control_session_options_first(options); i < options->count; i++)
        sessions += sessions_of(&options->items[i]);
    return sessions;
}

/* Returns the item of SESSION; SESSION becomes the number within the item. */
static struct th_control_session_option *item_of(const struct th_control_session_options *options,
                                                 size_t *session)
{
    struct th_control_session_option *option =
        &options->items[th_control_session_options_first(options)];

    while (*session >= sessions_of(option))
        *session -= sessions_of(option++);
    return option;
}

const char *th_control_session_options_tracer(const struct th_control_session_options *options,
                                              size_t session, size_t *length)
{
    const struct th_control_session_option *option = item_of(options, &session);
    const char *name = option->tracer_count ? option->tracers[session] : "text";

    *length = strcspn(name, ",=");
    return name;
}

void th_control_session_options_keep(struct th_control_session_options *options, size_t session)
{
    struct th_control_session_option *option = item_of(options, &session), kept = *option;

    kept.follows = session > 0;
    kept.is_followed = session + 1 < sessions_of(option);
    if (kept.tracer_count) {
        kept.tracers[0] = kept.tracers[session];
        kept.tracer_count = 1;
    }
    *option = (struct th_control_session_option){0};
    th_control_session_options_free(options);
    th_control_session_options_init(options, options->live);
    if (kept.title) {
        TH_ARRAY_GROW(options->items, options->count, options->capacity);
        options->count++;
    }
    options->items[options->count - 1] = kept;
}

enum th_status th_control_session_options_attach(const struct th_control_session_options *options,
                                                 const struct th_search *search,
                                                 struct th_tracing *tracing)
{
    enum th_status status = TH_OK;

    for (size_t i = th_control_session_options_first(options);
         i < options->count && status == TH_OK; i++) {
        struct th_control_session_option *option = &options->items[i];
        if (!option->tracer_count)
            status =
                session_options_attach(option, "text", true, options->running, search, tracing);
        for (size_t k = 0; k < option->tracer_count && status == TH_OK; k++)
            status = session_options_attach(option, option->tracers[k], k == 0, options->running,
                                            search, tracing);
        if (status != TH_OK && option->title)
            th_error_context("cannot start session '%s'", option->title);
    }
    return status;
}

void th_control_sessions_rest(struct th_tracing *tracing)
{
    for (size_t i = 0; i < th_trace_sessions(tracing); i++) {
        struct th_session *session = th_trace_session(tracing, i);
        th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAGS_OF_PROCESSES);
        th_trace_session_trace(session, TH_PORTS_ALL, false, TH_FLAGS_OF_PORTS);
    }
}

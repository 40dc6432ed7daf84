/* Sessions: a named tracer with its state, and its tracees. */
#include "embed_host.h"

#include "host/library/find.h"
#include "host/term/map.h"
#include "host/trace/callback.h"
#include "host/trace/named_tracer.h"
#include "host/trace/pattern.h"
#include "host/trace/tracees.h"

/* --- Flags ------------------------------------------------------------------------------------ */

#define TRACEHOST_FLAG_GC TRACEHOST_FLAG_GARBAGE_COLLECTION
#define TRACEHOST_FLAG_MONOTONIC TRACEHOST_FLAG_MONOTONIC_TIMESTAMP
#define TRACEHOST_FLAG_STRICT_MONOTONIC TRACEHOST_FLAG_STRICT_MONOTONIC_TIMESTAMP
#define X(name, bit, help) \
    _Static_assert((int)TRACEHOST_FLAG_##bit == (int)TH_FLAG_##bit, #name " is the same bit");
TH_FLAGS(X)
#undef X
_Static_assert((int)TRACEHOST_FLAGS_EVENTS == (int)TH_FLAGS_EVENTS, "the same events");

enum { SAME = (1 << TH_FLAG_BITS) - 1 };

enum th_status th_embed_check_flags(uint32_t flags)
{
    uint32_t unknown = flags & ~(uint32_t)(SAME | TRACEHOST_FLAG_AS_RECORDED);

    return unknown ? th_error_raise(TH_USAGE, "there is no trace flag 0x%x", unknown) : TH_OK;
}

uint32_t th_embed_flags(uint32_t flags)
{
    return (flags & SAME) | (flags & TRACEHOST_FLAG_AS_RECORDED ? TH_FLAG_AS_RECORDED : 0);
}

static uint32_t flags_of_program(uint32_t flags)
{
    return (flags & SAME) | (flags & TH_FLAG_AS_RECORDED ? TRACEHOST_FLAG_AS_RECORDED : 0);
}

enum tracehost_status tracehost_flags_parse(const char *list, uint32_t *flags)
{
    uint32_t parsed;
    enum th_status status = th_embed_need(list, "text")
                                ?: th_embed_need(flags, "result")
                                ?: th_trace_flags_parse(list, &parsed);

    if (status == TH_OK)
        *flags = flags_of_program(parsed);
    return th_embed_answer(status);
}

/* --- Creating --------------------------------------------------------------------------------- */

static enum th_status read_session_state(const struct tracehost_session_setup *setup, th_env *env,
                                         th_term *state)
{
    int given = (setup->state != TH_NONE) + !!setup->state_text + !!setup->state_options;

    *state = setup->state;
    if (given > 1)
        return th_error_raise(TH_USAGE,
                              "only one of `state`, `state_text` and `state_options` can be given");
    if (setup->state_text)
        return th_trace_tracer_state_parse(env, setup->state_text, state);
    if (setup->state_options)
        return th_trace_tracer_settings_parse(env, setup->state_options, state);
    if (!given)
        *state = th_make_map(env, NULL, NULL, 0, true);
    return TH_OK;
}

/* Sets the library of the tracer, or its functions. */
static enum th_status find_tracer(tracehost_host *host, const struct tracehost_session_setup *setup,
                                  struct th_session_setup *inner)
{
    struct th_search search;
    enum th_status status;

    if (setup->callbacks)
        return th_embed_callbacks_take(setup->callbacks, &inner->own);
    pthread_mutex_lock(&host->loading);
    th_embed_search(host, &search);
    status = th_trace_tracer_load(&search, setup->tracer, &inner->library);
    th_library_search_free(&search);
    pthread_mutex_unlock(&host->loading);
    return status;
}

enum tracehost_status tracehost_session_create(tracehost_host *host,
                                               const struct tracehost_session_setup *given,
                                               tracehost_session *session)
{
    struct tracehost_session_setup setup;
    struct th_session_setup inner;
    struct th_session *made;
    th_env env;
    enum th_status status =
        th_embed_check(host)
            ?: th_embed_enter()
            ?: th_embed_sized_take(&setup, sizeof setup, given, "tracehost_session_setup")
            ?: th_embed_need(setup.tracer || setup.callbacks, "name of a tracer")
            ?: th_embed_need(session, "result")
            ?: th_embed_check_flags(setup.recorded_flags);

    if (status != TH_OK)
        return th_embed_answer(status);
    th_env_init(&env, TH_ENV_PLAIN);
    inner = (struct th_session_setup){.name = setup.tracer ?: "callbacks",
                                      .title = setup.name,
                                      .flags = th_embed_flags(setup.recorded_flags)};
    status = read_session_state(&setup, &env, &inner.state)
                 ?: th_embed_find_copy(inner.state)
                 ?: find_tracer(host, &setup, &inner);
    if (status == TH_OK)
        status = inner.flags ? th_trace_session_attach(host->tracing, &inner, &made)
                             : th_trace_session_create(host->tracing, &inner, &made);
    th_env_release(&env);
    if (status == TH_OK)
        *session = th_trace_session_id_of(made);
    return th_embed_answer(status);
}

enum tracehost_status tracehost_session_destroy(tracehost_host *host, tracehost_session session)
{
    struct th_session *found;
    enum th_status status = th_embed_session(host, session, &found);
    unsigned long failures = th_trace_failures();

    if (status == TH_OK) {
        th_trace_session_destroy(found);
        status = th_trace_failures_raise(failures);
    }
    return th_embed_answer(status);
}

/* --- Reading ---------------------------------------------------------------------------------- */

enum tracehost_session_state tracehost_session_get_state(tracehost_host *host,
                                                         tracehost_session session)
{
    _Static_assert((int)TRACEHOST_SESSION_ALIVE == TH_SESSION_ALIVE &&
                       (int)TRACEHOST_SESSION_CLEARING == TH_SESSION_CLEARING &&
                       (int)TRACEHOST_SESSION_DEAD == TH_SESSION_DEAD,
                   "states are handed on as they are");
    if (th_embed_check(host) != TH_OK)
        return TRACEHOST_SESSION_DEAD;
    return (enum tracehost_session_state)th_trace_session_state(host->tracing, session);
}

enum tracehost_status tracehost_session_ask_status(tracehost_host *host, tracehost_session session,
                                                   bool *attached)
{
    struct th_session *found;
    enum th_status status =
        th_embed_session(host, session, &found) ?: th_embed_need(attached, "result");

    if (status == TH_OK)
        *attached = th_trace_session_status(found);
    return th_embed_answer(status);
}

enum tracehost_status tracehost_session_get_counts(tracehost_host *host, tracehost_session session,
                                                   struct tracehost_session_counts *counts)
{
    struct th_session *found;
    struct th_session_counts of;
    struct th_pattern_counts patterns;
    struct th_message_counts messages;
    struct tracehost_session_counts known;
    enum th_status status = th_embed_session(host, session, &found);

    if (status != TH_OK)
        return th_embed_answer(status);
    of = th_trace_session_counts(found);
    patterns = th_trace_session_pattern_counts(found);
    messages = th_trace_session_message_counts(found);
    known = (struct tracehost_session_counts){
        .enabled = of.enabled,
        .traced = of.traced,
        .discarded = of.discarded,
        .silenced = of.silenced,
        .untraced = of.untraced,
        .filtered = of.filtered,
        .removed = of.removed,
        .kept = of.kept,
        .refused = of.refused,
        .status = of.status,
        .undecided = patterns.undecided,
        .callers_unknown = patterns.callers_unknown,
        .actions_unsure = patterns.actions_unsure,
        .external_unknown = patterns.external_unknown,
        .untimed = patterns.untimed,
        .returns_unknown = patterns.returns_unknown,
        .lines_unknown = patterns.lines_unknown,
        .messages_unmatched = messages.unmatched,
        .messages_silenced = messages.silenced,
        .messages_undecided = messages.undecided,
        .messages_unsure = messages.actions_unsure,
        .returns_doubtful = patterns.returns_doubtful,
    };
    return th_embed_sized_answer(counts, &known, sizeof known, "tracehost_session_counts");
}

enum tracehost_status tracehost_session_get_info(tracehost_host *host, tracehost_session session,
                                                 struct tracehost_session_info *info)
{
    struct th_session *found;
    struct tracehost_session_info known;
    enum th_status status = th_embed_session(host, session, &found);

    if (status != TH_OK)
        return th_embed_answer(status);
    known = (struct tracehost_session_info){
        .name = th_trace_session_title(found),
        .tracer = th_trace_session_name(found),
        .state = th_trace_session_state_term(found),
        .attached = th_trace_session_attached(found),
        .patterned = th_trace_session_patterned(found),
    };
    return th_embed_sized_answer(info, &known, sizeof known, "tracehost_session_info");
}

size_t tracehost_session_list(tracehost_host *host, ERL_NIF_TERM tracee,
                              tracehost_session *sessions, size_t room)
{
    th_session_id ids[TH_SESSIONS_LIMIT];
    size_t count;

    if (th_embed_check(host) != TH_OK)
        return 0;
    count = th_trace_sessions_of(host->tracing, tracee, ids);
    for (size_t i = 0; i < count && i < room; i++)
        sessions[i] = ids[i];
    return count;
}

/* --- Tracees ---------------------------------------------------------------------------------- */

static enum th_status check_group(enum tracehost_tracees which)
{
    _Static_assert((int)TRACEHOST_PROCESSES_ALL == TH_PROCESSES_ALL &&
                       (int)TRACEHOST_PROCESSES_EXISTING == TH_PROCESSES_EXISTING &&
                       (int)TRACEHOST_PROCESSES_NEW == TH_PROCESSES_NEW &&
                       (int)TRACEHOST_PORTS_ALL == TH_PORTS_ALL &&
                       (int)TRACEHOST_PORTS_EXISTING == TH_PORTS_EXISTING &&
                       (int)TRACEHOST_PORTS_NEW == TH_PORTS_NEW,
                   "groups are handed on as they are");
    if ((unsigned)which > TRACEHOST_PORTS_NEW)
        return th_error_raise(TH_USAGE, "the group must be a tracehost_tracees value, not %d",
                              (int)which);
    return TH_OK;
}

static enum th_status check_tracee(th_term id)
{
    return th_is_local_pid(id) || th_is_local_port(id)
               ? TH_OK
               : th_error_raise(TH_USAGE,
                                "the tracee must be a process or port of the recorded node");
}

/* Finds a session whose flags will be changed, and checks FLAGS. */
static enum th_status begin_change(tracehost_host *host, tracehost_session session, uint32_t flags,
                                   struct th_session **found)
{
    return th_embed_session(host, session, found)
           ?: th_embed_enter()
           ?: th_embed_check_flags(flags);
}

enum tracehost_status tracehost_session_trace(tracehost_host *host, tracehost_session session,
                                              enum tracehost_tracees which, bool on, uint32_t flags)
{
    struct th_session *found;

    return th_embed_answer(
        begin_change(host, session, flags, &found)
            ?: check_group(which)
            ?: th_trace_session_trace(found, (enum th_tracees)which, on, th_embed_flags(flags)));
}

enum tracehost_status tracehost_session_trace_one(tracehost_host *host, tracehost_session session,
                                                  ERL_NIF_TERM tracee, bool on, uint32_t flags)
{
    struct th_session *found;

    return th_embed_answer(begin_change(host, session, flags, &found)
                         ?: check_tracee(tracee)
                         ?: th_trace_session_trace_one(found, tracee, on, th_embed_flags(flags)));
}

enum tracehost_status tracehost_session_expect(tracehost_host *host, tracehost_session session,
                                               ERL_NIF_TERM who, uint32_t flags)
{
    struct th_session *found;

    return th_embed_answer(begin_change(host, session, flags, &found)
                         ?: (th_is_atom(who) ? TH_OK : check_tracee(who))
                         ?: th_trace_session_expect(found, who, th_embed_flags(flags)));
}

enum tracehost_status tracehost_session_get_flags(tracehost_host *host, tracehost_session session,
                                                  ERL_NIF_TERM tracee, uint32_t *flags)
{
    struct th_session *found;
    enum th_status status = th_embed_session(host, session, &found)
                                ?: check_tracee(tracee)
                                ?: th_embed_need(flags, "result");

    if (status == TH_OK)
        *flags = flags_of_program(th_trace_session_flags(found, tracee));
    return th_embed_answer(status);
}

enum tracehost_status tracehost_session_get_default_flags(tracehost_host *host,
                                                          tracehost_session session,
                                                          enum tracehost_tracees which,
                                                          uint32_t *flags)
{
    struct th_session *found;
    enum th_status status = th_embed_session(host, session, &found)
                                ?: check_group(which)
                                ?: th_embed_need(flags, "result");

    if (status == TH_OK)
        *flags = flags_of_program(th_trace_session_default_flags(found, (enum th_tracees)which));
    return th_embed_answer(status);
}

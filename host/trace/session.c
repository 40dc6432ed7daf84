/*
 * Sessions' lives.
 *
 * A session is alive, then clearing, then dead. Destroying it in a callback only marks it: no step
 * of the event at hand looks at it any more, but its environment may be in use and the arrays that
 * the event goes through name it. What is left is done when the event is over: th_sessions_bury().
 */
#include "inheritance.h"
#include "points.h"

#include <stdatomic.h>

th_term th_session_call(struct th_session *session, enum th_tracer_slot slot, const th_term argv[],
                        th_term self)
{
    struct th_callback *callback = &th_callback_current;
    th_env *env = &session->env;
    uint64_t sequence = atomic_load_explicit(&callback->sequence, memory_order_relaxed);
    th_term answer;

    env->self = self;
    callback->slot = slot;
    callback->session = session;
    /* Only this thread writes it; see callback.h for the reader. */
    atomic_store_explicit(&callback->sequence, sequence + 1, memory_order_relaxed);
    answer = session->slots->functions[slot](env, slot % 2 ? 5 : 3, argv);
    callback->session = NULL;
    if (env->exception != TH_NONE)
        answer = TH_NONE;
    th_env_clear(env);
    th_resource_reap(); /* what the callback let go of */
    return answer;
}

bool th_session_ask_status(struct th_session *session, th_term tracee)
{
    th_term argv[] = {TH_AM(trace_status), session->state, tracee};

    session->counts.status++;
    th_callback_current.tracee = tracee;
    return th_session_call(session, TH_SLOT_enabled, argv, TH_NONE) != TH_AM(remove);
}

/* The same where a callback of another session may be under way. */
static bool ask_first_status(struct th_session *session)
{
    struct th_session *outer = th_callback_current.session;
    enum th_tracer_slot slot = th_callback_current.slot;
    th_term tracee = th_callback_current.tracee;
    struct th_hit *hit = th_callback_current.hit;
    bool stays;

    th_callback_current.hit = NULL;
    stays = th_session_ask_status(session, TH_AM(undefined));
    th_callback_current.session = outer;
    th_callback_current.slot = slot;
    th_callback_current.tracee = tracee;
    th_callback_current.hit = hit;
    return stays;
}

/* --- beginning --- */

static struct th_session *new_session(struct th_tracing *tracing,
                                      const struct th_session_setup *setup)
{
    struct th_session *session = th_alloc_zero(sizeof *session);

    session->tracing = tracing;
    session->name = th_strdup(setup->name);
    session->title = setup->title ? th_strdup(setup->title) : NULL;
    session->library = setup->library;
    session->slots = th_library_slots(setup->library);
    session->attached = true;
    th_env_init(&session->state_env, TH_ENV_PLAIN);
    session->state = th_copy(&session->state_env, setup->state);
    th_env_init(&session->env, TH_ENV_CALLBACK);
    session->env.library = setup->library;
    return session;
}

void th_session_free(struct th_session *session)
{
    th_points_end(session);
    th_library_release(session->library);
    th_env_release(&session->env);
    th_env_release(&session->state_env);
    th_free(session->expected);
    th_free(session->title);
    th_free(session->name);
    th_free(session);
}

static unsigned free_index(const struct th_tracing *tracing)
{
    unsigned index = 0;

    while (index < TH_SESSIONS_LIMIT && tracing->sessions[index])
        index++;
    return index;
}

static void enlist(struct th_tracing *tracing, struct th_session *session, unsigned index)
{
    session->index = index;
    session->id = ++tracing->created * TH_SESSIONS_LIMIT + index;
    session->unwanted_before = tracing->unwanted;
    tracing->sessions[index] = session;
    tracing->attached++;
    th_tracing_update(tracing);
    th_tracing_settle(tracing);
}

enum th_status th_session_create(struct th_tracing *tracing, const struct th_session_setup *setup,
                                 struct th_session **result)
{
    struct th_session *session = new_session(tracing, setup);
    unsigned index = free_index(tracing);
    enum th_status status = TH_OK;

    if (index == TH_SESSIONS_LIMIT)
        status = th_error_raise(TH_USAGE, "there can be at most %d tracers", TH_SESSIONS_LIMIT);
    else if (!ask_first_status(session))
        status = th_error_raise(TH_FAILED, "it answered 'remove' to enabled(trace_status, ...)");
    if (status != TH_OK) {
        th_error_context("tracer '%s' was not attached", session->name);
        th_session_free(session);
        return status;
    }
    enlist(tracing, session, index);
    *result = session;
    return TH_OK;
}

enum th_status th_session_attach(struct th_tracing *tracing, const struct th_session_setup *setup,
                                 struct th_session **session)
{
    enum th_status status = th_session_create(tracing, setup, session);

    if (status != TH_OK)
        return status;
    (*session)->flags = setup->flags;
    (*session)->found[TH_KIND_PROCESS] = setup->flags | TH_FLAG_SET_ON_SPAWN;
    (*session)->found[TH_KIND_PORT] = setup->flags & TH_FLAGS_OF_PORTS;
    (*session)->born[TH_KIND_PORT] = setup->flags & TH_FLAGS_OF_PORTS;
    th_tracing_update(tracing);
    th_tracing_settle(tracing);
    return TH_OK;
}

/* --- ending --- */

static void detach(struct th_session *session)
{
    session->tracing->attached -= session->attached;
    session->attached = false;
}

void th_session_destroy(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;

    if (session->clearing)
        return;
    detach(session);
    session->clearing = true;
    session->next_clearing = tracing->clearing;
    tracing->clearing = session;
    tracing->unsettled = true;
    th_tracing_settle(tracing);
}

static void bury(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;

    tracing->sessions[session->index] = NULL;
    th_tracees_leave(session);
    th_calls_forget_habit(&tracing->habit, (uint64_t)1 << session->index);
    th_tracing_update(tracing);
    th_session_free(session);
}

void th_sessions_bury(struct th_tracing *tracing)
{
    while (tracing->clearing) {
        struct th_session *session = tracing->clearing;
        tracing->clearing = session->next_clearing;
        bury(session);
    }
}

/* --- weak ids --- */

th_session_id th_session_id_of(const struct th_session *session)
{
    return session->id;
}

static struct th_session *find(const struct th_tracing *tracing, th_session_id id)
{
    struct th_session *session = tracing->sessions[id % TH_SESSIONS_LIMIT];

    return session && session->id == id ? session : NULL;
}

enum th_session_state th_session_state(const struct th_tracing *tracing, th_session_id id)
{
    const struct th_session *session = find(tracing, id);

    if (!session)
        return TH_SESSION_DEAD;
    return session->clearing ? TH_SESSION_CLEARING : TH_SESSION_ALIVE;
}

struct th_session *th_session_find(const struct th_tracing *tracing, th_session_id id)
{
    struct th_session *session = find(tracing, id);

    return session && !session->clearing ? session : NULL;
}

/* --- trace_status --- */

bool th_session_status(struct th_session *session)
{
    bool attached;

    if (!session->attached || th_callback_current.session)
        return session->attached;
    if (!th_session_ask_status(session, TH_AM(undefined)))
        detach(session);
    attached = session->attached;
    th_tracing_settle(session->tracing); /* it may have destroyed itself */
    return attached;
}

void th_trace_ended(struct th_tracing *tracing, th_term id)
{
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
        if (tracing->sessions[i] && tracing->sessions[i]->state == id)
            th_session_status(tracing->sessions[i]);
}

bool th_session_attached(const struct th_session *session)
{
    return session->attached;
}

const char *th_session_name(const struct th_session *session)
{
    return session->name;
}

const char *th_session_title(const struct th_session *session)
{
    return session->title;
}

th_term th_session_state_term(const struct th_session *session)
{
    return session->state;
}

struct th_session_counts th_session_counts(const struct th_session *session)
{
    struct th_session_counts counts = session->counts;

    counts.filtered += session->tracing->unwanted - session->unwanted_before;
    return counts;
}

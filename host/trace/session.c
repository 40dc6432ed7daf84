#include "tracing.h"

#include <stdatomic.h>

static struct th_tracee_refs *new_refs(size_t count)
{
    struct th_tracee_refs *refs = th_alloc(sizeof *refs + count * sizeof refs->refs[0]);

    refs->retired = NULL;
    refs->count = (uint32_t)count;
    return refs;
}

static void free_tracee(struct th_process *process)
{
    struct th_tracee *tracee = process->tracing;

    th_free(tracee->refs);
    th_calls_free(&tracee->calls);
    th_free(tracee);
}

struct th_tracing *th_tracing_create(void)
{
    struct th_tracing *tracing = th_alloc_zero(sizeof *tracing);

    th_env_init(&tracing->arena, TH_ENV_PLAIN);
    tracing->everyone = new_refs(0);
    th_tracing_new_world(tracing);
    return tracing;
}

void th_tracing_use_wall_clock(struct th_tracing *tracing)
{
    tracing->wall_clock = true;
}

void th_tracing_new_world(struct th_tracing *tracing)
{
    th_world_reset(free_tracee);
    tracing->habit = (struct th_calls_habit){0};
}

static void free_session(struct th_session *session)
{
    th_library_release(session->library);
    th_env_release(&session->env);
    th_env_release(&session->state_env);
    th_free(session->name);
    th_free(session);
}

void th_tracing_free(struct th_tracing *tracing)
{
    if (!tracing)
        return;
    th_world_reset(free_tracee);
    for (size_t i = 0; i < tracing->count; i++)
        free_session(tracing->sessions[i]);
    th_env_release(&tracing->arena);
    th_free(tracing->everyone);
    th_free(tracing);
}

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

static struct th_session *new_session(const struct th_session_setup *setup)
{
    struct th_session *session = th_alloc_zero(sizeof *session);

    session->name = th_strdup(setup->name);
    session->library = setup->library;
    session->slots = th_library_slots(setup->library);
    session->flags = setup->flags;
    session->attached = true;
    th_env_init(&session->state_env, TH_ENV_PLAIN);
    session->state = th_copy(&session->state_env, setup->state);
    th_env_init(&session->env, TH_ENV_CALLBACK);
    session->env.library = setup->library;
    return session;
}

/* Puts the session among those of each tracee that has no refs of its own. */
static void add_to_everyone(struct th_tracing *tracing, struct th_session *session)
{
    struct th_tracee_refs *old = tracing->everyone;
    struct th_tracee_refs *refs = new_refs(old->count + 1u);

    memcpy(refs->refs, old->refs, old->count * sizeof old->refs[0]);
    refs->refs[old->count] = (struct th_tracee_ref){session, session->flags};
    tracing->everyone = refs;
    tracing->wanted |= session->flags;
    th_free(old);
}

enum th_status th_session_attach(struct th_tracing *tracing, const struct th_session_setup *setup,
                                 struct th_session **result)
{
    struct th_session *session = new_session(setup);
    enum th_status status = TH_OK;

    if (tracing->count == TH_SESSIONS_LIMIT)
        status = th_error_raise(TH_USAGE, "there can be at most %d tracers", TH_SESSIONS_LIMIT);
    else if (!th_session_ask_status(session, TH_AM(undefined)))
        status = th_error_raise(TH_FAILED, "it answered 'remove' to enabled(trace_status, ...)");
    if (status != TH_OK) {
        th_error_context("tracer '%s' was not attached", session->name);
        free_session(session);
        return status;
    }
    session->tracing = tracing;
    session->unwanted_before = tracing->unwanted;
    session->index = (unsigned)tracing->count;
    tracing->sessions[tracing->count++] = session;
    tracing->attached++;
    add_to_everyone(tracing, session);
    *result = session;
    return TH_OK;
}

struct th_tracee *th_tracee_own(th_term id)
{
    struct th_process *process = th_world_see(id);

    if (!process->tracing)
        process->tracing = th_alloc_zero(sizeof(struct th_tracee));
    return process->tracing;
}

void th_tracee_forget(struct th_tracing *tracing, th_term id, struct th_session *session)
{
    struct th_tracee *tracee = th_tracee_own(id);
    struct th_tracee_refs *old = tracee->refs ? tracee->refs : tracing->everyone;
    struct th_tracee_refs *refs = new_refs(old->count);

    refs->count = 0;
    for (uint32_t i = 0; i < old->count; i++)
        if (old->refs[i].session != session)
            refs->refs[refs->count++] = old->refs[i];
    if (tracee->refs) {
        tracee->refs->retired = tracing->retired;
        tracing->retired = tracee->refs;
    }
    tracee->refs = refs;
    session->counts.removed++;
}

void th_tracing_reclaim(struct th_tracing *tracing)
{
    while (tracing->retired) {
        struct th_tracee_refs *next = tracing->retired->retired;
        th_free(tracing->retired);
        tracing->retired = next;
    }
}

bool th_session_status(struct th_session *session)
{
    if (session->attached && !th_session_ask_status(session, TH_AM(undefined))) {
        session->attached = false;
        session->tracing->attached--;
    }
    return session->attached;
}

void th_trace_ended(struct th_tracing *tracing, th_term id)
{
    for (size_t i = 0; i < tracing->count; i++)
        if (tracing->sessions[i]->state == id)
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

struct th_session_counts th_session_counts(const struct th_session *session)
{
    struct th_session_counts counts = session->counts;

    counts.filtered += session->tracing->unwanted - session->unwanted_before;
    return counts;
}

size_t th_tracing_sessions(const struct th_tracing *tracing)
{
    return tracing->count;
}

struct th_session *th_tracing_session(const struct th_tracing *tracing, size_t i)
{
    return tracing->sessions[i];
}

uint64_t th_tracing_calls_forgotten(const struct th_tracing *tracing)
{
    return tracing->calls_forgotten;
}

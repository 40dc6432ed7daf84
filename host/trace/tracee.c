/* Flags of tracees: see tracees.h. */
#include "inheritance.h"

/* --- a tracee's own struct --- */

static struct th_tracee *own(struct th_tracing *tracing, struct th_process *process, th_term id)
{
    struct th_tracee *tracee = process->tracing;

    if (tracee)
        return tracee;
    process->tracing = tracee = th_alloc_zero(sizeof *tracee);
    tracee->tracing = tracing;
    tracee->id = id;
    tracee->newborn_of = TH_NONE;
    tracee->next = tracing->tracees;
    tracee->place = &tracing->tracees;
    if (tracee->next)
        tracee->next->place = &tracee->next;
    tracing->tracees = tracee;
    return tracee;
}

struct th_tracee *th_tracee_own(struct th_tracing *tracing, th_term id)
{
    return own(tracing, th_world_see(id), id);
}

struct th_tracee *th_tracee_expect(struct th_tracing *tracing, th_term id)
{
    if (!th_is_local_pid(id) && !th_is_local_port(id))
        return NULL;
    return own(tracing, th_world_expect(id), id);
}

struct th_tracee *th_tracee_find(th_term id)
{
    struct th_process *process = th_is_immediate(id) ? th_world_find(id) : NULL;

    return process ? process->tracing : NULL;
}

static void depart(struct th_tracee *tracee)
{
    struct th_tracing *tracing = tracee->tracing;
    struct th_departed *departed = &tracing->departed[tracing->departures++ % TH_DEPARTED];

    th_free(departed->refs);
    *departed = (struct th_departed){tracee->id, tracee->refs};
}

void th_tracee_drop(struct th_process *process)
{
    struct th_tracee *tracee = process->tracing;

    *tracee->place = tracee->next;
    if (tracee->next)
        tracee->next->place = tracee->place;
    if (tracee->refs)
        depart(tracee);
    th_calls_free(&tracee->calls);
    th_timing_free(&tracee->timing);
    th_execution_forget(&tracee->tracing->execution, &tracee->stack);
    th_free(tracee);
}

/* --- its flags --- */

static const struct th_tracee_refs *refs_of(const struct th_tracee *tracee)
{
    return tracee->refs ? tracee->refs : tracee->tracing->found[th_kind_of(tracee->id)];
}

const struct th_tracee_refs *th_tracee_refs(const struct th_tracing *tracing, th_term id)
{
    const struct th_tracee *tracee = th_tracee_find(id);

    return tracee ? refs_of(tracee) : tracing->found[th_kind_of(id)];
}

void th_tracee_set_all(struct th_tracee *tracee, struct th_tracee_refs *refs)
{
    struct th_tracing *tracing = tracee->tracing;
    uint32_t wanted = tracing->wanted | th_refs_union(refs);
    bool news = wanted != tracing->wanted || !tracing->special;

    if (tracee->refs)
        th_tracing_retire(tracing, tracee->refs);
    tracee->refs = refs;
    tracing->wanted = wanted;
    tracing->special = true;
    if (news)
        th_inheritance_update(tracing);
}

void th_tracee_set(struct th_tracee *tracee, struct th_session *session, uint32_t flags)
{
    const struct th_tracee_refs *old = refs_of(tracee);

    if (th_refs_flags(old, session) != flags)
        th_tracee_set_all(tracee, th_refs_with(old, session, flags));
}

void th_tracee_forget(struct th_tracing *tracing, th_term id, struct th_session *session)
{
    th_tracee_set(th_tracee_own(tracing, id), session, 0);
    session->counts.removed++;
}

static void leave(struct th_tracee_refs **refs, struct th_session *session)
{
    struct th_tracee_refs *old = *refs;

    if (!old || !th_refs_flags(old, session))
        return;
    *refs = th_refs_with(old, session, 0);
    th_free(old); /* no event is under way */
}

void th_tracees_leave(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;

    for (struct th_tracee *tracee = tracing->tracees; tracee; tracee = tracee->next) {
        leave(&tracee->refs, session);
        th_calls_forget(&tracee->calls, (uint64_t)1 << session->index);
        tracee->returning_to &= ~((uint64_t)1 << session->index);
    }
    for (size_t i = 0; i < TH_DEPARTED; i++)
        leave(&tracing->departed[i].refs, session);
}

/* --- setting them --- */

static uint32_t accepted(enum th_kind kind, uint32_t flags)
{
    return flags & (kind == TH_KIND_PORT ? TH_FLAGS_OF_PORTS : TH_FLAGS_OF_PROCESSES);
}

static uint32_t changed(uint32_t old, bool on, uint32_t flags)
{
    return on ? old | flags : old & ~flags;
}

static enum th_status only_of_all(void)
{
    return th_error_raise(TH_USAGE, "the flag cpu_timestamp is for all processes or ports at once");
}

static void note_flags(struct th_session *session, bool on, uint32_t flags)
{
    if (on)
        session->flags |= flags;
}

static void trace_existing(struct th_session *session, enum th_kind kind, bool on, uint32_t flags)
{
    for (struct th_tracee *tracee = session->tracing->tracees; tracee; tracee = tracee->next)
        if (tracee->refs && th_kind_of(tracee->id) == kind)
            th_tracee_set(tracee, session,
                          changed(th_refs_flags(tracee->refs, session), on, flags));
    session->found[kind] = changed(session->found[kind], on, flags);
}

enum th_status th_session_trace(struct th_session *session, enum th_tracees which, bool on,
                                uint32_t flags)
{
    enum th_kind kind = which < TH_PORTS_ALL ? TH_KIND_PROCESS : TH_KIND_PORT;
    bool all = which == TH_PROCESSES_ALL || which == TH_PORTS_ALL;

    if (flags & TH_FLAG_CPU_TIMESTAMP && !all)
        return only_of_all();
    note_flags(session, on, flags);
    flags = accepted(kind, flags);
    if (all || which == TH_PROCESSES_EXISTING || which == TH_PORTS_EXISTING)
        trace_existing(session, kind, on, flags);
    if (all || which == TH_PROCESSES_NEW || which == TH_PORTS_NEW)
        session->born[kind] = changed(session->born[kind], on, flags);
    th_tracing_update(session->tracing);
    th_tracing_settle(session->tracing);
    return TH_OK;
}

static void change_one(struct th_session *session, struct th_tracee *tracee, bool on,
                       uint32_t flags)
{
    uint32_t old = th_refs_flags(refs_of(tracee), session);

    flags = accepted(th_kind_of(tracee->id), flags);
    th_tracee_set(tracee, session, changed(old, on, flags));
}

enum th_status th_session_trace_one(struct th_session *session, th_term id, bool on, uint32_t flags)
{
    struct th_tracee *tracee;

    if (flags & TH_FLAG_CPU_TIMESTAMP)
        return only_of_all();
    tracee = th_process_alive(id) ? th_tracee_expect(session->tracing, id) : NULL;
    if (!tracee)
        return th_error_raise(TH_USAGE, "only a process or port that has not ended can be traced");
    note_flags(session, on, flags);
    change_one(session, tracee, on, flags);
    th_tracing_settle(session->tracing);
    return TH_OK;
}

/* --- those that are expected --- */

static void welcome(struct th_session *session, const struct th_expected *expected)
{
    th_term who = th_is_atom(expected->who) ? th_whereis(expected->who) : expected->who;
    struct th_tracee *tracee = th_tracee_expect(session->tracing, who);

    if (tracee && th_process_alive(who))
        change_one(session, tracee, true, expected->flags);
}

enum th_status th_session_expect(struct th_session *session, th_term who, uint32_t flags)
{
    if (flags & TH_FLAG_CPU_TIMESTAMP)
        return only_of_all();
    if (!th_is_atom(who) && !th_is_local_pid(who) && !th_is_local_port(who))
        return th_error_raise(TH_USAGE, "only processes, ports and names can be traced");
    TH_ARRAY_GROW(session->expected, session->expected_count, session->expected_capacity);
    session->expected[session->expected_count++] = (struct th_expected){who, flags};
    note_flags(session, true, flags);
    welcome(session, &session->expected[session->expected_count - 1]);
    th_tracing_update(session->tracing);
    th_tracing_settle(session->tracing);
    return TH_OK;
}

void th_tracees_expected(struct th_tracing *tracing)
{
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session = tracing->sessions[i];
        for (size_t j = 0; session && j < session->expected_count; j++)
            welcome(session, &session->expected[j]);
    }
}

/* --- asking what is set --- */

uint32_t th_session_flags(struct th_session *session, th_term id)
{
    struct th_tracing *tracing = session->tracing;
    uint32_t flags = th_refs_flags(th_tracee_refs(tracing, id), session);

    if (!flags || !session->attached)
        return 0;
    if (!th_callback_current.session && !th_session_ask_status(session, id)) {
        th_tracee_forget(tracing, id, session);
        flags = 0;
    }
    if (!session->attached) /* destroyed in that callback */
        flags = 0;
    th_tracing_settle(tracing);
    return flags;
}

uint32_t th_session_default_flags(struct th_session *session, enum th_tracees which)
{
    enum th_kind kind = which < TH_PORTS_ALL ? TH_KIND_PROCESS : TH_KIND_PORT;
    bool new = which == TH_PROCESSES_NEW || which == TH_PORTS_NEW;
    uint32_t flags = new ? session->born[kind] : session->found[kind];

    return th_session_status(session) ? flags : 0;
}

static size_t list(struct th_tracing *tracing, th_session_id ids[],
                   bool (*belongs)(const struct th_session *session, uint64_t what), uint64_t what)
{
    size_t count = 0;

    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        const struct th_session *session = tracing->sessions[i];
        if (session && !session->clearing && belongs(session, what))
            ids[count++] = session->id;
    }
    return count;
}

static bool traces(const struct th_session *session, th_term id)
{
    return id == TH_NONE ||
           (session->attached && th_refs_flags(th_tracee_refs(session->tracing, id), session));
}

static bool traces_new(const struct th_session *session, uint64_t kind)
{
    return session->attached && session->born[kind];
}

size_t th_sessions_of(struct th_tracing *tracing, th_term id, th_session_id ids[])
{
    return list(tracing, ids, traces, id);
}

size_t th_sessions_of_new(struct th_tracing *tracing, enum th_tracees which, th_session_id ids[])
{
    return list(tracing, ids, traces_new, which < TH_PORTS_ALL ? TH_KIND_PROCESS : TH_KIND_PORT);
}

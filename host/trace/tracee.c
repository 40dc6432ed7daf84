/* Sets and returns the flags of tracees: see tracees.h. */
#include "trace_internal.h"
#include "tracing.h"

#include "host/base/buffer.h"
#include "host/process/process.h"
#include "host/term/peer.h"
#include "host/trace/live/live.h"

/* --- structs of tracees --- */

static struct th_recorded_tracee *own(struct th_tracing *tracing,
                                      struct th_recorded_process *process, th_term id)
{
    struct th_recorded_tracee *tracee = process->tracing;

    if (tracee)
        return tracee;
    process->tracing = tracee = th_alloc_zero(sizeof *tracee);
    tracee->traced.tracing = tracing;
    tracee->traced.id = id;
    tracee->newborn_of = TH_NONE;
    th_trace_lock(tracing);
    tracee->next = tracing->tracees;
    tracee->place = &tracing->tracees;
    if (tracee->next)
        tracee->next->place = &tracee->next;
    tracing->tracees = tracee;
    th_trace_unlock(tracing);
    return tracee;
}

struct th_recorded_tracee *th_trace_tracee_own(struct th_tracing *tracing, th_term id)
{
    return own(tracing, th_process_world_see(id), id);
}

struct th_recorded_tracee *th_trace_tracee_expect(struct th_tracing *tracing, th_term id)
{
    if (!th_is_local_pid(id) && !th_is_local_port(id))
        return NULL;
    return own(tracing, th_process_world_expect(id), id);
}

struct th_recorded_tracee *th_trace_tracee_find(th_term id)
{
    struct th_recorded_process *process = th_is_immediate(id) ? th_process_world_find(id) : NULL;

    return process ? process->tracing : NULL;
}

void th_trace_tracee_drop(struct th_recorded_process *process)
{
    struct th_recorded_tracee *tracee = process->tracing;
    struct th_tracing *tracing = tracee->traced.tracing;
    struct th_departed *departed;
    struct th_tracee_flags *tracee_flags;
    struct th_session *session;

    th_trace_lock(tracing);
    for (size_t i = 0; !process->expected && (session = th_trace_next(tracing, &i));)
        for (size_t j = 0; j < session->expected_count; j++)
            session->expected[j].met |= session->expected[j].who == process->id;
    *tracee->place = tracee->next;
    if (tracee->next)
        tracee->next->place = tracee->place;
    tracee_flags = atomic_load_explicit(&tracee->traced.tracee_flags, memory_order_relaxed);
    if (tracee_flags) { /* stays where control calls of other threads find it; this runs between
                           events */
        departed = &tracing->departed[tracing->departures++ % TH_DEPARTED];
        th_free(atomic_load_explicit(&departed->tracee_flags, memory_order_relaxed));
        departed->id = tracee->traced.id;
        atomic_store_explicit(&departed->tracee_flags, tracee_flags, memory_order_release);
    }
    th_trace_unlock(tracing);
    th_recorded_forget(&tracing->streak.execution, &tracee->offered);
    th_trace_timing_free(&tracee->timing);
    th_recorded_forget(&tracing->execution, &tracee->stack);
    th_free(tracee);
}

/* --- changes of a tracee's flags --- */

const struct th_tracee_flags *th_trace_tracee_flags(const struct th_tracing *tracing, th_term id)
{
    const struct th_recorded_tracee *tracee = th_trace_tracee_find(id);

    return tracee ? th_trace_traced_flags(&tracee->traced) : th_trace_found_flags(tracing, id);
}

/* Adds TRACED, a live one, to those with flags of their own. Under the lock. */
static void enlist(struct th_tracee *traced)
{
    struct th_tracing *tracing = traced->tracing;

    traced->next = tracing->live_special;
    traced->place = &tracing->live_special;
    if (traced->next)
        traced->next->place = &traced->next;
    tracing->live_special = traced;
}

void th_trace_traced_end(struct th_tracee *traced)
{
    struct th_tracee_flags *tracee_flags =
        atomic_load_explicit(&traced->tracee_flags, memory_order_relaxed);

    if (!tracee_flags)
        return;
    *traced->place = traced->next;
    if (traced->next)
        traced->next->place = traced->place;
    atomic_store_explicit(&traced->tracee_flags, NULL, memory_order_relaxed);
    th_trace_retire(traced->tracing, tracee_flags);
}

void th_trace_traced_set_all(struct th_tracee *traced, struct th_tracee_flags *tracee_flags)
{
    struct th_tracing *tracing = traced->tracing;
    struct th_tracee_flags *old;
    uint32_t flags = th_trace_tracee_flags_union(tracee_flags), wanted;
    bool news;

    th_trace_lock(tracing);
    old = atomic_load_explicit(&traced->tracee_flags, memory_order_relaxed);
    if (!old && traced->live)
        enlist(traced);
    wanted = atomic_fetch_or_explicit(&tracing->wanted, flags, memory_order_relaxed);
    news = (wanted | flags) != wanted || !tracing->special;
    atomic_store_explicit(&traced->tracee_flags, tracee_flags, memory_order_release);
    th_trace_tracee_words_set(&traced->own_words,
                              atomic_load_explicit(&traced->words, memory_order_relaxed),
                              tracee_flags);
    atomic_store_explicit(&traced->words, &traced->own_words, memory_order_release);
    if (old)
        th_trace_retire(tracing, old);
    tracing->special = true;
    if (news)
        th_trace_inheritance_update(tracing);
    th_trace_unlock(tracing);
}

/* Returns the flags that tracees of KIND accept. */
static uint32_t accepted(enum th_kind kind)
{
    return kind == TH_KIND_PORT ? TH_FLAGS_OF_PORTS : TH_FLAGS_OF_PROCESSES;
}

/* A clearing session gets no new tracees. */
void th_trace_traced_set(struct th_tracee *traced, struct th_session *session, uint32_t flags)
{
    const struct th_tracee_flags *old;

    th_trace_lock(traced->tracing);
    old = th_trace_traced_flags(traced);
    if (th_trace_flags_of_session(old, session) != flags &&
        (!flags || th_trace_session_is_attached(session)))
        th_trace_traced_set_all(traced, th_trace_tracee_flags_with(old, session, flags));
    th_trace_unlock(traced->tracing);
}

bool th_trace_traced_change(struct th_tracee *traced, struct th_session *session, uint32_t clear,
                            uint32_t set)
{
    uint32_t old = th_trace_flags_of_session(th_trace_traced_flags(traced), session);
    uint32_t new = (old & ~clear) | (set & accepted(th_trace_kind_of(traced->id)));

    if (new != old)
        th_trace_traced_set(traced, session, new);
    return new != old;
}

/* As th_trace_traced_change(), for a tracee with flags of its own: all others follow
 * session->found. */
static void change_special(struct th_session *session, struct th_tracee *traced, uint32_t clear,
                           uint32_t set)
{
    if (atomic_load_explicit(&traced->tracee_flags, memory_order_relaxed))
        th_trace_traced_change(traced, session, clear, set);
}

void th_trace_traced_forget(struct th_tracee *traced, struct th_session *session)
{
    th_trace_traced_set(traced, session, 0);
    th_trace_session_count(session, TH_COUNTED(removed));
}

/* Clears the bits GONE of ended sessions in the replaying thread's members. */
static void forget_bits(struct th_tracing *tracing, uint64_t gone)
{
    for (struct th_recorded_tracee *tracee = tracing->tracees; tracee; tracee = tracee->next) {
        th_recorded_streak_forget_in(&tracee->offered, gone);
        th_recorded_forget_sessions(&tracee->stack, gone);
    }
    th_recorded_streak_forget(&tracing->streak, gone);
}

void th_trace_tracees_leave(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;

    for (struct th_recorded_tracee *tracee = tracing->tracees; tracee; tracee = tracee->next)
        change_special(session, &tracee->traced, UINT32_MAX, 0);
    for (struct th_tracee *traced = tracing->live_special; traced; traced = traced->next)
        change_special(session, traced, UINT32_MAX, 0);
    for (size_t i = 0; i < TH_DEPARTED; i++) {
        struct th_tracee_flags *_Atomic *tracee_flags = &tracing->departed[i].tracee_flags;
        struct th_tracee_flags *old = atomic_load_explicit(tracee_flags, memory_order_relaxed);
        if (!old || !th_trace_flags_of_session(old, session))
            continue;
        atomic_store_explicit(tracee_flags, th_trace_tracee_flags_with(old, session, 0),
                              memory_order_release);
        th_trace_retire(tracing, old);
    }
    if (!tracing->shared)
        forget_bits(tracing, session->bit);
}

void th_trace_catch_up(struct th_tracing *tracing)
{
    uint64_t destroyed = atomic_load_explicit(&tracing->destroyed, memory_order_relaxed);
    uint64_t gone = 0;

    if (destroyed == tracing->destroyed_seen)
        return;
    tracing->destroyed_seen = destroyed;
    th_trace_lock(tracing);
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        gone |= (uint64_t)(tracing->ends[i] != tracing->ends_seen[i]) << i;
        tracing->ends_seen[i] = tracing->ends[i];
    }
    forget_bits(tracing, gone);
    th_trace_unlock(tracing);
}

/* --- settings --- */

static enum th_status only_of_all(void)
{
    return th_error_raise(
        TH_USAGE, "the flag cpu_timestamp can be set only for all processes or ports at once");
}

static void note_flags(struct th_session *session, bool on, uint32_t flags)
{
    if (on)
        atomic_fetch_or_explicit(&session->flags, flags, memory_order_relaxed);
}

enum th_status th_trace_session_trace(struct th_session *session, enum th_tracees which, bool on,
                                      uint32_t flags)
{
    enum th_kind kind = which < TH_PORTS_ALL ? TH_KIND_PROCESS : TH_KIND_PORT;
    bool all = which == TH_PROCESSES_ALL || which == TH_PORTS_ALL;
    uint32_t clear = on ? 0 : flags, set = on ? flags & accepted(kind) : 0;
    struct th_tracing *tracing = session->tracing;

    if (flags & TH_FLAG_CPU_TIMESTAMP && !all)
        return only_of_all();
    th_trace_lock(tracing);
    note_flags(session, on, flags);
    if (all || which == TH_PROCESSES_EXISTING || which == TH_PORTS_EXISTING) {
        struct th_recorded_tracee *tracee = tracing->tracees;
        for (; tracee; tracee = tracee->next)
            if (th_trace_kind_of(tracee->traced.id) == kind)
                change_special(session, &tracee->traced, clear, set);
        for (struct th_tracee *traced = tracing->live_special; traced; traced = traced->next)
            if (th_trace_kind_of(traced->id) == kind)
                change_special(session, traced, clear, set);
        session->found[kind] = (session->found[kind] & ~clear) | set; /* all tracees without
                                                                         flags of their own */
    }
    if (all || which == TH_PROCESSES_NEW || which == TH_PORTS_NEW)
        session->born[kind] = (session->born[kind] & ~clear) | set;
    th_trace_update(tracing);
    th_trace_unlock(tracing);
    th_trace_settle(tracing);
    return TH_OK;
}

static void change_one(struct th_session *session, struct th_tracee *traced, bool on,
                       uint32_t flags)
{
    note_flags(session, on, flags & accepted(th_trace_kind_of(traced->id)));
    th_trace_traced_change(traced, session, on ? 0 : flags, on ? flags : 0);
}

struct th_tracee *th_trace_live(const struct th_tracing *tracing, th_term id)
{
    struct th_live_tracee *process = th_live_table_find(&tracing->live, id);

    return process ? &process->traced : NULL;
}

/* Finds a tracee of this host or of the world. NULL: none, or not for this thread. */
static struct th_tracee *find_one(struct th_tracing *tracing, th_term id)
{
    struct th_tracee *live = th_is_immediate(id) ? th_trace_live(tracing, id) : NULL;
    struct th_recorded_tracee *tracee = NULL;

    if (!live && th_trace_is_replayer(tracing) && th_process_alive(id))
        tracee = th_trace_tracee_expect(tracing, id);
    return tracee ? &tracee->traced : live;
}

enum th_status th_trace_session_trace_one(struct th_session *session, th_term id, bool on,
                                          uint32_t flags)
{
    struct th_tracee *traced;

    if (flags & TH_FLAG_CPU_TIMESTAMP)
        return only_of_all();
    th_trace_lock(session->tracing);
    traced = find_one(session->tracing, id);
    if (traced)
        change_one(session, traced, on, flags);
    th_trace_unlock(session->tracing);
    if (!traced)
        return th_error_raise(TH_USAGE, "only a process or port that has not ended can be traced");
    th_trace_settle(session->tracing);
    return TH_OK;
}

/* --- expected tracees --- */

/* A name stands for the process that has it, in each node. */
static void welcome(struct th_session *session, struct th_expected *expected)
{
    bool named = th_is_atom(expected->who);

    for (unsigned peer = 0; peer <= (named ? TH_PEERS_MAX : 0); peer++) {
        th_term who = !named ? expected->who
                      : peer ? th_process_world_named(expected->who, peer)
                             : th_process_whereis(expected->who);
        struct th_tracee *traced = who != TH_NONE ? find_one(session->tracing, who) : NULL;

        if (!traced)
            continue;
        expected->met |= named;
        change_one(session, traced, true, expected->flags);
    }
}

void th_trace_session_each_unmet(const struct th_session *session,
                                 void (*unmet)(void *context, th_term who), void *context)
{
    for (size_t i = 0; i < session->expected_count; i++) {
        th_term who = session->expected[i].who;
        const struct th_recorded_process *process =
            th_is_atom(who) ? NULL : th_process_world_find(who);
        /* A pid or port is expected from the start, but was not seen until the recording names
         * it. */
        if (!session->expected[i].met && (!process || process->expected))
            unmet(context, who);
    }
}

enum th_status th_trace_session_expect(struct th_session *session, th_term who, uint32_t flags)
{
    if (flags & TH_FLAG_CPU_TIMESTAMP)
        return only_of_all();
    if (!th_is_atom(who) && !th_is_local_pid(who) && !th_is_local_port(who))
        return th_error_raise(TH_USAGE, "only processes, ports and names can be traced");
    th_trace_lock(session->tracing);
    TH_ARRAY_GROW(session->expected, session->expected_count, session->expected_capacity);
    session->expected[session->expected_count++] = (struct th_expected){who, flags, false};
    note_flags(session, true, flags);
    welcome(session, &session->expected[session->expected_count - 1]);
    th_trace_update(session->tracing);
    th_trace_unlock(session->tracing);
    th_trace_settle(session->tracing);
    return TH_OK;
}

void th_trace_tracees_expected(struct th_tracing *tracing)
{
    struct th_session *session;

    for (size_t i = 0; (session = th_trace_next(tracing, &i));)
        for (size_t j = 0; j < session->expected_count; j++)
            welcome(session, &session->expected[j]);
}

/* --- queries --- */

/* Under the lock. */
static uint32_t tracee_flags_of(const struct th_session *session, th_term id)
{
    struct th_tracing *tracing = session->tracing;
    const struct th_tracee *live = th_is_immediate(id) ? th_trace_live(tracing, id) : NULL;

    if (live)
        return th_trace_flags_of_session(th_trace_traced_flags(live), session);
    if (!th_trace_is_replayer(tracing))
        return 0;
    return th_trace_flags_of_session(th_trace_tracee_flags(tracing, id), session);
}

uint32_t th_trace_session_flags(struct th_session *session, th_term id)
{
    struct th_tracing *tracing = session->tracing;
    struct th_tracee *traced;
    uint32_t flags;

    th_trace_lock(tracing);
    flags = tracee_flags_of(session, id);
    th_trace_unlock(tracing);
    if (!flags || !th_trace_session_is_attached(session))
        return 0;
    th_trace_enter(tracing);
    if (!th_self.attachment && !th_trace_session_ask_status(session, id)) {
        th_trace_lock(tracing);
        traced = find_one(tracing, id);
        if (traced)
            th_trace_traced_forget(traced, session);
        th_trace_unlock(tracing);
        flags = 0;
    }
    if (!th_trace_session_is_attached(session)) /* destroyed in that callback */
        flags = 0;
    th_trace_leave(tracing);
    th_trace_settle(tracing);
    return flags;
}

uint32_t th_trace_session_known_flags(const struct th_session *session, enum th_tracees which)
{
    enum th_kind kind = which < TH_PORTS_ALL ? TH_KIND_PROCESS : TH_KIND_PORT;
    bool new = which == TH_PROCESSES_NEW || which == TH_PORTS_NEW;
    uint32_t flags;

    th_trace_lock(session->tracing);
    flags = new ? session->born[kind] : session->found[kind];
    th_trace_unlock(session->tracing);
    return th_trace_session_is_attached(session) ? flags : 0;
}

uint32_t th_trace_session_default_flags(struct th_session *session, enum th_tracees which)
{
    uint32_t flags = th_trace_session_known_flags(session, which);

    return th_trace_session_status(session) ? flags : 0;
}

size_t th_trace_sessions_of(struct th_tracing *tracing, th_term id, th_session_id ids[])
{
    struct th_session *session;
    size_t count = 0;

    th_trace_lock(tracing);
    for (size_t i = 0; (session = th_trace_next(tracing, &i));)
        if (!th_trace_session_is_clearing(session) &&
            (id == TH_NONE ||
             (th_trace_session_is_attached(session) && tracee_flags_of(session, id))))
            ids[count++] = session->id;
    th_trace_unlock(tracing);
    return count;
}

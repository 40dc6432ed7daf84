/*
 * Who inherits trace flags, as OTP 25 does it, measured. In OTP 27 link/1 gives flags on, too.
 *
 *   spawn           the child has the flags for new processes and, if its parent has set_on_spawn,
 *                   all of the parent's; or, if that has set_on_first_spawn, all but both of these,
 *                   and the parent has neither of them any more.
 *   spawn_link      after that, the same by set_on_link and set_on_first_link.
 *   link/1          nothing, whatever the manual says; nor does a port inherit anything.
 *   open            the port has the flags for new ports.
 *
 * A session that a process was removed from has no flags there, and so none to give.
 *
 * It is driven by the events themselves. The BEAM traces spawn, link, spawned and getting_linked in
 * this order, so that a link comes of a spawn_link if the child had no event before it. If the
 * parent's events were not recorded, spawned and getting_linked tell the same.
 *
 * Live processes tell it themselves, before their first event: th_trace_inheritance_begin().
 *
 * Only recorded events that can make a difference are looked at (tracing->heeded): none as long as
 * all processes have the same flags and give them all on.
 */
#include "tracing.h"

/* --- what a child gets --- */

/* Of FLAGS what is given on, and, in *LEFT, what stays. FIRST is the flag that makes this the last
 * time, ALWAYS the one that makes it happen again and again. */
static uint32_t heirloom(uint32_t flags, uint32_t always, uint32_t first, uint32_t *left)
{
    *left = flags;
    if (flags & first)
        return *left = flags & ~(first | always);
    return flags & always ? flags : 0;
}

/* Who gives flags on: one of this host, or of a recording. */
struct parent {
    struct th_tracee *live; /* NULL: of a recording */
    th_term id;
    const struct th_tracee_refs *refs; /* before anything is given */
};

/* Replaces the flags of the session at PARENT, if they are others now. */
static void leave_to_parent(const struct parent *parent, struct th_session *session, uint32_t old,
                            uint32_t left)
{
    if (left == old)
        return;
    if (parent->live)
        th_trace_traced_set(parent->live, session, left);
    else
        th_trace_tracee_set(th_trace_tracee_expect(session->tracing, parent->id), session, left);
}

/* The flags that are cleared at a child, too, whoever they came from. */
static uint32_t spent(uint32_t flags, uint32_t always, uint32_t first)
{
    return flags & first ? first | always : 0;
}

static uint32_t by_spawn(struct th_session *session, const struct parent *parent, uint32_t had)
{
    uint32_t flags = th_trace_refs_flags(parent->refs, session), left;
    uint32_t given = heirloom(flags, TH_FLAG_SET_ON_SPAWN, TH_FLAG_SET_ON_FIRST_SPAWN, &left);

    leave_to_parent(parent, session, flags, left);
    return (had | given) & ~spent(flags, TH_FLAG_SET_ON_SPAWN, TH_FLAG_SET_ON_FIRST_SPAWN);
}

static uint32_t by_link(struct th_session *session, const struct parent *parent, uint32_t had)
{
    uint32_t flags = th_trace_refs_flags(parent->refs, session), left;
    uint32_t given = heirloom(flags, TH_FLAG_SET_ON_LINK, TH_FLAG_SET_ON_FIRST_LINK, &left);

    leave_to_parent(parent, session, flags, left);
    return (had | given) & ~spent(flags, TH_FLAG_SET_ON_LINK, TH_FLAG_SET_ON_FIRST_LINK);
}

/* --- births and links --- */

/* What a new tracee has by itself: what it was given by name, and the defaults. */
static uint32_t dowry(const struct th_session *session, const struct th_recorded_tracee *tracee,
                      enum th_kind kind)
{
    const struct th_tracee_refs *refs =
        tracee ? atomic_load_explicit(&tracee->traced.refs, memory_order_relaxed) : NULL;
    uint32_t given = refs ? th_trace_refs_flags(refs, session) : 0;

    return given | session->born[kind];
}

/* What a session takes from the parent changes only that session's flags there: for others the refs
 * that the parent had before stay good. */
static struct th_tracee_refs *child_refs(struct th_tracing *tracing, const struct parent *parent,
                                         const struct th_recorded_tracee *child)
{
    struct th_tracee_refs *refs = th_trace_refs_create(TH_SESSIONS_LIMIT);

    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session = th_trace_at(tracing, i);
        if (session)
            th_trace_refs_add(refs, session,
                              by_spawn(session, parent, dowry(session, child, TH_KIND_PROCESS)));
    }
    return refs;
}

/* A child that is like those that were there needs no struct, unless more is to become of it. */
static void be_born(struct th_tracing *tracing, th_term parent, th_term id)
{
    struct parent of = {.id = parent, .refs = th_trace_tracee_refs(tracing, parent)};
    uint32_t parents = th_trace_refs_union(of.refs);
    struct th_recorded_tracee *child = th_trace_tracee_find(id);
    struct th_tracee_refs *refs = child_refs(tracing, &of, child);

    if (!child && th_trace_refs_equal(refs, th_trace_found_refs(tracing, id)) &&
        !(parents & (TH_FLAG_SET_ON_FIRST_SPAWN | TH_FLAGS_ON_LINK))) {
        th_free(refs);
        return;
    }
    child = th_trace_tracee_expect(tracing, id);
    th_trace_traced_set_all(&child->traced, refs);
    child->born = true;
    child->newborn_of = parent;
}

static bool are_processes(th_term one, th_term other)
{
    return th_is_local_pid(one) && th_is_local_pid(other);
}

static void spawn(struct th_tracing *tracing, th_term parent, th_term id)
{
    const struct th_recorded_tracee *child = th_trace_tracee_find(id);

    if (are_processes(parent, id) && !(child && child->born))
        be_born(tracing, parent, id);
}

/* A link that was made in the spawn has been seen before this. */
static void spawned(struct th_tracing *tracing, th_term id, th_term parent)
{
    struct th_recorded_tracee *child = th_trace_tracee_find(id);

    if (child && child->born)
        child->newborn_of = TH_NONE;
    else
        spawn(tracing, parent, id);
}

static void link_child(struct th_tracing *tracing, const struct parent *parent,
                       struct th_tracee *child)
{
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session = th_trace_at(tracing, i);
        if (session)
            th_trace_traced_set(child, session,
                                by_link(session, parent,
                                        th_trace_refs_flags(th_trace_traced_refs(child), session)));
    }
}

static void link_newborn(struct th_tracing *tracing, th_term parent, th_term id)
{
    struct th_recorded_tracee *child = th_trace_tracee_find(id);
    struct parent of = {.id = parent};

    if (!child || child->newborn_of == TH_NONE || child->newborn_of != parent)
        return;
    child->newborn_of = TH_NONE;
    of.refs = th_trace_tracee_refs(tracing, parent);
    link_child(tracing, &of, &child->traced);
}

static void open(struct th_tracing *tracing, th_term id)
{
    struct th_recorded_tracee *port = th_trace_tracee_find(id);
    struct th_tracee_refs *refs;

    if (!th_is_local_port(id) || (port && port->born))
        return;
    refs = th_trace_refs_create(TH_SESSIONS_LIMIT);
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
        if (th_trace_at(tracing, i))
            th_trace_refs_add(refs, th_trace_at(tracing, i),
                              dowry(th_trace_at(tracing, i), port, TH_KIND_PORT));
    port = th_trace_tracee_own(tracing, id);
    th_trace_traced_set_all(&port->traced, refs);
    port->born = true;
}

static void meet(struct th_tracing *tracing, th_term id, th_term name)
{
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session = th_trace_at(tracing, i);
        for (size_t j = 0; session && j < session->expected_count; j++)
            if (session->expected[j].who == name) {
                session->expected[j].met = true;
                th_trace_session_trace_one(session, id, true, session->expected[j].flags);
            }
    }
}

static void heed(struct th_tracing *tracing, const struct th_event *event)
{
    switch (event->tag) {
    case TH_TAG_spawn:
        spawn(tracing, event->tracee, event->term);
        break;
    case TH_TAG_spawned:
        spawned(tracing, event->tracee, event->term);
        break;
    case TH_TAG_link:
        link_newborn(tracing, event->tracee, event->term);
        break;
    case TH_TAG_getting_linked:
        link_newborn(tracing, event->term, event->tracee);
        break;
    case TH_TAG_open:
        open(tracing, event->tracee);
        break;
    default:
        meet(tracing, event->tracee, event->term);
    }
}

void th_trace_inheritance_heed(struct th_tracing *tracing, struct th_event *event)
{
    if (event->tag == TH_TAG_in) /* only its trace_status */
        return;
    if (th_trace_event_decode(event, &tracing->arena) != TH_OK) {
        th_error_clear(); /* whoever wants the terms will meet the damage again */
        return;
    }
    th_trace_lock(tracing);
    heed(tracing, event);
    th_trace_unlock(tracing);
}

/* --- live ones --- */

/* Nothing is kept for one that is like all others. */
static void keep_unlike(struct th_tracee *traced, struct th_tracee_refs *refs)
{
    if (th_trace_refs_equal(refs, th_trace_found_refs(traced->tracing, traced->id)))
        th_free(refs);
    else
        th_trace_traced_set_all(traced, refs);
}

static void be_opened(struct th_tracee *port)
{
    struct th_tracee_refs *refs = th_trace_refs_create(TH_SESSIONS_LIMIT);

    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session = th_trace_at(port->tracing, i);
        if (session)
            th_trace_refs_add(refs, session, session->born[TH_KIND_PORT]);
    }
    keep_unlike(port, refs);
}

/* What would be heeded of a recorded event makes a difference here, too. */
static bool may_differ(const struct th_tracee *child, const struct th_tracee *parent)
{
    uint32_t heeded = atomic_load_explicit(&child->tracing->heeded, memory_order_relaxed);
    enum th_tracer_tag tag = th_is_local_port(child->id) ? TH_TAG_open : TH_TAG_spawn;

    return heeded >> tag & 1 ||
           (parent && atomic_load_explicit(&parent->refs, memory_order_relaxed));
}

void th_trace_inheritance_begin(struct th_tracee *child, struct th_tracee *parent, bool linked)
{
    static const struct th_tracee_refs nobody;
    struct parent of = {parent, parent ? parent->id : TH_NONE, &nobody};

    if (!may_differ(child, parent))
        return;
    if (parent)
        of.refs = th_trace_traced_refs(parent);
    if (th_is_local_port(child->id))
        be_opened(child);
    else
        keep_unlike(child, child_refs(child->tracing, &of, NULL));
    if (!linked || !parent)
        return;
    of.refs = th_trace_traced_refs(parent);
    link_child(child->tracing, &of, child);
}

/* --- what can make a difference --- */

/* True if a child of a process with the flags FOUND, those of all others, may get other ones, or if
 * that process loses some. */
static bool makes_difference(uint32_t found, uint32_t born)
{
    if (found & (TH_FLAG_SET_ON_FIRST_SPAWN | TH_FLAG_SET_ON_FIRST_LINK))
        return true;
    return (found & TH_FLAG_SET_ON_SPAWN ? born | found : born) != found;
}

static uint32_t heeded_for(const struct th_session *session)
{
    uint32_t heeded = 0;

    if (makes_difference(session->found[TH_KIND_PROCESS], session->born[TH_KIND_PROCESS]))
        heeded |= 1 << TH_TAG_spawn | 1 << TH_TAG_spawned;
    if (session->found[TH_KIND_PORT] != session->born[TH_KIND_PORT])
        heeded |= 1 << TH_TAG_open;
    for (size_t i = 0; i < session->expected_count; i++)
        if (th_is_atom(session->expected[i].who))
            heeded |= 1 << TH_TAG_register;
    return heeded;
}

void th_trace_inheritance_update(struct th_tracing *tracing)
{
    const uint32_t births = 1 << TH_TAG_spawn | 1 << TH_TAG_spawned;
    uint32_t heeded = 1 << TH_TAG_in;

    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
        if (th_trace_at(tracing, i))
            heeded |= heeded_for(th_trace_at(tracing, i));
    if (tracing->special)
        heeded |= births | 1 << TH_TAG_open;
    if (heeded & births &&
        atomic_load_explicit(&tracing->wanted, memory_order_relaxed) & TH_FLAGS_ON_LINK)
        heeded |= 1 << TH_TAG_link | 1 << TH_TAG_getting_linked;
    atomic_store_explicit(&tracing->heeded, heeded, memory_order_relaxed);
}

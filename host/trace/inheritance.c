/*
 * Inheritance of trace flags, as measured in OTP 25. In OTP 27 link/1 passes flags on, too.
 *
 *   spawn           the child gets the flags for new processes and, if its parent has set_on_spawn,
 *                   all of the parent's; or, if that has set_on_first_spawn, all but both of these,
 *                   and the parent loses both.
 *   spawn_link      after that, the same by set_on_link and set_on_first_link.
 *   link/1          nothing, in spite of the manual; a port inherits nothing, either.
 *   open            the port gets the flags for new ports.
 *
 * A session that a process was removed from has no flags there, and so passes none on.
 *
 * The events themselves drive inheritance. The BEAM traces spawn, link, spawned and getting_linked
 * in this order: a link is that of a spawn_link if the child had no event before it. If the
 * parent's events were not recorded, spawned and getting_linked contain the same facts.
 *
 * Live processes report their birth before their first event: th_trace_inheritance_begin().
 *
 * Only recorded events that can make a difference are processed (tracing->relevant): none as long
 * as all processes have the same flags and pass them all on.
 */
#include "trace_internal.h"
#include "tracing.h"

#include "host/base/memory.h"

/* --- flags of a child --- */

/* The parent that passes flags on, live or recorded. */
struct parent {
    struct th_tracee *live; /* NULL: recorded */
    th_term id;
    const struct th_tracee_flags *tracee_flags; /* before the birth; NULL: no parent */
};

/* Returns the flags of a child with the flags HAD after it has inherited from PARENT, for SESSION.
 * The flag ALWAYS passes flags on at each birth, FIRST only once: then the parent loses both, and
 * the child gets neither, from any source. */
static uint32_t inherit(struct th_session *session, const struct parent *parent, uint32_t had,
                        uint32_t always, uint32_t first)
{
    uint32_t flags =
        parent->tracee_flags ? th_trace_flags_of_session(parent->tracee_flags, session) : 0;

    if (!(flags & first))
        return flags & always ? had | flags : had;
    flags &= ~(first | always);
    th_trace_traced_set(
        parent->live ? parent->live : &th_trace_tracee_expect(session->tracing, parent->id)->traced,
        session, flags);
    return (had | flags) & ~(first | always);
}

/* --- births and links --- */

/* Returns the flags of a new tracee: those that CHILD (NULL: unknown so far) was given by name, the
 * defaults, and those that a process inherits from PARENT; a port has none. inherit() changes only
 * one session's flags of the parent: the array that the parent had before stays right for the
 * others. */
static struct th_tracee_flags *child_flags(struct th_tracing *tracing, const struct parent *parent,
                                           const struct th_recorded_tracee *child)
{
    const struct th_tracee_flags *given =
        child ? atomic_load_explicit(&child->traced.tracee_flags, memory_order_relaxed) : NULL;
    struct th_tracee_flags *tracee_flags = th_trace_tracee_flags_create(TH_SESSIONS_LIMIT);
    struct th_session *session;

    for (size_t i = 0; (session = th_trace_next(tracing, &i));) {
        uint32_t flags = session->born[parent ? TH_KIND_PROCESS : TH_KIND_PORT];
        if (given)
            flags |= th_trace_flags_of_session(given, session);
        if (parent)
            flags =
                inherit(session, parent, flags, TH_FLAG_SET_ON_SPAWN, TH_FLAG_SET_ON_FIRST_SPAWN);
        th_trace_tracee_flags_add(tracee_flags, session, flags);
    }
    return tracee_flags;
}

/* A child with the flags of all others needs no struct, unless later events may change its
 * flags. A child on another node (term/peer.h) inherits nothing. */
static void be_born(struct th_tracing *tracing, th_term parent, th_term id)
{
    struct parent of = {.id = parent, .tracee_flags = th_trace_tracee_flags(tracing, parent)};
    uint32_t parents = th_trace_tracee_flags_union(of.tracee_flags);
    struct th_recorded_tracee *child = th_trace_tracee_find(id);
    struct th_tracee_flags *tracee_flags;

    if (!th_is_local_pid(parent) || !th_is_local_pid(id) || th_peer_of(parent) != th_peer_of(id) ||
        (child && child->born))
        return;
    tracee_flags = child_flags(tracing, &of, child);
    if (!child && th_trace_tracee_flags_equal(tracee_flags, th_trace_found_flags(tracing, id)) &&
        !(parents & (TH_FLAG_SET_ON_FIRST_SPAWN | TH_FLAGS_ON_LINK))) {
        th_free(tracee_flags);
        return;
    }
    child = th_trace_tracee_expect(tracing, id);
    th_trace_traced_set_all(&child->traced, tracee_flags);
    child->born = true;
    child->newborn_of = parent;
}

static void link_child(struct th_tracing *tracing, const struct parent *parent,
                       struct th_tracee *child)
{
    struct th_session *session;

    for (size_t i = 0; (session = th_trace_next(tracing, &i));)
        th_trace_traced_set(
            child, session,
            inherit(session, parent,
                    th_trace_flags_of_session(th_trace_traced_flags(child), session),
                    TH_FLAG_SET_ON_LINK, TH_FLAG_SET_ON_FIRST_LINK));
}

static void link_newborn(struct th_tracing *tracing, th_term parent, th_term id)
{
    struct th_recorded_tracee *child = th_trace_tracee_find(id);
    struct parent of = {.id = parent};

    if (!child || child->newborn_of == TH_NONE || child->newborn_of != parent)
        return;
    child->newborn_of = TH_NONE;
    of.tracee_flags = th_trace_tracee_flags(tracing, parent);
    link_child(tracing, &of, &child->traced);
}

static void open(struct th_tracing *tracing, th_term id)
{
    struct th_recorded_tracee *port = th_trace_tracee_find(id);
    struct th_tracee_flags *tracee_flags;

    if (!th_is_local_port(id) || (port && port->born))
        return;
    tracee_flags = child_flags(tracing, NULL, port);
    port = th_trace_tracee_own(tracing, id);
    th_trace_traced_set_all(&port->traced, tracee_flags);
    port->born = true;
}

void th_trace_inheritance_meet(struct th_tracing *tracing, th_term id, th_term name)
{
    struct th_session *session;

    for (size_t i = 0; (session = th_trace_next(tracing, &i));)
        for (size_t j = 0; j < session->expected_count; j++)
            if (session->expected[j].who == name) {
                session->expected[j].met = true;
                th_trace_session_trace_one(session, id, true, session->expected[j].flags);
            }
}

void th_trace_inheritance_apply(struct th_tracing *tracing, struct th_event *event)
{
    struct th_recorded_tracee *child;

    if (event->tag == TH_TAG_in) /* th_trace() only asks for its trace_status */
        return;
    if (th_trace_event_decode(event, &tracing->arena) != TH_OK) {
        th_error_clear(); /* raised again when a session wants the terms */
        return;
    }
    th_trace_lock(tracing);
    switch (event->tag) {
    case TH_TAG_spawn:
        be_born(tracing, event->tracee, event->term);
        break;
    case TH_TAG_spawned: /* A link of the spawn has come before this event. */
        child = th_trace_tracee_find(event->tracee);
        if (child && child->born)
            child->newborn_of = TH_NONE;
        else
            be_born(tracing, event->term, event->tracee);
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
        th_trace_inheritance_meet(tracing, event->tracee, event->term);
    }
    th_trace_unlock(tracing);
}

/* --- live tracees --- */

bool th_trace_inheritance_is_relevant(const struct th_tracee *child, const struct th_tracee *parent)
{
    uint32_t relevant = atomic_load_explicit(&child->tracing->relevant, memory_order_relaxed);

    return relevant >> (th_is_local_port(child->id) ? TH_TAG_open : TH_TAG_spawn) & 1 ||
           (parent && atomic_load_explicit(&parent->tracee_flags, memory_order_relaxed));
}

void th_trace_inheritance_begin(struct th_tracee *child, struct th_tracee *parent, bool linked)
{
    struct parent of = {parent, parent ? parent->id : TH_NONE, NULL};
    struct th_tracing *tracing = child->tracing;
    bool is_port = th_is_local_port(child->id);
    struct th_tracee_flags *tracee_flags;

    if (parent)
        of.tracee_flags = th_trace_traced_flags(parent);
    tracee_flags = child_flags(tracing, is_port ? NULL : &of, NULL);
    if (th_trace_tracee_flags_equal(tracee_flags, th_trace_found_flags(tracing, child->id)))
        th_free(tracee_flags); /* without a change the tracee needs no array of its own */
    else
        th_trace_traced_set_all(child, tracee_flags);
    if (!linked || !parent)
        return;
    of.tracee_flags = th_trace_traced_flags(parent);
    link_child(tracing, &of, child);
}

/* --- relevant tags --- */

void th_trace_inheritance_update(struct th_tracing *tracing)
{
    const uint32_t births = 1 << TH_TAG_spawn | 1 << TH_TAG_spawned;
    uint32_t relevant = 1 << TH_TAG_in;
    struct th_session *session;

    for (size_t i = 0; (session = th_trace_next(tracing, &i));) {
        uint32_t found = session->found[TH_KIND_PROCESS], born = session->born[TH_KIND_PROCESS];
        /* A child of a process with the flags of all others may get other flags, or its parent may
         * lose some. */
        if (found & (TH_FLAG_SET_ON_FIRST_SPAWN | TH_FLAG_SET_ON_FIRST_LINK) ||
            (found & TH_FLAG_SET_ON_SPAWN ? born | found : born) != found)
            relevant |= births;
        if (session->found[TH_KIND_PORT] != session->born[TH_KIND_PORT])
            relevant |= 1 << TH_TAG_open;
        for (size_t j = 0; j < session->expected_count; j++)
            if (th_is_atom(session->expected[j].who))
                relevant |= 1 << TH_TAG_register;
    }
    if (tracing->special)
        relevant |= births | 1 << TH_TAG_open;
    if (relevant & births &&
        atomic_load_explicit(&tracing->wanted, memory_order_relaxed) & TH_FLAGS_ON_LINK)
        relevant |= 1 << TH_TAG_link | 1 << TH_TAG_getting_linked;
    atomic_store_explicit(&tracing->relevant, relevant, memory_order_relaxed);
}

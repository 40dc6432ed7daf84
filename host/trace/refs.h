/*
 * Who traces a tracee, under which flags: an immutable array behind one pointer, replaced as a
 * whole.
 *
 * Readers look at the array that they found for a whole event; so one that was replaced is kept
 * until that is over (th_trace_retire()). In a tracing that is shared that is thread progress, as
 * each event is a read section. While one thread does all, it is a list that this thread frees
 * after the event: a section would cost each replayed event 2 ns, and make changes that are asked
 * for while a recording is replayed go on without being waited for.
 */
#ifndef TH_REFS_H
#define TH_REFS_H

#include "session.h"
#include "host/progress/progress.h"

#include <stdatomic.h>

struct th_tracee_refs {
    struct th_later later; /* when they were replaced */
    uint32_t count;
    struct th_tracee_ref {
        struct th_session *session;
        uint32_t flags; /* not 0 */
    } refs[];           /* by the sessions' indices */
};

/* Somebody who can be traced, of a recording or of this host. */
struct th_tracee {
    struct th_tracing *tracing;
    th_term id;
    /* NULL: those of all others (th_tracing.found). Written under the tracing's lock; release, as
     * what it leads to is complete; acquire, in an event. */
    struct th_tracee_refs *_Atomic refs;
    /* Of one of this host: all flags that it has of anybody, for who is in no section, as a hint:
     * perhaps too many. It points to own_flags, or, while refs is NULL, to those of all others.
     * Written under the lock: the flags relaxed, as who has been given one is traced by it from its
     * next event on; where they are with release, as own_flags are written before; acquire. */
    const _Atomic uint32_t *_Atomic flags;
    _Atomic uint32_t own_flags;
};

/* Room for COUNT; the first place is there in any case, and nobody's while there is none. */
struct th_tracee_refs *th_trace_refs_create(size_t count);

/* Adds one whose index is above all that are there; nothing if FLAGS are 0. */
void th_trace_refs_add(struct th_tracee_refs *refs, struct th_session *session, uint32_t flags);

/* OLD, with FLAGS for the session; 0: without it. */
struct th_tracee_refs *th_trace_refs_with(const struct th_tracee_refs *old,
                                          struct th_session *session, uint32_t flags);

uint32_t th_trace_refs_flags(const struct th_tracee_refs *refs, const struct th_session *session);

/* The same in place, for who counts instructions; of th_trace_refs_create(): most have one session.
 */
static inline uint32_t th_trace_refs_flags_quickly(const struct th_tracee_refs *refs,
                                                   const struct th_session *session)
{
    if (__builtin_expect(refs->refs[0].session == session, 1))
        return refs->refs[0].flags;
    for (uint32_t i = 1; i < refs->count; i++)
        if (refs->refs[i].session == session)
            return refs->refs[i].flags;
    return 0;
}

/* All flags in it. */
uint32_t th_trace_refs_union(const struct th_tracee_refs *refs);
bool th_trace_refs_equal(const struct th_tracee_refs *a, const struct th_tracee_refs *b);

#endif

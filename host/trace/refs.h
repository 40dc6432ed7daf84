/*
 * Who traces a tracee, under which flags: an immutable array behind one pointer, replaced as a
 * whole.
 *
 * Readers look at the array that they found for a whole event; so one that was replaced is kept
 * until the event is over (th_tracing_retire()). It is a list of the one thread that replays, not
 * th_progress_later(), as sessions and the world are that thread's alone: a read section would cost
 * each event 2 ns, and a library would be closed at no certain time, by another thread. When
 * tracees of other threads come, the section goes around an event and the list becomes
 * th_progress_later(); nothing else changes.
 */
#ifndef TH_REFS_H
#define TH_REFS_H

#include "session.h"

struct th_tracee_refs {
    struct th_tracee_refs *retired; /* in th_tracing's list: the next one */
    uint32_t count;
    struct th_tracee_ref {
        struct th_session *session;
        uint32_t flags; /* not 0 */
    } refs[];           /* by the sessions' indices */
};

/* Room for COUNT. */
struct th_tracee_refs *th_refs_create(size_t count);

/* Adds one whose index is above all that are there; nothing if FLAGS are 0. */
void th_refs_add(struct th_tracee_refs *refs, struct th_session *session, uint32_t flags);

/* OLD, with FLAGS for the session; 0: without it. */
struct th_tracee_refs *th_refs_with(const struct th_tracee_refs *old, struct th_session *session,
                                    uint32_t flags);

uint32_t th_refs_flags(const struct th_tracee_refs *refs, const struct th_session *session);

/* All flags in it. */
uint32_t th_refs_union(const struct th_tracee_refs *refs);
bool th_refs_equal(const struct th_tracee_refs *a, const struct th_tracee_refs *b);

#endif

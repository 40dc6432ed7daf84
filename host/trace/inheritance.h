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
#ifndef TH_INHERITANCE_H
#define TH_INHERITANCE_H

#include "tracing.h"

/* What EVENT, whose tag is one of tracing->heeded, means for who is traced. */
void th_trace_inheritance_heed(struct th_tracing *tracing, struct th_event *event);

/* CHILD, of this host, is there. PARENT (NULL: none) has spawned it, LINKED to itself. In a read
 * section and under the lock. */
void th_trace_inheritance_begin(struct th_tracee *child, struct th_tracee *parent, bool linked);

/* Says anew which tags can make a difference. To be called after each change of flags, under
 * the lock. */
void th_trace_inheritance_update(struct th_tracing *tracing);

#endif

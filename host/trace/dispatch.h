/* The way of one event through the sessions: what dispatch.c and patterns share. */
#ifndef TH_DISPATCH_H
#define TH_DISPATCH_H

#include "tracing.h"

struct th_way {
    struct th_tracing *tracing;
    struct th_event *event;
    enum th_tracer_group group;
    uint32_t flag;
    th_term tag;
    th_term tracee;                    /* who acted for seq_trace, which has no tracee */
    const struct th_tracee_refs *refs; /* NULL: the tracee's own */
    uint64_t offered;  /* call: sessions whose enabled was asked; returns: those that see it, of the
                          doubtful ones */
    uint64_t declined; /* call: those that discarded it, or are to be silent; returns: those that
                          may not see it, and the doubtful ones */
    uint64_t doubtful; /* returns: those of which it is not known whether they may see it */
    enum th_status status;
};

/* Asks enabled of ATTACHMENT's tracer. The answer is `trace`, `discard` (which is counted) or
 * `remove`, which stands for all others; `discard` if the session is gone now. */
th_term th_way_question(struct th_way *way, struct th_attachment *attachment);

/* The same; and takes the tracee away from the session if that is the answer. True for `trace`. */
bool th_way_ask(struct th_way *way, struct th_attachment *attachment);

/* Where the terms of the event are made: the thread's own. */
th_env *th_way_arena(const struct th_way *way);

/* Decodes the event, once; false: it is damaged. */
bool th_way_decode(struct th_way *way);

/* Calls trace for EVENT, which is decoded: the way's own, or one that is made of it. If enabled was
 * asked about it, ATTACHMENT is the one that was. */
void th_way_hand_over(const struct th_way *way, struct th_attachment *attachment,
                      const struct th_event *event, uint32_t flags);

#endif

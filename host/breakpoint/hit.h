/*
 * Hits: calls that arrive at an armed site.
 *
 * A hit takes about as long as the callbacks that it calls: a reader section, a walk along the
 * site's breakpoints, one indirect call for each active one. A hit takes no lock, allocates
 * nothing and uses plain loads only, unless the hit counts or makes a request. (The first reader
 * section of a thread registers the thread, under a lock; see progress/.)
 *
 * th_breakpoint_hit() is the general function. trace/ inlines its most frequent path from
 * fast_hit.h; in a debug build each hit calls th_breakpoint_hit().
 */
#ifndef TH_HIT_H
#define TH_HIT_H

#include <stdint.h>

struct th_bp_data;

/* The requests of breakpoints for a call, of all sessions together. Bits from TH_HIT_OWN up belong
 * to trace/. */
enum th_hit_asked {
    TH_HIT_RETURN = 0x01,    /* trace the return */
    TH_HIT_EXCEPTION = 0x02, /* trace an exception that passes the call */
    TH_HIT_ACCOUNTED =
        0x04, /* hooks->entered() was called: call th_breakpoint_account_return() at the end */
    TH_HIT_REMOVE = 0x08, /* from a meta hook only: the breakpoint's tracer is gone */
    TH_HIT_OWN = 0x100,
};

/* A hit. The caller of th_breakpoint_hit() sets `context` and `kinds`. `context` is first, and has
 * 8 bytes: so the compiler zeroes a hit with aligned stores, which the processor forwards to the
 * loads of the hooks. Without that, these loads cost more than all other work of a hit. */
struct th_hit {
    void *context; /* data of trace/ */
    /* The kinds of breakpoints that this call meets: a local call, for example, meets no GLOBAL. */
    uint32_t kinds;

    /* Filled by th_breakpoint_hit(), for the hooks: */
    struct th_site *site;
    struct th_generic_bp *breakpoint;
    const struct th_bp_data *data;
};

/*
 * Obeys the breakpoints of SITE in the order in which they were added; for each breakpoint first
 * LOCAL or GLOBAL, then META, then the counts. Returns bits of enum th_hit_asked.
 * Thread: any, also outside of schedulers. Hits nest.
 */
uint32_t th_breakpoint_hit(struct th_site *site, struct th_hit *hit);

/*
 * Obeys the breakpoints of SITE for a call that goes on to NEXT, another site of the function.
 * Kinds that a session also has at NEXT, active or paused, are left to NEXT; LOCAL at NEXT counts
 * as GLOBAL here. Changes HIT->kinds.
 */
uint32_t th_breakpoint_hit_before(struct th_site *site, struct th_site *next, struct th_hit *hit);

/*
 * Requests that KINDS of HIT's breakpoint (of one function and one session) are paused until they
 * are set or restarted. One change, which soon starts by itself, carries out the requests of many
 * hits; until then calls meet the breakpoint as before. If another change sets or restarts a kind
 * of the breakpoint before, the request is dropped. Only `breakpoint` and `data` of HIT are read.
 * Thread: inside a hook.
 */
void th_breakpoint_disarm(struct th_hit *hit, uint32_t kinds);

#endif

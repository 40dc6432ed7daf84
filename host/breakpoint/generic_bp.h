/*
 * The breakpoint of one function and one session: struct th_generic_bp.
 *
 * A breakpoint has two generations of its data, data[0] and data[1]. One index for all breakpoints,
 * th_breakpoint_active_index, selects the generation that hits obey. The other one, the staging
 * generation, is written under the code modification permission. Outside of a change both are
 * equal.
 */
#ifndef TH_GENERIC_BP_H
#define TH_GENERIC_BP_H

#include "breakpoint_session.h"

#include "host/progress/progress.h"

/*
 * 0 or 1. The commit of a change (change.c, step 7) writes it with release: all that was staged
 * comes before. A hit reads it with acquire, a plain load on x86, once and before it looks for
 * breakpoints, so that it sees all breakpoints of all sessions in one generation.
 *
 * The relaxed load of the spec suffices if a change waits for a grace period between staging and
 * commit, as each thread has then passed a barrier. A change that only updates does not wait there:
 * its staged data is reached through this index alone.
 */
extern _Atomic uint32_t th_breakpoint_active_index __attribute__((visibility("hidden")));

/* The tracer of a meta breakpoint, shared by both generations: so a hit that finds the tracer gone
 * removes the tracer from both at once. */
struct th_bp_meta {
    struct th_shared shared; /* the first member */
    /* NULL: removed, by one hit, with an exchange (release and acquire). Other hits may use the
     * tracer for another grace period; the tracer ends after that. Readers acquire. */
    struct th_shared *_Atomic tracer;
    struct th_shared *removed; /* the former tracer; written by the hit that removed it */
    struct th_later later;
};

struct th_bp_data {
    /* Constant: */
    struct th_generic_bp *breakpoint; /* the data's own */
    void *owner;                      /* the session's `owner` */

    uint32_t flags;               /* enum th_bp_kind, and shifted, the kinds that are active */
    uint32_t count, time, memory; /* tallies; 0: none */
    struct th_shared *spec;       /* match specification of LOCAL or GLOBAL; NULL: none */
    struct th_shared *meta_spec;  /* match specification of META; NULL: none */
    struct th_bp_meta *meta;      /* NULL: not of kind META */
    uint64_t serial;              /* number of the last change that set or restarted a kind */
};

struct th_generic_bp {
    struct th_generic_bp *_Atomic next; /* in the site's list; orders as th_site.first */
    struct th_bp_session *session;      /* the breakpoint holds a share */
    struct th_bp_data data[2];
    struct th_site *site;
    /* request.c: the latest requests of hits, so that each is made once. Relaxed, as a second
     * request does no harm. */
    _Atomic uint64_t asked;

    /* With the permission: */
    bool listed;                      /* in the change's list */
    struct th_generic_bp *of_session; /* the session's next */
    struct th_generic_bp **place;     /* the link of the session's list that points here */
};

static inline uint32_t th_breakpoint_active(const struct th_bp_data *data)
{
    return data->flags >> TH_BP_ACTIVE_SHIFT;
}

static inline uint32_t th_breakpoint_kinds(const struct th_bp_data *data)
{
    return data->flags & TH_BP_ALL;
}

/* Returns the generation that hits obey now. */
static inline unsigned th_breakpoint_generation(void)
{
    return atomic_load_explicit(&th_breakpoint_active_index, memory_order_acquire);
}

/* Finds the breakpoint of SESSION at SITE; NULL: none.
 * Thread: in a reader section, or with the permission. */
struct th_generic_bp *th_breakpoint_find(struct th_site *site, const struct th_bp_session *session);

#endif

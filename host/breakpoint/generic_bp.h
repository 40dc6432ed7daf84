/*
 * The breakpoint of one function and one session: struct th_generic_bp.
 *
 * There are two generations of what it does, data[0] and data[1]. th_breakpoint_active_index tells,
 * for all breakpoints at once, which of them hits obey; the other, the staging one, is written by
 * whoever has the code modification permission. Outside of a change both say the same.
 */
#ifndef TH_GENERIC_BP_H
#define TH_GENERIC_BP_H

#include "breakpoint_session.h"

#include "host/progress/progress.h"

/*
 * 0 or 1. Written by the commit of a change (change.c, step 7) with release: all that was staged
 * comes before it. Read by hits with acquire, which is a plain load on x86: once, and before the
 * breakpoints are looked for, so that all of them, of all sessions, are seen in one generation.
 *
 * The relaxed load of the spec would do where a change waits for progress between staging and
 * commit, as then each thread has passed a barrier in between. A change that only updates does not
 * wait there; its staged data is reached through this index alone.
 */
extern _Atomic uint32_t th_breakpoint_active_index __attribute__((visibility("hidden")));

/* The tracer of meta breakpoints, the same in both generations: when it is found to be gone, it is
 * gone for all at once. */
struct th_bp_meta {
    struct th_shared shared; /* the first member */
    /* NULL: it was removed. Exchanged, once, by the hit that removes it (release and acquire: the
     * others' use of it comes before its end, by thread progress); acquire. */
    struct th_shared *_Atomic tracer;
    struct th_shared *removed; /* by whoever exchanged it */
    struct th_later later;
};

struct th_bp_data {
    uint32_t flags;               /* enum th_bp_kind, and those that are active */
    uint32_t count, time, memory; /* tallies; 0: none */
    struct th_shared *spec;       /* of LOCAL or GLOBAL; NULL: none */
    struct th_shared *meta_spec;  /* of META; likewise */
    struct th_bp_meta *meta;      /* NULL: not of META */
    uint64_t serial;              /* of the last setting that activated anything */
};

struct th_generic_bp {
    struct th_generic_bp *_Atomic next; /* of the site's; as th_site.first */
    struct th_bp_session *session;      /* has a share of it */
    struct th_bp_data data[2];
    struct th_site *site;
    /* request.c: what hits have asked for, so that they ask once. Relaxed, as asking twice does no
     * harm. */
    _Atomic uint64_t asked;

    /* With the permission: */
    bool listed;                      /* in the change's list */
    struct th_generic_bp *of_session; /* the session's next */
    struct th_generic_bp **place;     /* where the session's list points to this */
};

static inline uint32_t th_breakpoint_active(const struct th_bp_data *data)
{
    return data->flags >> TH_BP_ACTIVE_SHIFT;
}

static inline uint32_t th_breakpoint_kinds(const struct th_bp_data *data)
{
    return data->flags & TH_BP_ALL;
}

/* What hits obey now. */
static inline unsigned th_breakpoint_generation(void)
{
    return atomic_load_explicit(&th_breakpoint_active_index, memory_order_acquire);
}

/* That of SESSION, NULL if there is none. In a read section, or with the permission. */
struct th_generic_bp *th_breakpoint_find(struct th_site *site, const struct th_bp_session *session);

/* --- With the code modification permission ---------------------------------------------------- */

#endif

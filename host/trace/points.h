/* What the files of patterns share: the breakpoints of a session. */
#ifndef TH_POINTS_H
#define TH_POINTS_H

#include "functions.h"
#include "match.h"
#include "pattern.h"

/* A wildcard that is kept for the functions to come. */
struct th_pattern_default {
    struct th_pattern pattern;
    struct th_bp_setting setting; /* without a site */
};

/* Lives on while a change names it, so it is not in the session itself. */
struct th_points {
    struct th_bp_session base;
    struct th_session *session; /* NULL once it is gone */
    struct th_pattern_default *defaults;
    size_t count, capacity;
    struct th_pattern_counts counts;
};

/* A match specification that breakpoints share. */
struct th_shared_spec {
    struct th_shared shared;
    struct th_match_spec *spec;
};

extern const struct th_bp_hooks th_pattern_hooks;

/* The function, with what the patterns say of it if it is new. Outside of callbacks. */
struct th_traced_function *th_patterns_meet(struct th_tracing *tracing,
                                            const struct th_function *name);

/* Ends all breakpoints of a session that is to be freed. Outside of callbacks. */
void th_points_end(struct th_session *session);

#endif

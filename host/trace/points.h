/* What the files of patterns share: the breakpoints of a session. */
#ifndef TH_POINTS_H
#define TH_POINTS_H

#include "functions.h"
#include "host/match/match.h"
#include "pattern.h"

/* A pattern that is kept for the functions to come (pattern_default.h). */
struct th_pattern_default {
    struct th_pattern pattern;
    struct th_bp_setting setting; /* without a site */
    bool waits;                   /* for functions of this host, as none of that name was there */
    bool came;                    /* a function has come that got something of it */
};

/* Lives on while a change names it, so it is not in the session itself. */
struct th_points {
    struct th_bp_session base;
    struct th_session *session;          /* NULL once it is gone, which is after its breakpoints */
    struct th_pattern_default *defaults; /* under the tracing's lock */
    size_t count, capacity;
};

/* A match specification that breakpoints share. */
struct th_shared_spec {
    struct th_shared shared;
    struct th_match_spec *spec;
};

extern const struct th_bp_hooks th_trace_pattern_hooks;

/* What is new. */
enum th_pattern_news {
    TH_NEWS_RECORDED, /* a function of a recording: it gets all that is kept */
    TH_NEWS_LOADED,   /* one of this host: what waits for that */
    TH_NEWS_LOCAL,    /* its native site: likewise, of local calls */
};

/* Adds to CHANGE what the patterns say of FUNCTION. Under the lock. */
void th_trace_patterns_add(struct th_tracing *tracing, struct th_change *change,
                           const struct th_function_sites *function, enum th_pattern_news news);

/* The recorded function, with what the patterns say of it if it is new. Outside of callbacks. */
struct th_function_sites *th_trace_patterns_meet(struct th_tracing *tracing,
                                                 const struct th_mfa *name);

/* The caller's share, after the breakpoints are gone. */
void th_trace_points_drop(struct th_points *points);

/* Ends all breakpoints of a session that is to be freed. Outside of callbacks. */
void th_trace_points_end(struct th_session *session);

#endif

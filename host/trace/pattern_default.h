/*
 * Patterns that are kept for the functions to come. Inner header of trace/.
 *
 * Of a recording, whose functions are met one by one, all wildcards are kept. Of this host's
 * functions those are that are for code that is loaded later (on_load); and, where nothing is
 * replayed, those that name a module and are for no function that is there: they wait.
 *
 * All under the tracing's lock.
 */
#ifndef TH_PATTERN_DEFAULT_H
#define TH_PATTERN_DEFAULT_H

#include "points.h"

static inline bool th_trace_pattern_names_one(const struct th_pattern *pattern)
{
    return pattern->module != TH_NONE && pattern->function != TH_NONE &&
           pattern->arity != TH_ANY_ARITY && !pattern->on_load;
}

/* The meta tracer of SETTING that is not the session's own; of that the session has a share
 * already. NULL: none. */
struct th_shared *th_trace_pattern_foreign_tracer(const struct th_bp_setting *setting);

/* Keeps a pattern, if it is to be kept, and takes shares of what is in SETTING. Older ones that are
 * done over are forgotten, with what they hold on to. */
void th_trace_pattern_default_keep(struct th_points *points, const struct th_pattern *pattern,
                                   const struct th_bp_setting *setting);

/* Forgets all. */
void th_trace_pattern_defaults_end(struct th_points *points);

#endif

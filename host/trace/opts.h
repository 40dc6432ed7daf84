/* The options map of trace_X(Tag, State, Tracee, Term, Opts). */
#ifndef TH_OPTS_H
#define TH_OPTS_H

#include "event.h"

/*
 * The map for EVENT, whose terms and time are filled, under a session's FLAGS: at most extra,
 * match_spec_result, scheduler_id and timestamp, as a BEAM would make it. The time itself is never
 * in it. It is made in ENV, or is a constant.
 */
th_term th_opts_make(th_env *env, const struct th_event *event, uint32_t flags);

#endif

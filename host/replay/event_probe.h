/*
 * Recorded events hit USDT probes, so that a recording can be watched with what watches a host
 * (`tracehost replay --probes`). Inner header of replay/.
 *
 * Which event hits which probe stands at the top of event_probe.c. An event without a probe of its
 * own hits `trace`. What a recording does not tell, a depth or the length of a queue, is 0 or "".
 */
#ifndef TH_EVENT_PROBE_H
#define TH_EVENT_PROBE_H

#include "host/trace/trace.h"

/* EVENT has happened. If its probe is watched it is decoded, in ENV. TH_MALFORMED if it is damaged.
 */
enum th_status th_replay_event_probe(struct th_event *event, th_env *env);

#endif

/*
 * Shrinks the terms of an event while a test still holds, such as "the tracer crashes in the same
 * place". The event stays a trace message that a node could send.
 *
 * Terms that may be anything are shrunk: arguments of a call, messages, values that are returned or
 * thrown, reasons, labels and messages of seq_trace, results of match specifications. Numbers in the
 * list of a garbage collection become 0. Functions, pids, names and times stay.
 *
 * For each such term, in this order: [] in its place; an integer becomes 0, a float 0.0; a binary
 * becomes the shortest prefix that suffices; a tuple, list or map is replaced by one of its
 * elements; a list loses elements and a map pairs, by th_replay_minimize_units(); then each element
 * is shrunk. A call may so lose arguments.
 */
#ifndef TH_SHRINK_H
#define TH_SHRINK_H

#include "host/trace/event.h"

/* Returns whether the test holds for EVENT. */
typedef bool th_replay_event_trial(void *context, const struct th_event *event);

/* Shrinks the terms of EVENT, which is decoded and for which TRIAL holds. Terms are made in ENV. If
 * ENV takes more than MOST bytes, the terms stay as they are then. */
void th_replay_shrink(struct th_event *event, th_env *env, size_t most,
                      th_replay_event_trial *trial, void *context);

#endif

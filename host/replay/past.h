/*
 * Records before a share, for tracers that take their calls by past_calls() (erl_tracer.h).
 *
 * Most records of calls and returns repeat the bytes between tracee and time stamp, as they name a
 * few thousand functions. Such bytes are decoded once, when the record is played as any other, and
 * kept with the result. A later record with the same bytes is not decoded: the tracee, these bytes
 * and a time of eight or twelve bytes are the whole record.
 */
#ifndef TH_PAST_H
#define TH_PAST_H

#include "host/term/env.h"
#include "plugin_api/erl_tracer.h"

#include <stddef.h>

struct th_reader;
struct th_event;
struct th_past;

enum { TH_PAST_BATCH = 256 /* limit of th_replay_past_read() */ };

struct th_past *th_replay_past_begin(void);
void th_replay_past_end(struct th_past *past);

/* Reads the next records, up to the first whose bytes are not known, or whose clock has no zero
 * yet. Fills EVENTS, TH_PAST_BATCH of them, and returns their number.
 * Owner: the calls of the events belong to PAST. */
size_t th_replay_past_read(struct th_past *past, struct th_reader *reader,
                           struct th_past_event *events);

/* Keeps the bytes of EVENT, the reader's latest record, if past_calls() can get it. Decodes EVENT
 * into ENV. */
void th_replay_past_learn(struct th_past *past, const struct th_reader *reader,
                          struct th_event *event, th_env *env);

#endif

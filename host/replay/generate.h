/*
 * Generates streams of events, with which tracers are tried.
 *
 * All streams are in trace-port format, of the node nonode@nohost unless HOW names another. All
 * records are sound trace messages. The same arguments give the same bytes, on every machine.
 *
 * A shape is a form that the documents allow for an event, such as "call with arity" or "send to
 * {Name,Node}". Source: erl_tracer(3), erlang:trace/3, seq_trace(3).
 */
#ifndef TH_GENERATE_H
#define TH_GENERATE_H

#include "writer.h"

#include "host/base/buffer.h"

/* Number of shapes. */
size_t th_replay_shapes(void);

/* The name of SHAPE, which begins with that of the tag, and the tag. */
const char *th_replay_shape_name(size_t shape);
enum th_tracer_tag th_replay_shape_tag(size_t shape);

/* Appends one event of each shape to STREAM, in an order in which a node could send them. Returns
 * the number of records. SHAPES gets the shape of each record; SIZE_MAX for a record that only
 * prepares the next ones.
 * Owner: the caller frees *SHAPES with th_free(). */
size_t th_replay_generate_tour(struct th_buffer *stream, size_t **shapes);

/* Appends COUNT events, which depend on SEED alone, to STREAM: processes and ports run, call, send,
 * collect garbage, link, register and exit, with terms of all types and sizes. */
void th_replay_generate_random(struct th_buffer *stream, uint64_t seed, size_t count);

/*
 * Appends a changed copy of RECORDING, a trace-port stream, to STREAM, written as HOW says. Changes
 * depend on SEED: records are dropped, doubled, exchanged with their neighbours, or moved in runs;
 * tracees are exchanged; terms are replaced by odd terms, or by those of other records. The copy
 * differs from RECORDING if RECORDING has a sound record. Damaged records, drop records and records
 * that are no trace message are left out.
 * Errors: those of th_replay_part_read(); STREAM is unchanged then.
 */
enum th_status th_replay_generate_mutated(struct th_buffer *stream,
                                          const struct th_buffer *recording,
                                          const struct th_writer_options *how, uint64_t seed);

#endif

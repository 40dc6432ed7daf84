/*
 * Leaves out calls that lasted too short, or were made too deep, with their ends. A stage between a
 * reader and the player.
 *
 * How long a call has lasted is known at its end. So records are held back, in the order of the
 * stream, until the first of them is decided:
 *   1. an end of a call decides about the call: it lasted from its record to that of the end;
 *   2. if the time of the stream is later than that of a call by the least duration, the call has
 *      lasted, whatever follows;
 *   3. at the end of the stream, where events were lost, when a live stream is quiet for the least
 *      duration, and if too many records are held, calls without an end are kept, and counted.
 * No record is held longer than the least duration, by the times of the stream.
 *
 * Which calls a record ends is decided by call_ends.h. If a recording does not show which of several
 * calls has ended, each has ended then or before: the elapsed time is the longest that it can have
 * lasted. A call and the tail calls in its place end together, so they are left out or kept
 * together. An end is left out with its call, a return_to if all calls that it ends were left out.
 *
 * Records that are left out are given to the player nevertheless, marked, as they change the world.
 * Memory: TH_CALL_FILTER_HELD records, TH_CALL_FILTER_BYTES of their terms, and that of call_ends.h.
 */
#ifndef TH_CALL_FILTER_H
#define TH_CALL_FILTER_H

#include "call_ends.h"

struct th_event;
struct th_reader;

enum { TH_CALL_FILTER_HELD = 1 << 20, TH_CALL_FILTER_BYTES = 256 << 20 };

struct th_call_filter_options {
    int64_t least_ns;  /* 0: any duration */
    int64_t most_deep; /* greatest depth; the outermost call has 1; 0: any */
    struct th_execution_options execution;
    bool recorded_callers;
};

struct th_limit {
    bool set; /* false: no limit */
    uint64_t count;
};

/* Counts of calls and ends. The filter adds to them. */
struct th_call_filter_counts {
    uint64_t calls, ends; /* records */
    uint64_t short_calls; /* left out, as they lasted less */
    uint64_t deep_calls;  /* left out, as they are too deep */
    uint64_t shallow;     /* calls that were kept, as calls around them may have ended */
    uint64_t left_ends;   /* left out with their calls */
    uint64_t unended;     /* calls that were kept although no record shows that they lasted */
    uint64_t untimed;     /* calls that were kept, as they or the records behind have no time */
    uint64_t overflowed;  /* calls that were kept, as too many records were held */
    uint64_t doubtful;    /* return_to events that were kept, as a kept call may have ended */
    uint64_t unmatched; /* ends that were kept, as their calls were not recorded or are forgotten */
};

struct th_call_filter;

/* Reads at most MAX_RECORDS. COUNTS must stay until th_replay_call_filter_end(). */
struct th_call_filter *th_replay_call_filter_begin(const struct th_call_filter_options *options,
                                                   const struct th_limit *max_records,
                                                   struct th_call_filter_counts *counts);

/* As th_replay_reader_next(), of READER. *LEFT_OUT: the event changes the world, but is not
 * delivered. */
enum th_status th_replay_call_filter_next(struct th_call_filter *filter, struct th_reader *reader,
                                          struct th_event *event, bool *left_out);

/* Reads no more: th_replay_call_filter_next() gives the records that are held, and then TH_END. */
void th_replay_call_filter_stop(struct th_call_filter *filter);

void th_replay_call_filter_end(struct th_call_filter *filter);

#endif

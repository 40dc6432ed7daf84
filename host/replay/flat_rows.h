/*
 * Events as flat rows, for programs that group and filter columns: a row an event, each part of the
 * event in a column of its own. tracehost-dump(1), FLAT ROWS, documents the columns.
 */
#ifndef TH_FLAT_ROWS_H
#define TH_FLAT_ROWS_H

#include "host/base/error.h"
#include "host/term/env.h"

#include <stdint.h>

struct th_buffer;
struct th_event;
struct th_reader_info;

enum th_flat_format { TH_FLAT_CSV, TH_FLAT_TABLE, TH_FLAT_JSONL };

struct th_flat_counts {
    uint64_t calls;     /* recorded calls */
    uint64_t ended;     /* those of them that some record ends */
    uint64_t unshown;   /* those of `ended` without a return_from or exception_from of their own */
    uint64_t doubtful;  /* ends without a duration: perhaps of another call of the function */
    uint64_t unmatched; /* ends without a duration: the call was not recorded, or is forgotten */
    uint64_t untimed;   /* ends without a duration: the times of call and end cannot be compared */
};

struct th_flat_rows;

struct th_flat_rows *th_replay_flat_begin(enum th_flat_format format);

/* Appends the row of the column names, if the format has one. */
void th_replay_flat_head(const struct th_flat_rows *rows, struct th_buffer *out);

/* Appends the row of EVENT, of the stream with INFO; terms are decoded into ENV.
 * Errors: TH_MALFORMED if EVENT is no term; OUT is unchanged then. */
enum th_status th_replay_flat_add(struct th_flat_rows *rows, const struct th_reader_info *info,
                                  struct th_event *event, th_env *env, struct th_buffer *out);

const struct th_flat_counts *th_replay_flat_counts(const struct th_flat_rows *rows);
void th_replay_flat_end(struct th_flat_rows *rows);

#endif

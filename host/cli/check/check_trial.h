/*
 * Trials of `tracehost check`: a process loads the tracer, plays a stream in certain circumstances,
 * with the checker on, and unloads the tracer. Its findings, its death and what it has covered are in
 * memory that both processes see.
 */
#ifndef TH_CHECK_TRIAL_H
#define TH_CHECK_TRIAL_H

#include "check_page.h"

struct th_buffer;
struct th_texts;

/* The circumstances of a trial. */
struct th_check_setting {
    const char *tracer;             /* NAME, NAME=STATE or NAME,key=value,..., as for -t */
    const struct th_texts *folders; /* of -L */
    const char *state;              /* the tracer's state as Erlang text; NULL: that of `tracer` */
    unsigned threads;               /* callbacks run again in so many at once; 0: not again */
    uint64_t fails;                 /* number of the allocation that fails, from 1; 0: none */
    bool replaces;                  /* the tracer is replaced by itself after half of the records */
    bool twice;                     /* two sessions have the tracer */
    int64_t limit_ns;               /* of a callback */
};

/* Runs a trial of STREAM. Returns its results, valid until the next trial. A death of the trial is
 * the last finding.
 * Order: the process has one thread, and no library is open.
 * Errors: NULL if there is no memory or process for it; the cause is in the chain. */
const struct th_check_page *th_check_trial_run(const struct th_check_setting *setting,
                                               const struct th_buffer *stream);

#endif

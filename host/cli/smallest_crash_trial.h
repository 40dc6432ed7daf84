/*
 * Trials of a tracer: processes that play a few records, of which it is known whether the tracer
 * crashed as it did before.
 *
 * A trial is a fork of a process that has loaded the tracers and has played nothing, so it costs
 * little more than its records. A tracer that starts threads cannot be forked: then each trial
 * loads the tracers. A trial prints nothing, writes no output file of a tracer, and has a time
 * limit.
 */
#ifndef TH_SMALLEST_CRASH_TRIAL_H
#define TH_SMALLEST_CRASH_TRIAL_H

#include "host/crash/crash.h"

struct th_buffer;
struct th_control_session_options;
struct th_replaying;
struct th_trial_page;
struct th_tracing;

struct th_trials {
    const struct th_replaying *replay;
    struct th_control_session_options *sessions; /* those that are loaded */
    /* The crash that counts. The first trial that crashes so completes what is not known. */
    struct th_crash_signature expected;
    int64_t limit_ns;    /* of one trial */
    int64_t deadline_ns; /* on th_clock_real_monotonic(): no trial begins later */
    const volatile int *stop;

    /* Written by the functions below. */
    uint64_t count;            /* trials */
    uint64_t played;           /* records of the latest trial up to the crash, that one included */
    bool ended;                /* a trial was not made: stopped, or past the deadline */
    struct th_tracing *loaded; /* NULL: each trial loads the tracers */
    struct th_trial_page *page;
};

/* Loads the tracers, in a trial at first. *CRASHES: they crash as expected before any record.
 * Order: the process has one thread, and does not load the tracers otherwise.
 * Errors: TH_FAILED if the tracers cannot be loaded. */
enum th_status th_cli_trials_begin(struct th_trials *trials, bool *crashes);

/* Plays STREAM. Returns whether the tracer crashes as expected. */
bool th_cli_trials_try(struct th_trials *trials, const struct th_buffer *stream);

#endif

/*
 * Trials of `tracehost check`: a process loads the tracer, plays a stream in certain circumstances,
 * with the checker on, and unloads the tracer. Its findings, its death and what it has covered are in
 * memory that both processes see.
 */
#ifndef TH_CHECK_TRIAL_H
#define TH_CHECK_TRIAL_H

#include "host/check/check.h"
#include "host/crash/crash.h"

#include "plugin_api/erl_tracer.h"

#include <stdatomic.h>

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

enum {
    TH_CHECK_FINDINGS = 32, /* of one trial; more are not kept */
    TH_CHECK_WHERE = 64,
    TH_CHECK_TEXT = 400,
    TH_CHECK_CAUSES = 8,
    TH_CHECK_RECORDS = 512 /* of one stream whose `trace` is noted in `traced` */
};

/* A finding. Two findings with equal keys have one cause. */
struct th_check_found {
    uint64_t key; /* of rule, place and kind; 0: none */
    enum th_check_rule rule;
    char where[TH_CHECK_WHERE]; /* "enabled_call", "load", "bad:f/1" */
    char text[TH_CHECK_TEXT];   /* who did what */
};

enum th_check_phase { TH_CHECK_LOADING, TH_CHECK_PLAYING, TH_CHECK_UNLOADING, TH_CHECK_ENDED };

/* The results. The trial writes, and this process reads them after the trial's end. */
struct th_check_page {
    struct th_crash_signature crash;
    _Atomic int phase;       /* enum th_check_phase */
    _Atomic uint64_t played; /* records, the current one included */
    atomic_flag lock;        /* guards the findings: several threads have some */
    unsigned count;
    struct th_check_found found[TH_CHECK_FINDINGS];
    _Atomic uint32_t slots; /* a bit for each slot that was called */
    uint32_t own; /* a bit for each slot with a function of its own, not the generic one */
    atomic_bool traced[TH_CHECK_RECORDS]; /* by record, from 0: `trace` was called */
    atomic_bool allocation_failed;        /* as `fails` wanted */
    bool unwatched;                       /* the tracer has threads: no effects are seen */
    bool blind;                           /* the kernel does not show system calls */
    /* Why the tracer was not attached: TH_OK if it was, else the chain of causes, the last one first. */
    enum th_status refused;
    unsigned links;
    char causes[TH_CHECK_CAUSES][TH_ERROR_TEXT + 1];
};

/* Runs a trial of STREAM. Returns its results, valid until the next trial. A death of the trial is
 * the last finding.
 * Order: the process has one thread, and no library is open.
 * Errors: NULL if there is no memory or process for it; the cause is in the chain. */
const struct th_check_page *th_check_trial_run(const struct th_check_setting *setting,
                                               const struct th_buffer *stream);

/* Returns the results of the latest trial; there was one. */
const struct th_check_page *th_check_trial_results(void);

/* Raises the error with which the tracer of PAGE was not attached. */
enum th_status th_check_trial_raise(const struct th_check_page *page);

/* Returns the finding with KEY; NULL: there is none. */
const struct th_check_found *th_check_trial_find(const struct th_check_page *page, uint64_t key);

#endif

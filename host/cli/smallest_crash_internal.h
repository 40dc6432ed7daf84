/* Interfaces between the files of --on-crash=minimize. */
#ifndef TH_SMALLEST_CRASH_INTERNAL_H
#define TH_SMALLEST_CRASH_INTERNAL_H

#include "smallest_crash.h"
#include "smallest_crash_trial.h"
#include "replaying.h"

#include "host/replay/kept_records.h"

#include <stdatomic.h>

/* How a search has ended. */
enum th_minimize_outcome {
    TH_MINIMIZE_NOT_BEGUN,
    TH_MINIMIZE_DONE,
    TH_MINIMIZE_NOT_REPEATED,
    TH_MINIMIZE_OF_TRACER,
    TH_MINIMIZE_FAILED
};

/* Shared by the processes. */
struct th_minimize_page {
    struct th_crash_signature crash; /* of the replay, then as the trials completed it */
    atomic_bool finished;            /* the replay ended without a crash */
    atomic_size_t stream;            /* that is played */
    atomic_bool overfull;            /* records of a kept stream were not kept */
    _Atomic int outcome;             /* of the search */
    _Atomic int interrupted;         /* signal that stopped the search; 0: none */
};

/* A search. */
struct th_minimizing {
    struct th_minimize *minimize;
    struct th_trials trials;
    struct th_replay_kept kept;
    size_t *records; /* indices in `kept`: those that are left */
    size_t count;
    unsigned asks; /* crashes that make a trial a success */
    FILE *out;     /* stderr of the user */
};

/* Searches, and shows the result; TRACER is the one that is loaded, or not found.
 * (smallest_crash_search.c) */
enum th_minimize_outcome th_cli_minimize_search(struct th_minimizing *m,
                                                const struct th_minimize_tracer *tracer);

/* Writes STREAM to the files of the result, and prints what it needs and the command. HOW: the
 * format in which it crashes. (smallest_crash_result.c)
 * Errors: TH_FAILED if a file cannot be written. */
enum th_status th_cli_minimize_show(struct th_minimizing *m, const struct th_buffer *stream,
                                    const struct th_writer_options *how, bool confirmed,
                                    const struct th_minimize_tracer *tracer);

#endif

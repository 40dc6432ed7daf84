/*
 * Trials of `tracehost check` of a NIF library: a process loads the library, evaluates calls as
 * `tracehost call --check` does, in certain circumstances, and unloads the library.
 *
 * A call that takes longer than the limit is ended by the death of its process: a function that
 * yields may work for long. A function that does not return or yield then is a finding.
 */
#ifndef TH_CHECK_CALL_TRIAL_H
#define TH_CHECK_CALL_TRIAL_H

#include "check_calls.h"
#include "check_page.h"

#include <stdint.h>

struct th_texts;

/* The circumstances of a trial. */
struct th_check_call_setting {
    const char *path;   /* of the library */
    const char *info;   /* argument of load(), Erlang text; NULL: 0 */
    const char *folder; /* current folder of the trial */
    unsigned threads;   /* the calls are evaluated in so many processes at once; 0: in one */
    uint64_t fails;     /* number of the allocation that fails, from 1; 0: none */
    uint64_t kill_ms;   /* each call's process is killed after so many milliseconds; 0: it is not */
    bool replaces;      /* the library is replaced by itself after each call */
    uint64_t rounds;    /* the calls are evaluated so often, and the memory is measured; 0: once */
    int64_t limit_ns;   /* of a call */
};

enum {
    TH_CHECK_MOST_LINES = 4096, /* of one trial */
    TH_CHECK_MOST_FUNCTIONS = 1024,
    TH_CHECK_NAMES = 1 << 16 /* bytes of all functions' names */
};

/* How a call has ended. */
enum th_check_call_end {
    TH_CHECK_CALL_NOT_MADE,
    TH_CHECK_CALL_RAISED,
    TH_CHECK_CALL_RETURNED,
    TH_CHECK_CALL_MADE,  /* it returned a resource */
    TH_CHECK_CALL_PAIR,  /* it returned a pair whose second element is a resource */
    TH_CHECK_CALL_KILLED /* it took too long */
};

/* Further results, shared as struct th_check_page is. */
struct th_check_call_results {
    unsigned char ends[TH_CHECK_MOST_LINES]; /* enum th_check_call_end, by line */
    uint32_t took_us[TH_CHECK_MOST_LINES];   /* microseconds, by line */
    /* Results of th_check_call_examine(). */
    bool tracer;
    int release; /* th_library_node_release() */
    size_t functions;
    char module[256], names[TH_CHECK_NAMES]; /* names and arities: "open/1\nclose/1\n" */
};

/* Opens and loads the library of SETTING in a process of its own, and lists its functions. The page has
 * a finding for each reason for which Erlang nodes refuse the library.
 * Errors: NULL as th_check_call_trial(); else results, in whose page a refusal may be noted. */
const struct th_check_call_results *
th_check_call_examine(const struct th_check_call_setting *setting);

/* Runs a trial of CALLS. Returns its results, valid until the next trial; the findings are in
 * th_check_trial_results(). A death of the trial is the last finding.
 * Order: the process has one thread, and no library is open.
 * Errors: NULL if there is no memory or process for it; the cause is in the chain. */
const struct th_check_call_results *th_check_call_trial(const struct th_check_call_setting *setting,
                                                        const struct th_check_calls *calls);

#endif

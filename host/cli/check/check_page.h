/*
 * The results of a trial of `tracehost check`, in memory that the trial and this process share:
 * findings, the death of the trial, a refusal of the library, and what was covered.
 */
#ifndef TH_CHECK_PAGE_H
#define TH_CHECK_PAGE_H

#include "host/base/error.h"
#include "host/check/check.h"
#include "host/crash/crash.h"

#include <stdatomic.h>

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
    uintptr_t frame;            /* of a death: th_crash_signature */
    char file[TH_CHECK_WHERE];
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

/* Returns the results of the latest trial, emptied for the next one.
 * Errors: NULL if there is no memory; the cause is in the chain. */
struct th_check_page *th_check_page_clear(void);

/* Returns the results of the latest trial; there was one. */
const struct th_check_page *th_check_trial_results(void);

/* --- In the trial ----------------------------------------------------------------------------- */

/* Adds a finding, unless one of its RULE, place WHERE and KIND is there. */
void th_check_page_add(enum th_check_rule rule, const char *where, const char *kind,
                       const char *text);

/* Adds FINDING, of the checker. Thread: any. */
void th_check_page_note(const struct th_check_finding *finding);

/* Notes the chain of causes, and STATUS, with which the library was refused. */
void th_check_page_note_refusal(enum th_status status);

/* --- Outside ---------------------------------------------------------------------------------- */

/* The death of a trial. */
struct th_check_death {
    const char *where, *who; /* the place, and the same with more words */
    bool fails;              /* an allocation was to fail */
    bool in_time;            /* false: the trial was killed, as it took too long */
    int status;              /* as of waitpid() */
};
void th_check_page_add_death(const struct th_check_death *death);

/* Raises the error with which the library of PAGE was refused. */
enum th_status th_check_trial_raise(const struct th_check_page *page);

/* Returns the finding with KEY; NULL: there is none. */
const struct th_check_found *th_check_trial_find(const struct th_check_page *page, uint64_t key);

#endif

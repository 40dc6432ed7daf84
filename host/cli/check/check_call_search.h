/*
 * The smallest list of calls for a finding of `tracehost check` of a NIF library: trials in the same
 * circumstances, of fewer calls and smaller arguments, as long as the finding is met
 * (replay/minimize.h, replay/shrink.h). At the end the numbers in expressions that stand for large
 * terms, such as lists:seq(1, 1000), become as small as can be.
 */
#ifndef TH_CHECK_CALL_SEARCH_H
#define TH_CHECK_CALL_SEARCH_H

#include "check_call_trial.h"

struct th_check_call_result {
    struct th_check_found found; /* as in the smallest list */
    struct th_check_call_setting setting;
    struct th_check_calls calls; /* the smallest list */
    bool confirmed;              /* the finding was met twice more in it */
    uint64_t trials;
};

/* Cuts CALLS for RESULT, whose `found` and `setting` are those of a trial of CALLS; fills the other
 * members. Makes at most TH_CHECK_SEARCH_TRIALS trials (check_seek.h), and none once *STOP is not 0. */
void th_check_call_search(struct th_check_call_result *result, const struct th_check_calls *calls,
                          const volatile int *stop);

/* Print the circumstances of SETTING in a word, and read them: "plain", "threads=4", "allocation=2",
 * "kill=1", "replace", "rounds=1000".
 * Errors: TH_USAGE if TEXT is none of these. */
enum { TH_CHECK_CALL_SETTING_TEXT = 64 };
void th_check_call_setting_print(const struct th_check_call_setting *setting,
                                 char text[TH_CHECK_CALL_SETTING_TEXT]);
enum th_status th_check_call_setting_read(const char *text, struct th_check_call_setting *setting);

#endif

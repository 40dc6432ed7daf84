/* The answer of Erlang nodes to the library that `tracehost check` tries: findings without a stream, and a line of the summary. */
#ifndef TH_CHECK_NODE_H
#define TH_CHECK_NODE_H

#include "check_call_trial.h"
#include "check_result.h"

struct th_check_node {
    bool examined; /* the library could be opened */
    bool tracer;
    int release; /* the first OTP release that loads the library; 0: none, as it has no entry */
    unsigned refusals;
    struct th_check_found found[TH_CHECK_FINDINGS]; /* a finding for each refusal */
};

/* Fills NODE from RESULTS, those of th_check_call_examine(). Order: before the next trial. */
void th_check_node_note(struct th_check_node *node, const struct th_check_call_results *results);

/* Prints the findings of OPTIONS->node, and adds them to KNOWN. Errors: none. */
void th_check_node_print(const struct th_check_options *options, struct th_check_known *known);

/* Prints the line of the summary, if no node refuses the library. */
void th_check_node_sum_up(const struct th_check_node *node);

#endif

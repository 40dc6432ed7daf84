/*
 * Conditions of `diff --fail-if`, and their evaluation on the JSON that the tracer `diff` writes.
 *
 *     METRIC(FUNCTIONS) RELATION VALUE      p99(m:f/1) > +10%
 *     differs
 *
 * A VALUE with a sign or a percent sign is a change from the first recording to the second; any other
 * is a value of the second recording. A condition holds if it holds for any of its FUNCTIONS.
 */
#ifndef TH_DIFF_CONDITION_H
#define TH_DIFF_CONDITION_H

#include "host/base/error.h"
#include "host/trace/pattern.h"

#include <jansson.h>

enum th_diff_relation {
    TH_DIFF_LESS,
    TH_DIFF_LESS_EQUAL,
    TH_DIFF_GREATER,
    TH_DIFF_GREATER_EQUAL,
    TH_DIFF_EQUAL,
    TH_DIFF_UNEQUAL
};

struct th_diff_condition {
    const char *text;
    const char *metric; /* NULL: differs */
    bool time;          /* the metric is a time, in nanoseconds */
    struct th_pattern functions;
    enum th_diff_relation relation;
    bool change, percent;
    double value;
};

enum th_diff_answer { TH_DIFF_NO, TH_DIFF_YES, TH_DIFF_UNDECIDED };

/* Reads TEXT, which must stay valid.
 * Errors: TH_USAGE with the cause. */
enum th_status th_cli_diff_condition_parse(const char *text, struct th_diff_condition *condition);

/* Decides CONDITION. RESULT is the tracer's JSON. FIGURES, an empty buffer, gets the figures that
 * make the condition hold, or the reason for which it is undecided. */
struct th_buffer;
enum th_diff_answer th_cli_diff_condition_decide(const struct th_diff_condition *condition,
                                                 const json_t *result, struct th_buffer *figures);

#endif

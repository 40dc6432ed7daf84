/* How a match specification came out, as text. */
#ifndef TH_MATCH_REPORT_H
#define TH_MATCH_REPORT_H

#include "match.h"

struct th_match_report {
    const struct th_match_spec *spec;
    struct th_match_subject subject;
    struct th_match_result result;
    const struct th_match_attempt *attempts;
    size_t count;                   /* of attempts */
    const struct th_buffer *doings; /* what actions did, a line each */
};

/* Appends lines: first what erlang:match_spec_test/3 gives, `_` being an unknown message, or
 * `unknown`; then what became of each clause, what actions did, and what was not known. */
void th_match_print_report(struct th_buffer *out, const struct th_match_report *report);

#endif

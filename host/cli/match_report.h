/* How a match specification came out, as text and as JSON. */
#ifndef TH_CLI_MATCH_REPORT_H
#define TH_CLI_MATCH_REPORT_H

#include "host/trace/trace.h"

struct th_match_report {
    const struct th_match_spec *spec;
    struct th_match_subject subject;
    struct th_match_result result;
    const struct th_match_attempt *attempts;
    size_t count;                   /* of attempts */
    const struct th_buffer *doings; /* what actions did, a line each */
};

/* On stdout. The first line is what erlang:match_spec_test/3 gives, `_` being an unknown message;
 * or `unknown`. */
void th_match_report_text(const struct th_match_report *report);
void th_match_report_json(const struct th_match_report *report);

/* The faults of a specification: {error,[{error,Text},...]} or {"errors": [...]}. */
void th_match_report_faults_text(const struct th_match_faults *faults);
void th_match_report_faults_json(const struct th_match_faults *faults);

#endif

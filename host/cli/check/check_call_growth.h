/* Memory that grows with the calls of a trial of `tracehost check`. */
#ifndef TH_CHECK_CALL_GROWTH_H
#define TH_CHECK_CALL_GROWTH_H

#include <stdint.h>

struct th_call_session;
struct th_program;

/*
 * Evaluates PROGRAM in ROUNDS rounds in SESSION, and adds a finding of WHO to the page if the memory of
 * malloc() grows by equal amounts in equal spans of them. The first span is for objects that the library
 * and this program make once.
 * Order: SESSION was not started.
 */
void th_check_call_growth(struct th_call_session *session, const struct th_program *program,
                          uint64_t rounds, const char *who);

#endif

/* Processes that do as they are told from outside. Inner header of runtime/. */
#ifndef TH_PROCESS_RUN_H
#define TH_PROCESS_RUN_H

#include "runtime_internal.h"

/* Begins what a signal asks for. */
void th_runtime_request_begin(struct th_process *process, struct th_request *request);

/* The call that was asked for is over. */
void th_runtime_request_finish(struct th_process *process, enum th_call_end end, th_term outcome);

/* The process has ended with REASON: so has what was asked of it. */
void th_runtime_request_end(struct th_request *request, th_term reason);

#endif

/* The prompt of `tracehost call`: forms that are typed line by line. */
#ifndef TH_CALL_PROMPT_H
#define TH_CALL_PROMPT_H

#include "call_session.h"

/* Reads and evaluates what is typed at stdin, a terminal, until its end, q() or a signal. Errors:
 * TH_FAILED, before anything is read. */
enum th_status th_cli_call_prompt(struct th_call_session *session);

#endif

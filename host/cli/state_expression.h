/* States of tracers that are expressions. */
#ifndef TH_STATE_EXPRESSION_H
#define TH_STATE_EXPRESSION_H

#include "host/term/term.h"

/* From now on the state of a tracer may be an expression (th_tracer_state_evaluate). SELF is what
 * self() in it gives, TH_NONE: the console. Before other threads read states. */
void th_cli_state_expressions_begin(th_term self);

#endif

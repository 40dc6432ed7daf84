/* Exceptions, and how processes end with them. Inner header of runtime/. */
#ifndef TH_EXCEPTION_H
#define TH_EXCEPTION_H

#include "runtime_internal.h"

/* What the function of CALL has raised, with the stack. */
void th_runtime_exception_of_call(struct th_process *process, const struct th_call *call,
                                  enum th_raised class, th_term reason);

/* `undef`, or another error, of a call of MODULE:FUNCTION that OUTER (or nobody) made. */
void th_runtime_exception_of_callee(struct th_process *process, struct th_call *outer,
                                    th_term error, const struct th_continuation *callee);

/* The atom of a C name of a function. */
th_term th_runtime_name_atom(const char *name);

/* The reason with which a process ends that does not catch EXCEPTION, in its environment. */
th_term th_runtime_exception_exit_reason(th_env *env, const struct th_exception_raised *exception);
void th_runtime_exception_report(const struct th_process *process, th_term reason);

#endif

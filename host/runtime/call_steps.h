/* The steps of a process: calls and what they return to. Inner header of runtime/. */
#ifndef TH_CALL_STEPS_H
#define TH_CALL_STEPS_H

#include "runtime.h"

#include "host/trace/event.h"

struct th_entered;
struct th_continuation;

/* Copies in ENV; TH_NONE stays. */
th_term *th_runtime_terms_copy(th_env *env, int count, const th_term terms[]);

/* An array in ENV of FIRST places and then COUNT terms, as the checker lets them pass in FUNCTION.
 */
th_term *th_runtime_terms_keep(th_env *env, int first, int count, const th_term terms[],
                               const char *function);

/* Takes the next step, a call of code or an external call; in a nested call, which OUTER made, or
 * at depth 0, with OUTER NULL. What is over then goes on with the frame that waits for it; there
 * being none above `base`, the next step is TH_STEP_CONCLUDE, with `outcome` and `raised`. */
void th_runtime_step_take(struct th_process *process, struct th_call *outer);

/*
 * A nested call that OUTER makes, of an entry whose WORD is TH_EXPORT_USUAL, and whose instance was
 * entered with OWN as the answer: its result, or what th_runtime_nested_end() says. For the usual
 * case: OUTER has nothing to be done after itself and has raised nothing, and the checker is off.
 */
th_term th_runtime_step_nested(struct th_call *outer, uintptr_t word, const th_term *argv,
                               struct th_entered *own);

/* PROCESS has ended, with steps that are left: it is in their code no more. */
void th_runtime_steps_drop(struct th_process *process);

/* What PROCESS does next, or a frame that it keeps, is code of the instance with that serial. */
bool th_runtime_steps_are_in(const struct th_process *process, uint64_t instance);

/* --- Nested calls (nested.c) --- */

/* The code that OUTER has called has run, or is next: goes on with what is next until the call is
 * over. Its result, or TH_NONE: an exception was passed to OUTER. BASE is the `base` of OUTER. */
th_term th_runtime_nested_end(struct th_call *outer, size_t base);

/* --- Exceptions, and how processes end with them (exception.c) -------------------------------- */

/* What the function of CALL has raised, with the stack. */
void th_runtime_exception_of_call(struct th_process *process, const struct th_call *call,
                                  enum th_raised class, th_term reason);

/* `undef`, or another error, of a call of MODULE:FUNCTION that OUTER (or nobody) made. */
void th_runtime_exception_of_callee(struct th_process *process, struct th_call *outer,
                                    th_term error, const struct th_continuation *callee);

/* The name of CALLEE; of its code that NAME with ARGC arguments runs or waits as, unless that goes
 * on in the function's place. */
struct th_mfa th_runtime_callee_name(const struct th_callee *callee);
struct th_mfa th_runtime_code_name(const struct th_callee *callee, const char *name, bool goes_on,
                                   int argc);

/* The reason with which a process ends that does not catch EXCEPTION, in its environment. */
th_term th_runtime_exception_exit_reason(th_env *env, const struct th_exception_raised *exception);
void th_runtime_exception_report(const struct th_process *process, th_term reason);

/* --- Where functions are in their source (exception.c) ---------------------------------------- */

/*
 * Where functions are in their source (library's line.h), as terms.
 *
 * Code is told by an address inside of an instruction; 0: it is not known. Of a call that is one
 * byte before where it returns to.
 */

/* {File, Line} as caller_line gives, `undefined` if it is not known. LIBRARY is in use. */
th_term th_runtime_source_place(th_env *env, struct th_library *library, uintptr_t address);

/* [{file, File}, {line, Line}] as in stack traces; [] if it is not known. */
th_term th_runtime_source_location(th_env *env, struct th_library *library, uintptr_t address);

#endif

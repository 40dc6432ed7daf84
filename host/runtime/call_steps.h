/* The steps of a process: calls, and the frames that calls return to. Inner header of runtime/. */
#ifndef TH_CALL_STEPS_H
#define TH_CALL_STEPS_H

#include "runtime.h"

#include "host/trace/event.h"

struct th_entered;
struct th_continuation;

/* Copies COUNT terms to ENV and returns the array; TH_NONE stays TH_NONE. */
th_term *th_runtime_terms_copy(th_env *env, int count, const th_term terms[]);

/* Returns an array in ENV of FIRST unset places and COUNT terms. While the checker is on, each word
 * that is no term of ENV is reported as an error of FUNCTION and replaced. */
th_term *th_runtime_terms_keep(th_env *env, int first, int count, const th_term terms[],
                               const char *function);

/* Takes the next step of PROCESS: runs code, or resolves an external call. OUTER made the nested
 * call that the step belongs to; NULL: depth 0. When a call is over, the next step is the kept
 * frame that waits for its result; without a frame above `base`, the next step is TH_STEP_CONCLUDE
 * with `outcome` and `raised`. */
void th_runtime_step_take(struct th_process *process, struct th_call *outer);

/*
 * Makes a nested call for OUTER and returns its result, or the result of th_runtime_nested_end().
 * WORD, the word of the entry, has TH_EXPORT_USUAL; OWN is the result of entering its instance.
 * Used for the common case: OUTER has neither a pending continuation nor a pending exception, and
 * the checker is off.
 */
th_term th_runtime_step_nested(struct th_call *outer, uintptr_t word, const th_term *argv,
                               struct th_entered *own);

/* Drops the remaining steps of PROCESS, which has ended, and leaves the instances of their code. */
void th_runtime_steps_drop(struct th_process *process);

/* Returns whether the next step of PROCESS or a kept frame is code of the instance with serial
 * INSTANCE. */
bool th_runtime_steps_are_in(const struct th_process *process, uint64_t instance);

/* --- Nested calls (nested.c) --- */

/* Runs the remaining steps of a nested call of OUTER until the call is over. Returns the result, or
 * TH_NONE if an exception was passed to OUTER. BASE becomes the `base` of the process again. */
th_term th_runtime_nested_end(struct th_call *outer, size_t base);

/* --- Exceptions, and exit reasons (exception.c) ----------------------------------------------- */

/* Sets PROCESS->raised to the exception that the function of CALL has raised, with the stack. */
void th_runtime_exception_of_call(struct th_process *process, const struct th_call *call,
                                  enum th_raised class, th_term reason);

/* Sets PROCESS->raised to the error ERROR (`undef` or another) of a call of CALLEE's
 * MODULE:FUNCTION. OUTER made the call; NULL: depth 0. */
void th_runtime_exception_of_callee(struct th_process *process, struct th_call *outer,
                                    th_term error, const struct th_continuation *callee);

/* th_runtime_callee_name(): returns the name of CALLEE. th_runtime_code_name(): returns the name of
 * code of CALLEE that runs or waits as NAME with ARGC arguments; if the code continues in the
 * function's place (GOES_ON), the name of CALLEE. */
struct th_mfa th_runtime_callee_name(const struct th_callee *callee);
struct th_mfa th_runtime_code_name(const struct th_callee *callee, const char *name, bool goes_on,
                                   int argc);

/* th_runtime_exception_exit_reason(): returns the exit reason, in ENV, of a process that does not
 * catch EXCEPTION. th_runtime_exception_report(): logs the end of PROCESS unless reports are off.
 */
th_term th_runtime_exception_exit_reason(th_env *env, const struct th_exception_raised *exception);
void th_runtime_exception_report(const struct th_process *process, th_term reason);

/* --- Source lines of functions (exception.c) -------------------------------------------------- */

/*
 * Source lines of functions (library's line.h) as terms. ADDRESS is an address inside of an
 * instruction, 0: not known. For a call, ADDRESS is the return address - 1.
 *
 * LIBRARY must be in use by the caller.
 */

/* Returns {File, Line} for `caller_line`; `undefined` if the line is not known. */
th_term th_runtime_source_place(th_env *env, struct th_library *library, uintptr_t address);

/* Returns [{file, File}, {line, Line}] for stack traces; [] if the line is not known. */
th_term th_runtime_source_location(th_env *env, struct th_library *library, uintptr_t address);

#endif

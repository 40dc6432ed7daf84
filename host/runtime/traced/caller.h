/*
 * Who called: the functions that wait on a process' stacks. Inner header of runtime/.
 *
 * A process waits in kept frames and, while it runs, on the C stack of the thread: that of the code
 * that runs, then that of the code which has called th_call(), and so on, each with the kept frames
 * of what waits for it in between. On a C stack the unwinder finds frames, and a frame is a
 * function's that begins where the frame's code does (th_code_at()); what is none is a C function
 * that nobody can trace, or the host's, and passed over. What runs in the place of a function (a
 * continuation, a static function that it ended with a jump to) is that function, where it is
 * called by the runtime itself.
 *
 * Callers are found when somebody asks, and not kept. A walk takes about a microsecond a frame; so
 * the stack trace of an exception has no local functions, as each exception would take a walk. By
 * the thread that runs the process.
 */
#ifndef TH_CALLER_H
#define TH_CALLER_H

#include "host/runtime/runtime_internal.h"

/* Begin with kept frames: for what the runtime calls, or ends. Else with the C frames that were
 * there when the stack pointer was FROM; TH_FROM_HERE: with who has called the host. */
enum { TH_FROM_KEPT = 0, TH_FROM_HERE = 1 };

/* The nearest first, at most LIMIT. Returns how many there are. */
size_t th_traced_callers_find(const struct th_process *process, uintptr_t from,
                              struct th_waiter found[], size_t limit);

/* The name of a callee. */
struct th_mfa th_traced_callee_name(const struct th_callee *callee);

/*
 * Who wants to know is told where control comes back to (th_live_return_to()): at once when calls
 * have ended with a value, which FROM tells as above.
 *
 * After an exception it is when that is caught. How code of libraries catches: th_call_then() with
 * TH_CATCHES; th_catch(); or it goes on although what it has called has raised: it returns a term,
 * or calls another function. Only who catches in the frame that the exception came to last has been
 * returned to; an exception that passes a function of which nobody has wanted to know the end is
 * not followed any further.
 */
void th_traced_return_to_caller(struct th_process *process, uintptr_t from);
void th_traced_raise_to_caller(struct th_process *process, uintptr_t from);

/* An exception may have been caught: by who is found FROM there; by PLACE if that is a frame of
 * the C stack; by CALLEE, for sure. And if it was the code that the runtime has called. */
void th_traced_caught_by_caller(struct th_process *process, uintptr_t from);
void th_traced_caught_at(struct th_process *process, uintptr_t frame);
void th_traced_caught_by(struct th_process *process, const struct th_callee *callee);
void th_traced_caught_by_code(struct th_process *process);

/*
 * What match specifications ask for: who called, {M, F, Arity} or `undefined`; that with {File,
 * Line}, or `undefined`, of the call; and who called that one, and so on, as a stack trace. The
 * line of a function that waits in a kept frame, and has returned, is where its continuation
 * begins. CONTEXT is the process' struct th_live_tracee.
 */
th_term th_traced_caller(void *context, th_env *env);
th_term th_traced_caller_line(void *context, th_env *env);
th_term th_traced_stack(void *context, th_env *env, size_t depth);

/* The call that is told now was met in the code of FUNCTION: whether it is the one that the runtime
 * has made. A call in C, also one that is a jump from there, has arguments elsewhere. */
bool th_traced_is_external(void *context, const struct th_mfa *function, const th_term *arguments);

/* FROM of the call that is told now: of a local one the C frames come first, of an external one
 * what is kept. */
uintptr_t th_traced_from(void);

#endif

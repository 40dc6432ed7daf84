/* Functions and callers as stacks have them, and steps of ends, shared by the files of
 * executions. */
#ifndef TH_EXECUTION_INTERNAL_H
#define TH_EXECUTION_INTERNAL_H

#include "execution.h"
#include "frames.h"

#include "host/trace/event.h"

struct th_recorded_stack;
struct th_execution;

struct th_mfa th_recorded_unpack(th_frame_function function);
th_frame_function th_recorded_pack_caller(const struct th_caller *caller);
struct th_caller th_recorded_unpack_caller(th_frame_function function);

/* True if return_to events of the stacks' processes are followed. */
static inline bool th_recorded_has_sessions(const struct th_execution *execution)
{
    return execution->returns_matter || execution->each_matters;
}

/* Follows a loss of events before any event of the process: open calls may have ended. */
void th_recorded_catch_up(struct th_execution *execution, struct th_recorded_stack *stack);

/* Returns the executing function. Not while the topmost frame is `returning`. */
th_frame_function th_recorded_executing(const struct th_recorded_stack *stack);

/* Notes that the topmost physical frame, which is popped already, has returned to CALLER. */
void th_recorded_has_returned(struct th_recorded_stack *stack, th_frame_function caller);

/* Pops the topmost frame, which is `returning`: no more records of it follow. */
void th_recorded_drop_returning(struct th_execution *execution, struct th_recorded_stack *stack);

/* --- Calls without `tail`: execution_doubt.c --- */

/* Makes the calls that earlier return_to events left likely to be open, as a return_to matters
 * now. */
void th_recorded_doubt_guessed(struct th_recorded_stack *stack);

/* Doubts the open calls that CALLER, which makes a call now, cannot have left open. */
void th_recorded_doubt_above(struct th_recorded_stack *stack, th_frame_function caller);

/* Doubts the calls above ENTRY, whose call returns or raises, unless their recorded callers show
 * that they are tail calls, which end with it. */
void th_recorded_doubt_unreturned(struct th_recorded_stack *stack, uint32_t entry);

/* Returns how many entries stay when control comes back to FUNCTION, and doubts calls that may have
 * ended before, or end now. The latest call has an entry of its own then. */
uint32_t th_recorded_left_by(struct th_execution *execution, struct th_recorded_stack *stack,
                             th_frame_function function);

/* Returns whether the call that has raised was a call of FUNCTION, which catches, if LEFT entries
 * stay. */
enum th_fact th_recorded_raised_to(const struct th_recorded_stack *stack,
                                   th_frame_function function, uint32_t left);

/* Notes, after the pops, that if the entry on top is of FUNCTION, control may have come back to
 * another call of FUNCTION. */
void th_recorded_doubt_target(struct th_execution *execution, struct th_recorded_stack *stack,
                              th_frame_function function);

#endif

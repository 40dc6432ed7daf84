/* What the files of executions share: functions as stacks have them, and what executes. */
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

/* The return_to events of the stacks' processes are followed. */
static inline bool th_recorded_has_sessions(const struct th_execution *execution)
{
    return execution->returns_matter || execution->each_matters;
}

/* Before any event: what was open when events were lost may have ended. */
void th_recorded_catch_up(struct th_execution *execution, struct th_recorded_stack *stack);

/* What executes. Not while the topmost frame is `returning`. */
th_frame_function th_recorded_executing(const struct th_recorded_stack *stack);

/* The topmost physical frame has ended, is gone, and has returned to CALLER. */
void th_recorded_has_returned(struct th_recorded_stack *stack, th_frame_function caller);

/* The topmost frame is `returning`, but no more records come. */
void th_recorded_drop_returning(struct th_execution *execution, struct th_recorded_stack *stack);

/* --- calls that do not tell whether they are tail calls: execution_doubt.c --- */

/* A return_to matters, and some before did not: the calls that these left are likely to be open. */
void th_recorded_doubt_guessed(struct th_recorded_stack *stack);

/* CALLER makes a call now. Open calls that it cannot have left open are doubted. */
void th_recorded_doubt_above(struct th_recorded_stack *stack, th_frame_function caller);

/* The call at ENTRY returns or raises. Calls above it are doubted, unless their callers tell that
 * they are tail calls, which end with it. */
void th_recorded_doubt_unreturned(struct th_recorded_stack *stack, uint32_t entry);

/* Control comes back to FUNCTION. Returns how many entries of the stack stay, and doubts calls that
 * may have ended before, or end now. The latest call has an entry of its own then. */
uint32_t th_recorded_left_by(struct th_execution *execution, struct th_recorded_stack *stack,
                             th_frame_function function);

/* Whether the call that raised before was the one that FUNCTION had called, which catches, as LEFT
 * entries stay. */
enum th_fact th_recorded_raised_to(const struct th_recorded_stack *stack,
                                   th_frame_function function, uint32_t left);

/* The entries above those that stay are gone. If one of FUNCTION is on top, another call of
 * FUNCTION may be the one that control came back to. */
void th_recorded_doubt_target(struct th_execution *execution, struct th_recorded_stack *stack,
                              th_frame_function function);

#endif

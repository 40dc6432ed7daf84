/* What the files of executions share: functions as stacks have them, and what executes. */
#ifndef TH_EXECUTION_STACK_H
#define TH_EXECUTION_STACK_H

#include "execution.h"

struct th_function th_execution_unpack(th_frame_function function);
th_frame_function th_execution_pack_caller(const struct th_caller *caller);
struct th_caller th_execution_unpack_caller(th_frame_function function);

/* Before any event: what was open when events were lost may have ended. */
void th_stack_catch_up(struct th_execution *execution, struct th_stack *stack);

/* What executes. Not while the topmost frame is `returning`. */
th_frame_function th_stack_executing(const struct th_stack *stack);

/* The topmost physical frame has ended, is gone, and has returned to CALLER. */
void th_stack_returned(struct th_stack *stack, th_frame_function caller);

/* The topmost frame is `returning`, but no more records come. */
void th_stack_drop_returning(struct th_execution *execution, struct th_stack *stack);

#endif

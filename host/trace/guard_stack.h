/* The stacks of threads that run code of libraries. Inner header of trace/. */
#ifndef TH_GUARD_STACK_H
#define TH_GUARD_STACK_H

#include <signal.h>
#include <stdbool.h>

/* In a handler: the calling thread's stack is what was used up. */
bool th_guard_stack_is_used_up(int number, const siginfo_t *info);

#endif

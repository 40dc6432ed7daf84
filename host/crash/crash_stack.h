/* The stacks of threads that run code of libraries. Inner header of trace/. */
#ifndef TH_CRASH_STACK_H
#define TH_CRASH_STACK_H

#include <signal.h>
#include <stdbool.h>

/* From the watchdog to a thread that hangs; no such timer is set. Threads let it in, as they do the
 * signals of crashes. */
enum { TH_CRASH_TIMEOUT_SIGNAL = SIGVTALRM };

/* In a handler: the calling thread's stack is what was used up. */
bool th_crash_stack_is_used_up(int number, const siginfo_t *info);

#endif

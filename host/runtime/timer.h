/* Timers that wake processes. Inner header of runtime/. */
#ifndef TH_TIMER_H
#define TH_TIMER_H

#include "runtime_internal.h"

/* PROCESS is to be woken at DUE, on the monotonic clock; stop before it runs on. */
void th_runtime_timer_start(struct th_process *process, int64_t due);
void th_runtime_timer_stop(struct th_process *process);
void th_runtime_timers_end(void); /* the thread; no timer may be left */
int64_t th_runtime_timer_now(void);
int64_t th_runtime_timer_in(int64_t nanoseconds); /* -1: later than the clock can tell */

#endif

/*
 * The view of functions (`--top`): shows on the terminal how often functions are called and how
 * long they take, during a run or a replay.
 *
 *   th_top_begin(&host, &options);
 *   ... the run or replay ...
 *   th_top_wait();                  a replay: until the user leaves the view
 *   th_top_end();
 *
 * The view counts with call_count and call_time breakpoints, in a session of its own without a
 * tracer. A thread of its own reads the counts, so the tracing must be shared. The session lives as
 * long as the tracing; so its counts are among the results (trace_summary.h).
 *
 * The view ends at the key `q`, which requests the end as a signal does (th_cli_interrupt_stop()),
 * at a signal, and at th_top_end(). The program has one view.
 */
#ifndef TH_TOP_H
#define TH_TOP_H

#include "host/base/error.h"

struct th_trace_options;
struct th_control_host;

/* Checks OPTIONS, after the last option.
 * Errors: TH_USAGE, with the reason, if the terminal cannot show a view, or if an option needs a
 * tracer and no tracer is given. */
enum th_status th_top_check(const struct th_trace_options *options);

/* Begins the view, if OPTIONS contain --top; otherwise this and the functions below do nothing.
 * Order: before the first call that must be counted.
 * Errors: the view was not begun. */
enum th_status th_top_begin(const struct th_control_host *host,
                            const struct th_trace_options *options);

/* Waits until the user leaves the view, after all streams are played. */
void th_top_wait(void);

/* Ends the view: restores the terminal, and prints the text that was held back. Thread: any. */
void th_top_end(void);

#endif

/*
 * A live view of functions (`--top`): how often they are called, and how long they take, on the
 * terminal, while they run or are replayed.
 *
 *   th_top_begin(&host, &options);
 *   ... what is counted ...
 *   th_top_wait();                  a replay: the view stays until it is left
 *   th_top_end();
 *
 * It counts with breakpoints, call_count and call_time, in a session of its own that has no tracer;
 * a thread reads them, so the tracing is shared. Its counts stay in that session, which ends with
 * the tracing: so they are among the results (trace_summary.h).
 *
 * The view is left by `q`, which asks for the end as a signal does (th_cli_interrupt_stop()), by
 * signals, and by th_top_end(). There is one in the program.
 */
#ifndef TH_TOP_H
#define TH_TOP_H

#include "host/base/error.h"

struct th_trace_options;
struct th_control_host;

/* After the last option. TH_USAGE, with the reason, if there can be no view, or options say what
 * only a tracer can do, and there is none. */
enum th_status th_top_check(const struct th_trace_options *options);

/* Nothing, if the options do not ask for it; and so the others. Before what is counted happens. */
enum th_status th_top_begin(const struct th_control_host *host,
                            const struct th_trace_options *options);

/* All has been played: waits until the view is left. */
void th_top_wait(void);

/* The terminal is as it was, with all that was printed meanwhile. Any thread. */
void th_top_end(void);

#endif

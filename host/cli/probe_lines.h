/*
 * Prints probes that are hit, for machines whose kernel or user cannot: the host is its own
 * watcher. On stdout, a line each, in the order in which the threads come to it. The files' probes
 * look as in the examples that come with Erlang/OTP, others are their name and arguments.
 */
#ifndef TH_PROBE_LINES_H
#define TH_PROBE_LINES_H

#include "host/probe/probe.h"

#include <stddef.h>

struct th_probe;
struct th_buffer;

/* The probes whose names match PATTERN are to be printed; how many. Their semaphores are raised
 * until th_cli_probe_lines_end(); what is hit before th_cli_probe_lines_begin() is not printed. */
size_t th_cli_probe_lines_add(const char *pattern);

void th_cli_probe_lines_begin(void);
void th_cli_probe_lines_end(void);

/* The line of a hit, without its end. */
void th_cli_probe_line(struct th_buffer *out, const struct th_probe *probe,
                       const union th_probe_value *values);

#endif

/*
 * Prints hits of USDT probes, for machines whose kernel or user cannot watch probes: the host
 * watches itself. Each hit is a line on stdout, in the order in which the threads write. Probes of
 * files have the format of the examples in Erlang/OTP; other probes are shown as name and
 * arguments.
 */
#ifndef TH_PROBE_LINES_H
#define TH_PROBE_LINES_H

#include "host/probe/probe.h"

#include <stddef.h>

struct th_probe;
struct th_buffer;

/* Selects the probes whose names match PATTERN, and raises their semaphores until
 * th_cli_probe_lines_end(). Returns the number of matches. Hits before th_cli_probe_lines_begin()
 * are not printed. */
size_t th_cli_probe_lines_add(const char *pattern);

void th_cli_probe_lines_begin(void);
void th_cli_probe_lines_end(void);

/* Appends the line of a hit to OUT, without a newline. */
void th_cli_probe_line(struct th_buffer *out, const struct th_probe *probe,
                       const union th_probe_value *values);

#endif

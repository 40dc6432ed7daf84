/* The source of a death that `tracehost check` has found. */
#ifndef TH_CHECK_LINE_H
#define TH_CHECK_LINE_H

#include "check_options.h"
#include "check_page.h"

/* Returns " at FILE:LINE" for the place in the library where FOUND has ended the run, from the library's debug information; "" if
 * there is none, or if the death is in another library. Valid until the next call.
 * Order: this process has one thread. */
const char *th_check_line(const struct th_check_options *options,
                          const struct th_check_found *found);

#endif

/*
 * Data races of a tracer, as the thread sanitizer reports them.
 *
 * A tracer that is compiled with -fsanitize=thread needs the sanitizer's library before any other. So
 * the program begins anew with that library. The sanitizer writes its reports on stderr, which is a
 * file in memory in each trial. A report counts if both accesses are made by the tracer's code: the
 * host is not compiled for the sanitizer, which does not see the host's own atomic operations.
 */
#ifndef TH_CHECK_RACES_H
#define TH_CHECK_RACES_H

#include "host/base/error.h"

#include <stdbool.h>

struct th_texts;

/* Begins the program anew with the words ARGV, if the tracer is compiled for the thread sanitizer and
 * its library is not loaded. Returns otherwise; an error of the tracer's is reported later.
 * Order: before any library is opened.
 * Errors: TH_FAILED if the sanitizer's library cannot be loaded. */
enum th_status th_check_races_begin(const char *tracer, const struct th_texts *folders,
                                    char **argv);

/* True if races are examined. */
bool th_check_races_seen(void);

/* Makes stderr the file for reports. Does nothing if races are not examined.
 * Thread: the only one of a trial. */
void th_check_races_catch(void);

/* Calls FOUND for each race between two accesses of the library whose file has the name of PATH, and
 * forgets the reports. FIRST is the function of one access; TEXT describes both.
 * Order: after the end of a trial. */
void th_check_races_read(const char *path, void (*found)(const char *first, const char *text));

#endif

/* `tracehost check` of a tracer: the runs, their findings, and what they have covered. */
#ifndef TH_CHECK_TRACER_H
#define TH_CHECK_TRACER_H

#include "host/base/error.h"
#include "host/control/argument.h"

#include <stdbool.h>
#include <stdint.h>

struct th_check_tracer {
    const char *tracer; /* as for -t */
    struct th_texts recordings, folders;
    const char *run; /* --run: the recordings are played in these circumstances alone; NULL: all */
    const char *output; /* folder of the smallest streams; NULL: the current one */
    int64_t for_ns;     /* time for random streams */
    bool rules;         /* the rules are listed, and nothing else is done */
    int64_t seed;       /* of the first random stream; below 0: chosen by the clock */
};

/* Checks the tracer, and prints what is found on stdout. Returns the exit status: TH_OK without a
 * finding, TH_FAILED with one, TH_REFUSED if the tracer cannot be attached; others as for replay,
 * and the error is printed. */
int th_check_tracer_run(const struct th_check_tracer *check);

/* Writes the smallest stream of RESULT, finding NUMBER from 1, to a file, and prints the finding.
 * Errors: TH_FAILED if the file cannot be written. */
struct th_check_result;
enum th_status th_check_result_print(const struct th_check_tracer *check,
                                     const struct th_check_result *result, size_t number);

#endif

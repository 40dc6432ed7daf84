/* The command line of `tracehost check`, and the runs for a tracer and for another NIF library. */
#ifndef TH_CHECK_OPTIONS_H
#define TH_CHECK_OPTIONS_H

#include "host/base/error.h"
#include "host/control/argument.h"

#include <stdbool.h>
#include <stdint.h>

struct th_check_node;

struct th_check_options {
    const char *library; /* a tracer, as for -t, or a NIF library */
    /* Recordings for a tracer; calls for another library, an expression a line. */
    struct th_texts recordings;
    struct th_texts folders;
    const char *run;    /* --run: `recordings` are played in these circumstances alone; NULL: all */
    const char *info;   /* Erlang text, argument of load(); NULL: 0 */
    const char *output; /* folder of the smallest streams; NULL: the current one */
    int64_t for_ns;     /* time for random streams */
    bool rules;         /* the rules are listed, and nothing else is done */
    int64_t seed;       /* of the first random stream; below 0: chosen by the clock */
    /* Facts of the library, not of the command line. */
    const char *path; /* of its file; NULL: there is none */
    const struct th_check_node *node;
    const char *folder; /* of check_folder.h */
};

/* Check the tracer, or the NIF library whose file is OPTIONS->path, and print what is found on stdout. Return
 * the exit status: TH_OK without a finding, TH_FAILED with one, TH_REFUSED if the library is refused;
 * others as for replay, and the error is printed. */
int th_check_tracer_run(const struct th_check_options *options);
int th_check_plugin_run(const struct th_check_options *options);

#endif

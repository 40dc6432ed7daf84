/* What `tracehost tracers` and `tracehost plugins` share: the list of what is found, and what is
 * told of any library. */
#ifndef TH_LIBRARIES_H
#define TH_LIBRARIES_H

#include "subcommand.h"

#include "host/library/library.h"

struct th_libraries_command {
    enum th_search_kind kind;
    const char *name;           /* of the command */
    const char *before, *after; /* of struct th_usage */

    /* Tells what is in LIBRARY, after its name and version. */
    void (*print)(const struct th_library *library);

    /* What is wrong with it for all that. */
    enum th_status (*check)(const struct th_library *library);
};

/* Runs the command: the exit status. */
int th_cli_libraries_run(const struct th_libraries_command *command, int argc, char **argv);

#endif

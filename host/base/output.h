/*
 * Output files that are there as a whole or not at all: written beside their name, renamed when
 * complete.
 *
 *   struct th_output out;
 *   if (th_output_open(&out, name) != TH_OK) ...
 *   fputs("...", out.file);
 *   status = th_output_commit(&out);      or th_output_abandon(&out)
 */
#ifndef TH_OUTPUT_H
#define TH_OUTPUT_H

#include "error.h"

#include <stdio.h>

struct th_output {
    FILE *file;      /* write here; errors are found by th_output_commit() */
    char *name;      /* NULL: stdout */
    char *temporary; /* the name until the commit; NULL: it is written in place */
};

/*
 * NAME NULL or "-" is stdout. What is no regular file (a terminal, a pipe, /dev/null) is written in
 * place. TH_FAILED with the cause.
 */
enum th_status th_output_open(struct th_output *out, const char *name);

/* Closes the file and gives it its name; of stdout, flushes it. TH_FAILED if anything was not
 * written: then the name is as it was before. */
enum th_status th_output_commit(struct th_output *out);

/* Closes the file and removes what was written. */
void th_output_abandon(struct th_output *out);

#endif

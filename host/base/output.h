/*
 * Output files that are there as a whole or not at all: written beside their name, renamed when
 * complete.
 *
 *   struct th_output out;
 *   if (th_output_open(&out, name) != TH_OK) ...
 *   status = th_output_write(&out, data, size);   and so on
 *   status = th_output_commit(&out);              or th_output_abandon(&out)
 */
#ifndef TH_OUTPUT_H
#define TH_OUTPUT_H

#include "error.h"

#include <stdbool.h>
#include <stdio.h>

struct th_output {
    FILE *file;
    char *name;      /* NULL: stdout */
    char *temporary; /* the name until the commit; NULL: it is written in place */
    int error;       /* errno of the first write that failed */
};

/*
 * NAME NULL or "-" is stdout. What is no regular file (a terminal, a pipe, /dev/null) is written in
 * place. A file that is there keeps its permissions, and its owner where that is allowed; a link
 * goes on pointing to it. TH_FAILED with the cause, for a file that must not be written to as well.
 */
enum th_status th_output_open(struct th_output *out, const char *name);

/* The path of the file that is written for NAME: behind all links if NAME is a link, also to a file
 * that is not there yet. To be freed by th_free(). NULL with errno: there is no memory. */
char *th_output_target(const char *name);

/* TH_FAILED with the cause, now and from now on. */
enum th_status th_output_write(struct th_output *out, const void *data, size_t size);
enum th_status th_output_flush(struct th_output *out);

/* Closes the file and gives it its name; of stdout, flushes it. TH_FAILED if anything was not
 * written: then the name is as it was before. */
enum th_status th_output_commit(struct th_output *out);

/* The file NAME is there, and of no use until th_output_end_file(): should the program exit before,
 * it is removed. False: it exits already, and does not remove it any more. Any thread. */
bool th_output_begin_file(const char *name);
void th_output_end_file(const char *name);

/* Removes these files at once; the program ends now. For handlers of signals that end it. */
void th_output_remove_unfinished(void);

/*
 * The calling thread waits for the reader of a FIFO until *th_output_stop is not 0. NULL at first:
 * as th_output_open_fifo() says.
 */
extern _Thread_local const volatile int *th_output_stop;

/*
 * Opens the FIFO NAME for writing, and returns the descriptor, which the caller closes; below 0,
 * with errno. If the FIFO has no reader, waits for one: where th_output_stop is NULL, for ever.
 * WAITS false, or stopped: ENXIO.
 */
int th_output_open_fifo(const char *name, bool waits);

/* For signal handlers: writes to DESCRIPTOR at once, without stdio, and without memory but for
 * texts of more than 2000 bytes. (dprintf() allocates a buffer for a file; a damaged heap may end
 * it.) */
void th_write_text(int descriptor, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Closes the file and removes what was written. */
void th_output_abandon(struct th_output *out);

#endif

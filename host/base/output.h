/*
 * Output files that are complete or do not exist: a file is written beside its name and renamed
 * when it is complete.
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
#include <sys/types.h>

struct th_output {
    FILE *file;
    char *name;      /* NULL: stdout */
    char *temporary; /* the name until the commit; NULL: written in place */
    int error;       /* errno of the first write that failed */
};

/*
 * Opens the output file NAME; NULL or "-" is stdout.
 *
 * A file that is not regular (a terminal, a pipe, /dev/null) is written in place; a FIFO waits for
 * its reader, see th_output_open_fifo(). An existing file keeps its permissions, and its owner
 * where the system allows that. A symbolic link still points to the file.
 * Errors: TH_FAILED with the cause, also for an existing file without write permission.
 */
enum th_status th_output_open(struct th_output *out, const char *name);

/* Returns the path of the file that is written for NAME. If NAME is a symbolic link, this is the
 * path behind all links, even if no file exists there yet.
 * Owner: the caller frees the path by th_free().
 * Errors: NULL with errno if there is no memory. */
char *th_output_target(const char *name);

/* Write or flush. Errors: TH_FAILED with the cause; all later calls fail, too, with the first
 * cause. */
enum th_status th_output_write(struct th_output *out, const void *data, size_t size);
enum th_status th_output_flush(struct th_output *out);

/* Closes the file and gives it its name; only flushes stdout.
 * Errors: TH_FAILED if any write failed. A file of that name, unless written in place, is then
 * unchanged. */
enum th_status th_output_commit(struct th_output *out);

/* Registers the file NAME, which exists and is of no use until th_output_end_file(): if the program
 * exits before, the file is removed. Any thread.
 * Errors: returns false if the program exits already, or no exit handler can be registered: the
 * file will not be removed. */
bool th_output_begin_file(const char *name);
void th_output_end_file(const char *name);

/* True: files that tracers write while events come are not emptied, but go on at their ends
 * (`replay --resume`). Written before the tracers begin their files. */
extern bool th_output_goes_on;

/* Removes the registered files at once, as the program ends now. For handlers of signals that end
 * the program. */
void th_output_remove_unfinished(void);

/* Removes the files that the dead worker of REGION had registered (shared.h).
 * Thread: the supervisor. */
struct th_shared_region;
void th_output_remove_unfinished_of(const struct th_shared_region *region);

/*
 * Stops waits of the calling thread for the reader of a FIFO, once *th_output_stop is not 0. NULL,
 * the default, stops none; see th_output_open_fifo().
 */
extern _Thread_local const volatile int *th_output_stop;

/*
 * Opens the FIFO NAME for writing and returns the descriptor, which the caller closes. If the FIFO
 * has no reader and WAITS is true, waits for one until th_output_stop stops the wait.
 * Errors: returns below 0, with errno; ENXIO if there is no reader and WAITS is false, or the wait
 * was stopped.
 */
int th_output_open_fifo(const char *name, bool waits);

/* Returns a descriptor of a new file without a name in $TMPDIR, or /tmp, for reading and writing;
 * -1, with errno, if there can be none. *FOLDER, unless FOLDER is NULL, gets the folder's name.
 * Owner: the caller closes the descriptor. */
int th_output_open_nameless(const char **folder);

/* Writes SIZE bytes to DESCRIPTOR at once, without stdio; a signal that interrupts a write does not
 * end the writing. Async-signal-safe. Errors: returns false, with errno, if not all was written. */
bool th_output_write_bytes(int descriptor, const void *bytes, size_t size);

/* Sends SIZE bytes to SOCKET likewise; without SIGPIPE, if the other end is closed. */
bool th_output_send_bytes(int socket, const void *bytes, size_t size);

/* Copies the file FROM to the descriptor TO, from the byte AT to the present end. Returns the byte after
 * the last one that was read. Async-signal-safe. */
off_t th_output_copy_file(int from, off_t at, int to);

/* Writes to DESCRIPTOR at once, without stdio; for signal handlers. Allocates only for texts of
 * more than 2000 bytes. (dprintf() allocates a buffer for a file; a damaged heap may end it.)
 * Errors: returns false if not all was written. */
bool th_write_text(int descriptor, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Closes the file and removes it, unless it was written in place. */
void th_output_abandon(struct th_output *out);

#endif

/*
 * The progress line on stderr, shown after the first second: the place in the stream, the losses,
 * the number of records, and the records per second since the line was last shown. A part that does
 * not fit the terminal's columns is left out.
 *
 * --progress=auto shows the line if stderr is a terminal that is not "dumb". The line is removed
 * when the work ends, and when the reader of stdout ends (SIGPIPE). Once something was printed to a
 * stdout that is a terminal, the line is not shown any more: it must not be mixed with output.
 * While another program (a pager, an editor) reads single keys from the terminal, nothing is shown.
 *
 * --progress=always shows the line also if stderr is no terminal: every ten seconds, on a new line.
 */
#ifndef TH_PROGRESS_SHOWN_H
#define TH_PROGRESS_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

struct th_reader_info;
struct th_buffer;

enum th_progress_when { TH_PROGRESS_AUTO, TH_PROGRESS_ALWAYS, TH_PROGRESS_NEVER };

struct th_progress {
    bool possible;
    bool lasting;     /* stderr is no terminal: each line ends with a newline and stays */
    bool shown;       /* the line is on the terminal and must be removed */
    int64_t next;     /* time of the next update, in monotonic nanoseconds */
    uint64_t left;    /* calls of th_cli_progress_step() until the clock is read */
    int64_t since;    /* time of the last update, in monotonic nanoseconds */
    uint64_t records; /* records at that time */
};

void th_cli_progress_begin(struct th_progress *progress, enum th_progress_when when);

/* Replaces the line by calls of SHOW, from the next th_cli_progress_begin() on. SHOW is called more
 * often than the line is shown, and wherever stderr goes. NULL: shows the line again.
 * Thread: the one that reads streams. */
void th_cli_progress_divert(void (*show)(const char *title, const struct th_reader_info *info));

/* Passes the last state of a stream to SHOW of th_cli_progress_divert(), if set. */
void th_cli_progress_last(const char *title, const struct th_reader_info *info);

/* Prints BYTES as a part of SIZE; a SIZE of 0 is unknown. */
void th_cli_progress_print_place(struct th_buffer *out, uint64_t bytes, uint64_t size);

/* Counts a record, or every few records, and updates the line from time to time. INFO is the state
 * of TITLE's reader. */
void th_cli_progress_step(struct th_progress *progress, const char *title,
                          const struct th_reader_info *info);

/* Updates the line if its time has come. For waits, in which no record comes. */
void th_cli_progress_look(struct th_progress *progress, const char *title,
                          const struct th_reader_info *info);

/* Removes the line. Order: before any other output to stderr, and at the end. */
void th_cli_progress_hide(struct th_progress *progress);

#endif

/*
 * Progress: one line on stderr, from the first second on: how far the stream is read, what was
 * lost, how many records there were, and how many of them a second since the line was last shown.
 * What does not fit the terminal's columns is left out.
 *
 * --progress=auto shows the line if stderr is a terminal, and takes it away again: when the work
 * ends, and when the reader of stdout ends (SIGPIPE). The line gives way for good as soon as
 * something was printed to a stdout that is a terminal, too, which is progress enough and must not
 * be mixed with it. While a pager or another program that takes single keys has the terminal,
 * nothing is shown.
 * --progress=always shows it also where stderr is no terminal: every ten seconds, as a line that
 * stays.
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
    bool lasting;     /* stderr is no terminal: each line ends with a new line, and stays */
    bool shown;       /* the line stands there, and is to be taken away */
    int64_t next;     /* when it is to be shown anew, in monotonic nanoseconds */
    uint64_t left;    /* calls of th_cli_progress_step() until the clock is looked at */
    int64_t since;    /* when the rate was last found, at ... */
    uint64_t records; /* ... so many */
};

void th_cli_progress_begin(struct th_progress *progress, enum th_progress_when when);

/* From the next th_cli_progress_begin() on SHOW is told instead, more often, and wherever stderr
 * goes; NULL: as above. The thread that reads streams. */
void th_cli_progress_divert(void (*show)(const char *title, const struct th_reader_info *info));

/* It has ended: for who is told instead. */
void th_cli_progress_last(const char *title, const struct th_reader_info *info);

/* Prints how far BYTES of SIZE are, which may be 0: unknown. */
void th_cli_progress_print_place(struct th_buffer *out, uint64_t bytes, uint64_t size);

/* After each record, or every so many: TITLE's reader has come to INFO. */
void th_cli_progress_step(struct th_progress *progress, const char *title,
                          const struct th_reader_info *info);

/* The same, where time may have passed: while more is awaited. */
void th_cli_progress_look(struct th_progress *progress, const char *title,
                          const struct th_reader_info *info);

/* Before anything else goes to stderr, and at the end: takes the line away. */
void th_cli_progress_hide(struct th_progress *progress);

#endif

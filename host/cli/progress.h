/*
 * Progress on a terminal: one line on stderr, from the first second on, which goes again: how far
 * the stream is read, records, how many of them a second there were since the line was last shown,
 * and what was lost.
 *
 * It is shown if stderr is a terminal, and only as long as nothing was printed to a stdout that is
 * one, too: then what is printed is progress enough, and must not be mixed with it.
 */
#ifndef TH_PROGRESS_SHOWN_H
#define TH_PROGRESS_SHOWN_H

#include "host/replay/replay.h"

struct th_progress {
    bool possible;
    bool shown;       /* the line stands there */
    int64_t next;     /* when it is to be shown anew, in monotonic nanoseconds */
    uint64_t left;    /* calls of th_progress_step() until the clock is looked at */
    int64_t since;    /* when the rate was last found, at ... */
    uint64_t records; /* ... so many */
};

void th_progress_begin(struct th_progress *progress);

/* From the next th_progress_begin() on SHOW is told instead, more often, and wherever stderr goes;
 * NULL: as above. The thread that reads streams. */
void th_progress_divert(void (*show)(const char *title, const struct th_reader_info *info));

/* It has ended: for who is told instead. */
void th_progress_last(const char *title, const struct th_reader_info *info);

/* After each record, or every so many: TITLE's reader has come to INFO. */
void th_progress_step(struct th_progress *progress, const char *title,
                      const struct th_reader_info *info);

/* The same, where time may have passed: while more is awaited. */
void th_progress_look(struct th_progress *progress, const char *title,
                      const struct th_reader_info *info);

/* Before anything else goes to stderr, and at the end: takes the line away. */
void th_progress_hide(struct th_progress *progress);

#endif

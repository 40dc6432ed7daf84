/*
 * Wrap sets: the files NAME<N>TAIL that dbg:trace_port(file, {Name, wrap, Tail, Size, Count}) goes
 * round in.
 *
 * N runs from 0 to Count and over again; the next file is always removed before it is written, so
 * that one number, the gap, is missing: the oldest file stands behind it. Before the first round is
 * complete the gap is behind the highest number. So at most one number below the highest may be
 * missing; dbg refuses all else, and so do we.
 *
 * Names cannot prove that files belong together: rec1.trace and rec2.trace may have nothing to do
 * with each other. So:
 *   NAME*TAIL              is a wrap set, because the user says so.
 *   a file of its own name is just that file, unless it is the first of a set (the oldest, or
 *                          number 0) of at least three files that agree in where they were closed:
 *                          all but the newest have passed the same size with their last record.
 * In the second case there is a note that tells what was taken for a set; where files could be one
 * and were not taken for it, too. Nothing is put together or left out in silence.
 */
#ifndef TH_WRAP_H
#define TH_WRAP_H

#include "host/base/base.h"

struct th_wrap_set {
    char **names; /* the files in the order in which to read them */
    size_t count;
    char *note; /* what the user should be told, NULL: nothing */
};

/* The file or files that NAME stands for: at least one, that need not exist. TH_MALFORMED if it is
 * a pattern and there is no file for it, or they are no wrap set; the cause does not tell NAME. */
enum th_status th_replay_wrap_find(const char *name, struct th_wrap_set *set);

/* Just NAME. */
void th_replay_wrap_single(const char *name, struct th_wrap_set *set);

void th_replay_wrap_free(struct th_wrap_set *set);

#endif

/*
 * Shares of a recording: several processes with equal sessions play a part of one recording each,
 * and the process of the first share adds up the counts of all.
 *
 * Thread: the replaying one, in an unshared tracing.
 */
#ifndef TH_SHARE_H
#define TH_SHARE_H

#include "host/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct th_past_event;
struct th_tracing;

/* True if no event before or after this share can change the deliveries in this share: no session
 * has patterns, all tracees have the same flags, no call was discarded, and all tracers that were
 * attached still are. */
bool th_trace_share_is_alone(const struct th_tracing *tracing);

/* True if calls of processes, and their ends, may come to the tracers by th_trace_share_past()
 * instead of th_trace(): all tracers take them so, and get all of them with recorded times. */
bool th_trace_share_takes_past(const struct th_tracing *tracing);

/* Hands COUNT calls and ends before the share to all tracers, for past_calls(). */
void th_trace_share_past(struct th_tracing *tracing, const struct th_past_event *events,
                         size_t count);

/* Counts of a tracing and of its sessions. th_trace_share_counts() copies them; th_trace_share_add()
 * adds COUNTS less BEFORE, two copies of a tracing with equal sessions. */
enum { TH_SHARE_COUNTS = 4096 };
struct th_share_counts {
    uint64_t unwanted, seen;
    uint64_t words[TH_SHARE_COUNTS];
};
void th_trace_share_counts(const struct th_tracing *tracing, struct th_share_counts *counts);
void th_trace_share_add(struct th_tracing *tracing, const struct th_share_counts *counts,
                        const struct th_share_counts *before);

/* --- Files of a share ------------------------------------------------------------------------- */

/* Declares that this process plays another share than the first one. */
void th_trace_share_begin(void);

/* Returns a descriptor of a new file without a name, which takes the place of the output PATH ("-":
 * stdout) in this share; -1 if this process plays the first share, or all. A second file in the
 * place of stdout spoils the share: nobody knows how the lines of the two would mix.
 * Owner: the caller closes the descriptor.
 * Thread: any.
 * Errors: -1 also if there can be no such file, which spoils the share. */
int th_trace_share_file(const char *path);

/* True if th_trace_share_file() was called: the results need files of this process. */
bool th_trace_share_has_files(void);

/* True if the results of this share cannot be merged. */
bool th_trace_share_is_spoiled(void);

#endif

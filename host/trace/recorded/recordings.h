/*
 * Recorded streams that are, or were, played: for tracers that call th_recordings().
 *
 * The program has one list, in the order in which streams began. The list is cleared when a tracing
 * has ended and all its tracers were unloaded.
 * Thread: the player, one thread at a time, begins streams and counts; any thread may read. Counts
 * are relaxed: numbers in themselves.
 */
#ifndef TH_RECORDINGS_H
#define TH_RECORDINGS_H

#include "host/term/etf.h"

#include <stdatomic.h>
#include <stdint.h>

struct th_event_time;

struct th_recording {
    struct th_recording *next;
    _Atomic uint64_t records;     /* read records, damaged ones and drops included */
    _Atomic uint64_t lost;        /* events that the recorder dropped, by its own account */
    _Atomic uint64_t gaps;        /* losses of an unknown number of events */
    _Atomic uint64_t damaged;     /* records that were skipped, and places where the stream is
                                     cut off */
    _Atomic uint64_t interrupted; /* 1: the reader was stopped before the end */
    struct th_etf_node node;      /* node of the stream; NODE 0: unknown. Written by the
                                     replaying thread */
    char name[];                  /* as the stream was named */
};

/* Adds a stream.
 * Owner: valid until th_recorded_streams_forget(). */
struct th_recording *th_recorded_streams_begin(const char *name);

/* Adds MORE to COUNT.
 * Thread: the player. */
static inline void th_recorded_streams_count(_Atomic uint64_t *count, uint64_t more)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* True if A and B are known to be two nodes, or two starts of one. */
bool th_recorded_streams_other_node(const struct th_etf_node *a, const struct th_etf_node *b);

/*
 * Checks that NODE, of the stream NAME, may be the same as OTHER_NODE, of the stream OTHER. The
 * same pid number stands for different processes in two nodes, and in two starts of one node.
 * Errors: TH_USAGE with the cause if the nodes are known to differ.
 */
enum th_status th_recorded_streams_match_nodes(const char *name, const struct th_etf_node *node,
                                               const char *other,
                                               const struct th_etf_node *other_node);

/* Sets NODE for RECORDING, and checks it against all earlier streams, with the same error. */
enum th_status th_recorded_streams_set_node(struct th_recording *recording,
                                            const struct th_etf_node *node);

/* Number of streams in the list. */
int th_recorded_recordings_count(void);

/* Returns a list of maps, made in ENV: name, records, lost, gaps, damaged, interrupted. */
th_term th_recorded_streams_list(th_env *env);

/*
 * Returns the zero of the clock of TIME, which is not TH_TIME_NONE: the first time of that clock
 * that this function was given. The player passes the first time of each clock in each stream, so
 * that all streams have one zero for each clock.
 * Thread: the replaying one.
 */
int64_t th_recorded_streams_zero(const struct th_event_time *time);

/* The nanoseconds from the recording's monotonic time to its system time; 0 until they are set.
 * Thread: the replaying one. */
void th_recorded_streams_set_offset(int64_t ns);
int64_t th_recorded_streams_offset(void);

/* Lets all clocks but system time begin anew, as another node's events follow. */
void th_recorded_streams_forget_clocks(void);

#endif

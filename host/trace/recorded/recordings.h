/*
 * The recorded streams that are played, or were: for tracers that ask (th_recordings()).
 *
 * The player begins one and counts in it, one thread at a time; any thread may read. Counts are
 * relaxed: numbers in themselves. The list is one for the program, in the order in which streams
 * began, and is forgotten when a tracing has ended and all its tracers were unloaded.
 */
#ifndef TH_RECORDINGS_H
#define TH_RECORDINGS_H

#include "host/term/etf.h"

#include <stdatomic.h>
#include <stdint.h>

struct th_event_time;

struct th_recording {
    struct th_recording *next;
    _Atomic uint64_t records;     /* read, damaged ones and drops included */
    _Atomic uint64_t lost;        /* events that the recorder says it dropped */
    _Atomic uint64_t gaps;        /* places where nobody knows how many events were lost */
    _Atomic uint64_t damaged;     /* records that were skipped, and places where it is cut off */
    _Atomic uint64_t interrupted; /* 1: whoever reads was stopped before the end */
    struct th_etf_node node;      /* whose it is; NODE 0: not known. The replaying thread's */
    char name[];                  /* as the stream was named */
};

/* It stays until th_recorded_streams_forget(). */
struct th_recording *th_recorded_streams_begin(const char *name);

/* By whoever plays it. */
static inline void th_recorded_streams_count(_Atomic uint64_t *count, uint64_t more)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* True if A and B are known to be two nodes, or two starts of one. */
bool th_recorded_streams_other_node(const struct th_etf_node *a, const struct th_etf_node *b);

/*
 * The same number stands for different processes in two nodes, and in a node that was started
 * twice. TH_USAGE with the cause if NODE, of the stream NAME, is known to be another than
 * OTHER_NODE, of the stream OTHER.
 */
enum th_status th_recorded_streams_match_nodes(const char *name, const struct th_etf_node *node,
                                               const char *other,
                                               const struct th_etf_node *other_node);

/* The same for NODE, which RECORDING's is from now on, and the streams before it. */
enum th_status th_recorded_streams_set_node(struct th_recording *recording,
                                            const struct th_etf_node *node);

/* How many are in the list. */
int th_recorded_recordings_count(void);

/* A list of maps, made in ENV: name, records, lost, gaps, damaged of each. */
th_term th_recorded_streams_list(th_env *env);

/*
 * The zero of the clock of TIME, which is not TH_TIME_NONE: the first time by that clock that this
 * function was given. The player gives it the first one of each stream by each clock, so that all
 * streams have one zero for each clock. The replaying thread's.
 */
int64_t th_recorded_streams_zero(const struct th_event_time *time);

/* Another node's events follow: all clocks but system time begin anew. */
void th_recorded_streams_forget_clocks(void);

#endif

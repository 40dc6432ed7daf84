/*
 * Clocks of merged streams (merge_streams.c): what notes and messages tell of them.
 *
 * Times of several nodes are compared by the system clock of the recording host, in two steps. Notes
 * (trace/note.h) tell the difference between a node's monotonic time and the system time of its host,
 * and round trips tell how much that system time is behind the recording host's. Nodes of one host
 * share the second difference, so that its uncertainty does not change the order of their events.
 *
 * Between two hosts, a message is received after it was sent. A message with a reference is
 * recognised in both streams, as there is no other one; such messages bound the difference on both sides.
 *
 * Thread: the one that reads.
 */
#ifndef TH_MERGE_CLOCK_H
#define TH_MERGE_CLOCK_H

#include "host/trace/event.h"

#include <stddef.h>
#include <stdint.h>

struct th_note;

enum {
    TH_CLOCK_READINGS = 16,  /* number of the latest readings that count */
    TH_CLOCK_MESSAGES = 4096 /* number of messages that are remembered; a power of two */
};

/* The latest readings of the difference between two clocks, in nanoseconds: it is LEAST to MOST. */
struct th_clock_readings {
    struct th_clock_reading {
        int64_t least, most;
    } items[TH_CLOCK_READINGS];
    uint64_t count;
};

/* The greatest one of the numbers of the last ten to twenty seconds; INT64_MIN: there is none. */
struct th_clock_greatest {
    int64_t now, before, since;
};

/* The clocks of a node. */
struct th_merge_clock {
    struct th_merge_clock *host; /* of the first node on the same host; the rest of HOST counts */
    struct th_clock_readings system;  /* of the node: from monotonic to system time */
    bool tripped;                     /* `system` is of round trips */
    struct th_clock_readings behind;  /* from system time to the recording host's */
    struct th_clock_greatest later;   /* lower bounds of `behind`, less that of the first host */
    struct th_clock_greatest earlier; /* upper bounds of it, negated */
    uint64_t bounds; /* number of messages that gave one, to or from another host */
};

/* The messages met last, by their hash, with the first event of each kind. The streams need not be
 * read in the order of time, so the receive may be met first. A message that is overwritten costs one
 * bound. */
struct th_merge_message {
    uint64_t hash; /* 0: free */
    struct th_merge_meeting {
        struct th_merge_clock *host; /* NULL: not met */
        int64_t time;                /* by its system clock */
    } sent, received;
};

void th_replay_clock_init(struct th_merge_clock *clock);

/* Takes what NOTE tells of clocks. Returns false if it tells nothing of them. */
bool th_replay_clock_take(struct th_merge_clock *clock, const struct th_note *note);

/* Takes what EVENT, sent or received at TIME by the host's system clock, tells of the difference to the
 * clock FIRST. Returns whether it tells something. MESSAGES has TH_CLOCK_MESSAGES entries. Decodes terms into ENV. */
bool th_replay_clock_meet(struct th_merge_clock *clock, struct th_merge_clock *first,
                          struct th_merge_message *messages, const struct th_event *event,
                          int64_t time, th_env *env);

/* Returns the nanoseconds to add to a time of KIND, not CPU time, for the system time of its host. */
int64_t th_replay_clock_to_system(const struct th_merge_clock *clock, enum th_time_kind kind);

/* Returns the nanoseconds to add to a system time of the host for that of the recording host. FIRST is
 * the clock to whose host messages are compared. */
int64_t th_replay_clock_to_common(const struct th_merge_clock *clock,
                                  const struct th_merge_clock *first);

/* Sets *BEHIND to the nanoseconds by which the system clock is behind that of FIRST, and *DOUBT to how
 * much this may be wrong. Returns false if nothing tells it; then it is taken for 0. */
bool th_replay_clock_is_known(const struct th_merge_clock *clock,
                              const struct th_merge_clock *first, int64_t *behind, int64_t *doubt);

#endif

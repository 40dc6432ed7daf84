/*
 * The player: takes a stream's events to the sessions, and keeps the world in step with what they
 * tell.
 */
#ifndef TH_PLAYER_H
#define TH_PLAYER_H

#include "host/base/error.h"

#include <stdint.h>

struct th_tracing;
struct th_reader;
struct th_event;

struct th_limit {
    bool set; /* else there is none */
    uint64_t count;
};

struct th_player_options {
    struct th_limit max_records; /* stop after so many records of the stream */
    struct th_limit max_events;  /* stop when th_player_counts.told is so many */
    struct th_time_bound {
        bool set;
        bool relative; /* counts from the stream's first time by that clock, not from the clock's
                          zero */
        int64_t ns;
    } from, to;  /* only events between these, both included; records without a time pass. What is
                    left out is not offered, but processes live and die in it all the same. */
    bool part;   /* the stream and those played before it in this tracing are parts of one
                    recording: relative bounds count from the first time of all of them, and
                    it is refused if it is known to be of another node */
    bool verify; /* decode every term of every record, wanted or not */
    bool probes; /* events hit USDT probes, before the sessions are asked */
    bool stays;  /* go on where no session is left, as another thread may begin one: such events
                    are read, and processes live and die in them, but they are not played */
    void (*progress)(void *context); /* called every few records; NULL: not */
};

/* What became of the records. Counts of several streams add up. */
struct th_player_counts {
    uint64_t records;     /* read, drops included */
    uint64_t played;      /* offered to the sessions */
    uint64_t told;        /* of which a tracer's trace callback was called */
    uint64_t skipped;     /* outside of from and to */
    uint64_t untimed;     /* offered though they have no time, where there is from or to */
    struct th_time_span { /* of the times of events that were skipped */
        bool known;
        int64_t first, last; /* nanoseconds */
    } skipped_times[2];      /* of the clock; relative, as bounds may be */
    uint64_t drops;          /* drop records */
    uint64_t lost;           /* events that the recorder dropped, as these say */
    uint64_t malformed;   /* records with a good frame and a damaged or unknown content: skipped */
    uint64_t damages;     /* places where a stream was cut off or damaged */
    uint64_t gaps;        /* drop records of 0 events: more were lost, and nobody knows how many */
    uint64_t interrupted; /* streams that were stopped before their ends */
    uint64_t tracees;     /* seen; those of the world at hand when it ends */
};

/*
 * Plays READER's stream to its end. COMPLAIN is told of each damage and of each malformed record,
 * the chain saying what it is (it may be NULL). *STOP is looked at between events: another thread
 * or a signal handler may set it. Damage is no failure: COUNTS say what happened. Begins a new
 * world, and another where the stream may go on with another node (th_replay_reader_info.nodes). If
 * that is known to be another, the stream ends there, as one that is damaged.
 */
void th_replay_play(struct th_tracing *tracing, struct th_reader *reader,
                    const struct th_player_options *options, const volatile int *stop,
                    void (*complain)(void *context), void *context,
                    struct th_player_counts *counts);

/*
 * The same, a record at a time.
 *
 * th_replay_player_begin() begins a new world; what it is given must stay until
 * th_replay_player_end(), which frees the player. th_replay_player_step() takes the next record:
 *   TH_OK         it has happened: *EVENT (NULL: not wanted) is good until the next step
 *   TH_END        there are no more, max_records were read, max_events were told, or no session is
 *                 left
 *   TH_USAGE      the stream is of another node than those before it; it ends before this record
 *   TH_MALFORMED, TH_PARTIAL   as th_replay_reader_next(), also for a record that turned out to be
 *   damaged
 *                 when a tracer wanted it; go on
 * The progress function is not called.
 */
struct th_player;
struct th_player *th_replay_player_begin(struct th_tracing *tracing, struct th_reader *reader,
                                         const struct th_player_options *options,
                                         struct th_player_counts *counts);
enum th_status th_replay_player_step(struct th_player *player, struct th_event **event);
void th_replay_player_end(struct th_player *player);

#endif

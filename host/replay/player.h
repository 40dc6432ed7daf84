/*
 * The player: delivers the events of a stream to the sessions, and updates the world of recorded
 * processes and names with each event.
 */
#ifndef TH_PLAYER_H
#define TH_PLAYER_H

#include "call_filter.h"
#include "reader.h"

#include "host/base/error.h"

#include <stdint.h>

struct th_tracing;
struct th_reader;
struct th_event;
struct th_recording;

struct th_player_options {
    struct th_limit max_records;         /* records of the stream */
    struct th_limit max_events;          /* limit of th_player_counts.told */
    struct th_time_bound from, to;       /* both included; events outside still change the world */
    struct th_call_filter_options calls; /* which calls are played, with their ends */
    /* NULL, or called once for the number of each event: if it returns true, the event still changes
     * the world, but nothing else. */
    bool (*is_left_out)(uint64_t number);
    /* The stream and those played before in this tracing are parts of one recording: relative
     * bounds count from the first time of all parts, and a part that is known to be of another node
     * is refused. */
    bool part;
    bool verify; /* decode every term of every record */
    bool probes; /* events hit USDT probes, before delivery to the sessions */
    /* Go on without sessions, as another thread may begin one: events still change the world, but
     * do not count as played. */
    bool stays;
    void (*progress)(void *context); /* called every few records; NULL: none */

    /* For th_replay_play() of a share of the stream (replay/cut.c). */
    uint64_t begin_at; /* records before this byte only change the world; damage among them counts
                          as a damaged place, and ends the stream */
    bool past; /* th_trace_share_takes_past(), for records before the share that are played */
    /* NULL, or called with CONTEXT when the records before begin_at have been passed over. True: begin_at has
     * grown, and more are passed over. */
    bool (*passes_on)(void *context);
    /* NULL, or called with CONTEXT at the end, unless *stop is set. True: the reader has more. The
     * function may add what others have played to the counts of this stream, RECORDING. */
    bool (*has_more)(void *context, struct th_recording *recording);
};

/* Counts of records. The player adds to them: several streams add up. */
struct th_player_counts {
    uint64_t records; /* read, drops included */
    uint64_t played;  /* delivered to the sessions */
    uint64_t told;    /* played events for which a tracer's trace callback was called */
    uint64_t skipped; /* outside of from and to */
    /* In packed recordings: records that were not read, as no session can get them; frames, and those that
     * were read. */
    uint64_t passed, frames, frames_read;
    uint64_t passed_inside; /* records of frames that were not read though from and to match */
    uint64_t untimed;       /* played events without a time, while from or to is set */
    struct th_time_span {   /* times of skipped events */
        bool known;
        int64_t first, last; /* nanoseconds */
    } skipped_times[2];      /* [0]: by the clock; [1]: relative, as bounds may be */
    uint64_t drops;          /* drop records */
    uint64_t lost;           /* events that these records count as dropped by the recorder */
    uint64_t malformed;   /* records with a sound frame and a damaged or unknown content: skipped */
    uint64_t damages;     /* places where a stream is cut off or damaged */
    uint64_t gaps;        /* drop records of 0 events: an unknown number of events was lost */
    uint64_t interrupted; /* streams that were stopped before their end */
    uint64_t tracees;     /* distinct tracees seen, added up over all worlds */
    struct th_call_filter_counts calls;
};

/*
 * Plays READER's stream to its end, in a new world. COMPLAIN (may be NULL) is called for each
 * damage and each malformed record, with the cause in the chain. *STOP is read between events;
 * another thread or a signal handler may set it.
 *
 * If the node may have changed (th_reader_info.nodes), a new world begins. If the node is known to
 * be a different one, the stream ends there, as a damaged stream does.
 * Errors: none; COUNTS describe all damage.
 */
void th_replay_play(struct th_tracing *tracing, struct th_reader *reader,
                    const struct th_player_options *options, const volatile int *stop,
                    void (*complain)(void *context), void *context,
                    struct th_player_counts *counts);

/*
 * The same, one record at a time.
 *
 * th_replay_player_begin() begins a new world. th_replay_player_step() plays the next record:
 *   TH_OK         the event has happened; *EVENT (EVENT may be NULL) is valid until the next step
 *   TH_END        the stream has ended, max_records or max_events is reached, or no session is left
 *   TH_USAGE      the stream is of another node than the streams before; it ends before this record
 *   TH_MALFORMED, TH_PARTIAL   as th_replay_reader_next(), and also if damage was found only when a
 *                 tracer wanted the terms, or if the node changed; go on
 * The progress function is not called.
 *
 * th_replay_player_skim() only reads the next record: nothing happens in the world. *INSIDE: the
 * record is between from and to, or no event. Statuses as th_replay_reader_next().
 * Owner: the arguments of th_replay_player_begin() must stay until th_replay_player_end(), which
 * frees the player.
 */
struct th_player;
struct th_player *th_replay_player_begin(struct th_tracing *tracing, struct th_reader *reader,
                                         const struct th_player_options *options,
                                         struct th_player_counts *counts);
enum th_status th_replay_player_step(struct th_player *player, struct th_event **event);
enum th_status th_replay_player_skim(struct th_player *player, struct th_event **event,
                                     bool *inside);
void th_replay_player_end(struct th_player *player);

#endif

/*
 * Plays recorded streams into tracers: the work of the commands `replay` and `report`.
 *
 *   struct th_replaying replay = {.command = "replay"};
 *   th_options_trace_options_init(&replay.trace, false);
 *   ... th_cli_command_parse(), with the sets of trace_options.h, stream.h and
 *   th_cli_bounds_arguments ...
 *   status = th_cli_replaying_run(&replay);
 *   th_options_trace_options_free(&replay.trace);
 */
#ifndef TH_REPLAYING_H
#define TH_REPLAYING_H

#include "stream.h"

#include "host/cli/options/trace_options.h"
#include "host/control/commands/commands.h"

struct th_minimize;

/* Reaction to the death of a tracer (isolation.h). */
enum th_on_crash { TH_ON_CRASH_DEFAULT, TH_ON_CRASH_STOP, TH_ON_CRASH_CONTINUE };

enum { TH_REPLAYING_SHOWN = 16 }; /* number of counts; replaying.c has their names */

struct th_replaying {
    const char *command; /* for messages */
    struct th_stream_options stream;
    struct th_player_options play;
    struct th_trace_options trace;
    bool wall_clock, fail_on_loss, recorded_callers, check;
    struct th_execution_options execution;
    struct th_texts streams;
    struct th_minimize *minimize; /* --on-crash=minimize (smallest_crash.h); NULL: not given */
    int64_t shards;               /* number of shares; 0: 1 */
    bool join, merge;             /* workers.h */
    int64_t segment, lease;       /* likewise: bytes, nanoseconds; 0: not given */
    int64_t every;                /* resume.h; nanoseconds; 0: not given */
    bool isolate;                 /* isolation.h */
    enum th_on_crash on_crash;    /* likewise */
    uint64_t max_crashes;         /* likewise */
    bool is_part;                 /* other processes play the same streams for other tracers */

    /* Set by th_cli_replaying_run(). */
    bool merged;      /* all streams are played as one, in the order of time */
    size_t opened;    /* number of streams that were opened */
    bool interrupted; /* a stream that can be read again (a file) was not read to its end */
    bool unwritten;   /* an output could not be flushed (resume.h) */
    bool unmarked;    /* a position could not be written (likewise) */

    /* Internal. */
    struct th_shards *shares; /* NULL: one share */
    int64_t marked;           /* time of the last barrier (resume.h) */
    struct th_control_host control;
    struct th_control_main_thread main_thread; /* tasks for the thread that replays */
    /* Position, for other threads. Written by the thread that replays; relaxed, as each number
     * stands alone. The name, bytes and size are of the current stream; other counts are sums over
     * all streams. */
    const char *_Atomic shown_stream;
    _Atomic uint64_t shown[TH_REPLAYING_SHOWN];
};

/* --from, --to, --min-duration, --depth, --max-events and --max-records, as members of a struct
 * th_player_options; th_cli_bounds_check() runs after the last argument. */
extern const struct th_argument th_cli_bounds_arguments[];
enum th_status th_cli_bounds_check(void *input);

/* Stores VALUE, "1.5s" or "@CLOCK", as a struct th_time_bound in ARGUMENT's member of INPUT. Errors:
 * TH_USAGE. */
enum th_status th_cli_bound_take(const struct th_argument *argument, const char *value,
                                 void *input);

/* Reports which CALLS --min-duration and --depth left out, and which were kept although they may have
 * been short: a line each, or a row of --stats. */
void th_cli_bounds_tell(const struct th_replaying *replay,
                        const struct th_call_filter_counts *calls);

/* Returns the stream, among those to be played, that would read the file at PATH; NULL: none. */
const char *th_cli_replaying_stream_at(const struct th_replaying *replay, const char *path);

/* Applies the options to TRACING, which has no session yet: checks, clock, callers, stacks. Installs
 * the guard of crash/. */
void th_cli_replaying_prepare(const struct th_replaying *replay, struct th_tracing *tracing);

/* Plays the streams in order, and ends all tracers. Returns the exit status. */
int th_cli_replaying_run(struct th_replaying *replay);

/* Prepares for running nodes among the streams: th_cli_node_ask().
 * Order: before th_cli_replaying_run() and before a fork. */
void th_cli_replaying_ask_nodes(struct th_replaying *replay);

#endif

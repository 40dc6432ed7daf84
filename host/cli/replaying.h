/*
 * Recorded streams into tracers: what the commands `replay` and `report` do.
 *
 *   struct th_replaying replay = {.command = "replay"};
 *   th_options_trace_options_init(&replay.trace, false);
 *   ... th_cli_command_parse(), with the sets of trace_options.h, stream.h and
 *   th_cli_bounds_arguments ... status = th_cli_replaying_run(&replay);
 *   th_options_trace_options_free(&replay.trace);
 */
#ifndef TH_REPLAYING_H
#define TH_REPLAYING_H

#include "stream.h"

#include "host/cli/options/trace_options.h"
#include "host/control/commands/commands.h"

enum { TH_REPLAYING_SHOWN = 16 }; /* counts, which replaying.c names */

struct th_replaying {
    const char *command; /* for messages */
    struct th_stream_options stream;
    struct th_player_options play;
    struct th_trace_options trace;
    bool wall_clock, fail_on_loss, recorded_callers, check;
    struct th_execution_options execution;
    struct th_texts streams;

    /* Set by th_cli_replaying_run(). */
    size_t opened;    /* of the streams */
    bool interrupted; /* not all was read, and all of it can be read again: it is in files */

    /* Of its own. */
    struct th_control_host control;
    struct th_control_main_thread main_thread; /* what others ask of the thread that replays */
    /* How far it has come, for others to look at. Written by the thread that replays. Relaxed:
     * numbers in themselves. Of all streams, but the name, and the bytes and size, of the one that
     * is played. */
    const char *_Atomic shown_stream;
    _Atomic uint64_t shown[TH_REPLAYING_SHOWN];
};

/* --from, --to, --max-events and --max-records: of a struct th_player_options, which is checked
 * after the last one. */
extern const struct th_argument th_cli_bounds_arguments[];
enum th_status th_cli_bounds_check(void *input);

/* The stream, of those to be played, that is read from what is at PATH; NULL: none is. */
const char *th_cli_replaying_stream_at(const struct th_replaying *replay, const char *path);

/* Plays the streams in turn, and ends all tracers. Returns the exit status. */
int th_cli_replaying_run(struct th_replaying *replay);

#endif

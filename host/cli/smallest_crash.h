/*
 * --on-crash=minimize: after a crash of a tracer's callback, finds the shortest recording that
 * crashes the tracer in the same place.
 *
 * 1. The replay runs in a child. The guard of crash/ writes the place of a crash in shared memory.
 * 2. After a crash, another child reads the streams again up to the record of the crash. A stream
 *    that can be read only once was kept in memory during step 1.
 * 3. Trials with the tracer alone (smallest_crash_trial.h) show whether the crash repeats; if not, trials
 *    with all tracers follow.
 * 4. Records are cut (replay/minimize.h), then terms (replay/shrink.h). The result must crash
 *    twice; if it does not, step 4 is repeated, and each trial must crash twice.
 * 5. The result is written as a trace-port file and as JSON lines, and the command that repeats the
 *    crash is printed.
 */
#ifndef TH_SMALLEST_CRASH_H
#define TH_SMALLEST_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct th_control_session_options;
struct th_crash_signature;
struct th_minimize_page;
struct th_replaying;
struct th_stream;

struct th_minimize {
    const char *file; /* of --on-crash=minimize=FILE; NULL: named after the tracer */

    /* Internal. */
    struct th_minimize_page *page;
    const struct th_replaying *replay;
    int *memory; /* for each stream, a file in memory with its records; -1: it can be read again */
};

/* Forks, and returns in the child, which replays. The calling process waits; if a tracer crashes,
 * this process searches after the report. Then it exits with the status of the replay.
 * Order: before th_crash_supervise(). The child calls th_cli_minimize_finish() after the replay. */
void th_cli_minimize_fork(struct th_replaying *replay);
void th_cli_minimize_finish(struct th_minimize *minimize);

/* Lets the guard write the place of a crash. For the child of step 1.
 * Order: after th_crash_install(), before tracers are loaded. */
void th_cli_minimize_guard(struct th_minimize *minimize);

/* Prepares MINIMIZE for STREAM, the stream INDEX, before it is opened. For the child of step 1. */
void th_cli_minimize_watch(struct th_minimize *minimize, size_t index, struct th_stream *stream);

/* --- One tracer of several (smallest_crash_command.c) ------------------------------------------------ */

/* A tracer of the command line: the index of its session, and of the tracer in the session. */
struct th_minimize_tracer {
    bool found;
    size_t session, tracer;
};

/* Finds the tracer of CRASH; not found if several fit. */
struct th_minimize_tracer
th_cli_minimize_find_tracer(const struct th_control_session_options *options,
                            const struct th_crash_signature *crash);

/* Prints the command that plays FILE into TRACER alone, or into all if TRACER is not found: the
 * options of this program's command line that can change what tracers get. */
void th_cli_minimize_print_command(FILE *out, const struct th_minimize_tracer *tracer,
                                   const char *file);

#endif

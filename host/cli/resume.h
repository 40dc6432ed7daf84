/*
 * A consumer of a log that goes on where it was: `replay --resume=READER` (replay/log/log_position.h has the
 * position).
 *
 * At a barrier, between two events, the outputs are flushed; then the position is written. Barriers are every
 * --every=T, before the replay waits for records, if T has passed, and at the end of the stream, also after a
 * signal. So all events before the position were delivered and written: after a death, events from the
 * position on can be delivered a second time, and none is lost.
 */
#ifndef TH_RESUME_H
#define TH_RESUME_H

#include "replaying.h"

/* --resume and --every, as members of a struct th_replaying. th_cli_resume_check() runs after the last argument of
 * any set. */
extern const struct th_argument th_cli_resume_arguments[];
enum th_status th_cli_resume_check(void *input);

/* Checks that the tracers deliver each event by itself. Errors: TH_USAGE with the name of one that does not. */
enum th_status th_cli_resume_check_tracers(const struct th_replaying *replay,
                                           const struct th_tracing *tracing);

/* Prepares REPLAY to play READER from its position on, if --resume is given. Order: before th_trace_go(). */
void th_cli_resume_begin(struct th_replaying *replay, const struct th_reader *reader);

/* A barrier, if NOW or if it is time for one. No effect without --resume. A failure is reported, sets
 * replay->unmarked, and ends the replay before the next event. READER is NULL while it is opened: no effect. */
void th_cli_resume_mark(struct th_replaying *replay, struct th_tracing *tracing,
                        struct th_reader *reader, bool now);

/* Flushes the outputs before a wait for records, and keeps the result, which a later flush would not show. */
void th_cli_resume_flush(struct th_replaying *replay);

#endif

/*
 * Processes of a replay: one for each tracer (--isolate), and a further one after the death of a
 * tracer (--on-crash=continue).
 */
#ifndef TH_ISOLATION_H
#define TH_ISOLATION_H

#include "replaying.h"

/* Sets the default values. */
void th_cli_isolation_init(struct th_replaying *replay);

/* --isolate, --on-crash and --max-crashes, as members of a struct th_replaying, with all other
 * options of `replay`. th_cli_isolation_check() runs after the last argument of any set. */
extern const struct th_argument th_cli_isolation_arguments[];
enum th_status th_cli_isolation_check(void *input);

/* Starts the processes that REPLAY asks for. Returns in each of them, with REPLAY reduced to its
 * session.
 * Order: as th_cli_command_supervise(). */
void th_cli_isolation_begin(struct th_replaying *replay);

#endif

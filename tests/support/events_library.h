/* Loads instances of the library `events` (tests/plugins/events.h). Each comes from a file of its
 * own, because the loader takes two files for two libraries. */
#ifndef EVENTS_LIBRARY_H
#define EVENTS_LIBRARY_H

#include "host/library/library.h"
#include "tests/plugins/events.h"

/* Loads an instance that uses JOURNAL. The caller may set `name`, `versions` and `told` of JOURNAL;
 * its lock is initialized here. OLD is the instance to replace, or NULL.
 * Errors: a refusal fails the test. */
struct th_library *events_load(struct events_journal *journal, struct th_library *old);

/* Returns a new resource of TYPE with one reference, the caller's. */
struct events_object *events_object(struct events_journal *journal, int type, int number);

/* Calls FUNCTION of LIBRARY. */
th_term events_call(struct th_library *library, const char *function, th_env *env, int argc,
                    const th_term argv[]);

/* Returns the notes of the callbacks since the last call. The text is valid until the next call. */
const char *events_noted(struct events_journal *journal);

/* Like events_noted(), but waits for COUNT callbacks, ten seconds at most.
 * Errors: the test fails if fewer came. */
const char *events_await(struct events_journal *journal, unsigned count);

#endif

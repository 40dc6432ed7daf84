/* Instances of the library `events` (tests/plugins/events.h), each from a file of its own, as the
 * loader takes each file for another library. */
#ifndef EVENTS_LIBRARY_H
#define EVENTS_LIBRARY_H

#include "host/library/library.h"
#include "tests/plugins/events.h"

/* Loads one with JOURNAL, which it sets up (the caller may have set `name`, `versions` and `told`);
 * OLD is the instance that it replaces, or NULL. Fails the test if that is refused. */
struct th_library *events_load(struct events_journal *journal, struct th_library *old);

/* A resource of TYPE with one share, the caller's. */
struct events_object *events_object(struct events_journal *journal, int type, int number);

/* Calls a function of it. */
th_term events_call(struct th_library *library, const char *function, th_env *env, int argc,
                    const th_term argv[]);

/* What the callbacks noted since the last call; good until the next one. */
const char *events_noted(struct events_journal *journal);

/* The same, once COUNT of them have come; ten seconds at most. */
const char *events_await(struct events_journal *journal, unsigned count);

#endif

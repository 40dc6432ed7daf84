/*
 * Parts of the report as terms, for shares of a recording. Each share gets the events before it,
 * too (../kit/past.h), and hands over:
 *
 * - what its own events add: tags, figures of functions, figures of stacks, bins of the timeline,
 *   the slowest calls. Events before the share leave these out;
 * - the state at its end, which replaces that of the share before: processes, pairs, sums. It is
 *   the same as in a plain replay, limits included.
 */
#ifndef REPORT_MERGE_H
#define REPORT_MERGE_H

#include "report.h"

/* A member of a struct that contains no terms and no pointers. */
struct field {
    size_t at, size;
};

#define FIELD(type, member)                                    \
    {                                                          \
        offsetof(type, member), sizeof(((type *)NULL)->member) \
    }

/* Returns COUNT members of OF as a binary; 0 if there is no memory. */
TRACER_LOCAL ERL_NIF_TERM fields_save(ErlNifEnv *env, const void *of, const struct field *fields,
                                      size_t count);

/* Sets the members from such a binary. False if it has another size. */
TRACER_LOCAL bool fields_take(ErlNifEnv *env, ERL_NIF_TERM binary, void *of,
                              const struct field *fields, size_t count);

/* Returns ELEMENTS as a tuple; 0 if one of them is 0. */
TRACER_LOCAL ERL_NIF_TERM tuple_save(ErlNifEnv *env, const ERL_NIF_TERM *elements, size_t count);

/* Returns TEXT as a binary, [] for NULL; 0 if there is no memory. */
TRACER_LOCAL ERL_NIF_TERM text_save(ErlNifEnv *env, const char *text);

/* Replaces the allocated *TEXT, unless SAVED is no binary. False if there is no memory. */
TRACER_LOCAL bool text_take(ErlNifEnv *env, ERL_NIF_TERM saved, char **text);

/* Each save function returns 0 if there is no memory, each take function false: also for a damaged
 * term. */

/* timeline.c: adds the bins, and clears them; adds them to BINS. */
TRACER_LOCAL ERL_NIF_TERM bins_save(ErlNifEnv *env, struct bins *bins);
TRACER_LOCAL bool bins_take(ErlNifEnv *env, ERL_NIF_TERM saved, struct bins *bins, uint32_t *shift);

/* processes.c */
TRACER_LOCAL ERL_NIF_TERM processes_save(ErlNifEnv *env, struct report *report);
TRACER_LOCAL bool processes_take(ErlNifEnv *env, struct report *report, ERL_NIF_TERM list);

/* stacks.c: a share's nodes have the same numbers as in a plain replay. */
TRACER_LOCAL ERL_NIF_TERM stacks_save(ErlNifEnv *env, struct report *report);
TRACER_LOCAL bool stacks_take(ErlNifEnv *env, struct report *report, ERL_NIF_TERM saved);

/* messages.c, slowest.c. Order: after the processes. */
TRACER_LOCAL ERL_NIF_TERM messages_save(ErlNifEnv *env, const struct messages *messages);
TRACER_LOCAL bool messages_take(ErlNifEnv *env, struct report *report, ERL_NIF_TERM saved);
TRACER_LOCAL ERL_NIF_TERM slowest_save(ErlNifEnv *env, struct slowest *slowest);
TRACER_LOCAL bool slowest_take(ErlNifEnv *env, struct report *report, ERL_NIF_TERM saved);

#endif

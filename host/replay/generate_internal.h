/* Shared by the generators of streams: random numbers, odd terms, records. */
#ifndef TH_GENERATE_INTERNAL_H
#define TH_GENERATE_INTERNAL_H

#include "generate.h"

struct th_event;

/* A sequence of random numbers. It begins with any `state`, the seed. */
struct th_generate_random {
    uint64_t state;
};

uint64_t th_replay_generate_bits(struct th_generate_random *random);

/* Returns a number from 0 to LIMIT - 1. */
size_t th_replay_generate_number(struct th_generate_random *random, size_t limit);

/* Returns true in PERCENT of 100 cases. */
bool th_replay_generate_chance(struct th_generate_random *random, unsigned percent);

/* Makes a term of any type and size. */
th_term th_replay_generate_term(struct th_generate_random *random, th_env *env);

/* Makes one of a few atoms, ordinary and odd ones. */
th_term th_replay_generate_atom(struct th_generate_random *random, th_env *env);

/* Parses TEXT, which is a constant of the program: Erlang text, in which some atoms, such as
 * external_pid, stand for terms that have no text or a long one. generate_terms.c lists these. */
th_term th_replay_generate_parse(th_env *env, const char *text);

/* Appends the record of EVENT, whose members are the only copy of its terms, written as HOW says. */
void th_replay_generate_add(struct th_buffer *stream, const struct th_writer_options *how,
                            const struct th_event *event);

#endif

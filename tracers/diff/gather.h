/* Gathers a side from events. One lock, that of the state, protects it. */
#ifndef DIFF_GATHER_H
#define DIFF_GATHER_H

#include "../kit/moment.h"
#include "../kit/timing.h"
#include "../kit/tracees.h"
#include "diff.h"

/* Texts by the hash of their terms: open addressing; text 0 is a free place. */
struct known_text {
    uint64_t hash;
    uint32_t text;
};

struct gathered {
    pthread_mutex_t lock;
    struct side side;
    struct calls calls;
    struct tracees processes; /* of struct known */
    struct counts functions;  /* `events` is the number plus 1 */
    struct known_text *texts;
    size_t texts_used, texts_size; /* a power of two */
    struct timing_clock clock;
    struct untimed untimed;
};

/* A process of the recording. */
struct known {
    struct tracee tracee;
    uint32_t number; /* of its struct party */
    bool ended;
};

/* A term's hash, and that of the pids in it. */
struct hashed {
    uint64_t hash, pids;
};

/* hash.c: hashes TERM, and keeps its pids for call number CALL. */
TRACER_LOCAL struct hashed hash_term(ErlNifEnv *env, struct gathered *gathered, ERL_NIF_TERM term,
                                     uint32_t call, bool of_outcome);

/* gather.c */

/* Returns the process of a word that tracee_word() made. NULL if there is no room. */
TRACER_LOCAL struct known *known_process(struct gathered *gathered, ERL_NIF_TERM word);

/* The current event. */
struct event {
    ErlNifEnv *env;
    struct gathered *gathered;
    ERL_NIF_TERM tracee, tag, term, opts;
};

TRACER_LOCAL void gather_call(const struct event *event);
TRACER_LOCAL void gather_life(const struct event *event);

TRACER_LOCAL struct gathered *gather_begin(void);

/* Completes the side after the last event. */
TRACER_LOCAL void gather_end(struct gathered *gathered);
TRACER_LOCAL void gather_free(struct gathered *gathered);

#endif

/*
 * Guesses the owner of a name for which there was no registration event: a process that receives a
 * message which was sent to one name, and to no other unknown process, has that name. The table
 * holds the latest messages.
 *
 * A process that is not traced may have sent an equal message; so a later message can correct the
 * guess, and a registration overrules it (names.h).
 */
#ifndef TRACER_RECEIVERS_H
#define TRACER_RECEIVERS_H

#include "local.h"

#include <erl_nif.h>

enum { RECEIVERS_SETS = 256, RECEIVERS_EACH = 8 };

/* Initialised with {0}. */
struct receivers {
    struct set {
        struct {
            ErlNifUInt64 hash; /* of the message */
            ERL_NIF_TERM to;   /* a local pid, a name's key, or another term; 0: free */
        } sent[RECEIVERS_EACH];
        unsigned next;
    } sets[RECEIVERS_SETS];
};

/* Returns the key (names.h) of a name to which SENDER, a local pid or port, sends: of the atom TO, or
 * of Name in {Name, Node} if Node is this node (one of the recorded nodes in a replay); else TO. */
TRACER_LOCAL ERL_NIF_TERM receivers_name(ErlNifEnv *env, ERL_NIF_TERM sender, ERL_NIF_TERM to);

/* Notes a message to TO: a local pid, the key of a name whose owner is at most guessed, or a term that stands
 * for an unknown process. */
TRACER_LOCAL void receivers_sent(struct receivers *receivers, ErlNifUInt64 hash, ERL_NIF_TERM to);

/* Returns the key of the name that PID, which received such a message, must have; 0: unknown. */
TRACER_LOCAL ERL_NIF_TERM receivers_received(ErlNifEnv *env, struct receivers *receivers,
                                             ErlNifUInt64 hash, ERL_NIF_TERM pid);

#endif

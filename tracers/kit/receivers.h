/*
 * Whose a name is that no event has told: a process that receives what was sent to one name, and to
 * nobody else of whom that is known, has that name. The latest messages are remembered.
 *
 * It is a guess, as the same may have been sent by a process that is not traced; so that the next
 * message to the name may tell otherwise, and a registration is stronger (names.h).
 */
#ifndef TRACER_RECEIVERS_H
#define TRACER_RECEIVERS_H

#include "local.h"

#include <erl_nif.h>

enum { RECEIVERS_SETS = 256, RECEIVERS_EACH = 8 };

/* Start it as {0}. */
struct receivers {
    struct set {
        struct {
            ErlNifUInt64 hash; /* of the message */
            ERL_NIF_TERM to;   /* a local pid, a name, or another term; 0: nothing is here */
        } sent[RECEIVERS_EACH];
        unsigned next;
    } sets[RECEIVERS_SETS];
};

/* The name in {Name, Node}, if Node is this node, which is the recording's in a replay; else TO. */
TRACER_LOCAL ERL_NIF_TERM receivers_name(ErlNifEnv *env, ERL_NIF_TERM to);

/* A message was sent to TO: a local pid, a name, if nothing but a guess tells whose it is, or a
 * term that stands for somebody unknown. */
TRACER_LOCAL void receivers_sent(struct receivers *receivers, ErlNifUInt64 hash, ERL_NIF_TERM to);

/* PID has received such a message. The name that it must have; 0: that is not known. */
TRACER_LOCAL ERL_NIF_TERM receivers_received(ErlNifEnv *env, struct receivers *receivers,
                                             ErlNifUInt64 hash, ERL_NIF_TERM pid);

#endif

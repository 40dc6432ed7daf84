/*
 * Owners of aliases. An alias is a reference to which other processes send in place of a pid, as
 * gen_server:call/2 makes them since OTP 24. No event names the owner of an alias: the first
 * process that sends a reference is taken for its owner. The table holds the latest references that
 * were sent.
 */
#ifndef TRACER_ALIASES_H
#define TRACER_ALIASES_H

#include "local.h"

#include <erl_nif.h>

enum { ALIASES = 256, ALIAS_SIZE = 96 };

/* Initialised with {0}. */
struct aliases {
    struct alias {
        char text[ALIAS_SIZE];
        ERL_NIF_TERM owner;
    } latest[ALIASES];
    unsigned next;
};

/* Notes that OWNER sends TERM: references in its tuples, up to a limited depth, may be aliases. */
TRACER_LOCAL void aliases_note(ErlNifEnv *env, struct aliases *aliases, ERL_NIF_TERM owner,
                               ERL_NIF_TERM term);

/* Returns the owner of REFERENCE; 0: unknown. */
TRACER_LOCAL ERL_NIF_TERM aliases_owner(struct aliases *aliases, ERL_NIF_TERM reference);

#endif

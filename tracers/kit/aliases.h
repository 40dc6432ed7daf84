/*
 * Whose an alias is: a reference that a process has others send to, as gen_server:call/2 does since
 * OTP 24. No event tells; but who has made one is who first sends it. The latest references that
 * were sent are remembered.
 */
#ifndef TRACER_ALIASES_H
#define TRACER_ALIASES_H

#include "local.h"

#include <erl_nif.h>

enum { ALIASES = 256, ALIAS_SIZE = 96 };

/* Start it as {0}. */
struct aliases {
    struct alias {
        char text[ALIAS_SIZE];
        ERL_NIF_TERM owner;
    } latest[ALIASES];
    unsigned next;
};

/* OWNER sends TERM: the references that lie in its tuples, not too deep, may be aliases. */
TRACER_LOCAL void aliases_note(ErlNifEnv *env, struct aliases *aliases, ERL_NIF_TERM owner,
                               ERL_NIF_TERM term);

/* 0: it is not known. */
TRACER_LOCAL ERL_NIF_TERM aliases_owner(struct aliases *aliases, ERL_NIF_TERM reference);

#endif

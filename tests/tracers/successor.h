/* Shared by a test and the tracer `successor`. */
#ifndef SUCCESSOR_H
#define SUCCESSOR_H

#include <erl_nif.h>

#include <stdatomic.h>

struct successor {
    /* Written by the test. */
    int number;
    int answer; /* result of load() and upgrade() */
    /* Gets the callback's arguments, and returns its result. */
    ERL_NIF_TERM(*called)
    (struct successor *self, ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

    /* Written by the tracer. */
    atomic_uint loads, upgrades, unloads;
    struct successor *predecessor; /* private data that upgrade() got */
    atomic_uint inside;            /* callbacks that run now */
    /* Number of errors: callbacks of an instance that is not loaded; unload() while a callback
     * runs; callbacks with another instance's private data. */
    atomic_uint wrong;
};

/* The tracer exports `successor`, a pointer to this struct, which the test sets before load(). */

#endif

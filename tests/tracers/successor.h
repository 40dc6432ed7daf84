/* What the test and the tracer `successor` tell each other. */
#ifndef SUCCESSOR_H
#define SUCCESSOR_H

#include <erl_nif.h>

#include <stdatomic.h>

struct successor {
    /* The test's. */
    int number;
    int answer; /* what load() and upgrade() return */
    /* Gets the callback's arguments, returns its answer. */
    ERL_NIF_TERM(*called)
    (struct successor *self, ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

    /* What came of it. */
    atomic_uint loads, upgrades, unloads;
    struct successor *predecessor; /* upgrade() was given it */
    atomic_uint inside;            /* callbacks that run */
    /* Callbacks of an instance that is not loaded, or unload() while one runs; callbacks with
     * another's private data. */
    atomic_uint wrong;
};

/* The tracer's exported variable `successor` is a pointer to one; before it is loaded. */

#endif

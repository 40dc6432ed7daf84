/* A tracer all of whose callbacks are one function of the test that loads it. */
#ifndef HOOKED_H
#define HOOKED_H

#include <erl_nif.h>

/* Gets the callback's name and arguments, returns its answer. */
typedef ERL_NIF_TERM hooked_function(const char *callback, ErlNifEnv *env, int argc,
                                     const ERL_NIF_TERM argv[]);

/* The tracer's exported variable `hooked`: NULL answers ok to all. */
typedef hooked_function *hooked_variable;

/*
 * Which callbacks the tracer has is asked of the environment when nif_init() runs: HOOKED is a list
 * of names, a space before and behind each, NULL for all 18.
 */
#define HOOKED_SLOTS "HOOKED"

#endif

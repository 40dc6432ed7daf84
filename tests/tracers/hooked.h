/* A tracer whose callbacks all call one function of the test that loads it. */
#ifndef HOOKED_H
#define HOOKED_H

#include <erl_nif.h>

/* Gets the callback's name and arguments, and returns the callback's result. */
typedef ERL_NIF_TERM hooked_function(const char *callback, ErlNifEnv *env, int argc,
                                     const ERL_NIF_TERM argv[]);

/* The tracer's exported variable `hooked`. If it is NULL, all callbacks return ok. */
typedef hooked_function *hooked_variable;

/*
 * The environment variable with the callbacks that the tracer has, read by nif_init(): a list of
 * names, each with a space before and after it. If it is not set, the tracer has all 18.
 */
#define HOOKED_SLOTS "HOOKED"

#endif

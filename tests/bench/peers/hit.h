/* Declares the function that all peers measure, and the loop that calls it. */
#ifndef HIT_H
#define HIT_H

typedef unsigned long term; /* as ERL_NIF_TERM */
struct enif_environment_t;

/* Hidden, so that calls are direct in a shared object, too. */
#define WITHIN __attribute__((visibility("hidden")))

/* f(X) -> X, with the parameters of a NIF. */
WITHIN term hit(struct enif_environment_t *env, int argc, const term argv[]);

/* Never called: filters of the peers that pass only this function discard hit(). */
WITHIN term other(struct enif_environment_t *env, int argc, const term argv[]);

/* Answers each line "QUESTION N" of stdin with the nanoseconds that N calls of hit(ENV, 1,
 * {ARGUMENT}) took. Returns at the end of stdin. */
WITHIN void answer(struct enif_environment_t *env, term argument);

#endif

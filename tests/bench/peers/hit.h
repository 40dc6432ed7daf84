/* What all are measured with: a function and a loop that calls it. */
#ifndef HIT_H
#define HIT_H

typedef unsigned long term; /* as ERL_NIF_TERM */
struct enif_environment_t;

/* Called directly, in a shared object, too. */
#define WITHIN __attribute__((visibility("hidden")))

/* f(X) -> X, in the shape of a NIF. */
WITHIN term hit(struct enif_environment_t *env, int argc, const term argv[]);

/* Is never called: for filters that let only this one pass. */
WITHIN term other(struct enif_environment_t *env, int argc, const term argv[]);

/* Answers each line on stdin, "QUESTION N", with how many nanoseconds N calls of
 * hit(ENV, 1, {ARGUMENT}) took, until stdin ends. */
WITHIN void answer(struct enif_environment_t *env, term argument);

#endif

/* What the files of nif_subset.so share. */
#ifndef NIF_SUBSET_H
#define NIF_SUBSET_H

#include <erl_nif.h>

/* The answers so far, latest first, and the environment of the call. */
struct answers {
    ErlNifEnv *env;
    ERL_NIF_TERM list;
};

void say(struct answers *a, const char *name, ERL_NIF_TERM value);
void say_int(struct answers *a, const char *name, long value);

/* The result of a function and what it wrote; outputs that a failure must leave alone are told
 * too. */
void say_pair(struct answers *a, const char *name, int result, ERL_NIF_TERM output);

/* Everything that is asked of the term at POSITION. */
void ask_term(struct answers *a, ERL_NIF_TERM t, int position);

#endif

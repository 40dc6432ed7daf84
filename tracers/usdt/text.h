/* Converts terms to the texts and sizes that probes show. */
#ifndef USDT_TEXT_H
#define USDT_TEXT_H

#include <erl_nif.h>
#include <stdint.h>

struct text {
    char bytes[256]; /* longer texts are cut between two characters */
};

/* Returns TERM as Erlang text. */
const char *text_of(struct text *text, ERL_NIF_TERM term);

/* Returns {M, F, Args} and {M, F, Arity} as m:f/1, another term as Erlang text. */
const char *text_of_function(ErlNifEnv *env, struct text *text, ERL_NIF_TERM term);

/* Returns the number of words that TERM takes on a heap, as far as the NIF API shows them: lists,
 * tuples, floats and maps count, maps as if they had at most 32 keys; all other terms count as 0.
 * Parts deeper than 1000 levels do not count. */
uint32_t words_of(ErlNifEnv *env, ERL_NIF_TERM term);

#endif

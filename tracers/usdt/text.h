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

/* Returns the words that TERM takes on a heap, as far as the NIF API shows them: 0 for the contents
 * of binaries, numbers larger than a word, references and funs. Parts of a term deeper than 1000
 * levels do not count. */
uint32_t words_of(ErlNifEnv *env, ERL_NIF_TERM term);

#endif

/* Terms as probes tell them. */
#ifndef USDT_TEXT_H
#define USDT_TEXT_H

#include <erl_nif.h>
#include <stdint.h>

struct text {
    char bytes[256]; /* what is longer is cut, between two characters */
};

/* TERM as Erlang has it. */
const char *text_of(struct text *text, ERL_NIF_TERM term);

/* {M, F, Args} and {M, F, Arity} as m:f/1, another term as it is. */
const char *text_of_function(ErlNifEnv *env, struct text *text, ERL_NIF_TERM term);

/* The words that TERM takes on a heap, as far as the NIF API tells: of binaries, numbers that are
 * larger than a word, references and funs nothing. A term that is nested deeper than 1000 counts as
 * far as that. */
uint32_t words_of(ErlNifEnv *env, ERL_NIF_TERM term);

#endif

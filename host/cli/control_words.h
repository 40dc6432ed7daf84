/* The words of a command that comes over a control socket, as argp reads those of the command line:
 * from the same tables of options, but what is wrong is an error and does not end the program. */
#ifndef TH_CONTROL_WORDS_H
#define TH_CONTROL_WORDS_H

#include "host/base/base.h"

#include <argp.h>

/* The key of a word that is no option. */
enum { TH_WORD = -1 };

/*
 * USAGE is the command's, as `help` shows it ("TRACER [--session=NAME]"): of its options that one
 * is named which may be meant by an option that is none. Calls TAKE for each of COUNT words, in
 * their order: with the key and the value (NULL: it has none) of an option of TABLE, or with
 * TH_WORD and the word. TAKE says TH_END, with no chain, to what the command does not have.
 * --name=value, --name value, -xvalue, -x value; -- before words that begin with a dash. TH_USAGE,
 * or what TAKE has failed with: then the rest is not taken.
 */
enum th_status th_words_take(const struct argp_option table[], const char *usage, int count,
                             char *const words[],
                             enum th_status (*take)(void *context, int key, const char *value),
                             void *context);

#endif

/* The encoding of text for people. */
#ifndef TH_ENCODING_H
#define TH_ENCODING_H

#include <argp.h>

/* Unicode where the user's locale is UTF-8, else Latin-1; after setlocale(). */
void th_encoding_from_locale(void);

/* --encoding, a child of commands' tables. */
extern const struct argp th_encoding_argp;

#endif

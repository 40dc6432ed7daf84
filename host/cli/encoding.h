/* The encoding of text for people. */
#ifndef TH_ENCODING_H
#define TH_ENCODING_H

#include "host/control/control.h"

/* Unicode where the user's locale is UTF-8, else Latin-1; after setlocale(). */
void th_cli_encoding_from_locale(void);

/* --encoding. */
extern const struct th_argument th_cli_encoding_arguments[];

#endif

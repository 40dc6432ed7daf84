/*
 * Terms as a BEAM's own C code prints them: %T of enif_snprintf(), and of its error messages.
 *
 * They differ from what io:format("~0p") writes (text.h): no reserved word is quoted, an atom with
 * '@' is; binaries are text only where all bytes are printable in ASCII; strings and atoms beyond
 * ASCII are as they stand; floats have six digits behind the point; maps have no blanks.
 */
#ifndef TH_TEXT_BEAM_H
#define TH_TEXT_BEAM_H

#include "env.h"
#include "host/base/base.h"

/* What erts_printf() prints of a term at most, unless it is told. */
enum { TH_TEXT_BEAM_LIMIT = 100000 };

/* Appends T. LIMIT: of terms, characters and bytes, as the BEAM counts them; where they are used
 * up, the text ends with "... ". Iterative. Returns how many of the bytes are of numbers: integers
 * but large ones, floats, and the digits of identifiers, funs, bit strings and escapes. */
size_t th_text_print_beam(struct th_buffer *out, th_term t, long limit);

#endif

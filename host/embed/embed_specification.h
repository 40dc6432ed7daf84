/* Match specifications from text. */
#ifndef TH_EMBED_SPECIFICATION_H
#define TH_EMBED_SPECIFICATION_H

#include "embed_sized.h"

#include "host/term/term.h"

/* Erlang text, or a name that dbg knows, as a term in ENV. */
enum th_status th_embed_read_specification(th_env *env, const char *text, th_term *specification);

#endif

/*
 * The face of term/: Erlang's data types. Begin with word.h, which has the layout of all terms,
 * then env.h, the heaps of terms.
 *
 *   word.h, atom.h                     th_term: a tagged word; atoms
 *   env.h                              th_env: a heap for terms, freed as a whole; copies
 *   make.h, map.h, number.h            making terms, and taking them apart; maps; arithmetic
 *   compare.h                          order, equality, hashes
 *   etf.h, etf_tags.h                  external term format: decoding, encoding, skipping
 *   text.h, text_*.h, utf8.h           Erlang text: reading and printing; a BEAM's %T
 *   json.h                             terms as JSON
 *   clock.h                            the thread's clock: real, or that of a recording
 *
 * Owner: a term that is no immediate belongs to its environment, and is valid until the environment
 * is cleared or freed. Atoms and other immediates are valid for ever.
 * Thread: one thread at a time uses an environment; any number of threads may read existing terms.
 * Any thread makes and looks up atoms.
 * Errors: text and bytes from outside are untrusted. A function that reads them returns a status,
 * takes bounded depth and memory, and does not recurse.
 *
 * Headers named x_internal.h, and headers that are not listed here, are for the room alone.
 */
#ifndef TH_TERM_H
#define TH_TERM_H

#include "atom.h"
#include "clock.h"
#include "compare.h"
#include "env.h"
#include "etf.h"
#include "etf_tags.h"
#include "json.h"
#include "make.h"
#include "map.h"
#include "number.h"
#include "peer.h"
#include "text.h"
#include "text_segment.h"
#include "text_token.h"
#include "utf8.h"
#include "word.h"

#endif

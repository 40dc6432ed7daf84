/*
 * The text of terms that hold no other terms: what the printer writes between its brackets.
 *
 * Those that can be long take ROOM, the bytes that are still wanted (SIZE_MAX: all), look at no
 * more of the term than that takes, and end in the middle where it is not enough. So a long list
 * counts as a string as soon as its first ROOM elements are characters.
 */
#ifndef TH_TEXT_INTERNAL_H
#define TH_TEXT_INTERNAL_H

#include "env.h"
#include "host/base/base.h"
#include "text.h"

enum th_leaf {
    TH_LEAF_WHOLE,
    TH_LEAF_CUT,  /* there is more than ROOM */
    TH_LEAF_OTHER /* the term is something else; nothing was written */
};

/* ENCODING says which characters are written as they are, where that may be (text.h). */
void th_leaf_atom(struct th_buffer *out, th_term atom, enum th_text_encoding encoding);

/* An integer of any size. A large one that would overstep ROOM by far is left out: its first digits
 * cost as much as all. */
enum th_leaf th_leaf_integer(struct th_buffer *out, th_term integer, size_t room);
void th_leaf_float(struct th_buffer *out, th_term t);

/* A pid, port or reference. */
void th_leaf_identifier(struct th_buffer *out, th_term t);

/* A fun or an export. */
void th_leaf_fun(struct th_buffer *out, th_term t);

/* Of a fun that is no export, what stands behind its module: ".0.17>". */
struct th_fun_parts;
void th_leaf_fun_numbers(struct th_buffer *out, const struct th_fun_parts *fun);

enum th_leaf th_leaf_bits(struct th_buffer *out, th_term t, size_t room,
                          enum th_text_encoding encoding);

/* A list that is a string. */
enum th_leaf th_leaf_string(struct th_buffer *out, th_term list, size_t room,
                            enum th_text_encoding encoding);

#endif

/*
 * The brackets that are open while a term is read, and the terms that were read behind them.
 */
#ifndef TH_TEXT_PARSE_INTERNAL_H
#define TH_TEXT_PARSE_INTERNAL_H

#include "text_segment.h"

enum th_bracket_kind {
    TH_OPEN_LIST,
    TH_OPEN_TAIL, /* a list behind its bar */
    TH_OPEN_TUPLE,
    TH_OPEN_KEY,   /* a map that wants a key */
    TH_OPEN_VALUE, /* a map that wants the value of the last key */
    TH_OPEN_PARENTHESIS,
    TH_OPEN_PLUS, /* a sign counts as a bracket around what is behind it */
    TH_OPEN_MINUS,
    TH_OPEN_BITS
};

struct th_bracket {
    enum th_bracket_kind kind;
    bool fresh;        /* nothing stands behind it yet */
    size_t first;      /* of the terms: the first one behind it */
    size_t start;      /* bits: of the bit string around it */
    size_t bits;       /* likewise */
    const char *place; /* where it stands; bits: where the last value does */
};

enum { TH_FEW_BRACKETS = 16, TH_FEW_TERMS = 64 /* that need no memory of their own */ };

struct th_builder {
    th_env *env;
    struct th_segments segments;

    struct th_bracket *brackets;
    size_t depth;
    size_t depth_capacity;

    th_term *terms;
    size_t count;
    size_t capacity;

    struct th_bracket few_brackets[TH_FEW_BRACKETS];
    th_term few_terms[TH_FEW_TERMS];
};

/* For a text of LENGTH bytes. */
void th_builder_init(struct th_builder *b, th_env *env, size_t length);
void th_builder_free(struct th_builder *b);

/*
 * What is false, or TH_NONE, comes with an error raised: there is no memory for more.
 *
 * Opens a bracket, of which at most TH_TEXT_DEPTH may be open.
 */
bool th_builder_open(struct th_builder *b, enum th_bracket_kind kind, const char *place);

/* The innermost bracket; one must be open. Valid until the next is opened. */
static inline struct th_bracket *th_builder_top(struct th_builder *b)
{
    return &b->brackets[b->depth - 1];
}

/* Puts a term behind the innermost bracket. Not for parentheses, signs and bits. */
bool th_builder_add(struct th_builder *b, th_term t);

/* Close the innermost bracket and make what it holds; of a map, keys and values in turns. */
th_term th_builder_list(struct th_builder *b, th_term tail);
th_term th_builder_tuple(struct th_builder *b);
th_term th_builder_map(struct th_builder *b);
th_term th_builder_bits(struct th_builder *b);

#endif

/* The parser of terms, inside term/: text_build.c builds, text_scan.c reads tokens. */
#ifndef TH_TEXT_PARSE_INTERNAL_H
#define TH_TEXT_PARSE_INTERNAL_H

#include "stack.h"
#include "text_segment.h"
#include "text_token.h"

/*
 * The brackets that are open while a term is read, and the terms that were read behind them.
 */

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

    struct th_stack brackets, terms;
    struct th_bracket few_brackets[TH_FEW_BRACKETS];
    th_term few_terms[TH_FEW_TERMS];
};

/* For a text of LENGTH bytes. */
void th_text_builder_init(struct th_builder *b, th_env *env, size_t length);
void th_text_builder_free(struct th_builder *b);

/*
 * What is false, or TH_NONE, comes with an error raised: there is no memory for more.
 *
 * Opens a bracket, of which at most TH_TEXT_DEPTH may be open.
 */
bool th_text_builder_open(struct th_builder *b, enum th_bracket_kind kind, const char *place);

/* The innermost bracket; one must be open. Valid until the next is opened. */
static inline struct th_bracket *th_text_builder_top(struct th_builder *b)
{
    return th_stack_top(&b->brackets, sizeof(struct th_bracket));
}

/* Puts a term behind the innermost bracket. Not for parentheses, signs and bits. */
bool th_text_builder_add(struct th_builder *b, th_term t);

/* Close the innermost bracket and make what it holds; of a map, keys and values in turns. */
th_term th_text_builder_list(struct th_builder *b, th_term tail);
th_term th_text_builder_tuple(struct th_builder *b);
th_term th_text_builder_map(struct th_builder *b);
th_term th_text_builder_bits(struct th_builder *b);

/* The parts of the scanner (text_token.h), each of which reads one kind of token. */

/* White space and comments. */
void th_text_scan_blank(struct th_scanner *s);

/* Reads one character of valid UTF-8, which must be there. */
enum th_status th_text_scan_character(struct th_scanner *s, uint32_t *c);

/* The same within quotes: with VERBATIM unset a backslash begins an escape. */
enum th_status th_text_scan_quoted(struct th_scanner *s, bool verbatim, uint32_t *c);

/* At a number, or '$' and a character; an identifier of the form PREFIX digits.digits...> */
enum th_status th_text_scan_number(struct th_scanner *s);
enum th_status th_text_scan_dollar(struct th_scanner *s);
enum th_status th_text_scan_identifier(struct th_scanner *s);

/* At the opening quote of an atom or string (with all strings that follow it), or at a '~'. */
enum th_status th_text_scan_quoted_atom(struct th_scanner *s);
enum th_status th_text_scan_string(struct th_scanner *s);
enum th_status th_text_scan_sigil(struct th_scanner *s);

/* Raises an error for a name at `start` that is no atom. */
enum th_status th_text_scan_fail_atom(const struct th_scanner *s) __attribute__((cold));

#endif

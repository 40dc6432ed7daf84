/*
 * Erlang text, both ways.
 *
 * The printer writes what io:format("~0p") of OTP 25 writes, byte for byte, in UTF-8, as plain
 * `erl` sets it up: lists and binaries of characters that are printable in Latin-1 as strings,
 * characters above 255 escaped, floats in their shortest form, maps in their own order. Identifiers
 * of other nodes print with the index of the node's atom as node number.
 *
 * The parser reads every constant term, and pids, ports and references of this node as the printer
 * writes them.
 */
#ifndef TH_TEXT_H
#define TH_TEXT_H

#include "env.h"
#include "host/base/base.h"

/* Appends T as Erlang text. Iterative. */
void th_text_print(struct th_buffer *out, th_term t);

/* The same, but stops soon after LIMIT bytes and writes "..." there. */
void th_text_print_limited(struct th_buffer *out, th_term t, size_t limit);

/* Appends an atom, quoted if it must be. */
void th_text_print_atom(struct th_buffer *out, th_term atom);

/* True if th_text_parse() reads back a term identical to T: no funs, no identifiers of other nodes,
 * nothing magic. */
bool th_text_can_carry(th_term t);

/*
 * Reads one term from LENGTH bytes of UTF-8; a full stop and white space may follow, %-comments are
 * white space. TH_MALFORMED with line and column.
 */
enum th_status th_text_parse(th_env *env, const char *text, size_t length, th_term *term);

/* Reads the term at the beginning of the text and tells how many bytes it took: for "TERM,rest". */
enum th_status th_text_parse_prefix(th_env *env, const char *text, size_t length, th_term *term,
                                    size_t *used);

#endif

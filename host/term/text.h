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

#include "host/base/error.h"

struct th_buffer;

/* Appends T as Erlang text. Iterative. */
void th_text_print(struct th_buffer *out, th_term t);

/* The same, but stops soon after LIMIT bytes and writes "..." there. Looks at no more of the term
 * than that takes: a list is a string if its first LIMIT elements are characters. */
void th_text_print_limited(struct th_buffer *out, th_term t, size_t limit);

/* Likewise th_text_print(), if th_text_parse() reads back a term identical to T: no funs but
 * exports with names in ASCII, no identifiers of other nodes, nothing magic, nothing beyond the
 * parser's bounds. False: it does not, and nothing was appended. */
bool th_text_print_exact(struct th_buffer *out, th_term t);

/* T as a string in TEXT, which has SIZE bytes, cut off between two characters where it has no more
 * room. Returns TEXT. */
const char *th_text_fit(char *text, size_t size, th_term t);

/* Appends an atom, quoted if it must be. */
void th_text_print_atom(struct th_buffer *out, th_term atom);

/*
 * The same for people: in the encoding that was chosen for them. TH_TEXT_UNICODE is what
 * io:format("~0tp") writes in `erl +pc unicode`: characters of all of Unicode as they are, in
 * atoms, in lists that are strings then, and in binaries of UTF-8, as <<"..."/utf8>>. Formats that
 * programs read use the functions above, so that they do not depend on who calls the program.
 */
enum th_text_encoding { TH_TEXT_LATIN1, TH_TEXT_UNICODE };
void th_text_show(struct th_buffer *out, th_term t);
void th_text_show_limited(struct th_buffer *out, th_term t, size_t limit);
void th_text_show_atom(struct th_buffer *out, th_term atom);

/* Chooses it; TH_TEXT_LATIN1 at first. Before other threads show terms. */
void th_text_show_in(enum th_text_encoding encoding);

/*
 * Reads one term from LENGTH bytes of UTF-8; a full stop and white space may follow, %-comments are
 * white space. TH_MALFORMED with line, column, what was expected and what stands there; then what
 * was made so far stays in ENV until it is cleared.
 *
 * Bounds: 2^20 open brackets, 2^20 digits of an integer, and bit strings of 16 MiB and four bytes
 * for each of the text. Memory is in proportion to the text. Variables, operators, calls, records
 * and comprehensions are refused; a sign in front of a number is read, and parentheses are.
 */
enum th_status th_text_parse(th_env *env, const char *text, size_t length, th_term *term);

/* Reads the term at the beginning of the text and tells how many bytes it took: for "TERM,rest". */
enum th_status th_text_parse_prefix(th_env *env, const char *text, size_t length, th_term *term,
                                    size_t *used);

/*
 * Terms as a BEAM's own C code prints them: %T of enif_snprintf(), and of its error messages.
 *
 * They differ from what io:format("~0p") writes (text.h): no reserved word is quoted, an atom with
 * '@' is; binaries are text only where all bytes are printable in ASCII; strings and atoms beyond
 * ASCII are as they stand; floats have six digits behind the point; maps have no blanks.
 */

/* What erts_printf() prints of a term at most, unless it is told. */
enum { TH_TEXT_BEAM_LIMIT = 100000 };

/* Appends T. LIMIT: of terms, characters and bytes, as the BEAM counts them; where they are used
 * up, the text ends with "... ". Iterative. Returns how many of the bytes are of numbers: integers
 * but large ones, floats, and the digits of identifiers, funs, bit strings and escapes. */
size_t th_text_print_beam(struct th_buffer *out, th_term t, long limit);

#endif

/*
 * Reads and prints Erlang text.
 *
 * The printer writes the output of io:format("~0p") in OTP 25, byte for byte, in UTF-8, as plain
 * `erl` sets it up: lists and binaries of characters that are printable in Latin-1 as strings,
 * characters above 255 escaped, floats in their shortest form, maps in their own order. The
 * node number of an identifier of a peer (peer.h) is the peer's index; of another node a hash of the
 * node's name, not 0.
 *
 * The parser reads every constant term, and pids, ports and references of this node and of its peers
 * as the printer writes them.
 */
#ifndef TH_TEXT_H
#define TH_TEXT_H

#include "env.h"

#include "host/base/error.h"

struct th_buffer;

/* Appends T as Erlang text. Iterative. */
void th_text_print(struct th_buffer *out, th_term t);

/* As th_text_print(), but stops soon after LIMIT bytes and appends "...". Reads no more of the term
 * than these bytes need: a list is a string if its first LIMIT elements are characters. */
void th_text_print_limited(struct th_buffer *out, th_term t, size_t limit);

/* As th_text_print(), if th_text_parse() reads back a term identical to T: no funs but exports with
 * names in ASCII, no identifiers of other nodes, no magic references, nothing beyond the parser's
 * bounds.
 * Errors: returns false, with nothing appended, if the text would not be exact. */
bool th_text_print_exact(struct th_buffer *out, th_term t);

/* Prints T into TEXT, of SIZE > 0 bytes, as a string, cut off between two characters if it is too
 * long. Returns TEXT. */
const char *th_text_fit(char *text, size_t size, th_term t);

/* Appends an atom, quoted if necessary. */
void th_text_print_atom(struct th_buffer *out, th_term atom);

/*
 * The same functions for output that people read, in the encoding that was set for people.
 * TH_TEXT_UNICODE is the output of io:format("~0tp") in `erl +pc unicode`: all characters of
 * Unicode as they are, in atoms, in lists, which are strings then, and in binaries of UTF-8, as
 * <<"..."/utf8>>. Formats that programs read use the functions above, and so do not depend on the
 * user's settings.
 */
enum th_text_encoding { TH_TEXT_LATIN1, TH_TEXT_UNICODE };
void th_text_show(struct th_buffer *out, th_term t);
void th_text_show_limited(struct th_buffer *out, th_term t, size_t limit);
void th_text_show_atom(struct th_buffer *out, th_term atom);

/* Sets the encoding; TH_TEXT_LATIN1 at first.
 * Order: before other threads show terms. */
void th_text_show_in(enum th_text_encoding encoding);

/*
 * Names as Elixir writes them. For these functions an alias is the name of a module of Elixir without
 * its prefix: Enum for 'Elixir.Enum'.
 *
 *     Enum.sort             the function sort of the module 'Elixir.Enum'
 *     :lists.sort           sort of the module lists
 *     Kernel.+              an operator
 *     Shop."-add/2-fun-0-"  a name that Elixir does not read without quotes
 */

/* Appends the alias of ATOM. Returns false, with nothing appended, if ATOM is no module of Elixir. */
bool th_text_elixir_alias(struct th_buffer *out, th_term atom);

/* Appends the function, with `_` for TH_NONE. */
void th_text_elixir_function(struct th_buffer *out, th_term module, th_term function);

/* Returns the module whose alias is the first BYTES bytes of a string; TH_NONE: they are no alias. */
th_term th_text_elixir_module(const char *text, size_t bytes);

/* Reads a function, in which `_` gives TH_NONE, and moves *TEXT behind it. Returns false if there is
 * none; *TEXT is undefined then. */
bool th_text_elixir_take(const char **text, th_term *module, th_term *function);

/* Sets the names that the functions above show to people; TH_TEXT_ERLANG at first. With
 * TH_TEXT_ELIXIR, aliases take the place of atoms that are modules of Elixir, also in terms.
 * Order: before other threads show terms. */
enum th_text_names { TH_TEXT_ERLANG, TH_TEXT_ELIXIR };
void th_text_show_names(enum th_text_names names);
enum th_text_names th_text_shown_names(void);

/* Appends Module:Function, or Module.Function of Elixir, as names are shown; `_` for TH_NONE. */
void th_text_show_function(struct th_buffer *out, th_term module, th_term function);

/*
 * Reads one term from LENGTH bytes of UTF-8; a full stop and white space may follow; %-comments are
 * white space.
 * Errors: TH_MALFORMED with line, column, the expected and the actual text; TH_FAILED if the system
 * refuses memory. Parts of the term stay in ENV until it is cleared.
 *
 * Bounds: 2^20 open brackets; 2^20 digits of an integer; bit strings of 16 MiB, and four bytes more
 * for each byte of the text. Memory is proportional to the text. Variables, operators, calls,
 * records and comprehensions are refused; a sign in front of a number and parentheses are accepted.
 */
enum th_status th_text_parse(th_env *env, const char *text, size_t length, th_term *term);

/* Reads the term at the beginning of the text; *USED gets the number of its bytes. For texts such
 * as "TERM,rest". */
enum th_status th_text_parse_prefix(th_env *env, const char *text, size_t length, th_term *term,
                                    size_t *used);

/*
 * Terms as a BEAM's own C code prints them: %T of enif_snprintf(), and of its error messages.
 *
 * Differences from io:format("~0p"): no reserved word is quoted, but an atom with '@' is; binaries
 * are text only if all bytes are printable in ASCII; strings and atoms beyond ASCII are written as
 * they are; floats have six digits behind the point; maps have no blanks.
 */

/* The default limit of erts_printf() for a term. */
enum { TH_TEXT_BEAM_LIMIT = 100000 };

/* Appends T. LIMIT counts terms, characters and bytes, as the BEAM counts them; at the limit, the
 * text ends with "... ". Iterative. Returns the number of bytes that belong to numbers: integers
 * but large ones, floats, and the digits of identifiers, funs, bit strings and escapes. */
size_t th_text_print_beam(struct th_buffer *out, th_term t, long limit);

#endif

/* The parts of the scanner (text_token.h), each of which reads one kind of token. */
#ifndef TH_TEXT_SCAN_H
#define TH_TEXT_SCAN_H

#include "text_token.h"

/* White space and comments. */
void th_scan_blank(struct th_scanner *s);

/* Reads one character of valid UTF-8, which must be there. */
enum th_status th_scan_character(struct th_scanner *s, uint32_t *c);

/* The same within quotes: with VERBATIM unset a backslash begins an escape. */
enum th_status th_scan_quoted(struct th_scanner *s, bool verbatim, uint32_t *c);

/* Appends C, from the budget of base/memory.h. */
enum th_status th_scan_add(struct th_buffer *to, uint32_t c);

/* At a number, or '$' and a character; an identifier of the form PREFIX digits.digits...> */
enum th_status th_scan_number(struct th_scanner *s);
enum th_status th_scan_dollar(struct th_scanner *s);
enum th_status th_scan_identifier(struct th_scanner *s);

/* At the opening quote of an atom or string (with all strings that follow it), or at a '~'. */
enum th_status th_scan_quoted_atom(struct th_scanner *s);
enum th_status th_scan_string(struct th_scanner *s);
enum th_status th_scan_sigil(struct th_scanner *s);

/* How many '"' stand here. */
size_t th_scan_count_quotes(const struct th_scanner *s);

/* At three of them or more; appends to `string`. */
enum th_status th_scan_triple(struct th_scanner *s, bool verbatim);

/* Raises an error for quotes at `start` that are not closed by CLOSING. */
enum th_status th_scan_fail_open(struct th_scanner *s, const char *closing) __attribute__((cold));

/* The same for a name at `start` that is no atom. */
enum th_status th_scan_fail_atom(const struct th_scanner *s) __attribute__((cold));

#endif

/* The parts of the scanner (text_token.h), inside term/. */
#ifndef TH_TEXT_PARSE_INTERNAL_H
#define TH_TEXT_PARSE_INTERNAL_H

#include "env.h"

#include "host/base/error.h"

#include <stdint.h>

struct th_scanner;

/* As th_text_parse(), for usual terms (text_quick.c). Returns false, with *TERM unchanged and parts
 * of the term in ENV, for any text that th_text_parse() must read. */
bool th_text_parse_quickly(th_env *env, const char *text, size_t length, th_term *term);

/* Skips white space and comments. */
void th_text_scan_blank(struct th_scanner *s);

/* Reads one character of valid UTF-8, which must be there. */
enum th_status th_text_scan_character(struct th_scanner *s, uint32_t *c);

/* Reads one character within quotes; a backslash begins an escape unless VERBATIM. */
enum th_status th_text_scan_quoted(struct th_scanner *s, bool verbatim, uint32_t *c);

/* Read a number; '$' and a character; an identifier of the form PREFIX digits.digits...> */
enum th_status th_text_scan_number(struct th_scanner *s);
enum th_status th_text_scan_dollar(struct th_scanner *s);
enum th_status th_text_scan_identifier(struct th_scanner *s);

/* Read from the opening quote of an atom or string (with all strings that follow it), or from a
 * '~'. */
enum th_status th_text_scan_quoted_atom(struct th_scanner *s);
enum th_status th_text_scan_string(struct th_scanner *s);
enum th_status th_text_scan_sigil(struct th_scanner *s);

/* Raises an error for a name at `start` that is no atom. */
enum th_status th_text_scan_fail_atom(const struct th_scanner *s) __attribute__((cold));

#endif

/*
 * Terms as JSON values, in the form of the JSON lines of recordings (tracehost-jsonl(5) documents
 * the format):
 *
 *   JSON string that is a field's value   Erlang text
 *   string inside an array or object      binary
 *   array, object                         list, map with binary keys
 *   integer, real                         integer, float
 *   true, false, null                     the atoms
 *   {"$etf": BASE64}                      a term that text cannot represent: one versioned external
 *                                         term; also inside arrays and objects
 *
 * JSON integers have 64 bits; larger integers are Erlang text, as fields. Values are Jansson
 * values, and are read to the depth that Jansson reads (2048). Memory is proportional to the
 * value's memory.
 */
#ifndef TH_JSON_H
#define TH_JSON_H

#include "env.h"

#include "host/base/error.h"

#include <jansson.h>

struct th_etf_node;
struct th_buffer;

/* Parses as json_loadb(), with memory from the budget of base/memory.h; NULL with TH_MALFORMED
 * raised. */
json_t *th_json_read(const char *text, size_t size, size_t flags);

/* Converts a field's VALUE to a term. HERE: see th_etf_options.
 * Errors: TH_MALFORMED with the cause; TH_FAILED if the system refuses memory. */
enum th_status th_json_to_term(th_env *env, const json_t *value, const struct th_etf_node *here,
                               th_term *term);

/* The key of a term in the external format. */
#define TH_JSON_ETF "$etf"

/* Decodes LENGTH characters of base64: one versioned external term.
 * Errors: as th_json_to_term(). */
enum th_status th_json_etf_to_term(th_env *env, const char *text, size_t length,
                                   const struct th_etf_node *here, th_term *term);

/* Appends SIZE bytes of UTF-8 as a JSON string, with the escapes that Jansson writes. */
void th_json_add_string(struct th_buffer *out, const char *text, size_t size);

/*
 * Appends a field's value for T: its Erlang text as a string, or {"$etf": ...}.
 * Errors: those of th_etf_encode(), for a term that it cannot write; then OUT is unchanged.
 */
enum th_status th_json_add_term(struct th_buffer *out, th_term t, const struct th_etf_node *here);

/* Base64 (RFC 4648, section 4), for bytes in JSON. */

/* Appends the SIZE bytes at DATA as text, padded with '='. */
void th_json_base64_encode(struct th_buffer *out, const unsigned char *data, size_t size);

/*
 * Appends the bytes that LENGTH characters of TEXT encode. Only the alphabet and the right number
 * of '=' are allowed, and unused bits must be 0: so text and bytes correspond one to one.
 * Errors: TH_MALFORMED, with the number of the character in TEXT; nothing is appended then.
 */
enum th_status th_json_base64_decode(struct th_buffer *out, const char *text, size_t length);

#endif

/*
 * Terms as JSON values, as the JSON lines of recordings hold them (samples/README.md documents the
 * format):
 *
 *   JSON string that is a field's value   Erlang text
 *   string inside an array or object      binary
 *   array, object                         list, map with binary keys
 *   integer, real                         integer, float
 *   true, false, null                     the atoms
 *   {"$etf": BASE64}                      what text cannot carry: one versioned external term;
 *                                         also inside arrays and objects
 *
 * JSON integers have 64 bits; larger ones stand in Erlang text, as fields. Values come from and go
 * to Jansson, and are read as deep as Jansson itself reads (2048). Memory is proportional to the
 * value's.
 */
#ifndef TH_JSON_H
#define TH_JSON_H

#include "env.h"

#include "host/base/error.h"

#include <jansson.h>

struct th_etf_node;
struct th_buffer;

/* As json_loadb(), from the budget of base/memory.h; NULL with TH_MALFORMED raised. */
json_t *th_json_read(const char *text, size_t size, size_t flags);

/* The term of a field's VALUE. TH_MALFORMED with the cause. HERE: see th_etf_options. */
enum th_status th_json_to_term(th_env *env, const json_t *value, const struct th_etf_node *here,
                               th_term *term);

/*
 * A field's value for T: its Erlang text, or {"$etf": ...}. The caller owns the reference. NULL,
 * with an error raised, for what no external term can carry (see th_etf_encode()).
 */
json_t *th_json_from_term(th_term t, const struct th_etf_node *here);

/* Base64 (RFC 4648, section 4), as JSON carries bytes. */

/* Appends the SIZE bytes at DATA as text, filled up with '='. */
void th_json_base64_encode(struct th_buffer *out, const unsigned char *data, size_t size);

/*
 * Appends the bytes that LENGTH characters of TEXT stand for. Nothing but the alphabet and the
 * right number of '=' is allowed, and bits left over must be 0, so that each text has one meaning
 * and each meaning one text. TH_MALFORMED with a cause that names the character; then nothing is
 * appended.
 */
enum th_status th_json_base64_decode(struct th_buffer *out, const char *text, size_t length);

#endif

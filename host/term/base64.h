/* Base64 (RFC 4648, section 4), as JSON carries bytes. */
#ifndef TH_BASE64_H
#define TH_BASE64_H

#include "host/base/base.h"

/* Appends the SIZE bytes at DATA as text, filled up with '='. */
void th_base64_encode(struct th_buffer *out, const unsigned char *data, size_t size);

/*
 * Appends the bytes that LENGTH characters of TEXT stand for. Nothing but the alphabet and the
 * right number of '=' is allowed, and bits left over must be 0, so that each text has one meaning
 * and each meaning one text. TH_MALFORMED with a cause that names the character; then nothing is
 * appended.
 */
enum th_status th_base64_decode(struct th_buffer *out, const char *text, size_t length);

#endif

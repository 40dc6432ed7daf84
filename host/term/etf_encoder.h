/*
 * The inside of the encoder: etf_encode.c follows the nesting, etf_write.c writes terms without
 * parts.
 */
#ifndef TH_ETF_ENCODER_H
#define TH_ETF_ENCODER_H

#include "etf.h"
#include "etf_tags.h"

struct th_etf_encoder {
    struct th_buffer *out;
    struct th_etf_node here; /* node is never 0 */
    bool utf8_atoms;
    void (*saving)(th_term magic);
};

/* Room for BYTES bytes; the caller adds to the size what it fills. */
static inline unsigned char *th_etf_reserve(struct th_etf_encoder *e, size_t bytes)
{
    struct th_buffer *out = e->out;

    return out->capacity - out->size < bytes ? th_buffer_reserve(out, bytes)
                                             : out->data + out->size;
}

/* A tag, and the number that follows it. */
static inline void th_etf_tag8(struct th_etf_encoder *e, unsigned tag, unsigned x)
{
    unsigned char *to = th_etf_reserve(e, 2);

    to[0] = (unsigned char)tag;
    to[1] = (unsigned char)x;
    e->out->size += 2;
}

static inline void th_etf_tag16(struct th_etf_encoder *e, unsigned tag, size_t x)
{
    unsigned char *to = th_etf_reserve(e, 3);

    to[0] = (unsigned char)tag;
    th_etf_put16(to + 1, (uint16_t)x);
    e->out->size += 3;
}

static inline void th_etf_tag32(struct th_etf_encoder *e, unsigned tag, size_t x)
{
    unsigned char *to = th_etf_reserve(e, 5);

    to[0] = (unsigned char)tag;
    th_etf_put32(to + 1, (uint32_t)x);
    e->out->size += 5;
}

static inline void th_etf_add(struct th_etf_encoder *e, const void *data, size_t bytes)
{
    if (bytes > 0)
        memcpy(th_etf_reserve(e, bytes), data, bytes);
    e->out->size += bytes;
}

static inline void th_etf_add32(struct th_etf_encoder *e, uint32_t x)
{
    th_etf_put32(th_etf_reserve(e, 4), x);
    e->out->size += 4;
}

/* Raises the error of a WHAT with SIZE units, more than 32 bits can count. */
enum th_status th_etf_too_large(const char *what, size_t size, const char *unit)
    __attribute__((cold));

enum th_status th_etf_write_atom(struct th_etf_encoder *e, th_term atom);

/* Any immediate; any boxed term without parts. TH_FAILED for a word that is neither. */
enum th_status th_etf_write_immediate(struct th_etf_encoder *e, th_term t);
enum th_status th_etf_write_boxed(struct th_etf_encoder *e, th_term t);

#endif

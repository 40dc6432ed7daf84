#include "text_segment.h"

#include "integer_internal.h"
#include "make.h"
#include "utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Bits ------------------------------------------------------------------------------------- */

/* In place of what was expected: there is no memory for more, an error was raised. */
static const char no_memory[] = "less than takes so much memory";

/* Takes BITS of what may be made. */
static const char *take_room(struct th_segments *b, uint64_t bits)
{
    if (bits > b->left)
        return "bit strings that are not that much longer than their text";
    if (!th_buffer_try(&b->bytes, bits / 8 + 2))
        return no_memory;
    b->left -= bits;
    return NULL;
}

/* Appends the low COUNT bits of BYTE, 1 to 8. */
static void put(struct th_segments *b, unsigned byte, unsigned count)
{
    unsigned used = b->bits % 8;
    unsigned bits = byte << (8 - count) & 0xFF;

    if (used == 0) {
        th_buffer_add_byte(&b->bytes, (unsigned char)bits);
    } else {
        b->bytes.data[b->bytes.size - 1] |= (unsigned char)(bits >> used);
        if (used + count > 8)
            th_buffer_add_byte(&b->bytes, (unsigned char)(bits << (8 - used)));
    }
    b->bits += count;
}

static void put_string(struct th_segments *b, const unsigned char *data, uint64_t bits)
{
    uint64_t i = 0;

    if (b->bits % 8 == 0) {
        th_buffer_add(&b->bytes, data, bits / 8);
        i = bits / 8;
        b->bits += 8 * i;
    }
    for (; i < bits / 8; i++)
        put(b, data[i], 8);
    if (bits % 8 != 0)
        put(b, data[i] >> (8 - bits % 8), bits % 8);
}

/* Appends BITS bits of a number whose bytes, least significant first, BYTE_OF tells. */
static void put_number(struct th_segments *b, uint64_t bits, unsigned order,
                       unsigned char (*byte_of)(const void *number, uint64_t i), const void *number)
{
    uint64_t whole = bits / 8;
    unsigned rest = bits % 8;

    if (order == TH_ORDER_LITTLE) {
        for (uint64_t i = 0; i < whole; i++)
            put(b, byte_of(number, i), 8);
        if (rest != 0)
            put(b, byte_of(number, whole), rest);
        return;
    }
    if (rest != 0)
        put(b, byte_of(number, whole), rest);
    for (uint64_t i = whole; i > 0; i--)
        put(b, byte_of(number, i - 1), 8);
}

/* --- Integers --------------------------------------------------------------------------------- */

struct complement {
    struct th_limbs limbs;
    size_t lowest;
};

static unsigned char complement_byte(const void *number, uint64_t i)
{
    const struct complement *n = number;

    return (unsigned char)(th_term_limbs_complement(&n->limbs, n->lowest, i / 8) >> 8 * (i % 8));
}

static const char *add_integer(struct th_segments *b, const struct th_spec *spec, th_term value)
{
    struct complement n;
    const char *wrong;

    if (!th_get_limbs(value, &n.limbs))
        return "an integer, or another type";
    wrong = take_room(b, spec->size * spec->unit);
    if (wrong)
        return wrong;
    n.lowest = th_term_limbs_lowest(&n.limbs);
    put_number(b, spec->size * spec->unit, spec->order, complement_byte, &n);
    return NULL;
}

/* --- Floats ----------------------------------------------------------------------------------- */

/* False if it is too large for a double. */
static bool to_double(th_term value, double *d)
{
    struct th_buffer digits = {0};
    int64_t n;

    if (th_is_float(value)) {
        *d = th_float_value(value);
    } else if (th_get_int64(value, &n)) {
        *d = (double)n;
    } else {
        th_term_big_to_decimal(&digits, value);
        *d = strtod(th_buffer_text(&digits), NULL);
        th_buffer_free(&digits);
    }
    return isfinite(*d);
}

/* IEEE 754's 16 bits: 5 of exponent, 10 of fraction. Rounds to even, as the BEAM by way of 32. */
static uint64_t half_bits(float f)
{
    uint64_t sign = signbit(f) ? 0x8000 : 0;
    float magnitude = fabsf(f);
    int exponent;

    if (magnitude >= 65520)
        return sign | 0x7C00;
    if (magnitude < 0x1p-14f)
        return sign | (uint64_t)lrintf(magnitude * 0x1p24f);
    magnitude = frexpf(magnitude, &exponent);
    /* A fraction that is rounded up to 2048 carries into the exponent, as it should. */
    return sign | ((uint64_t)(exponent + 13) * 1024 + (uint64_t)lrintf(magnitude * 2048));
}

static uint64_t float_bits(double d, uint64_t size)
{
    float f = (float)d;
    uint64_t bits = 0;
    uint32_t half = 0;

    if (size == 16)
        return half_bits(f);
    if (size == 32) {
        memcpy(&half, &f, sizeof half);
        return half;
    }
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static unsigned char word_byte(const void *number, uint64_t i)
{
    return (unsigned char)(*(const uint64_t *)number >> 8 * i);
}

static const char *add_float(struct th_segments *b, const struct th_spec *spec, th_term value)
{
    uint64_t size = spec->size * spec->unit;
    uint64_t bits;
    double d;
    const char *wrong;

    if (!th_is_float(value) && !th_is_integer(value))
        return "a number, or another type";
    if (size != 16 && size != 32 && size != 64)
        return "a float of 16, 32 or 64 bits";
    if (!to_double(value, &d))
        return "a number that a float can hold";
    wrong = take_room(b, size);
    if (wrong)
        return wrong;
    bits = float_bits(d, size);
    put_number(b, size, spec->order, word_byte, &bits);
    return NULL;
}

/* --- Characters ------------------------------------------------------------------------------- */

static void put_utf16(struct th_segments *b, unsigned order, uint32_t c)
{
    uint64_t high = 0xD800 + ((c - 0x10000) >> 10);
    uint64_t low = c > 0xFFFF ? 0xDC00 + (c & 0x3FF) : c;

    if (c > 0xFFFF)
        put_number(b, 16, order, word_byte, &high);
    put_number(b, 16, order, word_byte, &low);
}

static const char *add_utf(struct th_segments *b, const struct th_spec *spec, th_term value)
{
    char utf8[TH_UTF8_MAX];
    uint64_t c;
    const char *wrong;

    if (!th_get_uint64(value, &c) || c > 0x10FFFF || !th_utf8_valid((uint32_t)c))
        return "the number of a character";
    wrong = take_room(b, 32);
    if (wrong)
        return wrong;
    if (spec->type == TH_SEGMENT_UTF8)
        put_string(b, (unsigned char *)utf8, 8 * th_utf8_put((uint32_t)c, utf8));
    else if (spec->type == TH_SEGMENT_UTF16)
        put_utf16(b, spec->order, (uint32_t)c);
    else
        put_number(b, 32, spec->order, word_byte, &c);
    return NULL;
}

/* --- Bit strings ------------------------------------------------------------------------------ */

static const char *add_bits(struct th_segments *b, const struct th_spec *spec, th_term value)
{
    const unsigned char *data;
    uint64_t wanted;
    size_t bits;
    const char *wrong;

    if (value == TH_NONE || !th_get_bits(value, &data, &bits))
        return "a binary, or another type";
    wanted = spec->sized ? spec->size * spec->unit : bits;
    if (wanted > bits)
        return "a binary that is as long";
    if (!spec->sized && bits % spec->unit != 0)
        return "as many bits as make whole units";
    wrong = take_room(b, wanted);
    if (!wrong)
        put_string(b, data, wanted);
    return wrong;
}

/* --- Segments --------------------------------------------------------------------------------- */

const char *th_text_segment_put(struct th_segments *b, const struct th_spec *spec, th_term value)
{
    switch (spec->type) {
    case TH_SEGMENT_INTEGER:
        return add_integer(b, spec, value);
    case TH_SEGMENT_FLOAT:
        return add_float(b, spec, value);
    case TH_SEGMENT_UTF8:
    case TH_SEGMENT_UTF16:
    case TH_SEGMENT_UTF32:
        return add_utf(b, spec, value);
    default:
        return add_bits(b, spec, value);
    }
}

/* A string stands for its characters, each a segment of the same kind. */
static const char *put_characters(struct th_segments *b, const struct th_scanner *s,
                                  const struct th_spec *spec)
{
    const char *at = s->characters.data;
    const char *end = at + s->characters.size;
    const char *wrong = NULL;
    uint32_t c;

    if (spec->type == TH_SEGMENT_BINARY || spec->type == TH_SEGMENT_BITSTRING)
        return "a binary, not a string";
    while (!wrong && at < end) {
        at += th_utf8_get(at, (size_t)(end - at), &c);
        wrong = th_text_segment_put(b, spec, th_small(c));
    }
    return wrong;
}

enum th_status th_text_segment_add(struct th_segments *b, struct th_scanner *s, const char *place,
                                   th_term value)
{
    struct th_spec spec;
    enum th_status status = th_text_spec_read(s, place, &spec);
    const char *wrong;

    if (status != TH_OK)
        return status;
    wrong = value == TH_NONE ? put_characters(b, s, &spec) : th_text_segment_put(b, &spec, value);
    if (wrong == no_memory)
        return th_error_status();
    return wrong ? th_text_scan_fail(s, place, "expected %s", wrong) : TH_OK;
}

/* Bit strings taken apart: the segments of a pattern. */
#include "shell_internal.h"

#include <math.h>
#include <string.h>

struct source {
    const unsigned char *data;
    size_t bits, at;
};

static unsigned take_bit(struct source *s)
{
    unsigned bit = s->data[s->at / 8] >> (7 - s->at % 8) & 1;

    s->at++;
    return bit;
}

/* BITS bits as bytes in TO, the first bit being the highest of the first byte. */
static void take_bits(struct source *s, unsigned char *to, size_t bits)
{
    size_t i = 0;

    memset(to, 0, (bits + 7) / 8);
    if (s->at % 8 == 0) {
        i = bits / 8 * 8;
        memcpy(to, s->data + s->at / 8, bits / 8);
        s->at += i;
    }
    for (; i < bits; i++)
        to[i / 8] |= (unsigned char)(take_bit(s) << (7 - i % 8));
}

/* The bits of a number as limbs, least significant first; COUNT limbs, cleared. */
static void take_limbs(struct source *s, uint64_t *limbs, size_t bits, unsigned order)
{
    size_t whole = bits / 8, rest = bits % 8;

    for (size_t i = 0; order == TH_ORDER_LITTLE && i < bits; i++) {
        size_t byte = i / 8, width = byte < whole ? 8 : rest;
        size_t to = byte * 8 + (width - 1 - i % 8);
        limbs[to / 64] |= (uint64_t)take_bit(s) << to % 64;
    }
    for (size_t i = bits; order != TH_ORDER_LITTLE && i > 0; i--)
        limbs[(i - 1) / 64] |= (uint64_t)take_bit(s) << (i - 1) % 64;
}

static th_term take_integer(struct th_evaluation *e, struct source *s, const struct th_spec *spec,
                            size_t bits)
{
    size_t count = bits / 64 + 1;
    uint64_t *limbs = th_alloc_zero(count * sizeof *limbs);
    bool negative = false;
    th_term t;

    take_limbs(s, limbs, bits, spec->order);
    if (spec->sign == TH_SIGN_YES && bits > 0)
        negative = limbs[(bits - 1) / 64] >> (bits - 1) % 64 & 1;
    if (negative) { /* its magnitude is the complement and one, within the bits */
        bool carry = true;
        for (size_t i = 0; i < count; i++) {
            uint64_t used = i < bits / 64 ? UINT64_MAX : ((uint64_t)1 << bits % 64) - 1;
            limbs[i] = (~limbs[i] & used) + carry;
            carry = carry && limbs[i] == 0;
        }
    }
    t = th_make_integer(&e->heap, negative, limbs, count);
    th_free(limbs);
    return t;
}

static double half_value(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023);
    double magnitude = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);

    if (exponent == 31)
        return INFINITY;
    return bits >> 15 ? -magnitude : magnitude;
}

/* TH_NONE if it is no finite number, or of a size that floats do not have. */
static th_term take_float(struct th_evaluation *e, struct source *s, const struct th_spec *spec,
                          size_t bits)
{
    uint64_t word = 0;
    double d;
    float f;
    uint32_t half;

    if (bits != 16 && bits != 32 && bits != 64)
        return TH_NONE;
    take_limbs(s, &word, bits, spec->order);
    if (bits == 64) {
        memcpy(&d, &word, sizeof d);
    } else if (bits == 32) {
        half = (uint32_t)word;
        memcpy(&f, &half, sizeof f);
        d = f;
    } else {
        d = half_value(word);
    }
    return isfinite(d) ? th_make_float(&e->heap, d) : TH_NONE;
}

static th_term take_string(struct th_evaluation *e, struct source *s, size_t bits)
{
    unsigned char *bytes;
    th_term t = th_make_heap_binary(&e->heap, bits, &bytes);

    take_bits(s, bytes, bits);
    return t;
}

/* The character that stands here in UTF-8, -16 or -32; TH_NONE if there is none. */
static th_term take_character(struct source *s, const struct th_spec *spec)
{
    size_t left = s->bits - s->at, used = 0;
    uint64_t c = 0, low = 0;

    if (spec->type == TH_SEGMENT_UTF8) {
        struct source ahead = *s;
        unsigned char bytes[TH_UTF8_MAX];
        size_t count = left / 8 < TH_UTF8_MAX ? left / 8 : TH_UTF8_MAX;
        uint32_t character = 0;
        take_bits(&ahead, bytes, 8 * count);
        used = th_utf8_get((char *)bytes, count, &character);
        s->at += 8 * used;
        return used ? th_small(character) : TH_NONE;
    }
    if (left < (spec->type == TH_SEGMENT_UTF16 ? 16 : 32))
        return TH_NONE;
    take_limbs(s, &c, spec->type == TH_SEGMENT_UTF16 ? 16 : 32, spec->order);
    if (spec->type == TH_SEGMENT_UTF16 && c >= 0xD800 && c < 0xDC00 && left >= 32) {
        take_limbs(s, &low, 16, spec->order);
        if (low < 0xDC00 || low > 0xDFFF)
            return TH_NONE;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    return c <= 0x10FFFF && th_utf8_valid((uint32_t)c) ? th_small((int64_t)c) : TH_NONE;
}

/* The value of the segment that stands here, TH_NONE if there is none of its kind. */
static th_term take_value(struct th_evaluation *e, struct source *s, const struct th_spec *spec)
{
    size_t left = s->bits - s->at;
    size_t bits = (size_t)spec->size * spec->unit;

    if (spec->type >= TH_SEGMENT_UTF8)
        return take_character(s, spec);
    if (!spec->sized && spec->type >= TH_SEGMENT_BINARY)
        bits = left % spec->unit ? SIZE_MAX : left;
    if (bits > left)
        return TH_NONE;
    if (spec->type == TH_SEGMENT_INTEGER)
        return take_integer(e, s, spec, bits);
    return spec->type == TH_SEGMENT_FLOAT ? take_float(e, s, spec, bits) : take_string(e, s, bits);
}

/* A string in a pattern stands for its characters. */
static enum th_taken match_characters(struct th_evaluation *e, const struct th_node *segment,
                                      const struct th_spec *spec, struct source *s)
{
    enum th_taken taken = TH_TAKEN_MATCHED;

    for (th_term c = segment->parts[0]->value; th_is_list(c); c = th_cell(c)[1]) {
        th_term value = take_value(e, s, spec);
        if (value == TH_NONE)
            return TH_TAKEN_NOT;
        if (!th_identical(value, th_cell(c)[0]))
            taken = TH_TAKEN_OTHER;
    }
    return taken;
}

static enum th_taken match_segment(struct th_evaluation *e, const struct th_node *segment,
                                   struct source *s)
{
    th_term size = segment->parts[1] ? th_shell_evaluate(e, segment->parts[1]) : TH_NONE, value;
    struct th_spec spec;

    if (!th_shell_segment_spec(segment, size, &spec))
        return TH_TAKEN_NOT;
    if (segment->exact)
        return match_characters(e, segment, &spec, s);
    value = take_value(e, s, &spec);
    if (value == TH_NONE)
        return TH_TAKEN_NOT;
    return th_shell_match(e, segment->parts[0], value) ? TH_TAKEN_MATCHED : TH_TAKEN_OTHER;
}

enum th_taken th_shell_match_next_bits(struct th_evaluation *e, const struct th_node *bits,
                                       th_term t, size_t *at)
{
    enum th_taken taken = TH_TAKEN_MATCHED;
    struct source s = {0};

    th_get_bits(t, &s.data, &s.bits);
    s.at = *at;
    for (size_t i = 0; i < bits->count; i++) {
        enum th_taken one = match_segment(e, bits->parts[i], &s);
        if (one == TH_TAKEN_NOT)
            return TH_TAKEN_NOT;
        if (one == TH_TAKEN_OTHER)
            taken = TH_TAKEN_OTHER;
    }
    *at = s.at;
    return taken;
}

bool th_shell_match_bits(struct th_evaluation *e, const struct th_node *bits, th_term t)
{
    const unsigned char *data;
    size_t size, at = 0;

    return th_get_bits(t, &data, &size) &&
           th_shell_match_next_bits(e, bits, t, &at) == TH_TAKEN_MATCHED && at == size;
}

/*
 * The digits of integers of any size, in both directions: as many digits at a time as fit in a
 * limb; long integers in blocks (positions.c).
 */
#include "integer_internal.h"
#include "make.h"

#include "host/base/buffer.h"

#include <stdlib.h>

/* The largest power of ten in a limb. Its highest bit is set, as divide_step() requires. */
#define CHUNK 10000000000000000000u
enum { CHUNK_DIGITS = 19, LIMB_DIGITS = 20 };

/* Long numbers: a limb is four digits of base 2^16; six decimal digits are one digit of base
 * 10^6. */
enum {
    PARTS = 4,
    BINARY_LIMBS = TH_POSITIONS_BLOCK / PARTS, /* of a block's value */
    DECIMAL_DIGITS = 6,
    DECIMAL_BASE = 1000000,
    DECIMAL_LIMBS = 159 /* 2^(64 * 159) < 10^(6 * TH_POSITIONS_BLOCK) */
};

/*
 * Divides HIGH * 2^64 + LOW, HIGH < CHUNK, by CHUNK; multiplies by the reciprocal instead of
 * dividing. The estimate of the quotient is at most one too large or one too small.
 * Source: Moeller and Granlund, "Improved division by invariant integers", 2011, algorithm 4.
 */
static uint64_t divide_step(uint64_t high, uint64_t low, uint64_t *rest)
{
    const uint64_t reciprocal = (uint64_t)(~(unsigned __int128)0 / CHUNK);
    unsigned __int128 estimate = (unsigned __int128)reciprocal * high;
    uint64_t quotient;

    estimate += ((unsigned __int128)high + 1) << 64 | low;
    quotient = (uint64_t)(estimate >> 64);
    *rest = low - quotient * CHUNK;
    if (*rest > (uint64_t)estimate) {
        quotient--;
        *rest += CHUNK;
    }
    if (*rest >= CHUNK) {
        quotient++;
        *rest -= CHUNK;
    }
    return quotient;
}

/* Divides the magnitude by CHUNK in place and returns the remainder. */
static uint64_t digits_divide(uint64_t *limbs, size_t count)
{
    uint64_t rest = 0;

    for (size_t i = count; i-- > 0;)
        limbs[i] = divide_step(rest, limbs[i], &rest);
    return rest;
}

/* Writes at least LEAST digits of VALUE, the last one just before END; returns the first. */
static unsigned char *digits_put_digits(unsigned char *end, uint64_t value, int least)
{
    for (; value > 0 || least > 0; value /= 10, least--)
        *--end = (unsigned char)('0' + value % 10);
    return end;
}

/* Writes the digits of the magnitude, the last one just before END. Destroys the limbs. */
static unsigned char *put_magnitude(unsigned char *end, uint64_t *limbs, size_t count)
{
    while (count > 1) {
        end = digits_put_digits(end, digits_divide(limbs, count), CHUNK_DIGITS);
        count -= limbs[count - 1] == 0;
    }
    return digits_put_digits(end, limbs[0], 1);
}

/* --- Long integers to text -------------------------------------------------------------------- */

static void block_to_decimal(const struct th_positions *positions, size_t i, uint32_t *digits)
{
    const struct th_limbs *whole = positions->of;
    unsigned char text[LIMB_DIGITS * (DECIMAL_LIMBS + 1)], *end = text + sizeof text, *first;
    uint64_t limbs[DECIMAL_LIMBS + 1] = {0};
    size_t start = i * DECIMAL_LIMBS, count = DECIMAL_LIMBS;

    if (i == positions->blocks) {
        limbs[count++] = 1;
    } else {
        count = whole->count - start < count ? whole->count - start : count;
        memcpy(limbs, whole->limbs + start, count * sizeof *limbs);
    }
    first = put_magnitude(end, limbs, count);
    for (; end > first; digits++)
        for (uint32_t scale = 1; scale < DECIMAL_BASE && end > first; scale *= 10)
            *digits += scale * (uint32_t)(*--end - '0');
}

/* Returns false if there is no memory. */
static bool put_long(struct th_buffer *out, const struct th_limbs *whole)
{
    struct th_positions decimal = {.base = DECIMAL_BASE,
                                   .blocks = (whole->count + DECIMAL_LIMBS - 1) / DECIMAL_LIMBS,
                                   .read = block_to_decimal,
                                   .of = whole};
    unsigned char *place, *at;
    size_t used;

    if (!th_term_positions_convert(&decimal))
        return false;
    for (used = decimal.count; used > 1 && decimal.digits[used - 1] == 0;)
        used--;
    place = at = th_buffer_reserve(out, 1 + used * DECIMAL_DIGITS);
    if (whole->negative)
        *at++ = '-';
    for (size_t i = used; i-- > 0;) {
        unsigned char text[DECIMAL_DIGITS];
        unsigned char *end = text + sizeof text;
        unsigned char *first =
            digits_put_digits(end, decimal.digits[i], i + 1 < used ? DECIMAL_DIGITS : 1);
        memcpy(at, first, (size_t)(end - first));
        at += end - first;
    }
    out->size += (size_t)(at - place);
    free(decimal.digits);
    return true;
}

void th_term_big_to_decimal(struct th_buffer *out, th_term integer)
{
    struct th_limbs n;
    unsigned char *place, *first;
    uint64_t one = 0, *copy = &one;
    size_t room;

    th_get_limbs(integer, &n);
    if (n.count > DECIMAL_LIMBS && put_long(out, &n))
        return;
    if (n.count > 1)
        copy = th_alloc(n.count * sizeof *copy);
    memcpy(copy, n.limbs, n.count * sizeof *copy);
    room = 1 + LIMB_DIGITS * (n.count + 1);
    place = th_buffer_reserve(out, room);
    first = put_magnitude(place + room, copy, n.count);
    if (n.negative)
        *--first = '-';
    out->size += (size_t)(place + room - first);
    memmove(place, first, (size_t)(place + room - first));
    if (copy != &one)
        th_free(copy);
}

unsigned th_term_digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'z')
        return (unsigned)(c - 'a') + 10;
    return c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 10 : 36;
}

/* Multiplies the magnitude by FACTOR in place, adds ADDEND and returns the new number of limbs. */
static size_t digits_multiply(uint64_t *limbs, size_t count, uint64_t factor, uint64_t addend)
{
    for (size_t i = 0; i < count; i++) {
        unsigned __int128 value = (unsigned __int128)limbs[i] * factor + addend;
        limbs[i] = (uint64_t)value;
        addend = (uint64_t)(value >> 64);
    }
    if (addend > 0)
        limbs[count++] = addend;
    return count;
}

/* Reads the magnitude of COUNT digits in chunks of STEP; returns its number of limbs. */
static size_t read_magnitude(uint64_t *limbs, const char *digits, size_t count, unsigned radix,
                             size_t step)
{
    size_t used = 0;

    /* The first chunk is the short one, so that all others are full. */
    for (size_t end = (count - 1) % step + 1, i = 0; i < count; end += step) {
        uint64_t chunk = 0, scale = 1;
        for (; i < end; i++) {
            chunk = chunk * radix + th_term_digit_value(digits[i]);
            scale *= radix;
        }
        used = digits_multiply(limbs, used, scale, chunk);
    }
    return used;
}

/* --- Long integers from text ------------------------------------------------------------------ */

struct long_text {
    const char *digits;
    size_t count, step;
    unsigned radix;
};

/* A block is BINARY_LIMBS chunks, so its value has at most BINARY_LIMBS limbs. */
static void block_from_text(const struct th_positions *positions, size_t i, uint32_t *digits)
{
    const struct long_text *text = positions->of;
    size_t size = BINARY_LIMBS * text->step, used = 0;
    uint64_t limbs[BINARY_LIMBS + 1], scale = 1;

    if (i < positions->blocks) {
        size_t end = text->count - i * size, start = end > size ? end - size : 0;
        used = read_magnitude(limbs, text->digits + start, end - start, text->radix, text->step);
    } else {
        for (size_t k = 0; k < text->step; k++)
            scale *= text->radix;
        for (limbs[used++] = 1; i < positions->blocks + BINARY_LIMBS; i++)
            used = digits_multiply(limbs, used, scale, 0);
    }
    for (size_t k = 0; k < PARTS * used; k++)
        digits[k] = (uint16_t)(limbs[k / PARTS] >> 16 * (k % PARTS));
}

/* Returns the number of limbs, 0 if there is no memory. */
static size_t read_long(uint64_t *limbs, const struct long_text *text)
{
    size_t block = BINARY_LIMBS * text->step;
    struct th_positions binary = {.base = 1 << 16,
                                  .blocks = (text->count + block - 1) / block,
                                  .read = block_from_text,
                                  .of = text};
    size_t most = text->count / text->step + 1, used = 0;

    if (!th_term_positions_convert(&binary))
        return 0;
    for (size_t i = 0; i < most && PARTS * i < binary.count; i++) {
        const uint32_t *parts = binary.digits + PARTS * i;
        limbs[used++] = parts[0] | (uint64_t)parts[1] << 16 | (uint64_t)parts[2] << 32 |
                        (uint64_t)parts[3] << 48;
    }
    free(binary.digits);
    return used;
}

th_term th_term_big_from_digits(th_env *env, bool negative, const char *digits, size_t count,
                                unsigned radix)
{
    size_t step = 0; /* digits that always fit in a limb */
    uint64_t one;
    uint64_t *limbs;
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        if (th_term_digit_value(digits[i]) >= radix)
            return TH_NONE;
    if (count == 0)
        return TH_NONE;
    for (uint64_t left = UINT64_MAX; left >= radix; left /= radix)
        step++;
    limbs = count <= step ? &one : th_env_take(env, count / step + 1);
    if (count > BINARY_LIMBS * step)
        used = read_long(limbs, &(struct long_text){digits, count, step, radix});
    if (used == 0)
        used = read_magnitude(limbs, digits, count, radix, step);
    return th_make_integer(env, negative, limbs, used);
}

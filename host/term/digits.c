/* The digits of integers of any size, both ways, as many at a time as one limb takes. */
#include "big.h"

#include "make.h"

/* The largest power of ten in a limb. Its highest bit is set, as divide() needs it. */
#define CHUNK 10000000000000000000u
enum { CHUNK_DIGITS = 19, LIMB_DIGITS = 20 };

/*
 * Divides HIGH * 2^64 + LOW, HIGH < CHUNK, by CHUNK, multiplying with the reciprocal instead of
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
static uint64_t divide(uint64_t *limbs, size_t count)
{
    uint64_t rest = 0;

    for (size_t i = count; i-- > 0;)
        limbs[i] = divide_step(rest, limbs[i], &rest);
    return rest;
}

/* Writes the digits of VALUE so that they end before END, at least LEAST of them; returns the
 * first. */
static unsigned char *put_digits(unsigned char *end, uint64_t value, int least)
{
    for (; value > 0 || least > 0; value /= 10, least--)
        *--end = (unsigned char)('0' + value % 10);
    return end;
}

/* The digits of the magnitude, before END. The limbs are used up. */
static unsigned char *put_magnitude(unsigned char *end, uint64_t *limbs, size_t count)
{
    while (count > 1) {
        end = put_digits(end, divide(limbs, count), CHUNK_DIGITS);
        count -= limbs[count - 1] == 0;
    }
    return put_digits(end, limbs[0], 1);
}

static void put_number(struct th_buffer *out, bool negative, uint64_t *limbs, size_t count)
{
    size_t room = 1 + LIMB_DIGITS * count;
    unsigned char *place = th_buffer_reserve(out, room);
    unsigned char *first = put_magnitude(place + room, limbs, count);

    if (negative)
        *--first = '-';
    out->size += (size_t)(place + room - first);
    memmove(place, first, (size_t)(place + room - first));
}

void th_big_to_decimal(struct th_buffer *out, th_term integer)
{
    uint64_t one = 0;
    uint64_t *copy;
    const uint64_t *limbs;
    size_t count;
    bool negative;

    th_get_limbs(integer, &one, &limbs, &count, &negative);
    if (count <= 1) {
        one = count ? limbs[0] : 0;
        put_number(out, negative, &one, 1);
        return;
    }
    copy = th_alloc(count * sizeof *copy);
    memcpy(copy, limbs, count * sizeof *copy);
    put_number(out, negative, copy, count);
    th_free(copy);
}

/* The value of a digit; no radix has one as large as what others get. */
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'z')
        return (unsigned)(c - 'a') + 10;
    return c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 10 : 36;
}

static bool all_digits(const char *digits, size_t count, unsigned radix)
{
    for (size_t i = 0; i < count; i++)
        if (digit_value(digits[i]) >= radix)
            return false;
    return count > 0;
}

/* How many digits always fit in a limb. */
static size_t digits_per_limb(unsigned radix)
{
    size_t digits = 0;

    for (uint64_t left = UINT64_MAX; left >= radix; left /= radix)
        digits++;
    return digits;
}

/* Reads COUNT digits, which fit; *SCALE gets the radix to that power. */
static uint64_t read_chunk(const char *digits, size_t count, unsigned radix, uint64_t *scale)
{
    uint64_t value = 0;

    *scale = 1;
    for (size_t i = 0; i < count; i++) {
        value = value * radix + digit_value(digits[i]);
        *scale *= radix;
    }
    return value;
}

/* Multiplies the magnitude by FACTOR in place, adds ADDEND and returns its new number of limbs. */
static size_t multiply(uint64_t *limbs, size_t count, uint64_t factor, uint64_t addend)
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

th_term th_big_from_digits(th_env *env, bool negative, const char *digits, size_t count,
                           unsigned radix)
{
    size_t step = digits_per_limb(radix);
    uint64_t one;
    uint64_t *limbs;
    size_t used = 0;

    if (!all_digits(digits, count, radix))
        return TH_NONE;
    limbs = count <= step ? &one : th_env_take(env, count / step + 1);
    /* The first chunk is the short one, so that all others are full. */
    for (size_t end = (count - 1) % step + 1, start = 0; start < count; start = end, end += step) {
        uint64_t scale;
        uint64_t chunk = read_chunk(digits + start, end - start, radix, &scale);
        used = multiply(limbs, used, scale, chunk);
    }
    return th_make_integer(env, negative, limbs, used);
}

/*
 * Integers beyond 64 bits, as digits.
 *
 * The NIF API has no function for these except those of the external term format: there an integer
 * is a tag, the number of its bytes, a sign, and the bytes, least significant first.
 */
#include "parts.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 131, SMALL_BIG = 110, LARGE_BIG = 111, HEAD = 7, LIMB = 4 };
enum { GROUP = 9 }; /* decimal digits converted at once */
enum { MOST_BYTES = MOST_DIGITS * 416L / 1000, BYTES_SQUARED_PER_STEP = 3000 };

/* An integer in limbs of 32 bits, least significant first: the bytes of the format, on x86. */
struct big {
    uint32_t *limbs;
    size_t count;
};

/* N = N * BY + MORE */
static void multiply_add(struct big *n, uint32_t by, uint32_t more)
{
    uint64_t carry = more;

    for (size_t i = 0; i < n->count; i++) {
        carry += (uint64_t)n->limbs[i] * by;
        n->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        n->limbs[n->count++] = (uint32_t)carry;
}

/* N = N / BY; the remainder. */
static uint32_t divide(struct big *n, uint32_t by)
{
    uint64_t rest = 0;

    for (size_t i = n->count; i-- > 0;) {
        rest = rest << 32 | n->limbs[i];
        n->limbs[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    while (n->count > 0 && n->limbs[n->count - 1] == 0)
        n->count--;
    return (uint32_t)rest;
}

static void read_digits(struct big *n, const char *digits, size_t count)
{
    while (count > 0) {
        size_t size = count % GROUP ? count % GROUP : GROUP;
        uint32_t group = 0, power = 1;

        for (size_t i = 0; i < size; i++) {
            group = 10 * group + (uint32_t)(digits[i] - '0');
            power *= 10;
        }
        multiply_add(n, power, group);
        digits += size;
        count -= size;
    }
}

ERL_NIF_TERM integer_read(ErlNifEnv *env, const char *text, size_t size)
{
    bool negative = *text == '-';
    size_t digits = size - negative;
    /* The head, whose last byte is the sign, precedes the limbs. */
    unsigned char *external = enif_alloc(HEAD + 1 + LIMB * (digits / GROUP + 1));
    struct big n = {external ? (uint32_t *)(external + HEAD + 1) : NULL, 0};
    ERL_NIF_TERM term = 0;
    uint32_t bytes;

    if (!external)
        return 0;
    read_digits(&n, text + negative, digits);
    bytes = (uint32_t)(LIMB * n.count);
    external[1] = VERSION;
    external[2] = LARGE_BIG;
    for (int i = 0; i < 4; i++)
        external[3 + i] = (unsigned char)(bytes >> (24 - 8 * i));
    external[HEAD] = negative;
    if (!enif_binary_to_term(env, external + 1, HEAD + bytes, &term, 0))
        term = 0;
    enif_free(external);
    return term;
}

/* Writes the digits of N, which becomes 0. */
static char *write_digits(struct big *n, bool negative)
{
    size_t groups = n->count * 32 / 29 + 1; /* nine digits are more than 29 bits */
    uint32_t *group = enif_alloc(groups * sizeof *group);
    char *text = enif_alloc(1 + GROUP * groups + 1), *to = text;
    size_t count = 0;

    while (n->count > 0 && group && text)
        group[count++] = divide(n, 1000000000);
    if (group && text) {
        to += sprintf(to, "%s%" PRIu32, negative ? "-" : "", group[--count]);
        while (count > 0)
            to += sprintf(to, "%09" PRIu32, group[--count]);
    } else {
        enif_free(text);
        text = NULL;
    }
    enif_free(group);
    return text;
}

char *integer_write(ErlNifEnv *env, ERL_NIF_TERM integer, long *steps)
{
    ErlNifBinary external;
    size_t head, bytes;
    struct big n = {NULL, 0};
    char *text = NULL;

    if (!enif_term_to_binary(env, integer, &external))
        return NULL;
    head = external.data[1] == SMALL_BIG ? 4 : HEAD;
    bytes = external.size - head;
    n.count = (bytes + LIMB - 1) / LIMB;
    *steps -= (long)(bytes * bytes / BYTES_SQUARED_PER_STEP);
    if (bytes <= MOST_BYTES && *steps >= 0)
        n.limbs = enif_alloc(LIMB * n.count);
    if (n.limbs) {
        n.limbs[n.count - 1] = 0;
        memcpy(n.limbs, external.data + head, bytes);
        text = write_digits(&n, external.data[head - 1] != 0);
        enif_free(n.limbs);
    }
    enif_release_binary(&external);
    return text;
}

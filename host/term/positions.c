#include "digits_internal.h"

#include <stdlib.h>

#define MOST_SUM ((uint64_t)1 << 63) /* of products of digits, and what is carried to it */

/* Fields of one conversion, beyond its face. */
struct rounds {
    struct th_positions *positions;
    struct th_transform transform;
    uint64_t *power;  /* by which neighbours differ, transformed */
    uint64_t *values; /* of the product at hand */
    uint32_t *power_digits;
};

static void load(uint64_t *values, const uint32_t *digits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = digits[i];
        values[count + i] = 0;
    }
}

/* DIGITS = VALUES, sums that are below 2^63, + DIGITS below LOW. */
static void carry_all(uint32_t base, uint32_t *digits, size_t low, const uint64_t *values,
                      size_t count)
{
    uint64_t carry = 0;

    for (size_t i = 0; i < count; i++) {
        carry += values[i] + (i < low ? digits[i] : 0);
        digits[i] = (uint32_t)(carry % base);
        carry /= base;
    }
}

/* The WIDTH digits from DIGITS on, and as many above them, which the power multiplies. */
static void join(struct rounds *rounds, uint32_t *digits, size_t width)
{
    load(rounds->values, digits + width, width);
    th_term_transform_forward(&rounds->transform, rounds->values, 2 * width);
    th_term_transform_multiply(rounds->values, rounds->power, 2 * width);
    th_term_transform_back(&rounds->transform, rounds->values, 2 * width);
    carry_all(rounds->positions->base, digits, width, rounds->values, 2 * width);
}

/* The power becomes that of neighbours which are twice as wide. */
static void square(struct rounds *rounds, size_t width)
{
    th_term_transform_multiply(rounds->power, rounds->power, 2 * width);
    th_term_transform_back(&rounds->transform, rounds->power, 2 * width);
    carry_all(rounds->positions->base, rounds->power_digits, 0, rounds->power, 2 * width);
}

static void join_rounds(struct rounds *rounds)
{
    struct th_positions *positions = rounds->positions;
    size_t used = positions->blocks * TH_POSITIONS_BLOCK;

    for (size_t i = 0; i < positions->blocks; i++)
        positions->read(positions, i, positions->digits + i * TH_POSITIONS_BLOCK);
    positions->read(positions, positions->blocks, rounds->power_digits);
    for (size_t width = TH_POSITIONS_BLOCK; width < positions->count; width *= 2) {
        load(rounds->power, rounds->power_digits, width);
        th_term_transform_forward(&rounds->transform, rounds->power, 2 * width);
        for (size_t at = 0; at + width < used; at += 2 * width)
            join(rounds, positions->digits + at, width);
        if (2 * width < positions->count)
            square(rounds, width);
    }
}

bool th_term_positions_convert(struct th_positions *positions)
{
    struct rounds rounds = {.positions = positions};
    size_t count = TH_POSITIONS_BLOCK;
    bool good;

    while (count < positions->blocks * TH_POSITIONS_BLOCK)
        count *= 2;
    if (count / 2 >= MOST_SUM / positions->base / positions->base)
        return false;
    positions->count = count;
    positions->digits = calloc(count, sizeof *positions->digits);
    rounds.power_digits = calloc(count, sizeof *rounds.power_digits);
    rounds.power = malloc(count * sizeof *rounds.power);
    rounds.values = malloc(count * sizeof *rounds.values);
    good = positions->digits && rounds.power_digits && rounds.power && rounds.values &&
           th_term_transform_begin(&rounds.transform, count);
    if (good)
        join_rounds(&rounds);
    th_term_transform_end(&rounds.transform);
    free(rounds.values);
    free(rounds.power);
    free(rounds.power_digits);
    if (!good) {
        free(positions->digits);
        positions->digits = NULL;
    }
    return good;
}

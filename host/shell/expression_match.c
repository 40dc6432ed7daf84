/* Matches patterns and tests guards; takes bit strings apart. */
#include "shell_internal.h"

#include "host/term/compare.h"
#include "host/term/make.h"
#include "host/term/map.h"
#include "host/term/text_segment.h"
#include "host/term/utf8.h"

#include <math.h>
#include <string.h>

/* --- Bit strings ------------------------------------------------------------------------------ */

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

/* Copies BITS bits to the bytes TO, the highest bit of a byte first. */
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

/* Reads the bits of a number into limbs, least significant first. COUNT limbs are cleared
 * before. */
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
    if (negative) { /* two's complement: the magnitude is the complement plus one */
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

/* Returns TH_NONE if the bits are no finite number, or their size is no float's. */
static th_term take_float(struct th_evaluation *e, struct source *s, const struct th_spec *spec,
                          size_t bits)
{
    uint64_t word = 0;
    uint32_t single;
    double d;
    float f;
    int exponent;

    if (bits != 16 && bits != 32 && bits != 64)
        return TH_NONE;
    take_limbs(s, &word, bits, spec->order);
    if (bits == 64) {
        memcpy(&d, &word, sizeof d);
    } else if (bits == 32) {
        single = (uint32_t)word;
        memcpy(&f, &single, sizeof f);
        d = f;
    } else {
        exponent = (int)(word >> 10 & 31);
        d = (double)(word & 1023);
        d = exponent == 31 ? INFINITY : exponent ? ldexp(1024 + d, exponent - 25) : ldexp(d, -24);
        d = word >> 15 ? -d : d;
    }
    return isfinite(d) ? th_make_float(&e->heap, d) : TH_NONE;
}

/* Reads a character in UTF-8, -16 or -32; TH_NONE if there is none. */
static th_term expression_match_take_character(struct source *s, const struct th_spec *spec)
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

/* Reads the value of a segment; TH_NONE if the bits are no such value. */
static th_term take_value(struct th_evaluation *e, struct source *s, const struct th_spec *spec)
{
    size_t left = s->bits - s->at;
    size_t bits = (size_t)spec->size * spec->unit;
    unsigned char *bytes;
    th_term t;

    if (spec->type >= TH_SEGMENT_UTF8)
        return expression_match_take_character(s, spec);
    if (!spec->sized && spec->type >= TH_SEGMENT_BINARY)
        bits = left % spec->unit ? SIZE_MAX : left;
    if (bits > left)
        return TH_NONE;
    if (spec->type == TH_SEGMENT_INTEGER)
        return take_integer(e, s, spec, bits);
    if (spec->type == TH_SEGMENT_FLOAT)
        return take_float(e, s, spec, bits);
    t = th_make_heap_binary(&e->heap, bits, &bytes);
    take_bits(s, bytes, bits);
    return t;
}

/* A string in a pattern stands for its characters. */
static enum th_taken match_segment(struct th_evaluation *e, const struct th_node *segment,
                                   struct source *s)
{
    th_term size = segment->parts[1] ? th_shell_evaluate(e, segment->parts[1]) : TH_NONE;
    th_term value, c = segment->exact ? segment->parts[0]->value : TH_NIL;
    enum th_taken taken = TH_TAKEN_MATCHED;
    struct th_spec spec;

    if (!th_shell_segment_spec(segment, size, &spec))
        return TH_TAKEN_NOT;
    for (; th_is_list(c); c = th_cell(c)[1]) {
        value = take_value(e, s, &spec);
        if (value == TH_NONE)
            return TH_TAKEN_NOT;
        if (!th_identical(value, th_cell(c)[0]))
            taken = TH_TAKEN_OTHER;
    }
    if (segment->exact)
        return taken;
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

    s.data = th_bits_data(t);
    s.bits = th_bits_size(t);
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

/* --- Patterns --------------------------------------------------------------------------------- */

bool th_shell_match(struct th_evaluation *e, const struct th_node *pattern, th_term t)
{
    size_t last = pattern->count - 1, size, at = 0;
    const struct th_binding *binding;
    const unsigned char *data;

    switch ((enum th_node_kind)pattern->kind) {
    case TH_NODE_ANY:
        return true;
    case TH_NODE_CONSTANT:
        return th_identical(pattern->value, t);
    case TH_NODE_VARIABLE:
        binding = th_shell_find_binding(e, pattern->value);
        if (binding && binding >= e->bindings + e->fresh)
            return th_identical(binding->value, t);
        th_shell_bind(e, pattern->value, t);
        return true;
    case TH_NODE_TUPLE:
        if (!th_is_tuple(t) || th_tuple_arity(t) != pattern->count)
            return false;
        for (size_t i = 0; i < pattern->count; i++)
            if (!th_shell_match(e, pattern->parts[i], th_tuple_elements(t)[i]))
                return false;
        return true;
    case TH_NODE_LIST:
        for (size_t i = 0; i < last; i++, t = th_cell(t)[1])
            if (!th_is_list(t) || !th_shell_match(e, pattern->parts[i], th_cell(t)[0]))
                return false;
        return th_shell_match(e, pattern->parts[last], t);
    case TH_NODE_MAP:
        for (size_t i = 1; th_is_map(t) && i < pattern->count; i++) {
            const struct th_node *pair = pattern->parts[i];
            th_term key = th_shell_evaluate(e, pair->parts[0]);
            th_term value = key == TH_NONE ? TH_NONE : th_map_get(t, key);
            if (value == TH_NONE || !th_shell_match(e, pair->parts[1], value))
                return false;
        }
        return th_is_map(t);
    case TH_NODE_BITS:
        return th_get_bits(t, &data, &size) &&
               th_shell_match_next_bits(e, pattern, t, &at) == TH_TAKEN_MATCHED && at == size;
    case TH_NODE_MATCH:
        return th_shell_match(e, pattern->parts[0], t) && th_shell_match(e, pattern->parts[1], t);
    default:
        th_bug("a node of kind %u is no pattern", pattern->kind);
    }
}

/* Returns true if one of the alternatives holds. A test that raises an exception does not hold. */
static bool guard_holds(struct th_evaluation *e, const struct th_node *guard)
{
    for (size_t i = 0; i < guard->count; i++) {
        const struct th_node *tests = guard->parts[i];
        size_t k = 0;
        while (k < tests->count && th_shell_evaluate(e, tests->parts[k]) == TH_AM(true))
            k++;
        if (k == tests->count)
            return true;
    }
    return false;
}

const struct th_node *th_shell_match_clauses(struct th_evaluation *e, const struct th_node *node,
                                             size_t first, th_term t)
{
    size_t bound = e->count, stacked = e->stacked;

    for (size_t i = first; i < node->count; i++) {
        const struct th_node *clause = node->parts[i];
        if ((!clause->parts[0] || th_shell_match(e, clause->parts[0], t)) &&
            (!clause->parts[1] || guard_holds(e, clause->parts[1])))
            return clause;
        e->count = bound;
        e->stacked = stacked; /* a test may have raised an exception */
    }
    return NULL;
}

#include "text_segment.h"

#include "atom.h"
#include "integer_internal.h"
#include "make.h"
#include "term_internal.h"
#include "text_token.h"
#include "utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Types ------------------------------------------------------------------------------------ */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { NATIVE = TH_ORDER_LITTLE };
#else
enum { NATIVE = TH_ORDER_BIG };
#endif

static const struct word {
    const char *name;
    unsigned char type, order, sign;
} words[] = {
    {"integer", TH_SEGMENT_INTEGER, 0, 0},
    {"float", TH_SEGMENT_FLOAT, 0, 0},
    {"binary", TH_SEGMENT_BINARY, 0, 0},
    {"bytes", TH_SEGMENT_BINARY, 0, 0},
    {"bitstring", TH_SEGMENT_BITSTRING, 0, 0},
    {"bits", TH_SEGMENT_BITSTRING, 0, 0},
    {"utf8", TH_SEGMENT_UTF8, 0, 0},
    {"utf16", TH_SEGMENT_UTF16, 0, 0},
    {"utf32", TH_SEGMENT_UTF32, 0, 0},
    {"big", 0, TH_ORDER_BIG, 0},
    {"little", 0, TH_ORDER_LITTLE, 0},
    {"native", 0, NATIVE, 0},
    {"signed", 0, 0, TH_SIGN_YES},
    {"unsigned", 0, 0, TH_SIGN_NO},
};

/* Reads the number behind the word `unit`. */
static enum th_status read_unit(struct th_scanner *s, struct th_spec *spec)
{
    enum th_status status = th_text_scan_next(s);
    int64_t unit;

    if (status == TH_OK && s->token == ':')
        status = th_text_scan_next(s);
    else if (status == TH_OK)
        status = th_text_scan_fail(s, s->start, "expected ':' behind unit");
    if (status != TH_OK)
        return status;
    if (s->token != TH_TOKEN_TERM || !th_get_int64(s->value, &unit) || unit < 1 || unit > 256)
        return th_text_scan_fail(s, s->start, "expected a unit from 1 to 256");
    if (spec->unit != 0 && spec->unit != (unsigned)unit)
        return th_text_scan_fail(s, s->start, "expected one unit");
    spec->unit = (unsigned)unit;
    return TH_OK;
}

/* Sets *OLD to NEW unless NEW is 0; false if *OLD has another value already. */
static bool agree(unsigned *old, unsigned new)
{
    if (new != 0 && *old != 0 && *old != new)
        return false;
    if (new != 0)
        *old = new;
    return true;
}

static enum th_status read_word(struct th_scanner *s, struct th_spec *spec)
{
    const struct word *word = words, *end = words + sizeof words / sizeof words[0];
    const char *name;

    if (s->token != TH_TOKEN_TERM || !th_is_atom(s->value))
        return th_text_scan_fail(s, s->start, "expected a type of a segment");
    name = th_atom_name(s->value)->text;
    if (strcmp(name, "unit") == 0)
        return read_unit(s, spec);
    while (word < end && strcmp(word->name, name) != 0)
        word++;
    if (word == end)
        return th_text_scan_fail(s, s->start, "expected a type of a segment");
    if (!agree(&spec->type, word->type) || !agree(&spec->order, word->order) ||
        !agree(&spec->sign, word->sign))
        return th_text_scan_fail(s, s->start, "expected a type that goes with those before it");
    return TH_OK;
}

enum th_status th_text_spec_read_types(struct th_scanner *s, struct th_spec *spec)
{
    enum th_status status;

    do {
        status = th_text_scan_next(s);
        if (status == TH_OK)
            status = read_word(s, spec);
        if (status == TH_OK)
            status = th_text_scan_next(s);
    } while (status == TH_OK && s->token == '-');
    return status;
}

/* --- Sizes ------------------------------------------------------------------------------------ */

/* Fits 64 bits with any unit; other code limits the bits that are built. */
static const int64_t largest_size = (int64_t)1 << 50;

/* Reads the size behind the ':': an integer, perhaps in parentheses. */
static enum th_status read_size(struct th_scanner *s, struct th_spec *spec)
{
    size_t open = 0;
    enum th_status status = th_text_scan_next(s);
    int64_t size;

    for (; status == TH_OK && s->token == '('; open++)
        status = th_text_scan_next(s);
    if (status == TH_OK && open > 0 && s->token == '+')
        status = th_text_scan_next(s);
    if (status != TH_OK)
        return status;
    if (s->token != TH_TOKEN_TERM || !th_get_int64(s->value, &size) || size < 0 ||
        size > largest_size)
        return th_text_scan_fail(s, s->start, "expected a size from 0 to %" PRId64, largest_size);
    spec->sized = true;
    spec->size = (uint64_t)size;
    for (; status == TH_OK && open > 0; open--) {
        status = th_text_scan_next(s);
        if (status == TH_OK && s->token != ')')
            status = th_text_scan_fail(s, s->start, "expected ')'");
    }
    return status == TH_OK ? th_text_scan_next(s) : status;
}

/* For bit strings, `size` and `unit` stay as they are. */
const char *th_text_spec_complete(struct th_spec *spec)
{
    if (spec->type == 0)
        spec->type = TH_SEGMENT_INTEGER;
    if (spec->type >= TH_SEGMENT_UTF8 && (spec->sized || spec->unit != 0))
        return "a utf segment without a size";
    if (spec->type <= TH_SEGMENT_FLOAT && spec->unit != 0 && !spec->sized)
        return "a size with the unit";
    if (spec->unit == 0)
        spec->unit = spec->type == TH_SEGMENT_BINARY ? 8 : 1;
    if (!spec->sized && spec->type <= TH_SEGMENT_FLOAT)
        spec->size = spec->type == TH_SEGMENT_FLOAT ? 64 : 8;
    return NULL;
}

/* --- Bits ------------------------------------------------------------------------------------- */

/* Returned in place of the expected text if there is no memory; an error was raised. */
static const char no_memory[] = "less than takes so much memory";

/* Takes BITS of the bits that the text may make. */
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
static void text_segment_put(struct th_segments *b, unsigned byte, unsigned count)
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
        text_segment_put(b, data[i], 8);
    if (bits % 8 != 0)
        text_segment_put(b, data[i] >> (8 - bits % 8), bits % 8);
}

/* Appends BITS bits of a number; BYTE_OF returns its byte I, the least significant being 0. */
static void put_number(struct th_segments *b, uint64_t bits, unsigned order,
                       unsigned char (*byte_of)(const void *number, uint64_t i), const void *number)
{
    uint64_t whole = bits / 8;
    unsigned rest = bits % 8;

    if (order == TH_ORDER_LITTLE) {
        for (uint64_t i = 0; i < whole; i++)
            text_segment_put(b, byte_of(number, i), 8);
        if (rest != 0)
            text_segment_put(b, byte_of(number, whole), rest);
        return;
    }
    if (rest != 0)
        text_segment_put(b, byte_of(number, whole), rest);
    for (uint64_t i = whole; i > 0; i--)
        text_segment_put(b, byte_of(number, i - 1), 8);
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

static const char *text_segment_add_integer(struct th_segments *b, const struct th_spec *spec,
                                            th_term value)
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

/* False if VALUE is too large for a double. */
static bool text_segment_to_double(th_term value, double *d)
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

/* Returns the 16 bits of IEEE 754: 5 of exponent, 10 of fraction. Rounds to even, as the BEAM does
 * by way of 32 bits. */
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
    /* A fraction that is rounded up to 2048 carries correctly into the exponent. */
    return sign | ((uint64_t)(exponent + 13) * 1024 + (uint64_t)lrintf(magnitude * 2048));
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
    if (!text_segment_to_double(value, &d))
        return "a number that a float can hold";
    wrong = take_room(b, size);
    if (wrong)
        return wrong;
    if (size == 16) {
        bits = half_bits((float)d);
    } else if (size == 32) {
        uint32_t half;

        memcpy(&half, &(float){(float)d}, sizeof half);
        bits = half;
    } else {
        memcpy(&bits, &d, sizeof bits);
    }
    put_number(b, size, spec->order, word_byte, &bits);
    return NULL;
}

/* --- Characters ------------------------------------------------------------------------------- */

static const char *add_utf(struct th_segments *b, const struct th_spec *spec, th_term value)
{
    char utf8[TH_UTF8_MAX];
    uint64_t c, surrogate;
    const char *wrong;

    if (!th_get_uint64(value, &c) || c > 0x10FFFF || !th_utf8_valid((uint32_t)c))
        return "the number of a character";
    wrong = take_room(b, 32);
    if (wrong)
        return wrong;
    if (spec->type == TH_SEGMENT_UTF8) {
        put_string(b, (unsigned char *)utf8, 8 * th_utf8_put((uint32_t)c, utf8));
        return NULL;
    }
    if (spec->type == TH_SEGMENT_UTF16 && c > 0xFFFF) {
        surrogate = 0xD800 + ((c - 0x10000) >> 10);
        put_number(b, 16, spec->order, word_byte, &surrogate);
        c = 0xDC00 + (c & 0x3FF);
    }
    put_number(b, spec->type == TH_SEGMENT_UTF16 ? 16 : 32, spec->order, word_byte, &c);
    return NULL;
}

/* --- Bit strings ------------------------------------------------------------------------------ */

static const char *text_segment_add_bits(struct th_segments *b, const struct th_spec *spec,
                                         th_term value)
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
        return text_segment_add_integer(b, spec, value);
    case TH_SEGMENT_FLOAT:
        return add_float(b, spec, value);
    case TH_SEGMENT_UTF8:
    case TH_SEGMENT_UTF16:
    case TH_SEGMENT_UTF32:
        return add_utf(b, spec, value);
    default:
        return text_segment_add_bits(b, spec, value);
    }
}

enum th_status th_text_segment_add(struct th_segments *b, struct th_scanner *s, const char *place,
                                   th_term value)
{
    struct th_spec spec = {.place = place};
    enum th_status status = th_text_scan_next(s);
    const char *wrong;
    uint32_t c;

    if (status == TH_OK && s->token == ':')
        status = read_size(s, &spec);
    if (status == TH_OK && s->token == '/')
        status = th_text_spec_read_types(s, &spec);
    if (status != TH_OK)
        return status;
    wrong = th_text_spec_complete(&spec);
    if (!wrong && value != TH_NONE) {
        wrong = th_text_segment_put(b, &spec, value);
    } else if (!wrong) { /* a string is its characters, each a segment of the same kind */
        if (spec.type == TH_SEGMENT_BINARY || spec.type == TH_SEGMENT_BITSTRING)
            wrong = "a binary, not a string";
        for (size_t i = 0; !wrong && i < s->characters.size;) {
            i += th_utf8_get(s->characters.data + i, s->characters.size - i, &c);
            wrong = th_text_segment_put(b, &spec, th_small(c));
        }
    }
    if (wrong == no_memory)
        return th_error_status();
    return wrong ? th_text_scan_fail(s, place, "expected %s", wrong) : TH_OK;
}

/* Reads external terms without parts but the atom of a node: atoms, through the cache of
 * etf_decoder.h, numbers, bit strings, identifiers. */
#include "atom.h"
#include "etf_decoder.h"
#include "make.h"
#include "term_internal.h"
#include "utf8.h"

#include "host/base/thread.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

enum {
    /* The BEAM's largest bignum: (1 << 19) - 1 words. */
    BIG_BYTES = 8 * ((1 << 19) - 1),
    /* The limits of the old tags: two bits of creation, 18 bits of a reference's first word. */
    OLD_CREATION = 3,
    OLD_REF_WORD = (1 << 18) - 1,
    FLOAT_TEXT = 31
};

/* --- Atoms ------------------------------------------------------------------------------------ */

/* The cache of threads that have no memory for one; always empty. */
static struct th_etf_cached no_cache[1 << TH_ETF_CACHE_BITS];

struct th_etf_cached *th_etf_cache(void)
{
    static _Thread_local void *own;
    struct th_etf_cached *cache = own;

    if (!cache)
        cache = th_thread_memory(&own, sizeof no_cache);
    return cache ? cache : no_cache;
}

/* The atom of the name; TH_NONE if none exists and none may be, or can be, created. */
static th_term find_atom(const struct th_etf_decoder *d, const unsigned char *name, size_t bytes,
                         bool utf8)
{
    const char *text = (const char *)name;
    unsigned char padded[TH_ETF_CACHE_NAME] = {0};
    struct th_etf_cached *place;
    struct th_etf_name key;
    th_term atom;

    if (bytes <= TH_ETF_CACHE_NAME) {
        memcpy(padded, name, bytes);
        key = th_etf_short_name(padded, bytes);
    } else {
        memcpy(&key.first, name, sizeof key.first);
        memcpy(&key.last, name + bytes - sizeof key.last, sizeof key.last);
    }

    /* For a longer name, the cache compares only the ends. A name in the cache is ASCII, so the
     * table has the same bytes. */
    place = th_etf_cache_place(d, key);
    if (th_etf_cache_has(place, key, bytes) &&
        (bytes <= TH_ETF_CACHE_NAME ||
         memcmp(th_atom_name(th_etf_cached_atom(place))->text, name, bytes) == 0))
        return th_etf_cached_atom(place);

    if (d->safe)
        atom = utf8 ? th_atom_existing_utf8(text, bytes) : th_atom_existing_latin1(text, bytes);
    else
        atom = utf8 ? th_atom_utf8(text, bytes) : th_atom_latin1(text, bytes);
    if (atom != TH_NONE && d->cache != no_cache &&
        th_atom_name(atom)->bytes == th_atom_name(atom)->characters)
        *place = (struct th_etf_cached){key, th_atom_index(atom), (uint32_t)bytes + 1};
    return atom;
}

const unsigned char *th_etf_read_atom(struct th_etf_decoder *d, const unsigned char *tag,
                                      th_term *atom)
{
    bool utf8 = tag[0] == TH_ETF_SMALL_ATOM_UTF8 || tag[0] == TH_ETF_ATOM_UTF8;
    const unsigned char *name = tag + th_etf_shapes[tag[0]].head;
    size_t bytes, characters;

    if (!utf8 && tag[0] != TH_ETF_ATOM && tag[0] != TH_ETF_SMALL_ATOM)
        return th_etf_fault(d, tag, "an atom is expected here");
    if (th_etf_left(d, tag) < th_etf_shapes[tag[0]].head)
        return th_etf_cut_off(d, tag);
    bytes = name - tag == 3 ? th_etf_get16(tag + 1) : tag[1];
    characters = bytes;
    if (th_etf_left(d, name) < bytes)
        return th_etf_cut_off(d, tag);
    *atom = find_atom(d, name, bytes, utf8);
    if (*atom != TH_NONE)
        return name + bytes;
    if (utf8 && !th_utf8_count((const char *)name, bytes, &characters))
        return th_etf_fault(d, tag, "the atom's name is not valid UTF-8");
    if (characters > TH_ATOM_CHARACTERS)
        return th_etf_fault(d, tag, "the atom's name has %zu characters, more than %d", characters,
                            TH_ATOM_CHARACTERS);
    if (d->safe)
        return th_etf_fault(d, tag, "there is no atom of this name, and no atom may be created");
    return th_etf_fault(d, tag, "the atom table is full: it has %zu atoms", th_atom_count());
}

/* --- Numbers and bit strings ------------------------------------------------------------------ */

static const unsigned char *float_of(struct th_etf_decoder *d, const unsigned char *tag, double f,
                                     th_term *term)
{
    if (!isfinite(f))
        return th_etf_fault(d, tag, "the float is not finite");
    *term = th_make_float(d->env, f);
    return tag + th_etf_shapes[tag[0]].head;
}

static char *etf_read_skip_digits(char *text)
{
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}

/* True if TEXT is a float as the BEAM reads it: [sign] digits (. or ,) digits [e [sign] digits].
 * Replaces the point by the one that strtod() accepts. */
static bool check_float(char *text)
{
    char *digits = text + (*text == '-' || *text == '+');

    text = etf_read_skip_digits(digits);
    if (text == digits || (*text != '.' && *text != ','))
        return false;
    *text = '.';
    digits = text + 1;
    text = etf_read_skip_digits(digits);
    if (text == digits)
        return false;
    if (*text == 'e' || *text == 'E') {
        digits = text + 1;
        digits += *digits == '-' || *digits == '+';
        text = etf_read_skip_digits(digits);
        if (text == digits)
            return false;
    }
    return *text == 0;
}

/* Reads the text of "%.20e", padded with 0. Uses the "C" locale, since a host program may set
 * another. */
static const unsigned char *read_old_float(struct th_etf_decoder *d, const unsigned char *tag,
                                           th_term *term)
{
    char text[FLOAT_TEXT + 1] = {0};
    locale_t plain;
    double f;

    memcpy(text, tag + 1, FLOAT_TEXT);
    if (!check_float(text))
        return th_etf_fault(d, tag, "the text is not a float");
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    f = strtod_l(text, NULL, plain);
    freelocale(plain);
    return float_of(d, tag, f, term);
}

static const unsigned char *read_big(struct th_etf_decoder *d, const unsigned char *tag,
                                     th_term *term)
{
    size_t bytes = tag[0] == TH_ETF_SMALL_BIG ? tag[1] : th_etf_get32(tag + 1);
    const unsigned char *magnitude = tag + th_etf_shapes[tag[0]].head;
    const unsigned char *behind;
    bool negative = magnitude[-1] != 0;
    uint64_t limb = 0;
    size_t count;
    th_term *words;

    if (th_etf_left(d, magnitude) < bytes)
        return th_etf_cut_off(d, tag);
    if (bytes > BIG_BYTES)
        return th_etf_fault(d, tag, "the integer has %zu bytes, more than %d", bytes, BIG_BYTES);
    behind = magnitude + bytes;
    while (bytes > 0 && magnitude[bytes - 1] == 0)
        bytes--;
    if (!th_env_room(d->env, bytes / 8 + 2))
        return NULL;
    if (bytes <= 8) {
        memcpy(&limb, magnitude, bytes);
        limb = le64toh(limb);
        *term = th_make_integer(d->env, negative, &limb, 1);
        return behind;
    }
    count = bytes / 8 + (bytes % 8 != 0);
    words = th_env_take(d->env, count + 1);
    words[0] = th_header(negative ? TH_NEG_BIG : TH_POS_BIG, count);
    words[count] = 0;
    memcpy(words + 1, magnitude, bytes);
    for (size_t i = 1; i <= count; i++)
        words[i] = le64toh(words[i]);
    *term = th_boxed(words);
    return behind;
}

/* Reads a string or binary; of a bit string, the bits of the last byte are at its high end. */
static const unsigned char *read_bytes(struct th_etf_decoder *d, const unsigned char *tag,
                                       th_term *term)
{
    const unsigned char *data = tag + th_etf_shapes[tag[0]].head;
    bool string = tag[0] == TH_ETF_STRING;
    size_t bytes = string ? th_etf_get16(tag + 1) : th_etf_get32(tag + 1);
    unsigned last = tag[0] == TH_ETF_BIT_BINARY ? tag[5] : bytes ? 8 : 0;
    unsigned char *place;

    if (th_etf_left(d, data) < bytes)
        return th_etf_cut_off(d, tag);
    if (last > 8 || (last == 0) != (bytes == 0))
        return th_etf_fault(d, tag, "%zu bytes cannot have %u bits in the last one", bytes, last);
    if (!th_env_room(d->env, string ? 2 * bytes : th_term_heap_binary_words(8 * bytes)))
        return NULL;
    if (string) {
        *term = th_make_latin1_string(d->env, data, bytes);
    } else {
        *term = th_make_heap_binary(d->env, bytes ? 8 * (bytes - 1) + last : 0, &place);
        memcpy(place, data, bytes);
        if (bytes > 0)
            place[bytes - 1] &= (unsigned char)(0xFF00u >> last);
    }
    return data + bytes;
}

/* --- Identifiers ------------------------------------------------------------------------------ */

static bool has_old_creation(unsigned tag)
{
    return tag == TH_ETF_PID || tag == TH_ETF_PORT || tag == TH_ETF_REFERENCE ||
           tag == TH_ETF_NEW_REFERENCE;
}

/*
 * Reads the node's atom at AT, and the creation, which follows BEFORE bytes of numbers: one byte in
 * the old tags, four in the others. AFTER more bytes must follow the creation. Returns the address
 * behind the atom.
 */
static const unsigned char *read_node(struct th_etf_decoder *d, const unsigned char *tag,
                                      const unsigned char *at, size_t before, size_t after,
                                      struct th_etf_node *from)
{
    bool old = has_old_creation(tag[0]);

    if (at == d->end)
        return th_etf_cut_off(d, tag);
    at = th_etf_read_atom_fast(d, at, &from->node);
    if (!at)
        return NULL;
    if (th_etf_left(d, at) < before + (old ? 1 : 4) + after)
        return th_etf_cut_off(d, tag);
    from->creation = old ? at[before] : th_etf_get32(at + before);
    if (old && from->creation > OLD_CREATION)
        return th_etf_fault(d, tag, "the creation is %u, more than %d", from->creation,
                            OLD_CREATION);
    if (from->node == d->here.node && from->creation == d->here.creation)
        *from = (struct th_etf_node){0};
    return at;
}

static const unsigned char *read_pid_or_port(struct th_etf_decoder *d, const unsigned char *tag,
                                             th_term *term)
{
    bool pid = tag[0] == TH_ETF_PID || tag[0] == TH_ETF_NEW_PID;
    bool wide = tag[0] == TH_ETF_V4_PORT;
    struct th_etf_node from;
    const unsigned char *at = read_node(d, tag, tag + 1, pid || wide ? 8 : 4, 0, &from);

    if (!at)
        return NULL;
    *term =
        pid ? th_make_pid(d->env, from.node, from.creation, th_etf_get32(at), th_etf_get32(at + 4))
            : th_make_port(d->env, from.node, from.creation,
                           wide ? th_etf_get64(at) : th_etf_get32(at));
    return at + th_etf_shapes[tag[0]].after;
}

static const unsigned char *read_reference(struct th_etf_decoder *d, const unsigned char *tag,
                                           th_term *term)
{
    bool oldest = tag[0] == TH_ETF_REFERENCE; /* one word, before the creation */
    size_t count = oldest ? 1 : th_etf_get16(tag + 1);
    size_t bytes = 4 * count;
    uint32_t words[TH_REF_WORDS];
    struct th_etf_node from;
    const unsigned char *at;

    if (count == 0 || count > TH_REF_WORDS)
        return th_etf_fault(d, tag, "a reference has 1 to %d words, not %zu", TH_REF_WORDS, count);
    at = read_node(d, tag, tag + (oldest ? 1 : 3), oldest ? bytes : 0, oldest ? 0 : bytes, &from);
    if (!at)
        return NULL;
    if (!oldest)
        at += th_etf_shapes[tag[0]].after;
    for (size_t i = 0; i < count; i++)
        words[i] = th_etf_get32(at + 4 * i);
    if (has_old_creation(tag[0]) && words[0] > OLD_REF_WORD)
        return th_etf_fault(d, tag, "the first word is %u, more than %d", words[0], OLD_REF_WORD);
    *term = from.node == TH_NONE && d->finding ? d->finding(d->env, words, count) : TH_NONE;
    if (*term == TH_NONE)
        *term = th_make_reference(d->env, from.node, from.creation, words, count);
    return at + bytes + oldest;
}

static const unsigned char *etf_read_refuse(const struct th_etf_decoder *d,
                                            const unsigned char *tag)
{
    static const char *const reasons[256] = {
        [TH_ETF_FUN] = "OTP 23 and later cannot read funs of this old form",
        [TH_ETF_LOCAL] = "a local term can only be read by the node that wrote it",
        [TH_ETF_ATOM_CACHE_REF] = "atom cache references are valid only on a connection",
        [TH_ETF_COMPRESSED] = "only a whole term can be compressed, after the version byte",
        [TH_ETF_VERSION] = "the version byte is not allowed here",
    };
    const char *reason = reasons[tag[0]];

    return th_etf_fault(d, tag, "%s", reason ? reason : "there is no such tag");
}

const unsigned char *th_etf_read_leaf(struct th_etf_decoder *d, const unsigned char *tag,
                                      th_term *term)
{
    uint64_t bits;
    double f;

    switch (tag[0]) {
    case TH_ETF_NEW_FLOAT:
        bits = th_etf_get64(tag + 1);
        memcpy(&f, &bits, sizeof f);
        return float_of(d, tag, f, term);
    case TH_ETF_FLOAT:
        return read_old_float(d, tag, term);
    case TH_ETF_SMALL_BIG:
    case TH_ETF_LARGE_BIG:
        return read_big(d, tag, term);
    case TH_ETF_STRING:
    case TH_ETF_BINARY:
    case TH_ETF_BIT_BINARY:
        return read_bytes(d, tag, term);
    case TH_ETF_ATOM:
    case TH_ETF_SMALL_ATOM:
    case TH_ETF_ATOM_UTF8:
    case TH_ETF_SMALL_ATOM_UTF8:
        return th_etf_read_atom(d, tag, term);
    case TH_ETF_PID:
    case TH_ETF_NEW_PID:
    case TH_ETF_PORT:
    case TH_ETF_NEW_PORT:
    case TH_ETF_V4_PORT:
        return read_pid_or_port(d, tag, term);
    case TH_ETF_REFERENCE:
    case TH_ETF_NEW_REFERENCE:
    case TH_ETF_NEWER_REFERENCE:
        return read_reference(d, tag, term);
    default:
        return etf_read_refuse(d, tag);
    }
}

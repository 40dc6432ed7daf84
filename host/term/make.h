/*
 * Making terms, and taking them apart.
 *
 * Functions th_make_*() build a term in ENV and always succeed, unless their comment states
 * otherwise. Elements must be valid in ENV: immediates, or terms of ENV or of an environment that
 * outlives ENV. Functions th_get_*() return false, and leave their results unchanged, for a term of
 * another type.
 */
#ifndef TH_MAKE_H
#define TH_MAKE_H

#include "env.h"

#include <string.h>

/* Integers of 64 bits. Each function th_get_*_inline() is the inline form of th_get_*(), for the
 * short functions of nif/. A number that does not fit a small integer becomes a bignum, by
 * th_make_big_*(). */
th_term th_make_big_int64(th_env *env, int64_t i);
th_term th_make_big_uint64(th_env *env, uint64_t i);
th_term th_make_limb_slowly(th_env *env, th_term header, uint64_t limb) __attribute__((cold));
static inline th_term th_make_big_int64_inline(th_env *env, int64_t i)
{
    uint64_t sign = -(uint64_t)(i < 0); /* all bits of a negative number: no branch */
    th_term header = th_header(TH_POS_BIG, 1) | (sign & (TH_POS_BIG ^ TH_NEG_BIG));
    uint64_t limb = ((uint64_t)i ^ sign) - sign;
    th_term *words;

    if (!th_env_has(env, 2))
        return th_make_limb_slowly(env, header, limb);
    words = th_env_take(env, 2);
    words[0] = header;
    words[1] = limb;
    return th_boxed(words);
}
static inline th_term th_make_uint64(th_env *env, uint64_t i)
{
    return i <= TH_SMALL_MAX ? th_small((int64_t)i) : th_make_big_uint64(env, i);
}
static inline th_term th_make_int64(th_env *env, int64_t i)
{
    return th_term_fits_small(i) ? th_small(i) : th_make_big_int64(env, i);
}

/* Makes an integer of COUNT limbs, least significant first, perhaps with zero limbs at the end: a
 * small integer if the value fits. */
th_term th_make_integer(th_env *env, bool negative, const uint64_t *limbs, size_t count);

bool th_get_int64(th_term t, int64_t *i);
bool th_get_uint64(th_term t, uint64_t *i);
static inline bool th_get_int64_inline(th_term t, int64_t *i)
{
    bool negative;
    uint64_t limb;

    if (th_is_small(t)) {
        *i = th_small_value(t);
        return true;
    }
    if (!th_is_big(t) || th_header_words(*th_term_box(t)) != 1)
        return false;
    limb = th_term_box(t)[1];
    negative = th_term_subtag(t) == TH_NEG_BIG;
    if (limb > (uint64_t)INT64_MAX + negative)
        return false;
    *i = (int64_t)(negative ? -limb : limb);
    return true;
}

static inline bool th_get_uint64_inline(th_term t, uint64_t *i)
{
    if (th_is_small(t) && th_small_value(t) >= 0)
        *i = (uint64_t)th_small_value(t);
    else if (th_is_boxed(t) && *th_term_box(t) == th_header(TH_POS_BIG, 1))
        *i = th_term_box(t)[1];
    else
        return false;
    return true;
}

/* Any integer as sign and magnitude. */
struct th_limbs {
    uint64_t scratch; /* the limb of a small integer */
    const uint64_t *limbs;
    size_t count; /* 0 for 0; the last limb is not 0 */
    bool negative;
};

/* Gets any integer. L must not move while it is in use: `limbs` may point into L. */
bool th_get_limbs(th_term t, struct th_limbs *l);

/* Makes a float; D must be finite. */
static inline th_term th_make_float(th_env *env, double d)
{
    th_term *words = th_env_take(env, 2);

    words[0] = th_header(TH_FLOAT, 1);
    memcpy(&words[1], &d, sizeof d);
    return th_boxed(words);
}

/* The value of T, which must be a float. */
static inline double th_float_value(th_term t)
{
    double d;

    memcpy(&d, &th_term_box(t)[1], sizeof d);
    return d;
}

static inline th_term th_make_cons(th_env *env, th_term head, th_term tail)
{
    th_term *cell = th_env_take(env, 2);

    cell[0] = head;
    cell[1] = tail;
    return th_listed(cell);
}

/* Makes a proper list of COUNT elements. */
static inline th_term th_make_list(th_env *env, const th_term *elements, size_t count)
{
    th_term *cells;

    if (count == 0)
        return TH_NIL;
    cells = th_env_take(env, 2 * count);
#pragma GCC unroll 4 /* a step for each element is most of the time */
    for (size_t i = 0; i < count; i++) {
        cells[2 * i] = elements[i];
        cells[2 * i + 1] = th_listed(cells + 2 * i + 2);
    }
    cells[2 * count - 1] = TH_NIL;
    return th_listed(cells);
}

/* Makes a proper list of the bytes as integers. */
th_term th_make_latin1_string(th_env *env, const unsigned char *bytes, size_t count);

/* Finds the length of a proper list; false for an improper list or another term. */
bool th_get_list_length(th_term t, size_t *length);
static inline bool th_get_list_length_inline(th_term t, size_t *length)
{
    size_t count = 0;

    for (; th_is_list(t); t = th_cell(t)[1])
        count++;
    if (t != TH_NIL)
        return false;
    *length = count;
    return true;
}

/* Makes a tuple whose COUNT elements the caller fills in at *ELEMENTS. */
static inline th_term th_make_tuple_space(th_env *env, size_t count, th_term **elements)
{
    th_term *words = th_env_take(env, count + 1);

    words[0] = th_header(TH_TUPLE, count);
    *elements = words + 1;
    return th_boxed(words);
}

th_term th_make_tuple(th_env *env, const th_term *elements, size_t count);

/* th_make_tuple_of(env, a, b, c) */
#define th_make_tuple_of(env, ...)                       \
    th_make_tuple((env), (const th_term[]){__VA_ARGS__}, \
                  sizeof((const th_term[]){__VA_ARGS__}) / sizeof(th_term))

/*
 * Makes a bit string of BITS bits in the heap itself. The caller fills the (BITS + 7) / 8 bytes at
 * *DATA; unused low bits of the last byte must be 0.
 */
th_term th_make_heap_binary(th_env *env, size_t bits, unsigned char **data);

th_term th_make_binary(th_env *env, const void *data, size_t bytes);

/* Makes a bit string of BITS bits at DATA, inside BINARY. The term takes a reference of its own. */
th_term th_make_shared_binary(th_env *env, struct th_binary *binary, const unsigned char *data,
                              size_t bits);

/* The binary that T refers to, if T is a shared binary or a part of one; NULL for any other term.
 * The caller gets no reference. */
struct th_binary *th_shared_binary_of(th_term t);

/* Sums the bytes of the shared binaries that terms of ENV refer to, once for each reference. Counts
 * only references newer than END, a former first element of ENV's list (NULL: all references). */
size_t th_binary_held(const th_env *env, const struct th_offheap *end);

/* The bits of the bit string T, and the address of the first byte. */
static inline size_t th_bits_size(th_term t)
{
    return th_term_box(t)[1];
}

static inline const unsigned char *th_bits_data(th_term t)
{
    const th_term *words = th_term_box(t);

    return th_term_subtag(t) == TH_HEAP_BINARY ? (const unsigned char *)(words + 2)
                                               : (const unsigned char *)(uintptr_t)words[2];
}

/* Gets the bits of any bit string; the first bit is the highest of data[0]. DATA may have any
 * alignment. Unused low bits of the last byte are undefined. */
bool th_get_bits(th_term t, const unsigned char **data, size_t *bits);

/* As th_get_bits(), for whole bytes only: false for other bit strings. */
bool th_get_bytes(th_term t, const unsigned char **data, size_t *bytes);
static inline bool th_get_bytes_inline(th_term t, const unsigned char **data, size_t *bytes)
{
    if (!th_is_bitstring(t) || th_bits_size(t) % 8 != 0)
        return false;
    *bytes = th_bits_size(t) / 8;
    *data = th_bits_data(t);
    return true;
}

/* Makes a binary of BYTES bytes from POSITION on of the bit string WHOLE. The bytes stay those of
 * WHOLE: a shared binary gets no further reference. */
static inline th_term th_make_sub_binary(th_env *env, th_term whole, size_t position, size_t bytes)
{
    const unsigned char *data = th_bits_data(whole) + position;
    th_term *words = th_env_take(env, 4);

    words[0] = th_header(TH_SUB_BINARY, 3);
    words[1] = 8 * bytes;
    words[2] = (th_term)(uintptr_t)data;
    words[3] = th_term_subtag(whole) == TH_SUB_BINARY ? th_term_box(whole)[3] : whole;
    return th_boxed(words);
}

/*
 * Pids, ports and references. NODE is an atom, or 0 for this node. For this node and for its peers
 * (peer.h), a pid or port is an immediate if its numbers fit. COUNT of a reference is 1 to
 * TH_REF_WORDS.
 */
enum { TH_REF_WORDS = 5 };
th_term th_make_pid(th_env *env, th_term node, uint32_t creation, uint32_t number, uint32_t serial);
th_term th_make_port(th_env *env, th_term node, uint32_t creation, uint64_t id);
th_term th_make_reference(th_env *env, th_term node, uint32_t creation, const uint32_t *words,
                          size_t count);

/* Makes a reference that is unique in this host. Any thread. */
th_term th_make_new_reference(th_env *env);

/* th_reference_number() returns the number of a reference of th_make_new_reference(), which is not
 * 0; 0 for any other term. th_make_numbered_reference() makes the reference with NUMBER in ENV. */
uint64_t th_reference_number(th_term t);
th_term th_make_numbered_reference(th_env *env, uint64_t number);

struct th_pid_parts {
    th_term node; /* 0: this node */
    uint32_t creation, number, serial;
};
struct th_port_parts {
    th_term node;
    uint32_t creation;
    uint64_t id;
};
struct th_ref_parts {
    th_term node;
    uint32_t creation;
    uint32_t words[TH_REF_WORDS];
    size_t count;
    bool magic;
};
bool th_get_pid(th_term t, struct th_pid_parts *parts);
bool th_get_port(th_term t, struct th_port_parts *parts);
bool th_get_ref(th_term t, struct th_ref_parts *parts);

/*
 * The head of an object that magic references keep alive: each such reference is the object's address
 * and a place in its environment's list, so it is made with few stores. KEEP is called for each copy of
 * a term, before the copy exists.
 * Order: keep and words are set before the first reference is made, and stay.
 */
struct th_magic {
    void (*keep)(struct th_magic *self);
    uint32_t words[3]; /* of the references */
};

/* The words of a magic reference, and the places of its struct th_offheap and of the address. */
enum { TH_MAGIC_SHARE = 1, TH_MAGIC_OBJECT = 3, TH_MAGIC_WORDS = 4 };

/*
 * Makes a magic reference: a reference that keeps OBJECT alive. RELEASE gets the th_offheap inside the
 * term when the term is freed; th_magic_owner() returns the object from that.
 * Owner: the term takes over a share of the caller.
 */
static inline th_term th_make_magic(th_env *env, struct th_magic *object,
                                    void (*release)(struct th_offheap *self))
{
    th_term *place = th_env_take(env, TH_MAGIC_WORDS);

    place[0] = th_header(TH_REF, TH_MAGIC_WORDS - 1);
    place[TH_MAGIC_OBJECT] = (th_term)(uintptr_t)object;
    th_env_hold(env, (struct th_offheap *)(place + TH_MAGIC_SHARE), release);
    return th_boxed(place);
}

/* Copies the magic reference T into ENV, with a further reference to the object. */
th_term th_magic_share(th_env *env, th_term t);

static inline bool th_is_magic(th_term t)
{
    return th_is_boxed(t) && *th_term_box(t) == th_header(TH_REF, TH_MAGIC_WORDS - 1);
}

/* The object of a magic reference that was made with RELEASE, NULL for any other term: so each room
 * finds its own magic references. */
static inline struct th_magic *th_magic_object_of(th_term t,
                                                  void (*release)(struct th_offheap *self))
{
    const th_term *words = th_term_box(t);

    if (!th_is_magic(t) ||
        ((const struct th_offheap *)(words + TH_MAGIC_SHARE))->release != release)
        return NULL;
    return (struct th_magic *)(uintptr_t)words[TH_MAGIC_OBJECT];
}

/* The object of a magic reference, NULL for any other term; the object of the th_offheap of one. */
struct th_magic *th_magic_object(th_term t);
struct th_magic *th_magic_owner(struct th_offheap *self);

/* Funs. The FREE variables follow in memory; see word.h. UNIQUE is the 16 bytes of NEW_FUN_EXT. */
struct th_fun_parts {
    th_term module;
    uint32_t arity, index;
    unsigned char unique[16];
    th_term old_index, old_unique; /* integers */
    th_term creator;               /* a pid */
    const th_term *free;
    size_t free_count;
};
th_term th_make_fun(th_env *env, const struct th_fun_parts *parts);
bool th_get_fun(th_term t, struct th_fun_parts *parts); /* false for an export */
th_term th_make_export(th_env *env, th_term module, th_term function, uint32_t arity);
bool th_get_export(th_term t, th_term *module, th_term *function, uint32_t *arity);

/* True if T is a fun or an export that takes ARITY arguments; ARITY is any term. */
bool th_is_fun_of(th_term t, th_term arity);

/*
 * I/O data: a binary, or a list of bytes, binaries and such lists, whose tail may be a binary.
 * Iterative.
 */

/* Counts the bytes of T. False, with *SIZE unchanged, if T is no I/O data. */
bool th_term_iodata_size(th_term t, size_t *size);

/* Copies the bytes of T, which must be I/O data, to TO, which must have room. */
void th_term_iodata_copy(th_term t, unsigned char *to);

#endif

/*
 * Terms as words: the layout of all terms.
 *
 * A term is a tagged 64-bit word, laid out as in the BEAM (OTP 25, 64 bits), because some tracers
 * write the words to files and decode them there:
 *
 *   ...iiii iiii 0011  pid         immediate
 *   ...iiii iiii 0111  port        immediate
 *   ...iiii ii00 1011  atom        immediate, index << 6
 *   ...  0000 0011 1011  []        immediate
 *   ...iiii iiii 1111  small int   immediate, 60 bits signed
 *   ...pppp pppp pp01  list cell   address of two words: head, tail
 *   ...pppp pppp pp10  boxed       address of a header word, see below
 *   ...aaaa aass ss00  header      never a term by itself: s subtag, a words that follow
 *
 * Immediates are valid in every environment for ever. Two immediates are the same term if their
 * words are equal: tracers compare atoms, pids, ports and small integers by == of C. 0 is no term
 * (TH_NONE).
 *
 * Boxed layouts, the words that follow the header:
 *
 *   tuple          elements...
 *   bignum         the magnitude: 64-bit limbs, least significant first, the last one not 0. The
 *                  sign is in the subtag. Never a value that fits a small integer.
 *   float          the double
 *   heap binary    size in bits; then the bytes, the last word padded with zeros. Unused low
 *                  bits of the last byte are 0.
 *   shared binary  size in bits; address of the first byte; struct th_offheap (2 words);
 *                  struct th_binary *
 *   sub binary     size in bits; address of the first byte; the heap binary or shared binary that
 *                  holds it, and that keeps the bytes
 *   map            number of pairs n; for n <= TH_MAP_SMALL then keys..., in ascending order, and
 *                  values...; for more the address of a table (map_internal.h) with the pairs, in
 *                  the order in which they were recorded or put. A changed map (there, too)
 *                  continues with struct th_offheap (2 words); the address of a table; the number
 *                  of its pairs; changes...
 *   reference      node; creation | count << 32; its 32-bit words, two a word (3 words, padded
 *                  with zeros). A magic one has three words instead: struct th_offheap (2 words);
 *                  the address of the struct th_magic (make.h) that has its 32-bit words.
 *   fun            module; arity | index << 32; unique value (2 words); old index; old unique
 *                  value; creator; free variables... (the three before them are terms)
 *   export         module; function; arity as a small integer
 *   external pid   node; creation; number | serial << 32
 *   external port  node; creation; id
 *
 * A node word is an atom, or 0 for "this node": the node that was recorded, or the host itself.
 * Pids and ports of this node, and of its peers (peer.h), are immediates unless their numbers are
 * too large.
 */
#ifndef TH_WORD_H
#define TH_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t th_term;

#define TH_NONE ((th_term)0)
#define TH_NIL ((th_term)0x3B)

enum {
    TH_TAG_HEADER = 0,
    TH_TAG_LIST = 1,
    TH_TAG_BOXED = 2,
    TH_TAG_PID = 0x3,
    TH_TAG_PORT = 0x7,
    TH_TAG_ATOM = 0x0B,
    TH_TAG_SMALL = 0xF,
    TH_MAP_SMALL = 32 /* the largest number of keys in a sorted map */
};

/* The subtags, at their place in a header word (bits 2 to 5). */
enum th_subtag {
    TH_TUPLE = 0x00,
    TH_POS_BIG = 0x08,
    TH_NEG_BIG = 0x0C,
    TH_REF = 0x10,
    TH_FUN = 0x14,
    TH_FLOAT = 0x18,
    TH_EXPORT = 0x1C,
    TH_SHARED_BINARY = 0x20,
    TH_HEAP_BINARY = 0x24,
    TH_SUB_BINARY = 0x28,
    TH_EXTERNAL_PID = 0x30,
    TH_EXTERNAL_PORT = 0x34,
    TH_MAP = 0x3C
};

#define TH_SMALL_MIN (-((int64_t)1 << 59))
#define TH_SMALL_MAX (((int64_t)1 << 59) - 1)

static inline th_term th_header(enum th_subtag subtag, size_t words)
{
    return (th_term)words << 6 | (th_term)subtag;
}

static inline size_t th_header_words(th_term header)
{
    return header >> 6;
}

static inline bool th_is_small(th_term t)
{
    return (t & 0xF) == TH_TAG_SMALL;
}

static inline bool th_is_atom(th_term t)
{
    return (t & 0x3F) == TH_TAG_ATOM;
}

/* Tested by subtraction: the next step needs the difference, the address. */
static inline bool th_is_list(th_term t)
{
    return ((t - TH_TAG_LIST) & 3) == 0;
}

static inline bool th_is_boxed(th_term t)
{
    return ((t - TH_TAG_BOXED) & 3) == 0;
}

static inline bool th_is_immediate(th_term t)
{
    return (t & 3) == 3;
}

/* The words of a boxed term, [0] being its header. */
static inline th_term *th_term_box(th_term t)
{
    return (th_term *)(uintptr_t)(t - TH_TAG_BOXED);
}

/* The two words of a list cell: head and tail. */
static inline th_term *th_cell(th_term t)
{
    return (th_term *)(uintptr_t)(t - TH_TAG_LIST);
}

static inline th_term th_boxed(const th_term *words)
{
    return (th_term)(uintptr_t)words + TH_TAG_BOXED;
}

static inline th_term th_listed(const th_term *words)
{
    return (th_term)(uintptr_t)words + TH_TAG_LIST;
}

/* The subtag of a boxed term. */
static inline enum th_subtag th_term_subtag(th_term t)
{
    return (enum th_subtag)(*th_term_box(t) & 0x3C);
}

static inline bool th_term_is(th_term t, enum th_subtag subtag)
{
    return th_is_boxed(t) && th_term_subtag(t) == subtag;
}

static inline bool th_is_tuple(th_term t)
{
    return th_term_is(t, TH_TUPLE);
}

static inline bool th_is_map(th_term t)
{
    return th_term_is(t, TH_MAP);
}

static inline bool th_is_big(th_term t)
{
    return th_is_boxed(t) && (*th_term_box(t) & 0x38) == 0x08;
}

static inline bool th_is_integer(th_term t)
{
    return th_is_small(t) || th_is_big(t);
}

/* Compares the whole header, in one instruction: a float has one word. */
static inline bool th_is_float(th_term t)
{
    return th_is_boxed(t) && *th_term_box(t) == th_header(TH_FLOAT, 1);
}

static inline bool th_is_fun(th_term t)
{
    return th_term_is(t, TH_FUN) || th_term_is(t, TH_EXPORT);
}

static inline bool th_is_ref(th_term t)
{
    return th_term_is(t, TH_REF);
}

/* True for a binary or, with a size that is no multiple of 8, another bit string. */
static inline bool th_is_bitstring(th_term t)
{
    return th_is_boxed(t) &&
           ((*th_term_box(t) & 0x38) == 0x20 || th_term_subtag(t) == TH_SUB_BINARY);
}

static inline bool th_is_local_pid(th_term t)
{
    return (t & 0xF) == TH_TAG_PID;
}

static inline bool th_is_local_port(th_term t)
{
    return (t & 0xF) == TH_TAG_PORT;
}

static inline bool th_is_pid(th_term t)
{
    return th_is_local_pid(t) || th_term_is(t, TH_EXTERNAL_PID);
}

static inline bool th_is_port(th_term t)
{
    return th_is_local_port(t) || th_term_is(t, TH_EXTERNAL_PORT);
}

static inline bool th_term_fits_small(int64_t i)
{
    return i >= TH_SMALL_MIN && i <= TH_SMALL_MAX;
}

/* The small integer I, which must fit. */
static inline th_term th_small(int64_t i)
{
    return (th_term)i << 4 | TH_TAG_SMALL;
}

static inline int64_t th_small_value(th_term t)
{
    return (int64_t)t >> 4;
}

static inline uint32_t th_atom_index(th_term t)
{
    return (uint32_t)(t >> 6);
}

static inline size_t th_tuple_arity(th_term t)
{
    return th_header_words(*th_term_box(t));
}

/* The elements of a tuple, [0] being the first. */
static inline const th_term *th_tuple_elements(th_term t)
{
    return th_term_box(t) + 1;
}

/*
 * Pids of this node and of its peers. Bits 35 to 49 have the low 15 bits of the number and bits 50 to
 * 62 the low 13 bits of the serial, where programs that read raw words expect them. The other bits
 * take the place of the BEAM's slot in its process table: number in 4 to 16, serial in 17 to 31. Bits
 * 32 to 34 and 63 are the index of the peer, 0 for this node (peer.h); the serial, of 28 bits, leaves
 * these bits free. No real node needs a longer one: 2^56 processes come before.
 */
#define TH_PID_NUMBER_MAX 0x0FFFFFFFu
#define TH_PID_SERIAL_MAX 0x0FFFFFFFu

/* The pid of this node. NUMBER <= TH_PID_NUMBER_MAX and SERIAL <= TH_PID_SERIAL_MAX. */
static inline th_term th_local_pid(uint32_t number, uint32_t serial)
{
    th_term low = (th_term)(number & 0x7FFF) << 35 | (th_term)(serial & 0x1FFF) << 50;
    th_term high = (th_term)(number >> 15) << 4 | (th_term)(serial >> 13) << 17;

    return low | high | TH_TAG_PID;
}

/* Returns whether a pid with NUMBER and SERIAL is an immediate. One test: both limits are equal and
 * have all lower bits. */
static inline bool th_pid_fits(uint32_t number, uint32_t serial)
{
    return (number | serial) <= TH_PID_NUMBER_MAX;
}

static inline uint32_t th_local_pid_number(th_term pid)
{
    return (uint32_t)(pid >> 35 & 0x7FFF) | (uint32_t)(pid >> 4 & 0x1FFF) << 15;
}

static inline uint32_t th_local_pid_serial(th_term pid)
{
    return (uint32_t)(pid >> 50 & 0x1FFF) | (uint32_t)(pid >> 17 & 0x7FFF) << 13;
}

/* Ports of this node and of its peers. Bits 60 to 63 are the index of the peer, 0 for this node. */
#define TH_PORT_ID_MAX (((uint64_t)1 << 56) - 1)

/* The port of this node. ID <= TH_PORT_ID_MAX. */
static inline th_term th_local_port(uint64_t id)
{
    return id << 4 | TH_TAG_PORT;
}

static inline uint64_t th_local_port_id(th_term port)
{
    return port >> 4 & TH_PORT_ID_MAX;
}

/* Returns the index of the peer of ID, an immediate pid or port; 0 for one of this node, and for any
 * other term. */
static inline unsigned th_peer_of(th_term id)
{
    if (th_is_local_port(id))
        return (unsigned)(id >> 60);
    return th_is_local_pid(id) ? (unsigned)(id >> 32 & 7) | (unsigned)(id >> 63) << 3 : 0;
}

/* The bits of a peer's pids, or ports, that those of this node have not. INDEX <= 15. */
static inline th_term th_peer_pid_bits(unsigned index)
{
    return (th_term)(index & 7) << 32 | (th_term)(index >> 3) << 63;
}

static inline th_term th_peer_port_bits(unsigned index)
{
    return (th_term)index << 60;
}

#endif

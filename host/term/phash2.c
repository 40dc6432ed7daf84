/*
 * erlang:phash2/1, which is the same on all nodes and in all releases.
 *
 * The 32 bits of state are mixed with each atomic part of the term, in a fixed order; salts
 * distinguish the types. The pairs of a map are hashed one by one, each from zero; then the hashes
 * of the pairs are combined, independent of their order.
 */
#include "atom.h"
#include "compare.h"
#include "make.h"
#include "map.h"
#include "stack.h"

/*
 * Bob Jenkins' hash of 1996: three words that are mixed with each other.
 * Source: "Hash functions", Dr. Dobb's Journal, September 1997.
 */
struct jenkins {
    uint32_t a, b, c; /* c is the result */
};

static inline void jenkins_round(struct jenkins *w, int first, int second, int third)
{
    w->a = (w->a - w->b - w->c) ^ w->c >> first;
    w->b = (w->b - w->c - w->a) ^ w->a << second;
    w->c = (w->c - w->a - w->b) ^ w->b >> third;
}

static inline void jenkins_mix(struct jenkins *w)
{
    jenkins_round(w, 13, 8, 13);
    jenkins_round(w, 12, 16, 5);
    jenkins_round(w, 3, 10, 15);
}

/* COUNT bytes, 0 to 4, as a little-endian word. */
static uint32_t phash2_word_of(const unsigned char *bytes, size_t count)
{
    uint32_t word = 0;

    for (size_t i = 0; i < count; i++)
        word |= (uint32_t)bytes[i] << 8 * i;
    return word;
}

/* Hashes bytes, twelve at a time. AB and C are the initial words. In the rest, the third word
 * reserves its lowest byte for the length. */
static uint32_t jenkins_bytes(const unsigned char *bytes, size_t count, uint32_t ab, uint32_t c)
{
    struct jenkins words = {ab, ab, c};
    size_t rest = count;

    for (; rest >= 12; rest -= 12, bytes += 12) {
        words.a += phash2_word_of(bytes, 4);
        words.b += phash2_word_of(bytes + 4, 4);
        words.c += phash2_word_of(bytes + 8, 4);
        jenkins_mix(&words);
    }
    words.a += phash2_word_of(bytes, rest < 4 ? rest : 4);
    words.b += rest > 4 ? phash2_word_of(bytes + 4, rest < 8 ? rest - 4 : 4) : 0;
    words.c += (rest > 8 ? phash2_word_of(bytes + 8, rest - 8) << 8 : 0) + (uint32_t)count;
    jenkins_mix(&words);
    return words.c;
}

/* The salt of each type: multiples of the golden ratio. */
#define GOLDEN(n) ((uint32_t)(0x9E3779B9u * (n)))
enum {
    SALT_SMALL = 1,
    SALT_FUN = 1,
    SALT_NIL = 2,
    SALT_ATOM = 3,
    SALT_STRING = 4,
    SALT_PID = 5,
    SALT_PORT = 6,
    SALT_REF = 7,
    SALT_TUPLE = 9,
    SALT_NEGATIVE = 10,
    SALT_POSITIVE = 11,
    SALT_FLOAT = 12,
    SALT_BINARY = 13,
    SALT_FUNCTION = 14,
    SALT_BITS = 15,
    SALT_MAP = 16,
    SALT_PAIRS = 19
};

/* The hash of [] alone, and its value inside a term. */
#define NIL_ALONE 3468870702u
#define NIL_INSIDE 2

enum { FIRST_ITEMS = 16 };

/* Terms that are not hashed yet: the rest of an array of terms, or of a map. */
struct item {
    const th_term *terms; /* of a map: its keys */
    size_t stride;        /* a map: the distance from a key to its value */
    size_t next, count;   /* next < count; a map counts keys and values */
    bool map;
    uint32_t before; /* a map: the state before the map */
    uint32_t pairs;  /* a map: the pairs so far, combined */
};

struct walk {
    uint32_t state;
    struct th_stack stack; /* of items */
    struct item first[FIRST_ITEMS];
};

static inline uint32_t mixed(uint32_t state, uint32_t x, uint32_t y, unsigned salt)
{
    struct jenkins words = {GOLDEN(salt) + x, GOLDEN(salt) + y, state};

    jenkins_mix(&words);
    return words.c;
}

static void add2(struct walk *walk, uint32_t x, uint32_t y, unsigned salt)
{
    walk->state = mixed(walk->state, x, y, salt);
}

static void phash2_add(struct walk *walk, uint32_t x, unsigned salt)
{
    add2(walk, x, 0, salt);
}

static void phash2_push(struct walk *walk, struct item item)
{
    if (item.count == 0)
        return;
    *(struct item *)th_stack_push(&walk->stack, sizeof item) = item;
}

static uint32_t hash_of_name(th_term atom)
{
    return th_atom_name(atom)->weinberger;
}

/* Integers of 28 bits, the small integers of 32-bit machines, are hashed in a special way. */
static void phash2_add_integer(struct walk *walk, th_term t)
{
    int64_t i = th_is_small(t) ? th_small_value(t) : INT64_MAX;
    struct th_limbs n;

    if (i >= -(1 << 27) && i < 1 << 27) {
        if (i < 0)
            phash2_add(walk, (uint32_t)-i, SALT_SMALL);
        phash2_add(walk, (uint32_t)i, SALT_SMALL);
        return;
    }
    th_get_limbs(t, &n);
    for (size_t k = 0; k < n.count; k++)
        add2(walk, (uint32_t)n.limbs[k], (uint32_t)(n.limbs[k] >> 32),
             n.negative ? SALT_NEGATIVE : SALT_POSITIVE);
}

static void phash2_add_bits(struct walk *walk, th_term t)
{
    const unsigned char *data = th_bits_data(t);
    size_t bits = th_bits_size(t);
    uint32_t start = GOLDEN(SALT_BINARY) + walk->state;

    walk->state = bits ? jenkins_bytes(data, bits / 8, GOLDEN(1), start) : start;
    if (bits % 8)
        add2(walk, bits % 8, data[bits / 8] >> (8 - bits % 8), SALT_BITS);
}

static void add_pid(struct walk *walk, th_term t)
{
    struct th_pid_parts parts;

    th_get_pid(t, &parts);
    phash2_add(walk, parts.number, SALT_PID);
}

static void add_port(struct walk *walk, th_term t)
{
    struct th_port_parts parts;

    th_get_port(t, &parts);
    add2(walk, (uint32_t)parts.id, (uint32_t)(parts.id >> 32), SALT_PORT);
}

static void phash2_add_boxed(struct walk *walk, th_term t)
{
    const th_term *box = th_term_box(t);
    struct th_fun_parts fun;
    struct th_ref_parts ref;
    int64_t old_unique = 0;
    uint64_t bits;

    switch (th_term_subtag(t)) {
    case TH_TUPLE:
        break; /* see th_phash2() */
    case TH_POS_BIG:
    case TH_NEG_BIG:
        phash2_add_integer(walk, t);
        break;
    case TH_REF:
        th_get_ref(t, &ref);
        phash2_add(walk, ref.words[0], SALT_REF);
        break;
    case TH_FUN:
        th_get_fun(t, &fun);
        th_get_int64(fun.old_unique, &old_unique);
        add2(walk, (uint32_t)fun.free_count, hash_of_name(fun.module), SALT_FUN);
        add2(walk, fun.index, (uint32_t)old_unique, SALT_FUN);
        phash2_push(walk, (struct item){.terms = fun.free, .count = fun.free_count});
        break;
    case TH_FLOAT:
        bits = th_float_value(t) == 0 ? 0 : box[1]; /* not -0.0 */
        add2(walk, (uint32_t)(bits >> 32), (uint32_t)bits, SALT_FLOAT);
        break;
    case TH_EXPORT:
        add2(walk, (uint32_t)th_small_value(box[3]), hash_of_name(box[1]), SALT_FUN);
        phash2_add(walk, hash_of_name(box[2]), SALT_FUNCTION);
        break;
    case TH_SHARED_BINARY:
    case TH_HEAP_BINARY:
    case TH_SUB_BINARY:
        phash2_add_bits(walk, t);
        break;
    case TH_EXTERNAL_PID:
        add_pid(walk, t);
        break;
    case TH_EXTERNAL_PORT:
        add_port(walk, t);
        break;
    case TH_MAP:
        phash2_add(walk, (uint32_t)th_map_size(t), SALT_MAP);
        phash2_push(walk, (struct item){.terms = th_map_keys(t),
                                        .stride = th_map_stride(t),
                                        .count = 2 * th_map_size(t),
                                        .map = true,
                                        .before = walk->state});
        break;
    }
}

static void phash2_add_term(struct walk *walk, th_term t)
{
    if (th_is_boxed(t))
        phash2_add_boxed(walk, t);
    else if (th_is_small(t))
        phash2_add_integer(walk, t);
    else if (th_is_atom(t) && walk->state == 0)
        walk->state = hash_of_name(t);
    else if (th_is_atom(t))
        phash2_add(walk, hash_of_name(t), SALT_ATOM);
    else if (t == TH_NIL && walk->state == 0)
        walk->state = NIL_ALONE;
    else if (t == TH_NIL)
        phash2_add(walk, NIL_INSIDE, SALT_NIL);
    else if (th_is_local_pid(t))
        add_pid(walk, t);
    else
        add_port(walk, t);
}

/* Takes the next key or value of a map; NULL after the last, when the map's hash is complete. */
static const th_term *take_from_map(struct walk *walk, struct item *map)
{
    size_t i = map->next++;

    if (i % 2)
        return &map->terms[map->stride + i / 2];
    if (i > 0)
        map->pairs ^= walk->state;
    walk->state = 0;
    if (i < map->count)
        return &map->terms[i / 2];
    walk->state = map->before;
    phash2_add(walk, map->pairs, SALT_PAIRS);
    return NULL;
}

/* Takes the next array of terms from the stack; a pair's key or value is an array of one term. False
 * if nothing is left. */
static bool phash2_take(struct walk *walk, const th_term **next, const th_term **end)
{
    while (walk->stack.depth > 0) {
        struct item *item = th_stack_top(&walk->stack, sizeof *item);

        if (!item->map) {
            *next = item->terms + item->next;
            *end = item->terms + item->count;
            walk->stack.depth--;
            return true;
        }
        *next = take_from_map(walk, item);
        if (*next) {
            *end = *next + 1;
            return true;
        }
        walk->stack.depth--;
    }
    return false;
}

/* Bytes at the head of a list are hashed four at a time. Returns the array of the terms after them, up
 * to *END. Inlined, so that *STATE stays in a register. */
static inline const th_term *add_list(uint32_t *state, th_term t, const th_term **end)
{
    const th_term *cell = th_cell(t);
    uint32_t word = 0;
    int bytes = 0;
    bool more = true;

    while (more && th_is_small(cell[0]) && (uint64_t)th_small_value(cell[0]) < 256) {
        word = word << 8 | (uint32_t)th_small_value(cell[0]);
        if (++bytes == 4) {
            *state = mixed(*state, word, 0, SALT_STRING);
            word = 0;
            bytes = 0;
        }
        more = th_is_list(cell[1]);
        cell = more ? th_cell(cell[1]) : cell + 1;
    }
    if (bytes > 0)
        *state = mixed(*state, word, 0, SALT_STRING);
    *end = cell + (more ? 2 : 1);
    return cell;
}

/* Hashes the immediate T, of the kinds that are frequent in terms. Returns false for other terms. */
static inline bool add_immediate(uint32_t *state, th_term t)
{
    int64_t i = th_small_value(t);

    if (th_is_atom(t) && *state != 0)
        *state = mixed(*state, hash_of_name(t), 0, SALT_ATOM);
    else if (th_is_small(t) && i >= 0 && i < 1 << 27)
        *state = mixed(*state, (uint32_t)i, 0, SALT_SMALL);
    else if (t == TH_NIL && *state != 0)
        *state = mixed(*state, NIL_INSIDE, 0, SALT_NIL);
    else
        return false;
    return true;
}

/* The elements of a tuple, or of a list's cell, are hashed from an array outside of the stack. The
 * array goes on the stack only if more of it is left when the next one comes. */
uint32_t th_phash2(th_term whole)
{
    const th_term *next = &whole, *end = next + 1;
    uint32_t state = 0; /* in place of walk.state between two calls */
    struct walk walk;

    th_stack_begin(&walk.stack, walk.first, FIRST_ITEMS);
    for (;;) {
        th_term t;

        if (next == end) {
            walk.state = state;
            if (!phash2_take(&walk, &next, &end))
                break;
            state = walk.state;
        }
        t = *next++;
        if (add_immediate(&state, t))
            continue;
        if (!th_is_immediate(t) && next < end)
            phash2_push(&walk, (struct item){.terms = next, .count = (size_t)(end - next)});
        if (th_is_tuple(t)) {
            state = mixed(state, (uint32_t)th_tuple_arity(t), 0, SALT_TUPLE);
            next = th_tuple_elements(t);
            end = next + th_tuple_arity(t);
        } else if (th_is_list(t)) {
            next = add_list(&state, t, &end);
        } else {
            if (!th_is_immediate(t))
                next = end;
            walk.state = state;
            phash2_add_term(&walk, t);
            state = walk.state;
        }
    }
    th_stack_end(&walk.stack);
    return walk.state;
}

/*
 * The hash for tables of this process: one word of state, mixed with each word of the term. The
 * hash leaves out the differences that th_identical() ignores: the kinds of bit strings, the
 * recorded order of large maps, the sign of 0.0, the creator of a fun.
 */
#include "compare.h"
#include "make.h"
#include "map.h"
#include "map_internal.h"
#include "stack.h"

#include "host/base/hash.h"

enum { FIRST_RUNS = 16, MOST_TERMS = 1024 /* of a plain key */ };

/* Terms that are not hashed yet. */
struct run {
    const th_term *terms;
    const uint32_t *order; /* the positions to visit, NULL: 0, 1, ... */
    size_t next, count;    /* next < count */
};

struct walk {
    uint64_t state;
    struct th_stack stack;         /* of runs */
    struct th_sorted_keys *sorted; /* the memory of the runs' orders */
    struct run first[FIRST_RUNS];
};

static void internal_hash_push(struct walk *walk, const th_term *terms, const uint32_t *order,
                               size_t count)
{
    if (count == 0)
        return;
    *(struct run *)th_stack_push(&walk->stack, sizeof(struct run)) =
        (struct run){terms, order, 0, count};
}

static void internal_hash_add(struct walk *walk, uint64_t word)
{
    walk->state = th_hash_mix(walk->state ^ word);
}

static void internal_hash_add_bits(struct walk *walk, th_term t)
{
    const unsigned char *data = th_bits_data(t);
    size_t bits = th_bits_size(t);
    size_t bytes;
    uint64_t word;

    internal_hash_add(walk, bits);
    for (bytes = bits / 8; bytes >= sizeof word; bytes -= sizeof word, data += sizeof word) {
        memcpy(&word, data, sizeof word);
        internal_hash_add(walk, word);
    }
    word = bits % 8 ? data[bytes] >> (8 - bits % 8) : 0;
    for (size_t i = 0; i < bytes; i++)
        word = word << 8 | data[i];
    internal_hash_add(walk, word);
}

static void internal_hash_add_words(struct walk *walk, const th_term *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        internal_hash_add(walk, words[i]);
}

static void internal_hash_add_boxed(struct walk *walk, th_term t)
{
    const th_term *box = th_term_box(t);
    size_t size = th_header_words(*box);
    struct th_ref_parts ref;
    const uint32_t *order;

    switch (th_term_subtag(t)) {
    case TH_TUPLE:
        break; /* see hash_all() */
    case TH_POS_BIG:
    case TH_NEG_BIG:
    case TH_EXPORT:
    case TH_EXTERNAL_PID:
    case TH_EXTERNAL_PORT:
        internal_hash_add_words(walk, box, size + 1);
        break;
    case TH_REF:
        th_get_ref(t, &ref);
        internal_hash_add(walk, ref.node);
        internal_hash_add(walk, ref.creation);
        for (size_t i = 0; i < TH_REF_WORDS; i++)
            internal_hash_add(walk, ref.words[i]);
        break;
    case TH_FUN: /* module, arity and index; free variables */
        internal_hash_add_words(walk, box + 1, 2);
        internal_hash_push(walk, box + 8, NULL, size - 7);
        break;
    case TH_FLOAT:
        internal_hash_add(walk, th_float_value(t) == 0 ? 0 : box[1]); /* not -0.0 */
        break;
    case TH_SHARED_BINARY:
    case TH_HEAP_BINARY:
    case TH_SUB_BINARY:
        internal_hash_add_bits(walk, t);
        break;
    case TH_MAP:
        size = th_map_size(t);
        order = th_map_order(t, &walk->sorted);
        internal_hash_add(walk, size);
        internal_hash_push(walk, th_map_values(t), order, size);
        internal_hash_push(walk, th_map_keys(t), order, size);
        break;
    }
}

/* The words of a tuple or of a list's cell; no words: another term. */
static inline struct run flat_words(th_term t)
{
    if (th_is_list(t))
        return (struct run){th_cell(t), NULL, 0, 2};
    if (th_is_tuple(t))
        return (struct run){th_tuple_elements(t), NULL, 0, th_tuple_arity(t)};
    return (struct run){0};
}

/* Hashes T on top of STATE. If PLAIN is not NULL and T is not plain, *PLAIN becomes false, and the
 * hash has no meaning. Inlined, so that other hashes do not check PLAIN. The last part of a term is
 * hashed at once; a run goes on the stack only if more of it is left. */
__attribute__((always_inline)) static inline uint64_t hash_all(th_term t, uint64_t state,
                                                               bool *plain)
{
    struct run run = {&t, NULL, 0, 1}, inside;
    struct walk walk; /* not cleared: most of it is runs */
    size_t left = MOST_TERMS;

    walk.state = state;
    walk.sorted = NULL;
    th_stack_begin(&walk.stack, walk.first, FIRST_RUNS);
    for (;;) {
        th_term next;

        if (run.next == run.count) {
            if (walk.stack.depth == 0)
                break;
            run = *(struct run *)th_stack_top(&walk.stack, sizeof run);
            walk.stack.depth--;
        }
        next = run.terms[run.order ? run.order[run.next] : run.next];
        run.next++;
        if (plain && (left-- == 0 || th_is_map(next))) {
            *plain = false;
            break;
        }
        if (th_is_immediate(next)) {
            internal_hash_add(&walk, next);
            continue;
        }
        internal_hash_add(&walk, next & 3);
        if (run.next < run.count)
            *(struct run *)th_stack_push(&walk.stack, sizeof run) = run;
        inside = flat_words(next);
        if (th_is_boxed(next) && th_is_tuple(next))
            internal_hash_add(&walk, *th_term_box(next));
        else if (th_is_boxed(next))
            internal_hash_add_boxed(&walk, next);
        run = inside;
    }
    th_stack_end(&walk.stack);
    th_sorted_keys_free(walk.sorted);
    return walk.state;
}

uint64_t th_internal_hash(th_term t, uint64_t salt)
{
    return hash_all(t, th_hash_mix(salt), NULL);
}

uint64_t th_key_hash(th_term t, bool *plain)
{
    struct walk walk;

    if (!th_is_bitstring(t))
        return hash_all(t, 0, plain);
    walk.state = 0;
    internal_hash_add_bits(&walk, t);
    return walk.state;
}

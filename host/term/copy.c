/*
 * Deep copies. A term's own words are copied as they are; the words among them that are terms are
 * then replaced by copies in their place. The stack holds the runs of words that still have to be
 * looked at; a run leaves it with its last word, so that long lists take no room.
 */
#include "copy.h"

#include "make.h"
#include "map_internal.h"
#include "stack.h"

#include "host/base/base.h"

enum { FIRST_RUNS = 32, FUN_TERMS = 5 /* a fun's words from here on are terms */ };

struct run {
    th_term *next, *end; /* next < end */
};

struct walk {
    th_env *env;
    struct th_stack stack; /* of runs */
    struct run first[FIRST_RUNS];
};

static void push(struct walk *walk, th_term *words, size_t count)
{
    if (count == 0)
        return;
    *(struct run *)th_stack_push(&walk->stack, sizeof(struct run)) =
        (struct run){words, words + count};
}

/* Copies cells while their heads are immediates; the last cell copied goes on the stack. */
static th_term copy_list(struct walk *walk, th_term t)
{
    th_term first = TH_NONE;
    th_term *link = &first;
    th_term *cell;

    do {
        cell = th_env_take(walk->env, 2);
        memcpy(cell, th_cell(t), 2 * sizeof *cell);
        *link = th_listed(cell);
        link = cell + 1;
        t = cell[1];
    } while (th_is_immediate(cell[0]) && th_is_list(t));
    push(walk, cell, 2);
    return first;
}

static th_term *copy_words(struct walk *walk, th_term t)
{
    size_t words = th_header_words(*th_term_box(t)) + 1;

    return memcpy(th_env_take(walk->env, words), th_term_box(t), words * sizeof(th_term));
}

/* The bytes of a sub binary, no longer as a part of anything. */
static th_term copy_bits(struct walk *walk, th_term t)
{
    const unsigned char *from;
    unsigned char *to;
    size_t bits;
    th_term copy;

    th_get_bits(t, &from, &bits);
    copy = th_make_heap_binary(walk->env, bits, &to);
    memcpy(to, from, bits / 8);
    if (bits % 8)
        to[bits / 8] = (unsigned char)(from[bits / 8] & (0xFF00u >> bits % 8));
    return copy;
}

static th_term copy_shared(struct walk *walk, th_term t)
{
    const unsigned char *data;
    size_t bits;

    th_get_bits(t, &data, &bits);
    return th_make_shared_binary(walk->env, th_shared_binary_of(t), data, bits);
}

/* WORDS are a map's. */
static void copy_pairs(struct walk *walk, th_term *words)
{
    size_t count = words[1];
    th_term *pairs = words + 2;

    if (count > TH_MAP_SMALL) {
        struct th_map_table *table =
            th_map_table_copy(walk->env, th_map_table(th_boxed(words)), count);
        words[2] = (th_term)(uintptr_t)table;
        pairs = table->words;
    }
    push(walk, pairs, 2 * count);
}

static th_term copy_boxed(struct walk *walk, th_term t)
{
    enum th_subtag subtag = th_term_subtag(t);
    th_term *words;

    if (subtag == TH_SHARED_BINARY)
        return copy_shared(walk, t);
    if (subtag == TH_SUB_BINARY)
        return copy_bits(walk, t);
    if (th_magic_object(t))
        return th_magic_share(walk->env, t);
    words = copy_words(walk, t);
    if (subtag == TH_TUPLE)
        push(walk, words + 1, th_header_words(words[0]));
    else if (subtag == TH_MAP)
        copy_pairs(walk, words);
    else if (subtag == TH_FUN)
        push(walk, words + FUN_TERMS, th_header_words(words[0]) + 1 - FUN_TERMS);
    return th_boxed(words);
}

th_term th_copy(th_env *env, th_term t)
{
    struct walk walk;
    th_term *place = &t;

    walk.env = env;
    th_stack_begin(&walk.stack, walk.first, FIRST_RUNS);
    for (;;) {
        struct run *run;

        if (th_is_list(*place))
            *place = copy_list(&walk, *place);
        else if (th_is_boxed(*place))
            *place = copy_boxed(&walk, *place);
        if (walk.stack.depth == 0)
            break;
        run = th_stack_top(&walk.stack, sizeof *run);
        place = run->next++;
        walk.stack.depth -= run->next == run->end;
    }
    th_stack_end(&walk.stack);
    return t;
}

th_term th_copy_into(th_term *words, size_t count, struct th_offheap **offheap, th_term t)
{
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    env.top = words;
    env.limit = words + count;
    env.offheap = *offheap;
    t = th_copy(&env, t);
    if (env.top != words + count)
        th_bug("a copy took other than the %zu words counted for it", count);
    *offheap = env.offheap;
    return t;
}

/*
 * Deep copies, and the counting of their words. A term's own words are copied as they are; then
 * copies replace the words among them that are terms. The stack holds the runs of words that are
 * not processed yet. A run leaves the stack with its last word, so long lists need no room. The
 * walk that counts reads the words of the original term.
 */

#include "make.h"
#include "map.h"
#include "map_internal.h"
#include "stack.h"
#include "term_internal.h"

enum { FIRST_RUNS = 32, FUN_TERMS = 5 /* the first word of a fun that is a term */ };

struct run {
    th_term *next, *end; /* next < end */
};

struct walk {
    th_env *env;           /* of the copy */
    size_t words;          /* counted so far */
    struct th_stack stack; /* of runs */
    struct run first[FIRST_RUNS];
};

static void copy_push(struct walk *walk, th_term *words, const th_term *end)
{
    while (words < end && th_is_immediate(*words))
        words++;
    if (words == end)
        return;
    *(struct run *)th_stack_push(&walk->stack, sizeof(struct run)) =
        (struct run){words, (th_term *)end};
}

/* Returns the next word to process, NULL if none is left. */
static inline th_term *copy_take(struct walk *walk)
{
    struct run *run;
    th_term *place;

    if (walk->stack.depth == 0)
        return NULL;
    run = th_stack_top(&walk->stack, sizeof *run);
    place = run->next++;
    walk->stack.depth -= run->next == run->end;
    return place;
}

/* Copies cells while their heads are immediates; the last copied cell goes on the stack. */
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
    copy_push(walk, cell, cell + 2);
    return first;
}

/* Copies a shared binary or a sub binary. Shared bytes stay shared; a part of a heap binary becomes
 * a heap binary. */
static th_term copy_bits(th_env *env, th_term t)
{
    struct th_binary *shared = th_shared_binary_of(t);
    const unsigned char *from = th_bits_data(t);
    size_t bits = th_bits_size(t);
    unsigned char *to;
    th_term copy;

    if (shared)
        return th_make_shared_binary(env, shared, from, bits);
    copy = th_make_heap_binary(env, bits, &to);
    memcpy(to, from, bits / 8);
    if (bits % 8)
        to[bits / 8] = (unsigned char)(from[bits / 8] & (0xFF00u >> bits % 8));
    return copy;
}

static th_term copy_boxed(struct walk *walk, th_term t)
{
    enum th_subtag subtag = th_term_subtag(t);
    size_t count = th_header_words(*th_term_box(t)) + 1;
    th_term *words, *end;

    if (subtag == TH_SHARED_BINARY || subtag == TH_SUB_BINARY)
        return copy_bits(walk->env, t);
    if (th_magic_object(t))
        return th_magic_share(walk->env, t);
    if (subtag == TH_MAP && th_map_size(t) > TH_MAP_SMALL) {
        struct th_map_table *table = th_map_table_copy(walk->env, th_map_table(t), th_map_size(t));

        copy_push(walk, table->words, table->words + 2 * th_map_size(t));
        return th_map_of_table(walk->env, table, th_map_size(t));
    }
    words = memcpy(th_env_take(walk->env, count), th_term_box(t), count * sizeof(th_term));
    end = words + count;
    if (subtag == TH_TUPLE) {
        copy_push(walk, words + 1, end);
    } else if (subtag == TH_FUN) {
        copy_push(walk, words + FUN_TERMS, end);
    } else if (subtag == TH_MAP) {
        copy_push(walk, words + 2, end);
    }
    return th_boxed(words);
}

th_term th_copy(th_env *env, th_term t)
{
    struct walk walk;

    walk.env = env;
    th_stack_begin(&walk.stack, walk.first, FIRST_RUNS);
    for (th_term *place = &t; place; place = copy_take(&walk)) {
        if (th_is_list(*place))
            *place = copy_list(&walk, *place);
        else if (th_is_boxed(*place))
            *place = copy_boxed(&walk, *place);
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

/* --- Counting --------------------------------------------------------------------------------- */

/* Counts cells while their heads are immediates; the last counted cell goes on the stack. */
static void count_list(struct walk *walk, th_term t)
{
    th_term *cell;

    do {
        cell = th_cell(t);
        walk->words += 2;
        t = cell[1];
    } while (th_is_immediate(cell[0]) && th_is_list(t));
    copy_push(walk, cell, cell + 2);
}

static void count_boxed(struct walk *walk, th_term t)
{
    th_term *words = th_term_box(t);
    th_term *end = words + th_header_words(words[0]) + 1;
    enum th_subtag subtag = th_term_subtag(t);

    if (subtag == TH_SUB_BINARY) {
        walk->words +=
            th_shared_binary_of(t) ? TH_SHARED_BINARY_WORDS : th_term_heap_binary_words(words[1]);
        return;
    }
    if (subtag == TH_MAP && words[1] > TH_MAP_SMALL)
        end = words + 3; /* of the copy, which has no changes */
    walk->words += (size_t)(end - words);
    if (subtag == TH_TUPLE) {
        copy_push(walk, words + 1, end);
    } else if (subtag == TH_FUN) {
        copy_push(walk, words + FUN_TERMS, end);
    } else if (subtag == TH_MAP && words[1] <= TH_MAP_SMALL) {
        copy_push(walk, words + 2, end);
    } else if (subtag == TH_MAP) {
        struct th_map_table *table = th_map_table(t);
        th_term *values = th_map_table_values(table);

        walk->words += th_map_table_copy_words(table, words[1]);
        copy_push(walk, table->words, table->words + words[1]);
        copy_push(walk, values, values + words[1]);
    }
}

size_t th_term_words_up_to(th_term t, size_t most)
{
    struct walk walk;

    walk.words = 0;
    th_stack_begin(&walk.stack, walk.first, FIRST_RUNS);
    for (th_term *place = &t; place && walk.words <= most; place = copy_take(&walk)) {
        if (th_is_list(*place))
            count_list(&walk, *place);
        else if (th_is_boxed(*place))
            count_boxed(&walk, *place);
    }
    th_stack_end(&walk.stack);
    return walk.words;
}

size_t th_term_words(th_term t)
{
    return th_term_words_up_to(t, SIZE_MAX);
}

/*
 * The size of a copy. The walk is that of copy.c, without the copying: what still has to be looked
 * at is a stack of runs of words.
 */
#include "copy.h"

#include "make.h"
#include "map_internal.h"
#include "stack.h"

enum { FIRST_RUNS = 32, FUN_TERMS = 5 /* a fun's words from here on are terms */ };

struct run {
    const th_term *next, *end; /* next < end */
};

struct walk {
    size_t words;
    struct th_stack stack; /* of runs */
    struct run first[FIRST_RUNS];
};

static void push(struct walk *walk, const th_term *words, const th_term *end)
{
    while (words < end && th_is_immediate(*words))
        words++;
    if (words == end)
        return;
    *(struct run *)th_stack_push(&walk->stack, sizeof(struct run)) = (struct run){words, end};
}

/* Adds cells while their heads are immediates; the last cell added goes on the stack. */
static void add_list(struct walk *walk, th_term t)
{
    const th_term *cell;

    do {
        cell = th_cell(t);
        walk->words += 2;
        t = cell[1];
    } while (th_is_immediate(cell[0]) && th_is_list(t));
    push(walk, cell, cell + 2);
}

/* Beyond its own words. */
static void add_map(struct walk *walk, th_term t)
{
    const th_term *keys = th_map_keys(t);
    const th_term *values = th_map_values(t);
    size_t count = th_map_size(t);

    if (count > TH_MAP_SMALL)
        walk->words += th_map_table_copy_words(th_map_table(t), count);
    push(walk, keys, keys + count);
    push(walk, values, values + count);
}

static void add_boxed(struct walk *walk, th_term t)
{
    const th_term *words = th_term_box(t);
    const th_term *end = words + th_header_words(words[0]) + 1;
    enum th_subtag subtag = th_term_subtag(t);
    const unsigned char *data;
    size_t bits;

    if (subtag == TH_SUB_BINARY) {
        th_get_bits(t, &data, &bits);
        walk->words += th_term_heap_binary_words(bits);
        return;
    }
    walk->words += (size_t)(end - words);
    if (subtag == TH_TUPLE)
        push(walk, words + 1, end);
    else if (subtag == TH_MAP)
        add_map(walk, t);
    else if (subtag == TH_FUN)
        push(walk, words + FUN_TERMS, end);
}

static void add(struct walk *walk, th_term t)
{
    if (th_is_list(t))
        add_list(walk, t);
    else if (th_is_boxed(t))
        add_boxed(walk, t);
}

size_t th_term_words(th_term t)
{
    return th_term_words_up_to(t, SIZE_MAX);
}

size_t th_term_words_up_to(th_term t, size_t most)
{
    struct walk walk;

    walk.words = 0;
    th_stack_begin(&walk.stack, walk.first, FIRST_RUNS);
    add(&walk, t);
    while (walk.stack.depth > 0 && walk.words <= most) {
        struct run *run = th_stack_top(&walk.stack, sizeof *run);
        t = *run->next++;
        walk.stack.depth -= run->next == run->end;
        add(&walk, t);
    }
    th_stack_end(&walk.stack);
    return walk.words;
}

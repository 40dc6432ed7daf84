#include "code_internal.h"

#include "host/base/base.h"

#include <string.h>

_Atomic unsigned th_code_active;

struct words {
    struct th_code_word **items;
    size_t count, capacity;
};

/* Of each index, the words that are not up to date: others were made active with another value. A
 * word can stand there twice. Then what is staged. */
static struct words stale[TH_CODE_INDICES], staged;

static void add(struct words *words, struct th_code_word *word)
{
    TH_ARRAY_GROW(words->items, words->count, words->capacity);
    words->items[words->count++] = word;
}

static void add_all(struct words *to, const struct words *from)
{
    if (from->count == 0)
        return;
    while (to->capacity - to->count < from->count)
        TH_ARRAY_GROW(to->items, to->capacity, to->capacity);
    memcpy(to->items + to->count, from->items, from->count * sizeof *to->items);
    to->count += from->count;
}

/* Relaxed: with the permission, and nobody reads it before the commit. */
static void write_word(struct th_code_word *word, unsigned index, uintptr_t value)
{
    atomic_store_explicit(&word->of[index], value, memory_order_relaxed);
}

unsigned th_code_stage_index(void)
{
    return (atomic_load_explicit(&th_code_active, memory_order_relaxed) + 1) % TH_CODE_INDICES;
}

void th_code_stage_begin(void)
{
    unsigned active = th_code_index(), next = th_code_stage_index();
    struct words *old = &stale[next];

    for (size_t i = 0; i < old->count; i++)
        write_word(old->items[i], next, th_code_word(old->items[i], active));
    th_code_ranges_catch_up(next);
    old->count = 0;
}

void th_code_stage_word(struct th_code_word *word, uintptr_t value)
{
    write_word(word, th_code_stage_index(), value);
    add(&staged, word);
}

uintptr_t th_code_stage_read(const struct th_code_word *word)
{
    return th_code_word(word, th_code_stage_index());
}

void th_code_stage_commit(void)
{
    unsigned next = th_code_stage_index();

    th_code_ranges_commit(next);
    for (unsigned i = 0; i < TH_CODE_INDICES; i++)
        if (i != next)
            add_all(&stale[i], &staged);
    staged.count = 0;
    atomic_store_explicit(&th_code_active, next, memory_order_release);
}

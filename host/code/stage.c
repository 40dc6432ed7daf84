/*
 * Staging: writes the next index while nobody reads it.
 *
 * Each index has a sorted array of ranges. An instance has one range, from the start to the end of
 * its executable memory; no two overlap. So a function is found by its address with two binary
 * searches: in the ranges, then in the instance's own starts.
 */
#include "code_internal.h"
#include "instance.h"

#include "host/base/buffer.h"

#include <stdlib.h>
#include <string.h>

_Atomic unsigned th_code_active;

static struct ranges {
    struct range {
        uint64_t high; /* end, exclusive */
        uintptr_t low;
        struct th_instance *instance;
    } * items;
    size_t count, capacity;
} ranges[TH_CODE_INDICES];

/* A change of one index that is to be repeated in the others: a word with a new value, the words of
 * an instance, or a range that is added or removed. When a removal, or an addition before a removal, is repeated, the
 * instance may be freed already: its data must not be read. */
struct index_change {
    struct th_code_word *word;   /* NULL: WORDS or RANGE */
    struct th_code_words *words; /* NULL: WORD or RANGE; each index that lacks them is a user */
    struct range range;
    bool removes;
};

/* The changes that each index still lacks (a word may stand there twice), and the staged ones. */
static struct index_changes {
    struct index_change *items;
    size_t count, capacity;
} due[TH_CODE_INDICES], staged;

static void add_change(struct index_changes *to, const struct index_change *change)
{
    TH_ARRAY_GROW(to->items, to->count, to->capacity);
    to->items[to->count++] = *change;
}

/* Returns the number of ranges that end at ADDRESS or below. */
static size_t ranges_below(const struct ranges *in, uintptr_t address)
{
    return th_base_count_up_to(in->items, in->count, sizeof *in->items, address);
}

static void change_range(struct ranges *in, const struct index_change *change)
{
    size_t at = ranges_below(in, change->range.low);

    if (!change->removes) {
        TH_ARRAY_GROW(in->items, in->count, in->capacity);
        memmove(&in->items[at + 1], &in->items[at], (in->count - at) * sizeof *in->items);
        in->items[at] = change->range;
        in->count++;
        return;
    }
    if (at == in->count || in->items[at].instance != change->range.instance)
        th_bug("code that is in no range is removed");
    in->count--;
    memmove(&in->items[at], &in->items[at + 1], (in->count - at) * sizeof *in->items);
}

/* Relaxed: the writer has the permission, and nobody reads the word before the commit. */
static void write_word(struct th_code_word *word, unsigned index, uintptr_t value)
{
    atomic_store_explicit(&word->of[index], value, memory_order_relaxed);
}

static unsigned staging_index(void)
{
    return (atomic_load_explicit(&th_code_active, memory_order_relaxed) + 1) % TH_CODE_INDICES;
}

/* Copies the words from the index ACTIVE to NEXT, which lacked them. */
static void repeat_words(struct th_code_words *words, unsigned next, unsigned active)
{
    for (size_t i = 0; i < words->count; i++)
        write_word(words->items[i].word, next, th_code_word(words->items[i].word, active));
    th_code_words_leave(words);
}

void th_code_stage_begin(void)
{
    unsigned active = th_code_index(), next = staging_index();

    for (size_t i = 0; i < due[next].count; i++) {
        const struct index_change *change = &due[next].items[i];
        if (change->word)
            write_word(change->word, next, th_code_word(change->word, active));
        else if (change->words)
            repeat_words(change->words, next, active);
        else
            change_range(&ranges[next], change);
    }
    due[next].count = 0;
}

void th_code_stage_word(struct th_code_word *word, uintptr_t value)
{
    write_word(word, staging_index(), value);
    add_change(&staged, &(struct index_change){.word = word});
}

void th_code_stage_words(struct th_code_words *words, uintptr_t kept)
{
    const unsigned next = staging_index();

    for (size_t i = 0; i < words->count; i++) {
        struct th_code_word *word = words->items[i].word;
        write_word(word, next, words->items[i].value | (th_code_word(word, next) & kept));
    }
    add_change(&staged, &(struct index_change){.words = words});
}

uintptr_t th_code_stage_read(const struct th_code_word *word)
{
    return th_code_word(word, staging_index());
}

void th_code_stage_range(struct th_instance *instance, bool removes)
{
    struct index_change change = {.range = {instance->high, instance->low, instance},
                                  .removes = removes};

    if (instance->low == instance->high)
        return; /* it has no code */
    change_range(&ranges[staging_index()], &change);
    add_change(&staged, &change);
}

void th_code_stage_commit(void)
{
    unsigned next = staging_index();

    for (unsigned i = 0; i < TH_CODE_INDICES; i++)
        for (size_t k = 0; i != next && k < staged.count; k++) {
            struct th_code_words *words = staged.items[k].words;
            if (words)
                atomic_fetch_add_explicit(&words->uses, 1, memory_order_relaxed);
            add_change(&due[i], &staged.items[k]);
        }
    staged.count = 0;
    atomic_store_explicit(&th_code_active, next, memory_order_release);
}

/* --- Lists of words --------------------------------------------------------------------------- */

static int by_word(const void *left, const void *right)
{
    const struct th_code_words_item *a = left, *b = right;

    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

struct th_code_words *th_code_words_create(struct th_code_words_item *items, size_t count)
{
    struct th_code_words *words = th_alloc(sizeof *words + count * sizeof words->items[0]);

    atomic_init(&words->uses, 1);
    words->count = 0;
    qsort(items, count, sizeof *items, by_word);
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || items[i + 1].word != items[i].word)
            words->items[words->count++] = items[i];
    return words;
}

void th_code_words_leave(struct th_code_words *words)
{
    if (atomic_fetch_sub_explicit(&words->uses, 1, memory_order_acq_rel) == 1)
        th_free(words);
}

/* --- Finding ---------------------------------------------------------------------------------- */

const struct th_instance *th_code_instance_at(uintptr_t address)
{
    const struct ranges *in = &ranges[th_code_index()];
    size_t at = ranges_below(in, address);

    return at < in->count && in->items[at].low <= address ? in->items[at].instance : NULL;
}

bool th_code_place(uintptr_t address, struct th_code_place *place)
{
    const struct th_instance *instance = th_code_instance_at(address);
    uintptr_t offset = instance ? address - instance->base : 0;
    const struct th_symbol *symbol =
        instance ? th_debuginfo_symbols_find(&instance->functions, offset) : NULL;

    *place = (struct th_code_place){
        .instance = instance,
        .function = symbol ? symbol->name : NULL,
        .inside = symbol ? offset - symbol->address : offset,
    };
    return instance != NULL;
}

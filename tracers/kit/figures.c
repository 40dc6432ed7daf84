/* A hash table with open addressing, of figures whose addresses do not change. */
#include "figures.h"

#include <string.h>

static struct figures **place(const struct figures_table *table, const struct figures *wanted)
{
    uint64_t sum = (wanted->module >> 6) * 0x2545F491 + (wanted->process >> 4) * 0x9FB21C65 +
                   (wanted->function >> 6) + wanted->arity;
    size_t i = (sum * 0x9E3779B97F4A7C15 >> 32) & (table->size - 1);

    for (; table->slots[i]; i = (i + 1) & (table->size - 1)) {
        const struct figures *there = table->slots[i];
        if (there->function == wanted->function && there->module == wanted->module &&
            there->arity == wanted->arity && there->process == wanted->process)
            break;
    }
    return &table->slots[i];
}

/* Doubles the table. Without memory the table stays, and may fill up to all but one slot. */
static void grow(struct figures_table *table)
{
    struct figures_table old = *table;
    size_t size = old.size ? 2 * old.size : 64;
    struct figures **slots = calloc(size, sizeof *slots);

    if (!slots)
        return;
    table->slots = slots;
    table->size = size;
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i])
            *place(table, old.slots[i]) = old.slots[i];
    free(old.slots);
}

/* False if there is no room. */
static bool put(struct figures_table *table, struct figures *figures)
{
    if (2 * (table->used + 1) > table->size)
        grow(table);
    if (table->used + 1 >= table->size)
        return false;
    *place(table, figures) = figures;
    table->used++;
    return true;
}

struct figures *figures_of(ErlNifEnv *env, struct figures_table *table,
                           const struct figures *wanted)
{
    struct figures *figures = table->size ? *place(table, wanted) : NULL;

    if (figures)
        return figures;
    if (!enif_is_atom(env, wanted->module) || !enif_is_atom(env, wanted->function))
        return NULL;
    if (table->most && table->used >= table->most)
        return &table->rest;
    figures = calloc(1, sizeof *figures);
    if (figures) {
        figures->process = wanted->process;
        figures->module = wanted->module;
        figures->function = wanted->function;
        figures->arity = wanted->arity;
        figures->number = table->used;
    }
    if (figures && put(table, figures))
        return figures;
    free(figures);
    table->lost++;
    return NULL;
}

static void add(struct figures *to, struct figures *from)
{
    to->calls += from->calls;
    to->errors += from->errors;
    to->ended += from->ended;
    to->untold += from->untold;
    to->total += from->total;
    to->own += from->own;
    schedule_add(&to->spent, from->spent);
    schedule_add(&to->own_spent, from->own_spent);
    histogram_move(&to->times, &from->times);
}

void figures_move(struct figures_table *to, struct figures_table *from)
{
    for (size_t i = 0; i < from->size; i++) {
        struct figures *figures = from->slots[i];
        struct figures *there = figures && to->size ? *place(to, figures) : NULL;
        if (!figures)
            continue;
        if (!there && put(to, figures))
            continue;
        if (there)
            add(there, figures);
        else
            to->lost += figures->calls;
        histogram_free(&figures->times);
        free(figures);
    }
    add(&to->rest, &from->rest);
    to->lost += from->lost;
    free(from->slots);
    *from = (struct figures_table){0};
}

/* Sorts by own time, then by calls, the most first, then by name. */
static int compare(const void *left, const void *right)
{
    const struct figures *a = *(struct figures *const *)left, *b = *(struct figures *const *)right;
    int names;

    if (a->own != b->own)
        return a->own < b->own ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    names = enif_compare(a->module, b->module);
    if (names == 0)
        names = enif_compare(a->function, b->function);
    if (names == 0 && a->process)
        names = enif_compare(a->process, b->process);
    return names ? names : (a->arity > b->arity) - (a->arity < b->arity);
}

void figures_sort(struct figures_table *table)
{
    size_t used = 0;

    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i]) {
            struct figures *figures = table->slots[i];
            table->slots[i] = NULL;
            table->slots[used++] = figures;
        }
    if (used)
        qsort(table->slots, used, sizeof(struct figures *), compare);
}

/* --- Shares --- */

/* A bucket with values, in the binary of a saved histogram. */
struct saved_bucket {
    uint64_t number; /* SUB_COUNT for each octave before its own, and those before it there */
    struct bucket bucket;
};

/* Writes the buckets with values to BYTES, unless that is NULL. Returns their number. */
static size_t write_buckets(const struct histogram *histogram, unsigned char *bytes)
{
    size_t count = 0;

    for (unsigned i = 0; i < OCTAVES * SUB_COUNT; i++) {
        const struct bucket *buckets = histogram->octaves[i / SUB_COUNT];
        struct saved_bucket saved = {.number = i};
        if (!buckets) {
            i += SUB_COUNT - 1;
            continue;
        }
        saved.bucket = buckets[i % SUB_COUNT];
        if (saved.bucket.count && bytes)
            memcpy(bytes + count * sizeof saved, &saved, sizeof saved);
        count += saved.bucket.count != 0;
    }
    return count;
}

ERL_NIF_TERM figures_save_histogram(ErlNifEnv *env, const struct histogram *histogram)
{
    size_t count = write_buckets(histogram, NULL);
    ERL_NIF_TERM binary;
    unsigned char *bytes = enif_make_new_binary(env, count * sizeof(struct saved_bucket), &binary);

    if (bytes)
        write_buckets(histogram, bytes);
    return bytes || !count ? binary : 0;
}

bool figures_take_histogram(ErlNifEnv *env, struct histogram *histogram, ERL_NIF_TERM binary)
{
    struct saved_bucket saved;
    struct bucket **buckets;
    ErlNifBinary bytes;

    if (!enif_inspect_binary(env, binary, &bytes))
        return false;
    for (size_t at = 0; at + sizeof saved <= bytes.size; at += sizeof saved) {
        memcpy(&saved, bytes.data + at, sizeof saved);
        if (saved.number >= OCTAVES * SUB_COUNT)
            return false;
        buckets = &histogram->octaves[saved.number / SUB_COUNT];
        if (!*buckets && !(*buckets = calloc(SUB_COUNT, sizeof **buckets)))
            return false;
        (*buckets)[saved.number % SUB_COUNT].count += saved.bucket.count;
        (*buckets)[saved.number % SUB_COUNT].sum += saved.bucket.sum;
    }
    return true;
}

enum { FIGURES = 12 };

static void numbers_of(struct figures *figures, uint64_t *numbers[FIGURES])
{
    uint64_t *const all[FIGURES] = {
        &figures->calls,    &figures->errors,    &figures->ended,        &figures->untold,
        &figures->total,    &figures->own,       &figures->times.count,  &figures->times.max,
        &figures->spent.on, &figures->spent.off, &figures->own_spent.on, &figures->own_spent.off};

    memcpy(numbers, all, sizeof all);
}

/* Sorts the last figures first, as a list is made from its end. */
static int compare_numbers(const void *left, const void *right)
{
    const struct figures *a = *(struct figures *const *)left, *b = *(struct figures *const *)right;

    return (a->number < b->number) - (a->number > b->number);
}

/* Returns 0 if there is no memory. */
static ERL_NIF_TERM save_one(ErlNifEnv *env, struct figures *figures)
{
    ERL_NIF_TERM terms[FIGURES], times = figures_save_histogram(env, &figures->times);
    uint64_t *numbers[FIGURES];

    if (!times)
        return 0;
    numbers_of(figures, numbers);
    for (int i = 0; i < FIGURES; i++)
        terms[i] = enif_make_uint64(env, *numbers[i]);
    return enif_make_tuple6(env, figures->process ? figures->process : enif_make_uint(env, 0),
                            figures->module, figures->function, enif_make_uint(env, figures->arity),
                            enif_make_tuple_from_array(env, terms, FIGURES), times);
}

ERL_NIF_TERM figures_save(ErlNifEnv *env, const struct figures_table *table)
{
    struct figures **rows = calloc(table->used + 1, sizeof(struct figures *));
    ERL_NIF_TERM list = enif_make_list(env, 0), one = list;
    size_t used = 0;

    if (!rows)
        return 0;
    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i])
            rows[used++] = table->slots[i];
    qsort(rows, used, sizeof(struct figures *), compare_numbers);
    for (size_t i = 0; i < used && one; i++) {
        one = save_one(env, rows[i]);
        list = one ? enif_make_list_cell(env, one, list) : 0;
    }
    free(rows);
    return list;
}

static bool take_one(ErlNifEnv *env, struct figures_table *table, ERL_NIF_TERM saved)
{
    struct figures more = {0}, *figures;
    const ERL_NIF_TERM *elements, *terms;
    uint64_t *numbers[FIGURES];
    ErlNifUInt64 number;
    int size;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != 6 ||
        !enif_get_uint(env, elements[3], &more.arity) ||
        !enif_get_tuple(env, elements[4], &size, &terms) || size != FIGURES)
        return false;
    more.process = enif_is_number(env, elements[0]) ? 0 : elements[0];
    more.module = elements[1];
    more.function = elements[2];
    numbers_of(&more, numbers);
    for (int k = 0; k < FIGURES; k++) {
        if (!enif_get_uint64(env, terms[k], &number))
            return false;
        *numbers[k] = number;
    }
    figures = figures_of(env, table, &more);
    if (!figures || !figures_take_histogram(env, &figures->times, elements[5]))
        return false;
    add(figures, &more);
    return true;
}

bool figures_take(ErlNifEnv *env, struct figures_table *table, ERL_NIF_TERM list)
{
    ERL_NIF_TERM head;

    while (enif_get_list_cell(env, list, &head, &list))
        if (!take_one(env, table, head))
            return false;
    return true;
}

void figures_free(struct figures_table *table)
{
    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i]) {
            histogram_free(&table->slots[i]->times);
            free(table->slots[i]);
        }
    histogram_free(&table->rest.times);
    free(table->slots);
}

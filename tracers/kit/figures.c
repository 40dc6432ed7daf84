/* A hash table with open addressing, of figures whose addresses do not change. */
#include "figures.h"

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

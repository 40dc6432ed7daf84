/*
 * count: how often each tag came, and each function was called.
 *
 * The tables are printed when the tracer is unloaded: tags, then functions, the most frequent
 * first. Each thread counts in tables of its own, so that counting takes no lock.
 *
 * State: see ../output.h; `top` is how many functions are printed (20; 0: all).
 */
#include "../output.h"

#include <stdint.h>

struct entry {
    ERL_NIF_TERM module, function; /* a tag stands as function, module 0 */
    unsigned arity;
    uint64_t count; /* 0: free */
};

/* The counts of one thread for one output: open addressing, a power of two of entries. */
struct table {
    struct table *next; /* in all_tables */
    struct output *output;
    size_t used, size;
    struct entry *entries;
    unsigned top;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *all_tables;           /* under lock */
static _Thread_local struct table *latest; /* the table that this thread used last */

static size_t place_of(const struct table *table, const struct entry *wanted)
{
    uint64_t hash = (wanted->module * 31 + wanted->function + wanted->arity) * 0x9E3779B97F4A7C15u;
    size_t i = (hash >> 32) & (table->size - 1);

    while (table->entries[i].count &&
           (table->entries[i].function != wanted->function ||
            table->entries[i].module != wanted->module || table->entries[i].arity != wanted->arity))
        i = (i + 1) & (table->size - 1);
    return i;
}

/* False if there is no memory. */
static bool grow(struct table *table)
{
    struct table old = *table;

    table->size = old.size ? 2 * old.size : 256;
    table->entries = calloc(table->size, sizeof *table->entries);
    if (!table->entries) {
        *table = old;
        return old.used + 1 < old.size;
    }
    for (size_t i = 0; i < old.size; i++)
        if (old.entries[i].count)
            table->entries[place_of(table, &old.entries[i])] = old.entries[i];
    free(old.entries);
    return true;
}

static void add(struct table *table, const struct entry *wanted, uint64_t count)
{
    struct entry *entry;

    if (2 * table->used >= table->size && !grow(table))
        return;
    entry = &table->entries[place_of(table, wanted)];
    if (!entry->count) {
        *entry = *wanted;
        entry->count = 0;
        table->used++;
    }
    entry->count += count;
}

static struct table *new_table(ErlNifEnv *env, ERL_NIF_TERM state, struct output *output)
{
    struct table *table = calloc(1, sizeof *table);
    ERL_NIF_TERM top;

    if (!table)
        return NULL;
    table->output = output;
    if (!enif_get_map_value(env, state, TH_TRACER_ATOM(env, top), &top) ||
        !enif_get_uint(env, top, &table->top))
        table->top = 20;
    pthread_mutex_lock(&lock);
    table->next = all_tables;
    all_tables = table;
    pthread_mutex_unlock(&lock);
    return table;
}

/* This thread's table for OUTPUT. */
static struct table *table_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);

    if (output && (!latest || latest->output != output))
        latest = new_table(env, state, output);
    return output ? latest : NULL;
}

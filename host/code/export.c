/*
 * The table of export entries: open addressing, read without a lock. To grow, a larger table is
 * published. Tables are never freed: all smaller ones take no more memory than the one in use.
 */
#include "export.h"

#include "code_internal.h"

#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/base/shared.h"

#include <pthread.h>
#include <string.h>

enum { FEWEST = 64 };

/* The first table, which stays empty. */
static struct th_code_exports none = {
    .mask = 1,
    .entries = {NULL, NULL},
};
struct th_code_exports *_Atomic th_code_exports = &none;

/* Serialises additions; readers take no lock. The innermost lock. */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static size_t export_count;

/* Names by export_number_of(); under the same lock. */
static struct th_table names;

/* Puts ENTRY into a free place. Order: no other thread adds. */
static void export_put(struct th_code_exports *in, struct th_export *entry)
{
    size_t i = th_code_export_place(in, entry->module, entry->function, entry->arity);

    while (atomic_load_explicit(&in->entries[i], memory_order_relaxed))
        i = (i + 1) & in->mask;
    atomic_store_explicit(&in->entries[i], entry, memory_order_release);
}

static struct th_code_exports *export_grow(struct th_code_exports *old)
{
    size_t capacity = old == &none ? FEWEST : 2 * (old->mask + 1);
    struct th_code_exports *larger =
        th_alloc_zero(sizeof *larger + capacity * sizeof larger->entries[0]);

    larger->mask = capacity - 1;
    larger->smaller = old;
    for (size_t i = 0; i <= old->mask; i++) {
        struct th_export *entry = atomic_load_explicit(&old->entries[i], memory_order_relaxed);
        if (entry)
            export_put(larger, entry);
    }
    atomic_store_explicit(&th_code_exports, larger, memory_order_release);
    return larger;
}

/* A second look under the lock: another thread may have added the entry, or a larger table. */
struct th_export *th_code_export_get(th_term module, th_term function, unsigned arity)
{
    struct th_export *entry = th_code_export_find(module, function, arity);
    struct th_code_exports *now;

    if (entry)
        return entry;
    pthread_mutex_lock(&adding);
    entry = th_code_export_find(module, function, arity);
    if (!entry) {
        entry = th_alloc_zero(sizeof *entry);
        entry->module = module;
        entry->function = function;
        entry->arity = arity;
        now = atomic_load_explicit(&th_code_exports, memory_order_relaxed);
        if (2 * (export_count + 1) > now->mask)
            now = export_grow(now);
        export_put(now, entry);
        export_count++;
    }
    pthread_mutex_unlock(&adding);
    return entry;
}

/* --- Names ----------------------------------------------------------------------------------- */

/* Computes a unique number: two atoms, which are numbered above a tag, and an arity. */
static uint64_t export_number_of(th_term module, th_term function, unsigned arity)
{
    enum { TAG_BITS = 6, ATOM_BITS = 20, ARITY_BITS = 9 };

    _Static_assert(TH_ATOM_LIMIT <= 1 << ATOM_BITS && TH_EXPORT_ARITY_MAX + 1 < 1 << ARITY_BITS,
                   "they fit");
    return (module >> TAG_BITS) << (ATOM_BITS + ARITY_BITS) | (function >> TAG_BITS) << ARITY_BITS |
           (arity + 1); /* never 0 */
}

const char *th_code_export_name(th_term module, th_term function, unsigned arity)
{
    uint64_t number = export_number_of(module, function, arity);
    char *name;

    pthread_mutex_lock(&adding);
    name = th_hash_table_get(&names, number);
    if (!name) {
        char *made =
            th_printf("%s:%s/%u", th_atom_name(module)->text, th_atom_name(function)->text, arity);
        name = th_shared_strdup(made); /* a report of the supervisor has the name */
        th_free(made);
        th_hash_table_set(&names, number, name);
    }
    pthread_mutex_unlock(&adding);
    return name;
}

th_term th_code_name_atom(const char *name)
{
    th_term atom = th_atom_utf8(name, strlen(name));

    return atom == TH_NONE ? th_atom_latin1(name, strlen(name)) : atom;
}

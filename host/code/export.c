/*
 * The table of export entries: open addressing, read without a lock. It grows by publishing a
 * larger one and never frees, as all that were smaller take no more than the one in use.
 */
#include "export.h"

#include "permission.h"
#include "start.h"

#include "host/base/base.h"

#include <pthread.h>
#include <string.h>

enum { FEWEST_BITS = 6 };

struct th_exports *_Atomic th_exports;

/* Held by who adds an entry: guards that the table changes, not that it is read. The innermost. */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static size_t export_count;

/* One thread at a time, as export.h says: */
static struct th_table modules;                  /* name -> struct module */
static const struct th_module_watcher *watching; /* NULL: nobody */

struct module {
    struct th_library *library;
    struct th_callee *callees; /* one for each function that has a name */
    size_t count;
    ErlNifFunc *locals; /* what the callees of local functions tell */
};

/* Puts ENTRY into a free place. Nobody else adds. */
static void put(struct th_exports *in, struct th_export *entry)
{
    size_t i = th_export_place(in, entry->module, entry->function, entry->arity);

    while (atomic_load_explicit(&in->entries[i], memory_order_relaxed))
        i = (i + 1) & in->mask;
    atomic_store_explicit(&in->entries[i], entry, memory_order_release);
}

static struct th_exports *grow(struct th_exports *old)
{
    unsigned bits = old ? TH_EXPORT_WORD_BITS - old->shift + 1 : FEWEST_BITS;
    size_t capacity = (size_t)1 << bits;
    struct th_exports *larger =
        th_alloc_zero(sizeof *larger + capacity * sizeof larger->entries[0]);

    larger->mask = capacity - 1;
    larger->shift = TH_EXPORT_WORD_BITS - bits;
    larger->smaller = old;
    for (size_t i = 0; old && i <= old->mask; i++) {
        struct th_export *entry = atomic_load_explicit(&old->entries[i], memory_order_relaxed);
        if (entry)
            put(larger, entry);
    }
    atomic_store_explicit(&th_exports, larger, memory_order_release);
    return larger;
}

/* Under the lock. */
static struct th_export *add_entry(th_term module, th_term function, unsigned arity)
{
    struct th_exports *now = atomic_load_explicit(&th_exports, memory_order_relaxed);
    struct th_export *entry = th_alloc_zero(sizeof *entry);

    entry->module = module;
    entry->function = function;
    entry->arity = arity;
    if (!now || 2 * (export_count + 1) > now->mask)
        now = grow(now);
    put(now, entry);
    export_count++;
    return entry;
}

/* Who finds none looks again under the lock: another may have added it, or a larger table. */
struct th_export *th_export_get(th_term module, th_term function, unsigned arity)
{
    struct th_export *entry = th_export_find(module, function, arity);

    if (entry)
        return entry;
    pthread_mutex_lock(&adding);
    entry = th_export_find(module, function, arity);
    if (!entry)
        entry = add_entry(module, function, arity);
    pthread_mutex_unlock(&adding);
    return entry;
}

size_t th_export_longest_search(void)
{
    const struct th_exports *in = atomic_load_explicit(&th_exports, memory_order_acquire);
    size_t run = 0, longest = 0;

    for (size_t i = 0; in && i <= 2 * in->mask; i++) {
        bool used = atomic_load_explicit(&in->entries[i & in->mask], memory_order_relaxed);
        run = used ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* --- Modules --------------------------------------------------------------------------------- */

/* The atom of a C name, which is UTF-8 or Latin-1. TH_NONE: too long to be one. */
static th_term atom_of(const char *name)
{
    th_term atom = th_atom_utf8(name, strlen(name));

    return atom == TH_NONE ? th_atom_latin1(name, strlen(name)) : atom;
}

/* What a call reaches, whether the entry is armed or not. */
static void set_callee(struct th_export *entry, const struct th_callee *callee)
{
    uintptr_t old = atomic_load_explicit(&entry->word, memory_order_relaxed);

    _Static_assert(_Alignof(struct th_callee) > TH_EXPORT_ARMED, "the bit is not of the address");
    while (!atomic_compare_exchange_weak_explicit(&entry->word, &old,
                                                  (uintptr_t)callee | (old & TH_EXPORT_ARMED),
                                                  memory_order_release, memory_order_relaxed))
        ;
}

enum th_status th_module_check(const struct th_library *library)
{
    th_term name = th_library_name(library);
    const struct th_library *other = th_module_find(name);

    if (!other || other == library)
        return TH_OK;
    return th_error_raise(TH_USAGE, "%s and %s are both module %s; one at a time, please",
                          th_library_path(other), th_library_path(library),
                          th_atom_name(name)->text);
}

/* A function whose name is too long to be an atom cannot be called. */
static struct th_callee *add_function(struct module *module, th_term name,
                                      const ErlNifFunc *function, void *code)
{
    struct th_callee *callee = &module->callees[module->count];
    th_term called = atom_of(function->name);

    if (called == TH_NONE)
        return NULL;
    module->count++;
    *callee = (struct th_callee){
        .library = module->library,
        .function = function,
        .name = th_printf("%s:%s/%u", th_atom_name(name)->text, function->name, function->arity),
        .code = code,
    };
    return callee;
}

static void add_exported(struct module *module, th_term name, const ErlNifFunc *function)
{
    struct th_callee *callee = add_function(module, name, function, (void *)function->fptr);

    if (callee)
        callee->entry = th_export_get(name, atom_of(function->name), function->arity);
}

static void add_locals(struct module *module, th_term name, const struct th_code_map *map)
{
    module->locals = th_alloc_zero((map->local_count + 1) * sizeof *module->locals);
    for (size_t i = 0; i < map->local_count; i++) {
        module->locals[i].name = map->locals[i].name;
        module->locals[i].arity = map->locals[i].arity;
        add_function(module, name, &module->locals[i], map->locals[i].code);
    }
}

void th_module_add(struct th_library *library)
{
    const struct th_entry *entry = th_library_entry(library);
    const struct th_code_map *map = th_library_code_map(library);
    th_term name = th_library_name(library);
    struct module *module = th_alloc(sizeof *module);

    *module = (struct module){
        .library = library,
        .callees =
            th_alloc((entry->function_count + map->local_count + 1) * sizeof *module->callees),
    };
    for (size_t i = 0; i < entry->function_count; i++)
        add_exported(module, name, &entry->functions[i]);
    add_locals(module, name, map);
    th_code_starts_add(module->callees, module->count);
    if (watching && watching->prepare)
        watching->prepare(module->callees, module->count);
    th_permission_wait();
    if (watching)
        watching->begin(module->callees, module->count);
    for (size_t i = 0; i < module->count; i++)
        if (module->callees[i].entry)
            set_callee(module->callees[i].entry, &module->callees[i]);
    th_permission_release();
    th_table_set(&modules, name, module);
}

void th_module_remove(struct th_library *library)
{
    struct module *module = th_table_remove(&modules, th_library_name(library));

    th_permission_wait();
    for (size_t i = 0; i < module->count; i++)
        if (module->callees[i].entry)
            set_callee(module->callees[i].entry, NULL);
    if (watching)
        watching->end(module->callees, module->count);
    th_permission_release();
    th_code_starts_remove(module->callees, module->count);
    for (size_t i = 0; i < module->count; i++)
        th_free((char *)module->callees[i].name);
    th_free(module->callees);
    th_free(module->locals);
    th_free(module);
}

struct th_library *th_module_find(th_term name)
{
    const struct module *module = th_table_get(&modules, name);

    return module ? module->library : NULL;
}

void th_module_watch(const struct th_module_watcher *watcher)
{
    const struct th_module_watcher *const both[] = {watching, watcher};
    const struct th_slot *slot;

    th_permission_wait();
    for (int i = 0; i < 2; i++) /* the end of the one, the beginning of the other */
        for (size_t at = 0; both[i] && (slot = th_table_next(&modules, &at));) {
            const struct module *module = slot->value;
            (i == 0 ? both[i]->end : both[i]->begin)(module->callees, module->count);
        }
    th_permission_release();
    watching = watcher;
}

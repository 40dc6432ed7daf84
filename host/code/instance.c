#include "instance.h"

#include "host/base/base.h"

#include <stdlib.h>
#include <string.h>

static unsigned slots = 1;       /* written before modules are loaded */
static _Atomic uint64_t serials; /* relaxed: a number each */

void th_code_slots(unsigned count)
{
    slots = count;
}

/* --- Its functions ---------------------------------------------------------------------------- */

/* The atom of a C name, which is UTF-8 or Latin-1. TH_NONE: too long to be one. */
static th_term atom_of(const char *name)
{
    th_term atom = th_atom_utf8(name, strlen(name));

    return atom == TH_NONE ? th_atom_latin1(name, strlen(name)) : atom;
}

/* A function whose name is too long to be an atom, TH_NONE, cannot be called. */
static void add_function(struct th_instance *instance, const ErlNifFunc *function, th_term called,
                         void *code, struct th_export *entry)
{
    if (called == TH_NONE)
        return;
    instance->callees[instance->count++] = (struct th_callee){
        .library = instance->library,
        .instance = instance,
        .function = function,
        .name = th_code_export_name(instance->module->name, called, function->arity),
        .entry = entry,
        .code = code,
    };
}

static void add_exported(struct th_instance *instance, const ErlNifFunc *function)
{
    th_term called = atom_of(function->name);
    struct th_export *entry =
        called == TH_NONE ? NULL
                          : th_code_export_get(instance->module->name, called, function->arity);

    add_function(instance, function, called, (void *)function->fptr, entry);
}

static void add_locals(struct th_instance *instance, const struct th_code_map *map)
{
    instance->locals = th_alloc_zero((map->local_count + 1) * sizeof *instance->locals);
    for (size_t i = 0; i < map->local_count; i++) {
        instance->locals[i].name = map->locals[i].name;
        instance->locals[i].arity = map->locals[i].arity;
        add_function(instance, &instance->locals[i], atom_of(map->locals[i].name),
                     map->locals[i].code, NULL);
    }
}

/* --- Where they begin ------------------------------------------------------------------------- */

/* Of one address, in the order of the callees. */
static int by_address(const void *left, const void *right)
{
    const struct th_code_start *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->callee > b->callee) - (a->callee < b->callee);
}

static void find_starts(struct th_instance *instance)
{
    size_t count = 0, kept = 0;

    instance->starts = th_alloc((instance->count + 1) * sizeof *instance->starts);
    for (size_t i = 0; i < instance->count; i++)
        if (instance->callees[i].code)
            instance->starts[count++] =
                (struct th_code_start){(uintptr_t)instance->callees[i].code, &instance->callees[i]};
    qsort(instance->starts, count, sizeof *instance->starts, by_address);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || instance->starts[kept - 1].address != instance->starts[i].address)
            instance->starts[kept++] = instance->starts[i];
    instance->start_count = kept;
}

const struct th_callee *th_code_instance_start(const struct th_instance *instance,
                                               uintptr_t address)
{
    const struct th_code_start *starts = instance->starts;
    size_t count = th_base_count_up_to(starts, instance->start_count, sizeof *starts, address);

    return count > 0 && starts[count - 1].address == address ? starts[count - 1].callee : NULL;
}

/* --- Beginning and end ------------------------------------------------------------------------ */

struct th_instance *th_code_instance_create(struct th_library *library)
{
    const struct th_entry *entry = th_library_entry(library);
    const struct th_code_map *map = th_library_code_map(library);
    size_t size = sizeof(struct th_instance) + slots * sizeof(struct th_entered);
    struct th_instance *instance = th_alloc_aligned(_Alignof(struct th_instance), size);

    memset(instance, 0, size);
    instance->library = library;
    instance->module = th_code_module_get(th_library_name(library));
    instance->slots = slots;
    instance->serial = atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
    instance->callees =
        th_alloc((entry->function_count + map->local_count + 1) * sizeof *instance->callees);
    for (size_t i = 0; i < entry->function_count; i++)
        add_exported(instance, &entry->functions[i]);
    add_locals(instance, map);
    find_starts(instance);
    th_library_code_range(library, &instance->low, &instance->high);
    th_library_symbols(library, &instance->functions);
    instance->base = th_library_base(library);
    return instance;
}

void th_code_instance_free(struct th_instance *instance)
{
    th_free(instance->callees);
    th_free(instance->locals);
    th_free(instance->starts);
    th_debuginfo_symbols_free(&instance->functions);
    th_free(instance);
}

/* --- Counting --------------------------------------------------------------------------------- */

void th_code_instance_enter_shared(struct th_instance *instance)
{
    atomic_fetch_add_explicit(&instance->by_slot[0].entered, 1, memory_order_relaxed);
}

void th_code_instance_leave_shared(struct th_instance *instance)
{
    atomic_fetch_add_explicit(&instance->by_slot[0].left, 1, memory_order_release);
}

/* Who has left first: whatever they did, coming in above all, is then seen by who looks how many
 * came in. So the difference is never too small. */
uint64_t th_code_instance_users(const struct th_instance *instance)
{
    uint64_t left = 0, entered = 0;

    for (unsigned i = 0; i < instance->slots; i++)
        left += atomic_load_explicit(&instance->by_slot[i].left, memory_order_acquire);
    for (unsigned i = 0; i < instance->slots; i++)
        entered += atomic_load_explicit(&instance->by_slot[i].entered, memory_order_relaxed);
    return entered - left;
}

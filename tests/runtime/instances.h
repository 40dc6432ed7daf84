/* Creates and removes instances of the module `twin` (twin.c) step by step, as loading does, for
 * tests of replaced code. */
#ifndef INSTANCES_H
#define INSTANCES_H

#include "host/base/base.h"
#include "host/code/code.h"
#include "host/runtime/traced/native_call.h"
#include "plugin_api/erl_nif.h"
#include "tests/runtime/traced.h"
#include "tests/support/compiled.h"

#include <string.h>
#include <unistd.h>

/* Compiler flags for versions with native sites, and without. */
#ifdef __x86_64__
#define PATCHABLE "-fpatchable-function-entry=16,8 -falign-functions=16 -fcf-protection=none"
#define UNPATCHABLE "-fcf-protection=full"
#else
#define PATCHABLE "-fpatchable-function-entry=2"
#define UNPATCHABLE "-fno-asynchronous-unwind-tables -fno-unwind-tables"
#endif

struct instance {
    struct th_library *library;
    struct th_callee *callees;
    ErlNifFunc *locals;
    size_t count;
    struct th_instance *loaded; /* the watcher's view */
};

/* Returns the path of the compiled file, which is compiled once. */
static inline const char *twin_file(int generation, bool patchable)
{
    static char *files[3][2];
    char **file = &files[generation][patchable];
    char *flags;

    if (*file)
        return *file;
    flags = th_printf("-O2 -DGENERATION=%d %s", generation, patchable ? PATCHABLE : UNPATCHABLE);
    *file = compiled_file(NULL, flags, "tests/runtime/twin.c");
    th_free(flags);
    return *file;
}

static inline int remove_twin_files(void **state)
{
    (void)state;
    for (int generation = 1; generation <= 2; generation++)
        for (int patchable = 0; patchable <= 1; patchable++) {
            const char *file = twin_file(generation, patchable);
            unlink(file);
            th_free((char *)file);
        }
    return 0;
}

static inline void add_callee(struct instance *instance, const ErlNifFunc *function, void *code,
                              bool exported)
{
    struct th_callee *callee = &instance->callees[instance->count++];

    *callee = (struct th_callee){
        .library = instance->library,
        .function = function,
        .name = th_printf("twin:%s/%u", function->name, function->arity),
        .entry = exported
                     ? th_code_export_get(th_atom("twin"), th_atom(function->name), function->arity)
                     : NULL,
        .code = code,
    };
}

/* Opens, loads and prepares an instance. */
static inline struct instance *open_instance(int generation, bool patchable)
{
    struct instance *instance = th_alloc_zero(sizeof *instance);
    const struct th_entry *entry;
    const struct th_code_map *map;

    if (th_library_open(twin_file(generation, patchable), &instance->library) != TH_OK ||
        th_library_load(instance->library, NULL, th_small(0)) != TH_OK)
        fail_msg("%s", th_error_link(0));
    entry = th_library_entry(instance->library);
    map = th_library_code_map(instance->library);
    instance->callees =
        th_alloc((entry->function_count + map->local_count) * sizeof *instance->callees);
    instance->locals = th_alloc_zero(map->local_count * sizeof *instance->locals);
    for (size_t i = 0; i < entry->function_count; i++)
        add_callee(instance, &entry->functions[i], (void *)(uintptr_t)entry->functions[i].fptr,
                   true);
    for (size_t i = 0; i < map->local_count; i++) {
        instance->locals[i].name = map->locals[i].name;
        instance->locals[i].arity = map->locals[i].arity;
        add_callee(instance, &instance->locals[i], map->locals[i].code, false);
    }
    instance->loaded = th_alloc_aligned(_Alignof(struct th_instance), sizeof *instance->loaded);
    *instance->loaded =
        (struct th_instance){.callees = instance->callees, .count = instance->count};
    th_traced_functions_watcher.prepare(instance->loaded);
    return instance;
}

static inline void close_instance(struct instance *instance)
{
    for (size_t i = 0; i < instance->count; i++)
        th_free((char *)instance->callees[i].name);
    th_free(instance->loaded);
    th_free(instance->callees);
    th_free(instance->locals);
    th_library_release(instance->library);
    th_free(instance);
}

/* These functions need the permission. */

static inline void begin_instance(const struct instance *instance)
{
    th_traced_functions_watcher.begin(instance->loaded);
}

static inline void end_instance(const struct instance *instance)
{
    th_traced_functions_watcher.end(instance->loaded);
}

/* Sets the callee in all code indices at once. */
static inline void set_reached(struct th_export *entry, const struct th_callee *callee)
{
    for (int i = 0; i < TH_CODE_INDICES; i++) {
        _Atomic uintptr_t *word = &entry->word.of[i];
        uintptr_t old = atomic_load_explicit(word, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(
            word, &old, th_code_export_word_of(callee) | (old & TH_EXPORT_ARMED),
            memory_order_release, memory_order_relaxed))
            ;
    }
}

/* Makes calls reach NEXT, and not what only OLD has. Either may be NULL. */
static inline void reach_instance(const struct instance *old, const struct instance *next)
{
    for (size_t i = 0; next && i < next->count; i++)
        if (next->callees[i].entry)
            set_reached(next->callees[i].entry, &next->callees[i]);
    for (size_t i = 0; old && i < old->count; i++)
        if (old->callees[i].entry &&
            th_code_export_callee(old->callees[i].entry) == &old->callees[i])
            set_reached(old->callees[i].entry, NULL);
}

/* These functions take the permission. */

/* Makes a new instance the current code; OLD, or NULL, becomes old code. */
static inline struct instance *replace_instance(struct instance *old, int generation,
                                                bool patchable)
{
    struct instance *next = open_instance(generation, patchable);

    th_code_permission_wait();
    begin_instance(next);
    reach_instance(old, next);
    th_code_permission_release();
    return next;
}

static inline void purge_instance(struct instance *old)
{
    th_code_permission_wait();
    end_instance(old);
    th_code_permission_release();
    close_instance(old);
}

static inline void delete_instance(struct instance *now)
{
    th_code_permission_wait();
    reach_instance(now, NULL);
    th_code_permission_release();
    th_progress_wait(); /* the tests ensure that no process is in the code */
    purge_instance(now);
}

#endif

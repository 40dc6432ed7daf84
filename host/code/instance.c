#include "instance.h"

#include "code_internal.h"
#include "export.h"
#include "loading.h"
#include "permission.h"

#include "host/base/buffer.h"
#include "host/library/code_map.h"
#include "host/library/entry.h"
#include "host/library/load.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned slots = 1;       /* written before modules are prepared */
static _Atomic uint64_t serials; /* relaxed: only uniqueness matters */

void th_code_slots(unsigned count)
{
    slots = count;
}

/* --- Functions -------------------------------------------------------------------------------- */

/* A function whose name is too long for an atom cannot be called. */
static void instance_add_function(struct th_instance *instance, const ErlNifFunc *function,
                                  void *code, bool exported)
{
    th_term module = instance->module->name, called = th_code_name_atom(function->name);

    if (called == TH_NONE)
        return;
    instance->callees[instance->count++] = (struct th_callee){
        .library = instance->library,
        .instance = instance,
        .function = function,
        .name = th_code_export_name(module, called, function->arity),
        .entry = exported ? th_code_export_get(module, called, function->arity) : NULL,
        .code = code,
    };
}

/* --- Addresses -------------------------------------------------------------------------------- */

/* Orders by address, then by the order of the callees. */
static int instance_by_address(const void *left, const void *right)
{
    const struct th_code_start *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->callee > b->callee) - (a->callee < b->callee);
}

static void find_starts(struct th_instance *instance)
{
    size_t count = 0, kept = 0;

    instance->starts = th_alloc((2 * instance->count + 1) * sizeof *instance->starts);
    for (size_t i = 0; i < instance->count; i++) {
        const struct th_callee *callee = &instance->callees[i];
        uintptr_t code = (uintptr_t)callee->code, unwound;
        if (!code)
            continue;
        unwound = th_library_unwound_start(code);
        instance->starts[count++] = (struct th_code_start){code, callee};
        if (unwound != code)
            instance->starts[count++] = (struct th_code_start){unwound, callee};
    }
    qsort(instance->starts, count, sizeof *instance->starts, instance_by_address);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || instance->starts[kept - 1].address != instance->starts[i].address)
            instance->starts[kept++] = instance->starts[i];
    instance->start_count = kept;
}

const struct th_callee *th_code_at(uintptr_t address)
{
    const struct th_instance *instance = th_code_instance_at(address);
    const struct th_code_start *starts;
    size_t count;

    if (!instance)
        return NULL;
    starts = instance->starts;
    count = th_base_count_up_to(starts, instance->start_count, sizeof *starts, address);
    return count > 0 && starts[count - 1].address == address ? starts[count - 1].callee : NULL;
}

/* --- Exports ---------------------------------------------------------------------------------- */

/* Callees stand in memory in their order: of functions with one name, calls reach the last. */
static void instance_list_words(struct th_instance *instance)
{
    struct th_code_words_item *items = th_alloc((instance->count + 1) * sizeof *items);
    size_t count = 0;

    for (size_t i = 0; i < instance->count; i++)
        if (instance->callees[i].entry)
            items[count++] = (struct th_code_words_item){
                &instance->callees[i].entry->word, th_code_export_word_of(&instance->callees[i])};
    instance->words = th_code_words_create(items, count);
    th_free(items);
}

/* --- Creation --------------------------------------------------------------------------------- */

struct th_instance *th_code_instance_create(struct th_library *library)
{
    const struct th_entry *entry = th_library_entry(library);
    const struct th_code_map *map = th_library_code_map(library);
    size_t size = sizeof(struct th_instance) + slots * sizeof(struct th_entered);
    struct th_instance *instance = th_alloc_aligned(_Alignof(struct th_instance), size);

    memset(instance, 0, size);
    instance->library = library;
    instance->module = th_code_module_get(th_library_name(library));
    instance->own_slots = slots - 1;
    instance->serial = atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
    instance->callees =
        th_alloc((entry->function_count + map->local_count + 1) * sizeof *instance->callees);
    for (size_t i = 0; i < entry->function_count; i++)
        instance_add_function(instance, &entry->functions[i], (void *)entry->functions[i].fptr,
                              true);
    instance->locals = th_alloc_zero((map->local_count + 1) * sizeof *instance->locals);
    for (size_t i = 0; i < map->local_count; i++) {
        instance->locals[i].name = map->locals[i].name;
        instance->locals[i].arity = map->locals[i].arity;
        instance_add_function(instance, &instance->locals[i], map->locals[i].code, false);
    }
    find_starts(instance);
    instance_list_words(instance);
    th_library_code_range(library, &instance->low, &instance->high);
    th_library_symbols(library, STT_FUNC, &instance->functions);
    instance->base = th_library_base(library);
    return instance;
}

void th_code_instance_free(struct th_instance *instance)
{
    th_free(instance->callees);
    th_free(instance->locals);
    th_free(instance->starts);
    th_code_words_leave(instance->words);
    th_debuginfo_symbols_free(&instance->functions);
    th_free(instance);
}

/* --- Counting --------------------------------------------------------------------------------- */

/* LEFT is read first, with acquire: a leave that is seen makes the enter before it visible to the
 * later reads of ENTERED. So the difference is never too small. */
uint64_t th_code_instance_users(const struct th_instance *instance)
{
    uint64_t left = 0, entered = 0;

    for (unsigned i = 0; i <= instance->own_slots; i++)
        left += atomic_load_explicit(&instance->by_slot[i].left, memory_order_acquire);
    for (unsigned i = 0; i <= instance->own_slots; i++)
        entered += atomic_load_explicit(&instance->by_slot[i].entered, memory_order_relaxed);
    return entered - left;
}

/* --- Old code --------------------------------------------------------------------------------- */

void (*th_code_kill_users)(const struct th_instance *instance);
void (*th_code_show_users)(const struct th_instance *instance, struct th_buffer *text);

static struct th_instance *instance_of(struct th_later *later)
{
    return (struct th_instance *)((char *)later - offsetof(struct th_instance, later));
}

/* Readers that found the instance by the former index are counted now, or gone. */
static void instance_settle(struct th_later *later)
{
    atomic_store_explicit(&instance_of(later)->settled, true, memory_order_release);
}

void th_code_old_begin(struct th_instance *instance)
{
    instance->module->old = instance;
    th_progress_later(&instance->later, instance_settle);
}

static uint64_t users(struct th_instance *old, unsigned *rounds)
{
    if (!atomic_load_explicit(&old->settled, memory_order_acquire)) {
        th_progress_settle();
        ++*rounds;
    }
    return th_code_instance_users(old);
}

enum th_status th_code_old_check(const struct th_module *module, unsigned *rounds)
{
    uint64_t inside = module->old ? users(module->old, rounds) : 0;
    struct th_buffer who = {0};

    if (inside == 0)
        return TH_OK;
    if (th_code_show_users)
        th_code_show_users(module->old, &who);
    th_error_raise(TH_REFUSED,
                   "not_purged: %llu call%s or continuation%s of the old code, %s, %s not "
                   "ended%s%s; purge the module hard, which kills the processes in the old code",
                   (unsigned long long)inside, th_log_plural(inside), th_log_plural(inside),
                   th_library_path(module->old->library), inside == 1 ? "has" : "have",
                   who.size ? ": " : "", th_buffer_text(&who));
    th_buffer_free(&who);
    return TH_REFUSED;
}

struct th_instance *th_code_old_stage_end(struct th_module *module)
{
    struct th_instance *old = module->old;

    if (old)
        th_code_stage_range(old, true);
    module->old = NULL;
    return old;
}

static void instance_free_instance(struct th_later *later)
{
    th_code_instance_free(instance_of(later));
}

void th_code_old_free(struct th_instance *instance)
{
    if (!instance)
        return;
    th_library_release(instance->library);
    th_progress_later(&instance->later, instance_free_instance);
}

enum { LOOKS = 5000, LOOK_NS = 1000000 };

void th_code_old_await(struct th_instance *instance)
{
    th_progress_settle(); /* runs the pending instance_settle(); INSTANCE may be freed after */
    for (int looks = 0; th_code_instance_users(instance) > 0 && looks < LOOKS; looks++)
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

/* True if the old code of MODULE has users, which are killed if KILLS. */
static bool instance_look(const struct th_module *module, bool kills)
{
    unsigned rounds = 0;
    bool used;

    th_code_permission_wait();
    used = module->old && users(module->old, &rounds) > 0;
    if (used && kills && th_code_kill_users)
        th_code_kill_users(module->old);
    th_code_permission_release();
    return used;
}

void th_code_old_kill(struct th_module *const modules[], size_t count)
{
    int looks = 0;

    for (size_t i = 0; i < count; i++)
        instance_look(modules[i], true);
    for (size_t i = 0; i < count; i++)
        while (instance_look(modules[i], false) && looks++ < LOOKS)
            nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

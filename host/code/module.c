/* The table of modules, the watcher, and the list of loaded code. */
#include "code_internal.h"
#include "instance.h"
#include "loading.h"
#include "permission.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"
#include "host/library/code_map.h"
#include "host/library/entry.h"
#include "host/library/examine.h"
#include "host/library/load.h"
#include "host/term/atom.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- By name ---------------------------------------------------------------------------------- */

struct th_module *_Atomic th_code_modules;

/* Guards the table and additions to the list. The innermost lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_table modules; /* struct th_module * by name */

struct th_module *th_code_module_known(th_term name)
{
    struct th_module *module;

    pthread_mutex_lock(&lock);
    module = th_hash_table_get(&modules, name);
    pthread_mutex_unlock(&lock);
    return module;
}

struct th_module *th_code_module_get(th_term name)
{
    struct th_module *module;

    pthread_mutex_lock(&lock);
    module = th_hash_table_get(&modules, name);
    if (!module) {
        module = th_alloc_zero(sizeof *module);
        module->name = name;
        module->next = atomic_load_explicit(&th_code_modules, memory_order_relaxed);
        th_hash_table_set(&modules, name, module);
        atomic_store_explicit(&th_code_modules, module, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return module;
}

/* --- Current code ----------------------------------------------------------------------------- */

const struct th_module_watcher *_Atomic th_code_module_watching;

static struct th_instance *current_of(const struct th_module *module)
{
    return th_code_module_current(module, th_code_index());
}

static struct th_module *first_module(void)
{
    return atomic_load_explicit(&th_code_modules, memory_order_acquire);
}

struct th_library *th_code_module_find(th_term name)
{
    const struct th_module *module = th_code_module_known(name);
    const struct th_instance *current;
    struct th_library *library;

    th_progress_enter();
    current = module ? current_of(module) : NULL;
    library = current ? current->library : NULL;
    th_progress_leave();
    return library;
}

/* --- Watching --------------------------------------------------------------------------------- */

void th_code_module_watch(const struct th_module_watcher *watcher)
{
    const struct th_module_watcher *before;

    th_code_permission_wait();
    before = th_code_module_watcher();
    for (struct th_module *m = first_module(); before && m; m = m->next) {
        if (m->old)
            before->end(m->old);
        if (current_of(m))
            before->end(current_of(m));
    }
    atomic_store_explicit(&th_code_module_watching, watcher, memory_order_release);
    for (struct th_module *m = first_module(); watcher && m; m = m->next) {
        if (m->old)
            watcher->begin(m->old);
        if (current_of(m))
            watcher->begin(current_of(m));
    }
    th_code_permission_release();
}

/* --- The list --------------------------------------------------------------------------------- */

struct list {
    struct th_module_code *items;
    size_t count, capacity;
};

static void module_add(struct list *list, const struct th_instance *instance, bool old)
{
    const struct th_examination *facts;

    if (!instance)
        return;
    facts = th_library_examination(instance->library);
    TH_ARRAY_GROW(list->items, list->count, list->capacity);
    list->items[list->count++] = (struct th_module_code){
        .name = instance->module->name,
        .old = old,
        .generation = instance->generation,
        .path = th_strdup(th_library_path(instance->library)),
        .file = th_strdup(th_library_file(instance->library)),
        .exports = th_library_entry(instance->library)->function_count,
        .locals = th_library_code_map(instance->library)->local_count,
        .users = th_code_instance_users(instance),
        .outdated = access(facts->path, F_OK) == 0 && !th_library_examination_is_current(facts),
    };
}

static int module_by_name(const void *left, const void *right)
{
    const struct th_module_code *a = left, *b = right;
    int order = strcmp(th_atom_name(a->name)->text, th_atom_name(b->name)->text);

    return order != 0 ? order : a->old - b->old;
}

size_t th_code_list(struct th_module_code **items)
{
    struct list list = {0};

    th_code_permission_wait();
    for (struct th_module *m = first_module(); m; m = m->next) {
        module_add(&list, current_of(m), false);
        module_add(&list, m->old, true);
    }
    th_code_permission_release();
    if (list.count > 0)
        qsort(list.items, list.count, sizeof *list.items, module_by_name);
    *items = list.items;
    return list.count;
}

void th_code_list_free(struct th_module_code *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        th_free(items[i].path);
        th_free(items[i].file);
    }
    th_free(items);
}

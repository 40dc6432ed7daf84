#include "module.h"

#include "host/base/base.h"

#include <pthread.h>

struct th_module *_Atomic th_modules;

/* Guards the table, and who adds a module. The innermost. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_table by_name;

static struct th_module *add(th_term name)
{
    struct th_module *module = th_alloc_zero(sizeof *module);

    module->name = name;
    module->next = atomic_load_explicit(&th_modules, memory_order_relaxed);
    th_table_set(&by_name, name, module);
    atomic_store_explicit(&th_modules, module, memory_order_release);
    return module;
}

struct th_module *th_module_known(th_term name)
{
    struct th_module *module;

    pthread_mutex_lock(&lock);
    module = th_table_get(&by_name, name);
    pthread_mutex_unlock(&lock);
    return module;
}

struct th_module *th_module_get(th_term name)
{
    struct th_module *module;

    pthread_mutex_lock(&lock);
    module = th_table_get(&by_name, name);
    if (!module)
        module = add(name);
    pthread_mutex_unlock(&lock);
    return module;
}

#include "code_internal.h"

#include "permission.h"

#include "host/base/base.h"

#include <time.h>

void (*th_code_kill_users)(const struct th_instance *instance);
void (*th_code_show_users)(const struct th_instance *instance, struct th_buffer *text);

/* --- Who is in it ----------------------------------------------------------------------------- */

static struct th_instance *of(struct th_later *later)
{
    return (struct th_instance *)((char *)later - offsetof(struct th_instance, later));
}

/* Whoever had found it by the index before is counted, or gone. */
static void settle(struct th_later *later)
{
    atomic_store_explicit(&of(later)->settled, true, memory_order_release);
}

void th_code_old_begin(struct th_instance *instance)
{
    instance->module->old = instance;
    th_progress_later(&instance->later, settle);
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
                   "not_purged: %llu call%s or continuation%s of its old code, of %s, %s not "
                   "over%s%s; purge it hard, which kills the processes that are in it",
                   (unsigned long long)inside, th_log_plural(inside), th_log_plural(inside),
                   th_library_path(module->old->library), inside == 1 ? "is" : "are",
                   who.size ? ": " : "", th_buffer_text(&who));
    th_buffer_free(&who);
    return TH_REFUSED;
}

/* --- Its end ---------------------------------------------------------------------------------- */

struct th_instance *th_code_old_tell(const struct th_module *module)
{
    struct th_instance *old = module->old;

    if (old && th_code_module_watcher())
        th_code_module_watcher()->end(old->callees, old->count);
    return old;
}

struct th_instance *th_code_old_stage_end(struct th_module *module)
{
    struct th_instance *old = module->old;

    if (old)
        th_code_ranges_remove(old);
    module->old = NULL;
    return old;
}

static void free_instance(struct th_later *later)
{
    th_code_instance_free(of(later));
}

void th_code_old_free(struct th_instance *instance)
{
    if (!instance)
        return;
    th_library_release(instance->library);
    th_progress_later(&instance->later, free_instance);
}

/* --- Waiting ---------------------------------------------------------------------------------- */

enum { LOOKS = 5000, LOOK_NS = 1000000 };

void th_code_old_await(struct th_instance *instance)
{
    th_progress_settle(); /* it may be freed */
    for (int looks = 0; th_code_instance_users(instance) > 0 && looks < LOOKS; looks++)
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

/* --- Hard ------------------------------------------------------------------------------------- */

/* Has those that are in it killed, if KILLS; true if somebody is in it. */
static bool look(const struct th_module *module, bool kills)
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
        look(modules[i], true);
    for (size_t i = 0; i < count; i++)
        while (look(modules[i], false) && looks++ < LOOKS)
            nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

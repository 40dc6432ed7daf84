/*
 * Old code: that of instances that were replaced or deleted. Inner header of code/. All with the
 * code modification permission, but for th_code_old_free().
 */
#ifndef TH_OLD_CODE_H
#define TH_OLD_CODE_H

#include "loading.h"

/* INSTANCE was the current one of its module until the commit that was just made. */
void th_code_old_begin(struct th_instance *instance);

/* TH_REFUSED if MODULE has old code and somebody is in it. May wait for progress, *ROUNDS counts
 * it. */
enum th_status th_code_old_check(const struct th_module *module, unsigned *rounds);

/* Whoever is in INSTANCE, which is old, is about to leave: waits for that, some seconds at most.
 * What they did comes before this returns. */
void th_code_old_await(struct th_instance *instance);

/* Nobody is in MODULE's old code, if it has any: the watcher is told; what is staged does not have
 * it. Returns it, which is to be freed after the commit, or NULL. */
struct th_instance *th_code_old_tell(const struct th_module *module);
struct th_instance *th_code_old_stage_end(struct th_module *module);

/* Releases the library, whose code runs in this thread, and frees INSTANCE (NULL: nothing), which
 * nobody finds since the commit. After the permission is released. */
void th_code_old_free(struct th_instance *instance);

/* Has the processes that are in the old code of MODULES killed, and waits until they are gone; for
 * some seconds at most. Without the permission. */
void th_code_old_kill(struct th_module *const modules[], size_t count);

/* Who is told, NULL: nobody. Release, with the permission; acquire, as preparing has it not. */
extern const struct th_module_watcher *_Atomic th_code_module_watching;

static inline const struct th_module_watcher *th_code_module_watcher(void)
{
    return atomic_load_explicit(&th_code_module_watching, memory_order_acquire);
}

#endif

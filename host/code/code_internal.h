/* Shared by the files of code/: old code, the staging index. */
#ifndef TH_CODE_INTERNAL_H
#define TH_CODE_INTERNAL_H

#include "host/base/error.h"
#include "host/term/word.h"

#include <stdatomic.h>

struct th_module;
struct th_library;
struct th_instance;
struct th_code_word;

/* --- Old code: that of instances that were replaced or deleted (instance.c) ------------------- */

/* All with the code modification permission, but for th_code_old_free(). */

/* INSTANCE was the current one of its module until the commit that was just made. */
void th_code_old_begin(struct th_instance *instance);

/* TH_REFUSED if MODULE has old code and somebody is in it. May wait for progress, *ROUNDS counts
 * it. */
enum th_status th_code_old_check(const struct th_module *module, unsigned *rounds);

/* Whoever is in INSTANCE, which is old, is about to leave: waits for that, some seconds at most.
 * What they did comes before this returns. */
void th_code_old_await(struct th_instance *instance);

/* What is staged does not have MODULE's old code, in which nobody is. Returns the old code, which
 * is to be freed after the commit; NULL: there is none. */
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

/* --- The staging index (stage.c) -------------------------------------------------------------- */

/*
 * The copies that a load writes (index.h). All with the code modification permission.
 *
 *   th_code_stage_begin();
 *   th_code_stage_word(&module->current, instance);  ...
 *   th_progress_wait();
 *   th_code_stage_commit();
 *
 * Ranges tell which code lies where. Handlers are replicated with them: an instance has the names
 * of its functions since it was prepared, so that an address which the ranges of an index have
 * leads to its handler's name (th_code_place()).
 */

/* The next index is brought up to date, and can be written. */
void th_code_stage_begin(void);

/* What WORD is to be; what it is as staged so far. */
void th_code_stage_word(struct th_code_word *word, uintptr_t value);
uintptr_t th_code_stage_read(const struct th_code_word *word);

/* INSTANCE is found by the addresses of its code; if REMOVES no more, and may be freed after thread
 * progress once that is committed. */
void th_code_stage_range(struct th_instance *instance, bool removes);

/* It is the active one. */
void th_code_stage_commit(void);

/* --- Of export.h ------------------------------------------------------------------------------ */

/* What a name is called in reports, "module:function/arity"; it stays for ever, as atoms do. Any
 * thread. */
const char *th_code_export_name(th_term module, th_term function, unsigned arity);

/* --- Of instance.h ---------------------------------------------------------------------------- */

/* All, the latest first. Release: it is complete; acquire. */
extern struct th_module *_Atomic th_code_modules;

/* Of LIBRARY, which is open, with the export entries of its functions; nothing finds it yet.
 * Any thread. */
struct th_instance *th_code_instance_create(struct th_library *library);
void th_code_instance_free(struct th_instance *instance);

/* --- Of permission.h -------------------------------------------------------------------------- */

/* The calling thread does what others wait for, until th_code_permission_end(): it may not wait.
 * They nest. */
void th_code_permission_begin(void);
void th_code_permission_end(void);

#endif

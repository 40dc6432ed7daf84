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

/* --- Old code: instances that were replaced or deleted (instance.c) --------------------------- */

/* Thread: all with the code modification permission, except th_code_old_free() and
 * th_code_old_kill(). */

/* Makes INSTANCE its module's old code. Order: after the commit that replaced INSTANCE. */
void th_code_old_begin(struct th_instance *instance);

/* TH_REFUSED if MODULE has old code with users. May wait for a grace period, which is added to
 * *ROUNDS. */
enum th_status th_code_old_check(const struct th_module *module, unsigned *rounds);

/* Waits until the users of INSTANCE have left, about 5 seconds at most.
 * Order: INSTANCE is old, and its users are about to leave; their writes are visible on return. */
void th_code_old_await(struct th_instance *instance);

/* Unstages the old code of MODULE and returns it, or NULL if there is none.
 * Order: the old code has no user; the caller frees it after the commit. */
struct th_instance *th_code_old_stage_end(struct th_module *module);

/* Releases INSTANCE's library, whose code runs in this thread, and frees INSTANCE after a grace
 * period (NULL: nothing).
 * Order: after the commit that unstaged INSTANCE, and after the permission is released. */
void th_code_old_free(struct th_instance *instance);

/* Requests the death of the processes in the old code of MODULES, and waits until these have left,
 * some seconds at most.
 * Thread: one that may wait, without the permission. */
void th_code_old_kill(struct th_module *const modules[], size_t count);

/* The watcher; NULL: none. Release, with the permission; acquire, as th_code_prepare() reads it
 * without. */
extern const struct th_module_watcher *_Atomic th_code_module_watching;

static inline const struct th_module_watcher *th_code_module_watcher(void)
{
    return atomic_load_explicit(&th_code_module_watching, memory_order_acquire);
}

/* --- The staging index (stage.c) -------------------------------------------------------------- */

/*
 * The copies that a load writes (index.h).
 * Thread: all with the code modification permission.
 *
 *   th_code_stage_begin();
 *   th_code_stage_word(&module->current, instance);  ...
 *   th_progress_wait();
 *   th_code_stage_commit();
 *
 * A range maps addresses to an instance. Ranges replicate the handlers of exceptions, too: an
 * instance has the names of its functions since it was prepared, so an address in a range leads to
 * the name of its handler (th_code_place()).
 */

/* Brings the next index up to date, so that it can be written. */
void th_code_stage_begin(void);

/*
 * The words of an instance's export entries with the values that lead to its callees: ascending by
 * address, each word once. A load stages them all as one change, which the other indices repeat
 * later, perhaps after the end of the instance.
 */
struct th_code_words {
    /* The instance, and each index that lacks the words. Relaxed to add, by a user. Release, then
     * acquire before the end: the last user frees what the others have read. */
    _Atomic unsigned uses;
    size_t count;
    struct th_code_words_item {
        struct th_code_word *word;
        uintptr_t value;
    } items[];
};

/* Makes a list with one use for the words of the COUNT items of ITEMS, which are reordered. Of
 * items for one word, the one with the greatest value counts.
 * Thread: any, as for the end of a use. */
struct th_code_words *th_code_words_create(struct th_code_words_item *items, size_t count);
void th_code_words_leave(struct th_code_words *words);

/* Stages each value for its word, whose bits KEPT stay as they are. */
void th_code_stage_words(struct th_code_words *words, uintptr_t kept);

/* Stages VALUE for WORD; reads WORD as staged so far. */
void th_code_stage_word(struct th_code_word *word, uintptr_t value);
uintptr_t th_code_stage_read(const struct th_code_word *word);

/* Stages the range of INSTANCE, or its removal if REMOVES. After the commit of a removal and a
 * grace period, INSTANCE may be freed. */
void th_code_stage_range(struct th_instance *instance, bool removes);

/* Activates the staged index. */
void th_code_stage_commit(void);

/* --- Part of export.h ------------------------------------------------------------------------- */

/* Returns the name for reports, "module:function/arity", which is never freed. Thread: any. */
const char *th_code_export_name(th_term module, th_term function, unsigned arity);

/* --- Part of instance.h ----------------------------------------------------------------------- */

/* The list of all modules, the latest first. Release: the module is complete; acquire. */
extern struct th_module *_Atomic th_code_modules;

/* Makes an instance of LIBRARY, which is open, and the export entries of its functions. The
 * instance is not staged.
 * Owner: the instance takes over no reference to LIBRARY; th_code_instance_free() drops none.
 * Thread: any. */
struct th_instance *th_code_instance_create(struct th_library *library);
void th_code_instance_free(struct th_instance *instance);

/* --- Part of permission.h --------------------------------------------------------------------- */

/* Forbids the calling thread to wait until th_code_permission_end(), as others wait for it. Calls
 * nest. */
void th_code_permission_begin(void);
void th_code_permission_end(void);

#endif

/* Finishes, deletes and purges modules: the work that needs the permission. */
#include "loading.h"

#include "code_internal.h"
#include "export.h"
#include "instance.h"
#include "permission.h"

#include "host/base/memory.h"
#include "host/library/load.h"

struct th_instance *th_code_prepare(struct th_library *library)
{
    struct th_instance *instance = th_code_instance_create(library);
    const struct th_module_watcher *watcher = th_code_module_watcher();

    if (watcher && watcher->prepare)
        watcher->prepare(instance);
    return instance;
}

void th_code_prepared_drop(struct th_instance *instance)
{
    th_code_permission_wait();
    if (th_code_module_watcher())
        th_code_module_watcher()->end(instance);
    th_code_permission_release();
    th_library_release(instance->library);
    th_code_instance_free(instance);
}

/* --- Changes of modules ----------------------------------------------------------------------- */

/* A module whose code changes. */
struct change {
    struct th_module *module;
    struct th_instance *now; /* the current instance; NULL: none */
    struct th_instance *new; /* the next current instance; NULL: the module is deleted */
    struct th_library *from; /* whose data NEW takes over by upgrade(): NOW's, or the old code's if
                                the module was deleted; NULL: load() instead */
    bool failed;             /* NEW has taken over the data, and FROM refused it back */
    struct th_instance *purged; /* former old code, to be freed after the commit */
};

struct changes {
    struct change *items;
    size_t count;
    th_term info;
    unsigned *rounds;
};

/* --- Callbacks of libraries ------------------------------------------------------------------- */

/* If the former code refuses the data, a link is added to the error chain. */
static void hand_back(const struct changes *changes, struct change *change)
{
    struct th_error_chain first;

    th_error_save(&first);
    change->failed =
        th_library_hand_back(change->from, change->new->library, changes->info) != TH_OK;
    th_error_restore(&first);
    if (change->failed)
        th_error_context("module %s is deleted: the code before the upgrade, %s, did not take the "
                         "private data back",
                         th_atom_name(change->module->name)->text, th_library_path(change->from));
}

/* Steps 3 to 5 of th_code_finish(). Callbacks may request breakpoints, for which this thread must
 * not wait. */
static enum th_status run_libraries(const struct changes *changes)
{
    const struct change *items = changes->items;
    const size_t count = changes->count;
    size_t loaded = 0, checked = 0, upgraded = 0;
    enum th_status status = TH_OK;

    th_code_permission_begin();
    while (loaded < count && (items[loaded].from || th_library_load(items[loaded].new->library,
                                                                    NULL, changes->info) == TH_OK))
        loaded++;
    while (loaded == count && checked < count &&
           (!items[checked].from ||
            th_library_upgrade_check(items[checked].new->library, items[checked].from,
                                     changes->info) == TH_OK))
        checked++;
    while (checked == count && upgraded < count &&
           (!items[upgraded].from || th_library_load(items[upgraded].new->library,
                                                     items[upgraded].from, changes->info) == TH_OK))
        upgraded++;

    if (upgraded < count) {
        status = th_error_status();
        while (upgraded-- > 0)
            if (items[upgraded].from)
                hand_back(changes, &changes->items[upgraded]);
        while (loaded-- > 0)
            if (!items[loaded].from)
                th_library_undo_load(items[loaded].new->library);
    }
    th_code_permission_end();
    return status;
}

/* --- Staging ---------------------------------------------------------------------------------- */

/* Undefines the exports of NOW that NEW (NULL: nothing) lacks. They stay armed or not. */
static void stage_lacking(const struct th_instance *now, const struct th_instance *new)
{
    const struct th_code_words *had = now->words, *has = new ? new->words : NULL;
    size_t count = has ? has->count : 0, k = 0;

    for (size_t i = 0; i < had->count; i++) {
        struct th_code_word *word = had->items[i].word;
        while (k < count && has->items[k].word < word)
            k++;
        if (k < count && has->items[k].word == word)
            k++;
        else
            th_code_stage_word(word, th_code_stage_read(word) & TH_EXPORT_ARMED);
    }
}

/* Old code is purged when current code replaces it; in a deleted module it stays. */
static void stage_change(struct change *change)
{
    const struct th_instance *now = change->now;

    change->purged = now ? th_code_old_stage_end(change->module) : NULL;
    if (change->new) {
        change->new->generation = change->module->generations + 1;
        th_code_stage_words(change->new->words, TH_EXPORT_ARMED);
        th_code_stage_range(change->new, false);
    }
    if (now)
        stage_lacking(now, change->new);
    th_code_stage_word(&change->module->current, (uintptr_t)change->new);
}

/* Calls the watcher's end() for the old code of MODULE, which has no user. */
static void end_old_functions(const struct th_module *module)
{
    if (module->old && th_code_module_watcher())
        th_code_module_watcher()->end(module->old);
}

/* Makes the changes, which nothing can refuse any more. */
static void make(struct changes *changes)
{
    const struct th_module_watcher *watcher = th_code_module_watcher();

    /* Old code ends first, so that no module has more than two instances that have begun. */
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].now)
            end_old_functions(changes->items[i].module);
    for (size_t i = 0; watcher && i < changes->count; i++)
        if (changes->items[i].new)
            watcher->begin(changes->items[i].new);

    th_code_stage_begin();
    for (size_t i = 0; i < changes->count; i++)
        stage_change(&changes->items[i]);
    th_progress_wait();
    ++*changes->rounds;
    th_code_stage_commit();

    for (size_t i = 0; i < changes->count; i++) {
        struct change *change = &changes->items[i];
        change->module->generations += change->new != NULL;
        if (change->now)
            th_code_old_begin(change->now);
    }
}

/* --- Changes ---------------------------------------------------------------------------------- */

static void loading_look_up(struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        struct change *change = &changes->items[i];
        const struct th_instance *before;
        change->now = th_code_module_current(change->module, th_code_index());
        before = change->now ? change->now : change->module->old;
        change->from = before ? before->library : NULL;
    }
}

static void free_purged(const struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        th_code_old_free(changes->items[i].purged);
}

/* Kills the processes that are in old code of modules with current code. */
static void kill_users(struct changes *changes)
{
    struct th_module **modules = th_alloc((changes->count + 1) * sizeof(struct th_module *));
    size_t count = 0;

    th_code_permission_wait();
    loading_look_up(changes);
    th_code_permission_release();
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].now)
            modules[count++] = changes->items[i].module;
    th_code_old_kill(modules, count);
    th_free(modules);
}

/* Deletes modules whose upgrade could not be undone: neither version of their code has the data.
 * Keeps the thread's error chain. */
static void delete_failed(struct changes *changes)
{
    struct changes failed = *changes;
    struct th_error_chain error;

    th_error_save(&error);
    failed.items = th_alloc((changes->count + 1) * sizeof *failed.items);
    failed.count = 0;
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].failed && changes->items[i].now)
            failed.items[failed.count++] =
                (struct change){.module = changes->items[i].module, .now = changes->items[i].now};
    if (failed.count > 0) {
        make(&failed);
        th_code_permission_release();
        free_purged(&failed);
        th_code_permission_wait();
    }
    th_free(failed.items);
    th_error_restore(&error);
}

/* Steps 1 to 6 of th_code_finish(). */
static enum th_status loading_finish(struct changes *changes, struct th_finish *f)
{
    enum th_status status = TH_OK;

    f->refusal = TH_CODE_NOT_PURGED;
    th_code_permission_wait();
    loading_look_up(changes);
    for (size_t i = 0; status == TH_OK && i < changes->count; i++)
        if (changes->items[i].now &&
            th_code_old_check(changes->items[i].module, changes->rounds) != TH_OK)
            status = th_error_context("cannot load module %s",
                                      th_atom_name(changes->items[i].module->name)->text);
    if (status == TH_OK) {
        status = run_libraries(changes);
        f->refusal = status == TH_REFUSED ? TH_CODE_REFUSED : TH_CODE_FAILED;
    }
    if (status == TH_OK)
        make(changes);
    else
        delete_failed(changes);
    for (size_t i = 0; status == TH_OK && f->finished && i < changes->count; i++)
        f->finished[i] = (struct th_finished){
            .name = changes->items[i].module->name,
            .generation = changes->items[i].new->generation,
            .upgraded = changes->items[i].from != NULL,
        };
    th_code_permission_release();
    if (status == TH_OK)
        free_purged(changes);
    return status;
}

enum th_status th_code_finish(struct th_finish *f)
{
    struct changes changes = {.count = f->count, .info = f->info, .rounds = &f->rounds};
    enum th_status status = TH_OK;

    f->rounds = 0;
    f->refusal = TH_CODE_DUPLICATE;
    changes.items = th_alloc_zero((f->count + 1) * sizeof *changes.items);
    for (size_t i = 0; i < f->count; i++) {
        struct change *change = &changes.items[i];
        change->new = f->prepared[i];
        change->module = change->new->module;
        for (size_t k = 0; status == TH_OK && k < i; k++)
            if (change->module == changes.items[k].module)
                status =
                    th_error_raise(TH_USAGE, "%s and %s are both module %s: load one at a time",
                                   th_library_path(changes.items[k].new->library),
                                   th_library_path(change->new->library),
                                   th_atom_name(change->module->name)->text);
    }
    if (status == TH_OK && f->purge == TH_PURGE_HARD)
        kill_users(&changes);
    if (status == TH_OK)
        status = loading_finish(&changes, f);
    th_free(changes.items);
    return status;
}

/* --- Deleting and purging --------------------------------------------------------------------- */

enum th_status th_code_delete(th_term name, enum th_purge purge)
{
    unsigned rounds = 0;
    struct change change = {.module = th_code_module_known(name)};
    struct changes changes = {.items = &change, .count = 1, .rounds = &rounds};
    enum th_status status = TH_OK;

    if (change.module && purge == TH_PURGE_HARD)
        kill_users(&changes);
    th_code_permission_wait();
    if (change.module)
        loading_look_up(&changes);
    if (!change.now)
        status = th_error_raise(TH_USAGE, "no module %s is loaded", th_atom_name(name)->text);
    else if (th_code_old_check(change.module, &rounds) != TH_OK)
        status = th_error_context("cannot delete module %s", th_atom_name(name)->text);
    else
        make(&changes);
    th_code_permission_release();
    if (status == TH_OK)
        free_purged(&changes);
    return status;
}

/* The old code of MODULE has no user. */
static struct th_instance *purge_old(struct th_module *module)
{
    struct th_instance *old;

    end_old_functions(module);
    th_code_stage_begin();
    old = th_code_old_stage_end(module);
    th_progress_wait();
    th_code_stage_commit();
    return old;
}

enum th_status th_code_purge(th_term name, enum th_purge purge, bool *had)
{
    struct th_module *module = th_code_module_known(name);
    struct th_instance *old = NULL;
    enum th_status status = TH_OK;
    unsigned rounds = 0;
    bool there = false;

    if (module && purge == TH_PURGE_HARD)
        th_code_old_kill(&module, 1);
    th_code_permission_wait();
    if (module) {
        there = module->old != NULL;
        status = th_code_old_check(module, &rounds);
    }
    if (there && status == TH_OK)
        old = purge_old(module);
    th_code_permission_release();
    th_code_old_free(old);
    if (had)
        *had = there;
    return status == TH_OK ? TH_OK
                           : th_error_context("cannot purge module %s", th_atom_name(name)->text);
}

static void end_module(struct th_module *module)
{
    unsigned rounds = 0;
    struct change change = {.module = module};
    struct changes changes = {.items = &change, .count = 1, .rounds = &rounds};
    struct th_instance *old = NULL;

    th_code_permission_wait();
    change.now = th_code_module_current(module, th_code_index());
    if (module->old)
        th_code_old_await(module->old);
    if (change.now)
        make(&changes);
    if (module->old) {
        th_code_old_await(module->old);
        old = purge_old(module);
    }
    th_code_permission_release();
    th_code_old_free(change.purged);
    th_code_old_free(old);
}

void th_code_end(void)
{
    struct th_module *module = atomic_load_explicit(&th_code_modules, memory_order_acquire);

    for (; module; module = module->next)
        end_module(module);
    th_progress_settle();
}

void th_code_module_add(struct th_library *library)
{
    struct th_instance *prepared;
    struct th_finish add = {.prepared = &prepared, .count = 1, .info = TH_NIL};

    th_library_keep(library);
    prepared = th_code_prepare(library);
    if (th_code_finish(&add) != TH_OK)
        th_bug("cannot add %s: %s", th_library_path(library), th_error_link(0));
}

void th_code_module_remove(struct th_library *library)
{
    end_module(th_code_module_get(th_library_name(library)));
}

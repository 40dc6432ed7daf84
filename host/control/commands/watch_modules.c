#include "commands.h"
#include "commands_internal.h"
#include "watch.h"

#include "host/base/memory.h"
#include "host/library/find.h"

#include <string.h>

bool th_control_watch_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool th_control_watch_is_still(const char *path, const struct stat *file)
{
    struct stat now;

    return stat(path, &now) == 0 && th_control_watch_is_same(&now, file);
}

/* --- Watched modules -------------------------------------------------------------------------- */

static struct th_control_watch_module *watch_modules_find(struct th_control_watch_module *modules,
                                                          size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(modules[i].path, path) == 0)
            return &modules[i];
    return NULL;
}

static void free_modules(struct th_control_watch_module *modules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        th_free(modules[i].path);
    th_free(modules);
}

void th_control_watch_modules_free(struct th_control_watch *watch)
{
    free_modules(watch->modules, watch->module_count);
    watch->modules = NULL;
    watch->module_count = 0;
}

/* Replaces the list of modules; known state of a path is kept. */
static void take_list(struct th_control_watch *watch, const struct th_module_code codes[],
                      size_t count)
{
    struct th_control_watch_module *before = watch->modules;
    size_t before_count = watch->module_count;

    watch->modules = th_alloc_zero((count + 1) * sizeof *watch->modules);
    watch->module_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct th_control_watch_module *known =
            watch_modules_find(before, before_count, codes[i].path);
        struct th_control_watch_module *module = &watch->modules[watch->module_count];
        if (codes[i].old)
            continue;
        if (known)
            *module = *known;
        module->path = th_strdup(codes[i].path);
        watch->module_count++;
    }
    free_modules(before, before_count);
}

void th_control_watch_modules_update(struct th_control_watch *watch)
{
    struct th_module_code *codes;
    size_t count = th_code_list(&codes);

    take_list(watch, codes, count);
    th_code_list_free(codes, count);
}

/* --- Loading ---------------------------------------------------------------------------------- */

static enum th_status watch_modules_load(const struct th_control_watch *watch,
                                         const struct th_control_watch_module *module)
{
    const char *name = module->path;
    struct th_search no_folders = {.kind = TH_SEARCH_PLUGINS};
    struct th_control_module_list list = {.names = &name, .count = 1, .search = &no_folders};
    enum th_status status = th_control_module_list_load(&list, watch->host->load_info);

    if (status == TH_OK) {
        th_control_watch_report(watch, "the new %s is loaded: module %s, generation %llu\n", name,
                                th_atom_name(list.finished[0].name)->text,
                                (unsigned long long)list.finished[0].generation);
        th_trace_warn_of_losses(watch->host->tracing, list.finished[0].name);
    }
    th_control_module_list_free(&list);
    return status;
}

static void tell_refused(const struct th_control_watch *watch,
                         const struct th_control_watch_module *module, const char *outcome)
{
    if (th_control_watch_is_still(module->path, &module->file)) {
        th_error_context("cannot load the new %s%s", module->path, outcome);
        th_control_watch_report_failure(watch);
    }
    th_error_clear();
}

/* Loads MODULE's new code if its file has changed. Old code in use is reported once. */
static void watch_modules_renew(struct th_control_watch *watch,
                                struct th_control_watch_module *module, th_term name)
{
    struct stat file;
    bool same, waited;

    if (stat(module->path, &file) != 0)
        return;
    same = th_control_watch_is_same(&module->file, &file);
    waited = module->waits && same;
    /* Try if the file is newly finished, or if old code was in use at the last try. */
    if (module->tried && same ? !module->waits : !th_control_watch_is_finished(watch, module->path))
        return;
    module->tried = true;
    module->file = file;
    module->waits = th_code_purge(name, TH_PURGE_SOFT, NULL) != TH_OK;
    if (module->waits && waited)
        th_error_clear();
    else if (module->waits)
        tell_refused(watch, module, " yet: old code of its module is in use");
    else if (watch_modules_load(watch, module) != TH_OK)
        tell_refused(watch, module, ": the old code stays in use");
}

bool th_control_watch_modules_renew(struct th_control_watch *watch)
{
    struct th_module_code *codes;
    size_t count = th_code_list(&codes);
    bool waits = false;

    take_list(watch, codes, count);
    for (size_t i = 0; i < count; i++) {
        struct th_control_watch_module *module =
            codes[i].old ? NULL
                         : watch_modules_find(watch->modules, watch->module_count, codes[i].path);
        if (!module)
            continue;
        if (codes[i].outdated)
            watch_modules_renew(watch, module, codes[i].name);
        else
            module->waits = false;
        waits |= module->waits;
    }
    th_code_list_free(codes, count);
    return waits;
}

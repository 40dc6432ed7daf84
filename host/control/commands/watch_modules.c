#include "watch.h"

#include "module_list.h"

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

/* --- What there is ---------------------------------------------------------------------------- */

static struct th_control_watch_module *find(const struct th_control_watch_modules *modules,
                                            const char *path)
{
    for (size_t i = 0; i < modules->count; i++)
        if (strcmp(modules->items[i].path, path) == 0)
            return &modules->items[i];
    return NULL;
}

/* What is known of the file goes on. */
static void take_list(struct th_control_watch_modules *modules, const struct th_module_code codes[],
                      size_t count)
{
    struct th_control_watch_modules before = *modules;

    *modules = (struct th_control_watch_modules){
        .items = th_alloc_zero((count + 1) * sizeof *modules->items)};
    for (size_t i = 0; i < count; i++) {
        struct th_control_watch_module *module = &modules->items[modules->count];
        const struct th_control_watch_module *known = find(&before, codes[i].path);
        if (codes[i].old)
            continue;
        if (known)
            *module = *known;
        module->path = th_strdup(codes[i].path);
        modules->count++;
    }
    th_control_watch_modules_free(&before);
}

void th_control_watch_modules_update(struct th_control_watch_modules *modules)
{
    struct th_module_code *codes;
    size_t count = th_code_list(&codes);

    take_list(modules, codes, count);
    th_code_list_free(codes, count);
}

void th_control_watch_modules_free(struct th_control_watch_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++)
        th_free(modules->items[i].path);
    th_free(modules->items);
    *modules = (struct th_control_watch_modules){0};
}

/* --- Loading ---------------------------------------------------------------------------------- */

static void tell_loaded(const struct th_control_watch *watch,
                        const struct th_control_watch_module *module,
                        const struct th_finished *finished)
{
    th_control_watch_report(watch, "the new %s is loaded: module %s, generation %llu\n",
                            module->path, th_atom_name(finished->name)->text,
                            (unsigned long long)finished->generation);
    th_trace_warn_of_losses(watch->tracing, finished->name);
}

static enum th_status load_with(const struct th_control_watch *watch,
                                const struct th_control_watch_module *module, th_term info)
{
    const char *name = module->path;
    struct th_search no_folders = {.kind = TH_SEARCH_PLUGINS};
    struct th_control_module_list list = {
        .names = &name, .count = 1, .search = &no_folders, .info = info};
    enum th_status status = th_control_module_list_prepare(&list);

    if (status == TH_OK)
        status = th_control_module_list_finish(&list);
    if (status == TH_OK)
        tell_loaded(watch, module, list.finished);
    th_control_module_list_free(&list);
    return status;
}

static enum th_status load(const struct th_control_watch *watch,
                           const struct th_control_watch_module *module)
{
    enum th_status status;
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    status = th_control_load_info_read(watch->load_info, &env, &term);
    if (status == TH_OK)
        status = load_with(watch, module, term);
    th_env_release(&env);
    return status;
}

static void tell_refused(const struct th_control_watch *watch,
                         const struct th_control_watch_module *module, const char *outcome)
{
    if (th_control_watch_is_still(module->path, &module->file)) {
        th_error_context("the new %s is not loaded%s", module->path, outcome);
        th_control_watch_report_failure(watch);
    }
    th_error_clear();
}

/* True if FILE is to be loaded: its writer has finished, or old code was in use at the last try. */
static bool is_due(struct th_control_watch *watch, const struct th_control_watch_module *module,
                   const struct stat *file)
{
    if (module->tried && th_control_watch_is_same(&module->file, file))
        return module->waits;
    return th_control_watch_is_finished(watch, module->path);
}

/* One whose file is another than what was loaded. That old code is in use is told once. */
static void renew(struct th_control_watch *watch, struct th_control_watch_module *module,
                  th_term name)
{
    struct stat file;
    bool waited;

    if (stat(module->path, &file) != 0 || !is_due(watch, module, &file))
        return;
    waited = module->waits && th_control_watch_is_same(&module->file, &file);
    module->tried = true;
    module->file = file;
    module->waits = th_code_purge(name, TH_PURGE_SOFT, NULL) != TH_OK;
    if (module->waits && waited)
        th_error_clear();
    else if (module->waits)
        tell_refused(watch, module, " yet, but when old code is not in use any more");
    else if (load(watch, module) != TH_OK)
        tell_refused(watch, module, ", the old code goes on");
}

bool th_control_watch_modules_renew(struct th_control_watch *watch)
{
    struct th_module_code *codes;
    size_t count = th_code_list(&codes);
    bool waits = false;

    take_list(&watch->modules, codes, count);
    for (size_t i = 0; i < count; i++) {
        struct th_control_watch_module *module =
            codes[i].old ? NULL : find(&watch->modules, codes[i].path);
        if (!module)
            continue;
        if (codes[i].outdated)
            renew(watch, module, codes[i].name);
        else
            module->waits = false;
        waits |= module->waits;
    }
    th_code_list_free(codes, count);
    return waits;
}

#include "imports.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* --- Who has it ------------------------------------------------------------------------------ */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *program; /* set once: the loader's handle of the program and what it was linked with */

static void open_program(void)
{
    program = dlopen(NULL, RTLD_LAZY);
}

void *th_program_symbol(const char *name)
{
    pthread_once(&once, open_program);
    return program ? dlsym(program, name) : NULL;
}

static const struct nif_function {
    const char *name;
    int since;
} nif_functions[] = {
#define ROW(group, type, name, parameters, since) {#name, since},
    TH_NIF_FUNCTIONS(ROW) TH_NIF_COMPANIONS(ROW)
#undef ROW
};

static const struct nif_function *find_nif_function(const char *name)
{
    for (size_t i = 0; i < sizeof nif_functions / sizeof nif_functions[0]; i++)
        if (strcmp(nif_functions[i].name, name) == 0)
            return &nif_functions[i];
    return NULL;
}

static bool begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

static enum th_import_kind kind_of(const char *name, bool of_nif_api)
{
    if (th_program_symbol(name))
        return TH_IMPORT_PROVIDED;
    if (of_nif_api)
        return TH_IMPORT_UNIMPLEMENTED;
    if (begins_with(name, "enif_"))
        return TH_IMPORT_UNKNOWN;
    if (begins_with(name, "erl_drv_") || begins_with(name, "driver_"))
        return TH_IMPORT_DRIVER;
    if (begins_with(name, "th_"))
        return TH_IMPORT_MODULE;
    return TH_IMPORT_ELSEWHERE;
}

void th_import_add(struct th_examination *e, const char *name, bool weak)
{
    const struct nif_function *function = find_nif_function(name);

    TH_ARRAY_GROW(e->imports, e->import_count, e->import_capacity);
    e->imports[e->import_count++] = (struct th_import){
        .name = th_strdup(name),
        .weak = weak,
        .kind = kind_of(name, function),
        .since = function ? function->since : 0,
    };
}

const struct th_import *th_examination_newest(const struct th_examination *e)
{
    const struct th_import *newest = NULL;

    for (size_t i = 0; i < e->import_count; i++)
        if (e->imports[i].since > (newest ? newest->since : 0))
            newest = &e->imports[i];
    return newest;
}

/* --- What is missing ------------------------------------------------------------------------- */

/* False if the library NEEDED is loaded, and lacks the function. Of one that is not loaded nothing
 * is known, nor is one looked for that is named with its path: that would be any file. */
static bool may_have(const char *needed, const char *function)
{
    void *handle = strchr(needed, '/') ? NULL : dlopen(needed, RTLD_LAZY | RTLD_NOLOAD);
    bool has = !handle || dlsym(handle, function);

    if (handle)
        dlclose(handle);
    return has;
}

/* Names that begin with th_ are also those of others, such as libtheora. */
static bool is_missing(const struct th_examination *e, const struct th_import *import)
{
    if (import->weak)
        return false;
    for (size_t i = 0; import->kind == TH_IMPORT_MODULE && i < e->needed.count; i++)
        if (may_have(e->needed.items[i], import->name))
            return false;
    return true;
}

static enum th_status refuse_if_any(const struct th_examination *e, enum th_import_kind kind,
                                    const char *what_they_are)
{
    struct th_names missing = {0};
    enum th_status status = TH_OK;
    char *joined;

    for (size_t i = 0; i < e->import_count; i++)
        if (e->imports[i].kind == kind && is_missing(e, &e->imports[i]))
            th_names_add(&missing, e->imports[i].name);
    if (missing.count > 0) {
        joined = th_names_join(&missing, 8);
        status = th_error_raise(TH_REFUSED, "it needs %s, which %s %s", joined,
                                missing.count == 1 ? "is" : "are", what_they_are);
        th_free(joined);
    }
    th_names_free(&missing);
    return status;
}

enum th_status th_imports_check(const struct th_examination *e)
{
    enum th_status status;

    status = refuse_if_any(e, TH_IMPORT_UNIMPLEMENTED, "not provided by this version");
    if (!status)
        status = refuse_if_any(e, TH_IMPORT_UNKNOWN,
                               "in no NIF API up to 2.18; was it compiled for a later one?");
    if (!status)
        status =
            refuse_if_any(e, TH_IMPORT_DRIVER, "of the driver API; this host has the NIF API only");
    if (!status)
        status = refuse_if_any(e, TH_IMPORT_MODULE,
                               "not in nif_module.h of this version; include that header, which "
                               "lets a library do without what a host lacks");
    return status;
}

/* --- What it may do -------------------------------------------------------------------------- */

static bool makes_threads(const struct th_import *import)
{
    static const char *const makers[] = {"pthread_create", "thrd_create", "enif_thread_create",
                                         "clone",          "syscall",     "timer_create",
                                         "dlopen",         "dlsym"};

    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        if (strcmp(import->name, makers[i]) == 0)
            return true;
    return import->kind == TH_IMPORT_ELSEWHERE;
}

void th_imports_note(struct th_examination *e)
{
    for (size_t i = 0; i < e->import_count; i++) {
        const struct th_import *import = &e->imports[i];
        e->starts_threads |= makes_threads(import);
        e->exit_hook |= strcmp(import->name, "on_exit") == 0;
    }
}

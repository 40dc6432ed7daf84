#include "elf_file.h"

#include "host/base/buffer.h"
#include "host/library/examine.h"
#include "plugin_api/nif_functions.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

/* --- Providers ------------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *program; /* set once: the loader's handle of the program and its libraries */

static void open_program(void)
{
    program = dlopen(NULL, RTLD_LAZY);
}

void *th_library_program_symbol(const char *name)
{
    pthread_once(&once, open_program);
    return program ? dlsym(program, name) : NULL;
}

static const struct {
    const char *name;
    int since;
} nif_functions[] = {
#define ROW(group, type, name, parameters, since) {#name, since},
    TH_NIF_FUNCTIONS(ROW) TH_NIF_COMPANIONS(ROW)
#undef ROW
};

static bool imports_begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

void th_elf_import_add(struct th_examination *e, const char *name, bool weak)
{
    enum th_import_kind kind = TH_IMPORT_ELSEWHERE;
    const size_t count = sizeof nif_functions / sizeof nif_functions[0];
    /* All functions of the API have these prefixes. */
    size_t i = imports_begins_with(name, "enif_") || imports_begins_with(name, "erl_") ? 0 : count;

    while (i < count && strcmp(nif_functions[i].name, name) != 0)
        i++;
    if (th_library_program_symbol(name))
        kind = TH_IMPORT_PROVIDED;
    else if (i < count)
        kind = TH_IMPORT_UNIMPLEMENTED;
    else if (imports_begins_with(name, "enif_"))
        kind = TH_IMPORT_UNKNOWN;
    else if (imports_begins_with(name, "erl_drv_") || imports_begins_with(name, "driver_"))
        kind = TH_IMPORT_DRIVER;
    else if (imports_begins_with(name, "th_"))
        kind = TH_IMPORT_MODULE;
    TH_ARRAY_GROW(e->imports, e->import_count, e->import_capacity);
    e->imports[e->import_count++] = (struct th_import){
        .name = th_strdup(name),
        .weak = weak,
        .kind = kind,
        .since = i < count ? nif_functions[i].since : 0,
    };
}

const struct th_import *th_library_examination_newest(const struct th_examination *e)
{
    const struct th_import *newest = NULL;

    for (size_t i = 0; i < e->import_count; i++)
        if (e->imports[i].since > (newest ? newest->since : 0))
            newest = &e->imports[i];
    return newest;
}

/* --- Missing functions ----------------------------------------------------------------------- */

/* True if the library NEEDED is loaded and lacks FUNCTION. A library that is not loaded is unknown;
 * one that is named with its path is not looked up, as this could be any file. */
static bool lacks(const char *needed, const char *function)
{
    void *handle = strchr(needed, '/') ? NULL : dlopen(needed, RTLD_LAZY | RTLD_NOLOAD);
    bool lacks = handle && !dlsym(handle, function);

    if (handle)
        dlclose(handle);
    return lacks;
}

enum th_status th_elf_imports_check(const struct th_examination *e)
{
    static const struct {
        enum th_import_kind kind;
        const char *what_they_are;
    } reasons[] = {
        {TH_IMPORT_UNIMPLEMENTED, "not provided by this version of the host"},
        {TH_IMPORT_UNKNOWN,
         "in no NIF API up to 2.18; compile the library with an older erl_nif.h"},
        {TH_IMPORT_DRIVER, "of the driver API; this host provides the NIF API only"},
        {TH_IMPORT_MODULE, "not in nif_module.h of this version of the host; include that header, "
                           "which makes such functions optional"},
    };
    enum th_status status = TH_OK;

    for (size_t r = 0; r < sizeof reasons / sizeof reasons[0] && !status; r++) {
        struct th_names missing = {0};
        for (size_t i = 0; i < e->import_count; i++) {
            const struct th_import *import = &e->imports[i];
            bool is_missing = import->kind == reasons[r].kind && !import->weak;
            /* Other libraries use the prefix th_, too, such as libtheora. */
            for (size_t k = 0;
                 is_missing && import->kind == TH_IMPORT_MODULE && k < e->needed.count; k++)
                is_missing = lacks(e->needed.items[k], import->name);
            if (is_missing)
                th_library_names_add(&missing, import->name);
        }
        if (missing.count > 0) {
            char *joined = th_library_names_join(&missing, 8);
            status = th_error_raise(TH_REFUSED, "the library needs %s, which %s %s", joined,
                                    missing.count == 1 ? "is" : "are", reasons[r].what_they_are);
            th_free(joined);
        }
        th_library_names_free(&missing);
    }
    return status;
}

/* --- Code that may run later ----------------------------------------------------------------- */

#define THREAD "a thread of the library may still run"
#define HANDLER "the library's code may still be the handler of a signal"
#define DESTRUCTOR "a destructor of thread-local data may still have to run"
#define ANYTHING "the functions called by this are unknown"

/* The functions by which a library can make its code run after its last use. atexit() and
 * pthread_atfork() are not here: the C library calls, or forgets, their functions at dlclose(). */
static const struct leaving {
    const char *name, *shown; /* SHOWN NULL: NAME is shown */
    const char *what;
} leaving[] = {
    {"pthread_create", NULL, THREAD},
    {"thrd_create", NULL, THREAD},
    {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
     "std::thread", THREAD},
    {"clone", NULL, THREAD},
    {"timer_create", NULL, THREAD},
    {"mq_notify", NULL, THREAD},
    {"getaddrinfo_a", NULL, THREAD},
    {"aio_read", NULL, THREAD},
    {"aio_read64", NULL, THREAD},
    {"aio_write", NULL, THREAD},
    {"aio_write64", NULL, THREAD},
    {"lio_listio", NULL, THREAD},
    {"lio_listio64", NULL, THREAD},
    {"sigaction", NULL, HANDLER},
    {"signal", NULL, HANDLER},
    {"__sysv_signal", "signal", HANDLER},
    {"bsd_signal", NULL, HANDLER},
    {"sigset", NULL, HANDLER},
    {"pthread_key_create", NULL, DESTRUCTOR},
    {"tss_create", NULL, DESTRUCTOR},
    {"__cxa_thread_atexit", "thread_local", DESTRUCTOR},
    {"__cxa_thread_atexit_impl", "thread_local", DESTRUCTOR},
    {"on_exit", NULL, "functions registered by this run when the program ends"},
    {"syscall", NULL, ANYTHING},
    {"dlopen", NULL, ANYTHING},
    {"dlmopen", NULL, ANYTHING},
    {"dlsym", NULL, ANYTHING},
    {"dlvsym", NULL, ANYTHING},
};

static const struct leaving *find_leaving(const char *name)
{
    for (size_t i = 0; i < sizeof leaving / sizeof leaving[0]; i++)
        if (strcmp(leaving[i].name, name) == 0)
            return &leaving[i];
    return NULL;
}

static bool imports(const struct th_examination *e, const char *name)
{
    for (size_t i = 0; i < e->import_count; i++)
        if (strcmp(e->imports[i].name, name) == 0)
            return true;
    return false;
}

void th_elf_imports_note(struct th_examination *e)
{
    /* Compilers add one constructor, and one more for each of these sanitizers. */
    size_t compilers = 1 + imports(e, "__asan_init") + imports(e, "__tsan_init");

    for (size_t i = 0; i < e->import_count && !e->leaves; i++) {
        const struct leaving *found = find_leaving(e->imports[i].name);
        if (found)
            e->leaves = th_printf("the library uses %s: %s",
                                  found->shown ? found->shown : found->name, found->what);
    }
    e->constructors_may_start_threads =
        e->constructors > compilers && (e->leaves || imports(e, "enif_thread_create"));
}

/* --- Code of needed libraries that may run later ---------------------------------------------- */

/* True for the C library and the libraries that compilers link. */
static bool is_of_system(const char *needed)
{
    static const char *const names[] = {
        "ld-linux",    "libc.so",      "libm.so",      "libpthread.so", "libdl.so",    "librt.so",
        "libgcc_s.so", "libstdc++.so", "libatomic.so", "libasan.so",    "libubsan.so", "libtsan.so",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (imports_begins_with(needed, names[i]))
            return true;
    return false;
}

/* Finds the first import of ELF that may make code run later; adds the needs of ELF to NEEDED. */
static const struct leaving *look_into(const struct th_elf *elf, struct th_names *needed)
{
    const struct leaving *found = NULL;
    const char *name;
    GElf_Sym symbol;
    GElf_Dyn entry;

    for (size_t i = 1; i < elf->symbol_count && !found; i++)
        if (th_elf_symbol(elf, i, &symbol, &name) && symbol.st_shndx == SHN_UNDEF)
            found = find_leaving(name);
    for (size_t i = 0; i < elf->dynamic_count; i++)
        if (gelf_getdyn(elf->dynamic, (int)i, &entry) && entry.d_tag == DT_NEEDED) {
            name = th_elf_string(elf, entry.d_un.d_val);
            if (!th_library_names_contain(needed, name))
                th_library_names_add(needed, name);
        }
    return found;
}

char *th_elf_imports_brought(const struct th_examination *e)
{
    struct th_names needed = {0}; /* grows during the walk */
    char *why = NULL;

    for (size_t i = 0; i < e->needed.count; i++)
        th_library_names_add(&needed, e->needed.items[i]);
    for (size_t i = 0; i < needed.count && !why; i++) {
        const char *name = needed.items[i];
        const struct leaving *found;
        struct link_map *map;
        struct th_elf elf;
        void *handle;

        if (is_of_system(name))
            continue;
        /* The file that the loader has opened under this name. */
        handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
        if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
            th_elf_open(&elf, map->l_name) == TH_OK) {
            found = look_into(&elf, &needed);
            if (found)
                why = th_printf("the library needs %s, which uses %s: %s", name,
                                found->shown ? found->shown : found->name, found->what);
            th_elf_close(&elf);
        } else {
            th_error_clear();
            why = th_printf("the library needs %s, whose file cannot be examined", name);
        }
        if (handle)
            dlclose(handle);
    }
    th_library_names_free(&needed);
    return why;
}

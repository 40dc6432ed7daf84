#include "library_internal.h"
#include "private_copy.h"

#include "host/base/memory.h"
#include "host/base/shared.h"
#include "host/library/elf/elf_file.h"
#include "host/term/atom.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* --- Files that are being opened -------------------------------------------------------------- */

/*
 * The loader knows a library at once, other threads only after nif_init() has returned. So two
 * threads that open one file would get the same handle from the loader, and neither would find the
 * other's instance. Therefore the second waits until the first has finished; threads that open
 * other files do not wait. No lock is held meanwhile, as code of the library runs.
 */
struct opening {
    struct opening *next;
    const struct th_examination *facts;
    pthread_t opener;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list of all */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static struct opening *all;

/*
 * Waits while another thread opens the file of FACTS, or another file at its path. Owner: OPENING
 * and FACTS must stay until end_opening(), by the same thread. Errors: TH_REFUSED if the wait might
 * not end: the caller is in code of a library, maybe in a constructor, and may hold the loader's
 * lock, for which the other thread may wait.
 */
static enum th_status begin_opening(struct opening *opening, const struct th_examination *facts)
{
    enum th_status status = TH_OK;
    const struct opening *other;

    pthread_mutex_lock(&lock);
    for (;;) {
        for (other = all; other; other = other->next)
            if ((other->facts->device == facts->device && other->facts->inode == facts->inode) ||
                strcmp(other->facts->path, facts->path) == 0)
                break;
        if (!other || th_self.library_frame || pthread_equal(other->opener, pthread_self()))
            break;
        pthread_cond_wait(&ended, &lock);
    }
    if (!other) {
        *opening = (struct opening){all, facts, pthread_self()};
        all = opening;
    } else if (pthread_equal(other->opener, pthread_self())) {
        status = th_error_raise(
            TH_REFUSED,
            "the library is opened by this thread already: its constructor must not open it again");
    } else {
        status = th_error_raise(TH_REFUSED, "the library is being opened by another thread, for "
                                            "which code of a library cannot wait");
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static void end_opening(struct opening *opening)
{
    struct opening **place = &all;

    pthread_mutex_lock(&lock);
    while (*place != opening)
        place = &(*place)->next;
    *place = opening->next;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}

/* --- The loader ------------------------------------------------------------------------------ */

/* The loader's message begins with the path of the copy, which is replaced by the original's. */
static enum th_status refuse_by_loader(const struct th_examination *facts, const char *message)
{
    static const char missing[] = "cannot open shared object file";
    size_t length = facts->copy ? strlen(facts->copy) : 0;
    const char *path = "", *remedy = "";

    if (!message)
        message = "no reason";
    if (length > 0 && strncmp(message, facts->copy, length) == 0) {
        path = facts->path;
        message += length;
    }
    if (strstr(message, missing))
        remedy = "; install the missing library, or add its folder to $LD_LIBRARY_PATH";
    else if (strstr(message, "undefined symbol"))
        remedy = "; link it with the library that defines the symbol";
    return th_error_raise(TH_REFUSED, "the loader reports: %s%s%s", path, message, remedy);
}

/* *BUSY: threads may run the library's code already. */
static enum th_status open_handle(struct th_library *library, bool *busy)
{
    const struct th_examination *facts = &library->facts;
    const char *file = facts->copy ? facts->copy : facts->path;
    /* The loader would search for a name without a slash. */
    char *name = th_printf("%s%s", strchr(file, '/') ? "" : "./", file);
    void *before = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    struct th_library_frame call;

    if (before)
        dlclose(before);
    th_library_begin(&call, facts->path, "a constructor");
    library->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    th_library_end(&call);
    th_free(name);
    *busy = before || facts->constructors_may_start_threads;
    return library->handle ? TH_OK : refuse_by_loader(&library->facts, dlerror());
}

/* --- The entry ------------------------------------------------------------------------------- */

static enum th_status open_read_entry(struct th_library *library)
{
    ErlNifEntry *(*init)(void) =
        (ErlNifEntry * (*)(void))(uintptr_t)dlsym(library->handle, library->facts.init);
    struct th_library_frame call;
    ErlNifEntry *entry;

    if (!init)
        return refuse_by_loader(&library->facts, dlerror());
    th_library_begin(&call, library->facts.path, library->facts.init);
    entry = init();
    th_library_end(&call);
    if (!entry)
        return th_error_raise(TH_REFUSED, "%s() returned NULL", library->facts.init);
    return th_library_entry_read(entry, &library->entry);
}

static uintptr_t own_symbol(struct th_library *library, bool defined, const char *name)
{
    return defined ? (uintptr_t)dlsym(library->handle, name) : 0;
}

/* Makes the entry of a library in the plain form. Its functions are the callbacks that the file
 * itself defines: dlsym() alone would also search the libraries that it depends on. */
static void make_entry(struct th_library *library)
{
    const struct th_examination *facts = &library->facts;
    struct th_entry *entry = &library->entry;

    *entry = (struct th_entry){
        .major = ERL_NIF_MAJOR_VERSION,
        .minor = ERL_NIF_MINOR_VERSION,
        .functions = th_alloc(TH_SLOTS * sizeof *entry->functions),
    };
    for (enum th_tracer_slot i = 0; i < TH_SLOTS; i++) {
        uintptr_t code = own_symbol(library, facts->plain[i], th_library_slot_name(i));
        if (code)
            entry->functions[entry->function_count++] = (ErlNifFunc){
                th_library_slot_name(i), th_library_slot_arity(i), (th_slot_function *)code, 0};
    }
    entry->load =
        (int (*)(ErlNifEnv *, void **, ERL_NIF_TERM))own_symbol(library, facts->load, "load");
    entry->upgrade = (int (*)(ErlNifEnv *, void **, void **, ERL_NIF_TERM))own_symbol(
        library, facts->upgrade, "upgrade");
    entry->unload = (void (*)(ErlNifEnv *, void *))own_symbol(library, facts->unload, "unload");
}

/* --- The instance ---------------------------------------------------------------------------- */

static enum th_status open_fill_in(struct th_library *library)
{
    const struct th_import *newest = th_library_examination_newest(&library->facts);
    const char *name;
    int version;
    char *stem;

    if (library->facts.form == TH_LIBRARY_PLAIN)
        make_entry(library);
    else if (open_read_entry(library))
        return th_error_status();
    if (library->facts.settings &&
        th_library_declared_check(th_library_settings(library), library->facts.settings))
        return th_error_status();

    stem = th_library_stem(library->facts.path);
    name = library->entry.name ? library->entry.name : stem;
    library->name = th_atom_utf8(name, strlen(name));
    if (library->name == TH_NONE)
        library->name = th_atom_latin1(name, strlen(name));
    if (library->name != TH_NONE && strcmp(name, stem) != 0 &&
        strcmp(th_library_tracer_name(library), stem) != 0)
        th_library_names_take(&library->remarks, th_printf("its module is called %s", name));
    th_free(stem);
    if (library->name == TH_NONE)
        return th_error_raise(
            TH_REFUSED, "the module's name is too long for an atom, or there are too many atoms");

    th_library_code_map_yield(&library->code, &library->entry, &library->remarks);
    /* A library that declares a too low version is accepted by hosts that lack functions, and fails
     * there. */
    version = 100 * library->entry.major + library->entry.minor;
    if (newest && newest->since > version)
        th_library_names_take(&library->remarks,
                              th_printf("its entry declares NIF %d.%d, but %s is of NIF %d.%d",
                                        version / 100, version % 100, newest->name,
                                        newest->since / 100, newest->since % 100));
    th_library_slots_fill(&library->slots, &library->entry);
    if (library->facts.functions_only &&
        th_library_promise_read(dlsym(library->handle, "th_tracer_functions_only"),
                                &library->slots.functions_only))
        return th_error_status();
    if (th_library_past_check(library))
        return th_error_status();
    th_library_examination_remarks(&library->facts, &library->remarks);
    if (library->slots.functions[TH_SLOT_enabled] || library->slots.functions[TH_SLOT_trace])
        th_library_slots_remarks(&library->entry, &library->remarks);
    return TH_OK;
}

/* Completes LIBRARY, which the loader has opened. */
static enum th_status begin_use(struct th_library *library, bool busy)
{
    const struct th_examination *facts = &library->facts;
    enum th_status status;

    th_library_map(library, busy);
    if (facts->unique || facts->no_delete)
        library->pinned = th_strdup("the loader never closes it");
    else
        library->pinned = facts->leaves ? th_strdup(facts->leaves) : th_elf_imports_brought(facts);
    status = open_fill_in(library);
    if (!status)
        th_library_registry_add(library);
    return status;
}

/* Opens LIBRARY, whose facts are known, or finds the instance that was opened before. */
static enum th_status open_or_find(struct th_library *library, struct th_library **result)
{
    static const char other[] = "the file was replaced while it was opened; try again";
    const struct th_examination *facts = &library->facts;
    struct stat file = {.st_dev = facts->device,
                        .st_ino = facts->inode,
                        .st_size = facts->size,
                        .st_mtim = facts->changed};
    bool in_use, busy;

    if (!th_library_examination_is_current(facts))
        return th_error_raise(TH_REFUSED, other);
    if (open_handle(library, &busy))
        return th_error_status();
    *result = th_library_registry_find(library, &in_use);
    if (!*result) {
        if (!th_library_examination_is_current(facts))
            return th_error_raise(TH_REFUSED, other);
        if (begin_use(library, busy))
            return th_error_status();
        *result = library;
        return TH_OK;
    }
    /* The loader returned a handle that it had returned before. */
    if (!in_use)
        return th_error_raise(
            TH_REFUSED,
            "the library is unloaded when its last resources are freed; try again then");
    if (th_library_examination_is_of(&(*result)->facts, &file))
        return TH_OK;
    th_library_release(*result);
    return th_error_raise(TH_REFUSED,
                          "the file was overwritten while the library is in use; replace the file "
                          "by a new one instead, as linkers, install and mv do");
}

static struct th_library *new_instance(void)
{
    struct th_library *library = th_shared_alloc(sizeof *library);

    atomic_init(&library->shares, 1);
    library->users = 1;
    return library;
}

static enum th_status open_copy(const char *path, bool replaceable, struct th_library **result)
{
    struct th_library_frame call;
    struct th_library *library;
    struct stat original;
    enum th_status status;
    char *copy;
    bool busy;

    if (th_library_copy_make(path, &copy, &original))
        return th_error_context("%s was refused", path);
    library = new_instance();
    library->replaceable = replaceable;
    status = th_library_examine_copy(path, copy, &original, &library->facts);
    th_free(copy);
    library->head.path = library->facts.path;
    if (!status) {
        /* Constructors of the libraries that it needs are not its own: their threads do not run its
         * code. */
        th_library_begin(&call, library->facts.path, "a constructor of a library that it needs");
        status = th_library_origin_open(&library->facts, &library->needs);
        th_library_end(&call);
        if (!status)
            status = open_handle(library, &busy);
        if (!status)
            status = begin_use(library, busy);
        if (status)
            th_error_context("%s was refused", library->facts.path);
    }
    if (status)
        th_library_retire(library);
    else
        *result = library;
    return status;
}

enum th_status th_library_open_copy(const char *path, struct th_library **result)
{
    return open_copy(path, false, result);
}

enum th_status th_library_open_replaceable(const char *path, bool again, struct th_library **result)
{
    struct th_examination facts = {0}; /* only the identity of the file */
    struct opening opening;
    enum th_status status;
    struct stat file;

    if (stat(path, &file) != 0)
        return open_copy(path, true, result); /* fails with the reason */
    facts.path = (char *)path;
    facts.device = file.st_dev;
    facts.inode = file.st_ino;
    status = begin_opening(&opening, &facts);
    if (status)
        return th_error_context("%s was refused", path);
    *result = again ? NULL : th_library_registry_find_file(&file);
    if (!*result)
        status = open_copy(path, true, result);
    end_opening(&opening);
    return status;
}

/*
 * While a file is in memory, the loader takes its path for this file. So if another file is there
 * now, or the instance is pinned and its variables have old values, a copy is opened, and is the
 * instance found from then on.
 */
enum th_status th_library_open(const char *path, struct th_library **result)
{
    struct th_library *library = new_instance();
    enum th_status status = th_library_examine(path, &library->facts);
    struct opening opening;
    struct stat file;

    library->head.path = library->facts.path;
    *result = NULL;
    if (!status) {
        /* The second of two threads that open one file must find the instance of the first. */
        status = begin_opening(&opening, &library->facts);
        if (!status) {
            if (stat(path, &file) == 0)
                *result = th_library_registry_find_file(&file);
            if (!*result)
                status = th_library_registry_is_taken(&library->facts)
                             ? open_copy(path, true, result)
                             : open_or_find(library, result);
            end_opening(&opening);
        }
        if (status)
            th_error_context("%s was refused", path);
    }
    if (status || *result != library)
        th_library_retire(library);
    return status;
}

enum th_status th_library_find(const struct th_search *search, const char *name,
                               struct th_library **library)
{
    char *path;
    enum th_status status = th_library_search_find(search, name, &path);

    if (status)
        return status;
    status = search->replaceable ? th_library_open_replaceable(path, false, library)
                                 : th_library_open(path, library);
    th_free(path);
    return status;
}

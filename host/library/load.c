/*
 * Calls load(), upgrade() and unload(), and undoes them.
 *
 * Resource types that load() or upgrade() opens, and private data, become the library's own after
 * the callback has succeeded. So a refusal has nothing to undo in the old library.
 */

#include "load.h"

#include "private_copy.h"

#include "host/base/memory.h"
#include "host/base/shared.h"
#include "host/library/resource/resource_internal.h"
#include "host/term/atom.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* --- Running its code ------------------------------------------------------------------------ */

void th_library_init_env(th_env *env, struct th_library *library)
{
    th_env_init(env, TH_ENV_CALLBACK);
    env->library = library;
}

const char *th_library_missing_callbacks(const struct th_library *library)
{
    bool enabled = library->slots.functions[TH_SLOT_enabled] != NULL;
    bool trace = library->slots.functions[TH_SLOT_trace] != NULL;

    return enabled && trace ? NULL
           : trace          ? "enabled/3"
           : enabled        ? "trace/5"
                            : "enabled/3 and trace/5";
}

enum th_status th_library_check_tracer(const struct th_library *library)
{
    const char *missing = th_library_missing_callbacks(library);

    if (!missing)
        return TH_OK;
    th_error_raise(TH_REFUSED, "the library is not a tracer: it lacks %s", missing);
    return th_error_context("%s was refused", library->facts.path);
}

/* --- Calling --------------------------------------------------------------------------------- */

/* The library whose load() or upgrade() the thread runs. */
static _Thread_local const struct th_library *loaded_here;

bool th_library_is_loading(const struct th_library *library)
{
    return loaded_here == library;
}

/* Acquire: another thread may have loaded it just now. */
static bool is_loaded(const struct th_library *library)
{
    return atomic_load_explicit(&library->state, memory_order_acquire) == TH_LIBRARY_LOADED;
}

/* Release: a thread that sees the state sees all writes of load() (see
 * th_library_registry_keep_all()). */
static void set_state(struct th_library *library, enum th_library_state state)
{
    atomic_store_explicit(&library->state, state, memory_order_release);
}

/* TH_OK if LIBRARY can replace OLD. */
static enum th_status check_replaces(const struct th_library *library, const struct th_library *old)
{
    if (old->name != library->name)
        return th_error_raise(TH_REFUSED, "the library's module is %s, so it cannot replace %s",
                              th_atom_name(library->name)->text, th_atom_name(old->name)->text);
    if (!library->entry.upgrade)
        return th_error_raise(TH_REFUSED, "the library has no upgrade(), so it cannot replace %s",
                              old->facts.path);
    return TH_OK;
}

/*
 * Threads in OLD's code may read its private data: they get the old pointer or upgrade()'s. The
 * same holds for code of a LIBRARY that is loaded, to which the data is handed back. Relaxed: the
 * library orders its own use of the data behind the pointer.
 */
static enum th_status call_upgrade(struct th_library *library, struct th_library *old, th_env *env,
                                   th_term info)
{
    void *private_data = library->head.private_data, *old_private_data = old->head.private_data;
    bool in_use = is_loaded(library);
    struct th_library_frame call;
    int answer;

    if (check_replaces(library, old))
        return th_error_status();
    th_library_begin(&call, library->facts.path, "upgrade");
    answer = library->entry.upgrade(env, in_use ? &private_data : &library->head.private_data,
                                    &old_private_data, info);
    th_library_end(&call);
    if (answer != 0)
        return th_error_raise(TH_REFUSED, "upgrade() returned %d", answer);
    if (in_use)
        __atomic_store_n(&library->head.private_data, private_data, __ATOMIC_RELAXED);
    __atomic_store_n(&old->head.private_data, old_private_data, __ATOMIC_RELAXED);
    return TH_OK;
}

/* Calls load(), or upgrade() if there is an OLD one, and commits or rolls back resource types. */
static enum th_status call_either(struct th_library *library, struct th_library *old, th_term info)
{
    const struct th_library *outer = loaded_here;
    struct th_library_frame call;
    enum th_status status = TH_OK;
    int answer;
    th_env env;

    th_library_init_env(&env, library);
    loaded_here = library;
    atomic_store_explicit(&library->loading, &env, memory_order_relaxed);
    library->predecessor = old;
    if (old) {
        status = call_upgrade(library, old, &env, info);
    } else if (library->entry.load) {
        th_library_begin(&call, library->facts.path, "load");
        answer = library->entry.load(&env, &library->head.private_data, info);
        th_library_end(&call);
        if (answer != 0)
            status = th_error_raise(TH_REFUSED, "load() returned %d", answer);
    }
    library->predecessor = NULL;
    atomic_store_explicit(&library->loading, NULL, memory_order_relaxed);
    loaded_here = outer;
    /* Resources that were made and dropped meanwhile still have their types. */
    th_env_release(&env);
    th_resource_reap();
    if (status)
        th_resource_types_rollback(library);
    else
        th_resource_types_commit(library);
    return status;
}

static void forget_load(struct th_library *library)
{
    set_state(library, TH_LIBRARY_OPEN);
    library->head.private_data = NULL;
    library->options = (struct th_library_options){0};
    library->head.delays_halt = false;
}

/* --- Loading --------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `busy` of all */
static pthread_cond_t not_busy = PTHREAD_COND_INITIALIZER;

/* Waits for loads of LIBRARY and upgrades from OLD. False: LIBRARY is loaded. No lock is held while
 * load() or upgrade() runs: loads of other libraries do not wait, nor those of a loaded one, even
 * while an upgrade from it runs. */
static bool begin_load(struct th_library *library, struct th_library *old)
{
    bool begins;

    pthread_mutex_lock(&lock);
    while (!is_loaded(library) && (library->busy || (old && old->busy)))
        pthread_cond_wait(&not_busy, &lock);
    begins = !is_loaded(library);
    if (begins) {
        library->busy = true;
        if (old)
            old->busy = true;
    }
    pthread_mutex_unlock(&lock);
    return begins;
}

enum th_status th_library_load(struct th_library *library, struct th_library *old, th_term info)
{
    enum th_status status;

    if (!begin_load(library, old))
        return TH_OK;
    status = call_either(library, old, info);
    if (status) {
        forget_load(library);
        th_error_context("%s was refused", library->facts.path);
    } else {
        set_state(library, TH_LIBRARY_LOADED);
    }
    pthread_mutex_lock(&lock);
    library->busy = false;
    if (old)
        old->busy = false;
    pthread_cond_broadcast(&not_busy);
    pthread_mutex_unlock(&lock);
    return status;
}

enum th_status th_library_upgrade_check(struct th_library *library, struct th_library *old,
                                        th_term info)
{
    int (*check)(ErlNifEnv * env, void *old_private_data, ERL_NIF_TERM info);
    enum th_status status = check_replaces(library, old);
    struct th_library_frame call;
    th_env env;
    int answer;

    if (!status && library->facts.upgrade_check) {
        check = (int (*)(ErlNifEnv *, void *, ERL_NIF_TERM))(uintptr_t)dlsym(library->handle,
                                                                             "th_upgrade_check");
        th_library_init_env(&env, library);
        th_library_begin(&call, library->facts.path, "th_upgrade_check");
        answer = check(&env, th_library_private_data(old), info);
        th_library_end(&call);
        th_env_release(&env);
        if (answer != 0)
            status = th_error_raise(TH_REFUSED, "th_upgrade_check() returned %d", answer);
    }
    return status ? th_error_context("%s was refused", library->facts.path) : TH_OK;
}

/* --- Unloading ------------------------------------------------------------------------------- */

static void call_unload(struct th_library *library)
{
    struct th_library_frame call;
    th_env env;

    if (!is_loaded(library))
        return;
    th_library_leave_threads(library);
    if (!library->entry.unload)
        return;
    th_library_init_env(&env, library);
    th_library_begin(&call, library->facts.path, "unload");
    library->entry.unload(&env, library->head.private_data);
    th_library_end(&call);
    th_env_release(&env);
}

static void unload_again(struct th_library *library)
{
    static const struct timespec moment = {.tv_nsec = 50000};

    th_resource_reap();
    th_resource_types_forget(library);
    /* Running callbacks of resources that were just dropped have shares, in other threads. Acquire:
     * unload() comes after them. */
    while (atomic_load_explicit(&library->shares, memory_order_acquire) > 1)
        nanosleep(&moment, NULL);
    call_unload(library);
    forget_load(library);
}

void th_library_undo_load(struct th_library *library)
{
    if (is_loaded(library))
        unload_again(library);
}

enum th_status th_library_hand_back(struct th_library *old, struct th_library *new_, th_term info)
{
    if (call_either(old, new_, info))
        return th_error_context("cannot hand private data and resource types back to %s",
                                old->facts.path);
    th_resource_types_settle(old);
    th_resource_types_give_back(new_, old);
    unload_again(new_);
    return TH_OK;
}

/* --- Properties ------------------------------------------------------------------------------ */

th_term th_library_name(const struct th_library *library)
{
    return library->name;
}

const char *th_library_tracer_name(const struct th_library *library)
{
    static const char prefix[] = "tracehost_";
    const char *name = th_atom_name(library->name)->text;

    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

const struct th_examination *th_library_examination(const struct th_library *library)
{
    return &library->facts;
}

const char *th_library_file(const struct th_library *library)
{
    return library->facts.copy ? library->facts.copy : library->facts.path;
}

const struct th_entry *th_library_entry(const struct th_library *library)
{
    return &library->entry;
}

const struct th_tracer_setting *th_library_settings(const struct th_library *library)
{
    return library->facts.settings ? dlsym(library->handle, "th_tracer_settings") : NULL;
}

const struct th_slots *th_library_slots(const struct th_library *library)
{
    return &library->slots;
}

const struct th_names *th_library_remarks(const struct th_library *library)
{
    return &library->remarks;
}

/*
 * The rule of unloading.
 *
 * When the last share of a library is dropped, it has no user: no call and no continuation is in
 * its code, and no resource with a destructor is left. unload() is called, also if the library is
 * not closed after it. Then the library is closed, unless its code could still run: in a thread, as
 * a signal handler, as a destructor of thread-local data. A library that may have requested one of
 * these is pinned: never closed. Its imports show that (elf/imports.c). Threads of
 * enif_thread_create() are counted, so they pin it only if they have not ended.
 *
 * A pinned library keeps its instance and the file of its copy, for debuggers. When another library
 * of that module takes its place, a warning is logged, once for each path.
 */

/* --- Shares and users ------------------------------------------------------------------------ */

/* Relaxed: the caller knows of another share, which orders all that matters. */
void th_library_hold(struct th_library *library)
{
    atomic_fetch_add_explicit(&library->shares, 1, memory_order_relaxed);
}

/* Release: the holder's use comes before unload(). Acquire with the last share: unload() comes
 * after the use of all other holders. */
void th_library_drop(struct th_library *library)
{
    if (atomic_fetch_sub_explicit(&library->shares, 1, memory_order_acq_rel) > 1)
        return;
    call_unload(library);
    th_library_retire(library);
}

void th_library_release(struct th_library *library)
{
    if (!th_library_registry_leave(library))
        return;
    th_resource_types_orphan(library);
    th_resource_reap();
    th_library_drop(library);
}

/* --- Closing --------------------------------------------------------------------------------- */

void th_library_retire(struct th_library *library)
{
    struct th_library_frame call;
    char *carrier;

    /* Acquire, with the release in th_library_thread_ends(): closing comes after the threads. */
    if (!library->pinned && atomic_load_explicit(&library->threads, memory_order_acquire) > 0)
        library->pinned =
            th_strdup("threads made by enif_thread_create() still run (join them in unload())");
    if (library->pinned) {
        th_library_registry_pin(library);
        return;
    }
    th_library_begin(&call, library->facts.path, "a destructor of the library");
    if (library->handle)
        dlclose(library->handle);
    if (library->needs)
        dlclose(library->needs);
    th_library_end(&call);
    /* After closing, so that no thread takes its handle for that of a new library. */
    th_library_registry_remove(library);
    if (library->needs) {
        carrier = th_library_origin_file(&library->facts);
        th_library_copy_remove(carrier);
        th_free(carrier);
    }
    if (library->facts.copy)
        th_library_copy_remove(library->facts.copy);
    th_library_entry_free(&library->entry);
    th_library_examination_free(&library->facts);
    th_library_names_free(&library->remarks);
    th_library_code_map_free(&library->code);
    th_library_lines_free(library->lines);
    th_library_memory_free(&library->memory);
    th_resource_types_settle(library);
    th_free(library->pinned);
    th_shared_free(library);
}

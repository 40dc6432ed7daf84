#include "instance.h"

#include "resource_type.h"

#include <stdatomic.h>

/* --- Running its code ------------------------------------------------------------------------ */

_Thread_local const struct th_library_call *th_library_running;
_Thread_local _Atomic uint64_t th_library_calls;

void th_library_init_env(th_env *env, struct th_library *library)
{
    th_env_init(env, TH_ENV_CALLBACK);
    env->library = library;
}

/* --- Loading --------------------------------------------------------------------------------- */

static enum th_status call_load(struct th_library *library, th_env *env, th_term info)
{
    struct th_library_call call;
    int answer;

    if (!library->entry.load)
        return TH_OK;
    th_library_begin(&call, library->facts.path, "load");
    answer = library->entry.load(env, &library->private_data, info);
    th_library_end(&call);
    return answer == 0 ? TH_OK : th_error_raise(TH_REFUSED, "its load() returned %d", answer);
}

/* Threads may be in OLD's code, and ask for its private data: they see what is there, or what
 * upgrade() has left. Relaxed: how both use what it leads to is the library's business. */
static enum th_status call_upgrade(struct th_library *library, struct th_library *old, th_env *env,
                                   th_term info)
{
    void *old_private_data = old->private_data;
    struct th_library_call call;
    int answer;

    if (old->name != library->name)
        return th_error_raise(TH_REFUSED, "the module in it is called %s, so it cannot replace %s",
                              th_atom_name(library->name)->text, th_atom_name(old->name)->text);
    if (!library->entry.upgrade)
        return th_error_raise(TH_REFUSED, "it has no upgrade(), and so cannot replace %s",
                              old->facts.path);
    th_library_begin(&call, library->facts.path, "upgrade");
    answer = library->entry.upgrade(env, &library->private_data, &old_private_data, info);
    th_library_end(&call);
    if (answer != 0)
        return th_error_raise(TH_REFUSED, "its upgrade() returned %d", answer);
    __atomic_store_n(&old->private_data, old_private_data, __ATOMIC_RELAXED);
    return TH_OK;
}

enum th_status th_library_load(struct th_library *library, struct th_library *old, th_term info)
{
    enum th_status status;
    th_env env;

    if (library->state == TH_LIBRARY_LOADED)
        return TH_OK;
    th_library_init_env(&env, library);
    library->state = TH_LIBRARY_LOADING;
    library->loading = &env;
    library->predecessor = old;
    status = old ? call_upgrade(library, old, &env, info) : call_load(library, &env, info);
    library->state = status ? TH_LIBRARY_OPEN : TH_LIBRARY_LOADED;
    library->loading = NULL;
    library->predecessor = NULL;
    /* Resources that were made and dropped meanwhile still have their types. */
    th_env_release(&env);
    th_resource_reap();
    if (!status) {
        th_resource_types_commit(library);
        return TH_OK;
    }
    th_resource_types_rollback(library);
    library->private_data = NULL;
    library->options = (struct th_library_options){0};
    library->head.delays_halt = false;
    return th_error_context("%s was refused", library->facts.path);
}

enum th_status th_library_check_tracer(const struct th_library *library)
{
    return th_slots_check(&library->slots) ? th_error_context("%s was refused", library->facts.path)
                                           : TH_OK;
}

/* --- Shares and users ------------------------------------------------------------------------ */

static void call_unload(struct th_library *library)
{
    struct th_library_call call;
    th_env env;

    if (library->state != TH_LIBRARY_LOADED)
        return;
    th_library_leave_threads(library);
    if (!library->entry.unload)
        return;
    th_library_init_env(&env, library);
    th_library_begin(&call, library->facts.path, "unload");
    library->entry.unload(&env, library->private_data);
    th_library_end(&call);
    th_env_release(&env);
}

/* Relaxed: whoever takes a share knows of another, which orders everything that matters. */
void th_library_hold(struct th_library *library)
{
    atomic_fetch_add_explicit(&library->shares, 1, memory_order_relaxed);
}

/* Release, so that what this holder did comes before unload(); acquire with the last share, so that
 * unload() comes after what all other holders did. */
void th_library_drop(struct th_library *library)
{
    if (atomic_fetch_sub_explicit(&library->shares, 1, memory_order_acq_rel) > 1)
        return;
    call_unload(library);
    th_library_close(library);
    /* Not before it is closed, so that nobody takes its handle for that of a new one. */
    th_registry_remove(library);
    th_library_free(library);
}

void th_library_keep(struct th_library *library)
{
    th_registry_keep(library);
}

void th_library_release(struct th_library *library)
{
    if (!th_registry_leave(library))
        return;
    th_resource_types_orphan(library);
    th_resource_reap();
    th_library_drop(library);
}

/* --- What is known of it --------------------------------------------------------------------- */

th_term th_library_name(const struct th_library *library)
{
    return library->name;
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

const struct th_slots *th_library_slots(const struct th_library *library)
{
    return &library->slots;
}

const struct th_names *th_library_remarks(const struct th_library *library)
{
    return &library->remarks;
}

void *th_library_private_data(const struct th_library *library)
{
    return __atomic_load_n(&library->private_data, __ATOMIC_RELAXED); /* see call_upgrade() */
}

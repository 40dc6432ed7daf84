#include "instance.h"

#include "host/library/resource/resource_type.h"

#include <dlfcn.h>
#include <stdatomic.h>

/* --- Running its code ------------------------------------------------------------------------ */

_Thread_local const struct th_library_call *th_library_running;
_Thread_local _Atomic uint64_t th_library_calls;

void th_library_init_env(th_env *env, struct th_library *library)
{
    th_env_init(env, TH_ENV_CALLBACK);
    env->library = library;
}

enum th_status th_library_check_tracer(const struct th_library *library)
{
    return th_slots_check(&library->slots) ? th_error_context("%s was refused", library->facts.path)
                                           : TH_OK;
}

/* --- Shares and users ------------------------------------------------------------------------ */

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
    th_library_unload(library);
    th_library_retire(library);
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

const char *th_library_kept(const struct th_library *library)
{
    return library->kept;
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

void *th_library_private_data(const struct th_library *library)
{
    return __atomic_load_n(&library->private_data, __ATOMIC_RELAXED); /* see call_upgrade() */
}

#include "library_internal.h"

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

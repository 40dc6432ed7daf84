/* Shared by the files of resource/: types, objects, running callbacks. Inner header of library/. */
#ifndef TH_LIBRARY_RESOURCE_INTERNAL_H
#define TH_LIBRARY_RESOURCE_INTERNAL_H

#include "resource.h"

#include "host/library/library_internal.h"

#include <pthread.h>
#include <stddef.h>

/* --- Types (resource_type.c) ----------------------------------------------------------------- */

/*
 * The callbacks of a type, with the library of their code, which must not be closed while one runs.
 * Both are read together, as a takeover changes both.
 */
struct th_resource_callbacks {
    struct th_library *library; /* NULL: there are no callbacks */
    ErlNifResourceDtor *dtor;
    ErlNifResourceStop *stop;
    ErlNifResourceDown *down;
    ErlNifResourceDynCall *dyncall;
};

/* The kinds of callbacks. */
enum th_resource_call {
    TH_RESOURCE_DTOR,
    TH_RESOURCE_STOP,
    TH_RESOURCE_DOWN,
    TH_RESOURCE_DYNCALL,
    TH_RESOURCE_CALLS
};

/* The ErlNifResourceType of erl_nif.h. */
struct enif_resource_type_t {
    struct enif_resource_type_t *next; /* in the owner's list, guarded by the lock of all lists */
    th_term name;                      /* an atom */
    char *titles[TH_RESOURCE_CALLS];   /* "the destructor of NAME", for th_library_begin() */
    _Atomic size_t count;              /* one while open, and one for each resource */
    pthread_mutex_t lock;              /* guards `callbacks` */
    struct th_resource_callbacks callbacks; /* if any is set, the type has a share of the library */
};

/* Makes the types that load() or upgrade() has opened LIBRARY's own, or forgets them. */
void th_resource_types_commit(struct th_library *library);
void th_resource_types_rollback(struct th_library *library);

/* Forgets LIBRARY's own types, as if they had never been opened: none of their callbacks is called
 * any more. Running callbacks keep shares of the library. */
void th_resource_types_forget(struct th_library *library);

/* Gives the types that LIBRARY has taken from OLD back to OLD, with their former callbacks. */
void th_resource_types_give_back(struct th_library *library, struct th_library *old);

/* Drops the record of types that LIBRARY has taken: they can no longer be given back. */
void th_resource_types_settle(struct th_library *library);

/* Closes LIBRARY's types, as it has no users any more: each ends with its last resource. */
void th_resource_types_orphan(struct th_library *library);

/* Adds, or removes, a resource of TYPE. */
void th_resource_type_keep(ErlNifResourceType *type);
void th_resource_type_release(ErlNifResourceType *type);

/* True if TYPE has any callback. */
bool th_resource_type_has_callbacks(ErlNifResourceType *type);

/* Returns the present callbacks, with a share of their library; drops this share. */
struct th_resource_callbacks th_resource_type_callbacks(ErlNifResourceType *type);
static inline void th_resource_callbacks_drop(const struct th_resource_callbacks *callbacks)
{
    if (callbacks->library)
        th_library_drop(callbacks->library);
}

/* --- Objects --------------------------------------------------------------------------------- */

enum { TH_RESOURCE_WORDS = 3 }; /* in the reference of a monitor, as in that of a resource */

/* Takes a share, unless the last one was dropped: then false. */
bool th_resource_revive(struct th_resource *resource);

/* Removes RESOURCE, whose last share was dropped, from the saved ones. */
void th_resource_forget_saved(struct th_resource *resource);

/* Makes a term of RESOURCE, which has words. Owner: the term takes over the caller's share. */
th_term th_resource_adopt(th_env *env, struct th_resource *resource);

/* Queues work for a safe point, see th_resource_reap(). */
void th_resource_push_due(struct th_resource_due *due);

/*
 * A running callback of a resource: the callbacks of its type, with a share of their library, the
 * environment, and the frame for reports.
 */
struct th_resource_running {
    struct th_resource_callbacks callbacks;
    struct th_library_frame call;
    th_env env; /* for the callback, unless it gets its caller's */
};

/* Set up and release environment and frame in RUNNING, before and after the caller calls CALL, a
 * callback of RESOURCE. The caller sets running->callbacks before, and drops their share of the
 * library afterwards. */
void th_resource_begin(struct th_resource_running *running, struct th_resource *resource,
                       enum th_resource_call call);
void th_resource_end(struct th_resource_running *running);

/* Ends all monitors of RESOURCE, whose last share was dropped. */
void th_resource_forget_watches(struct th_resource *resource);

#endif

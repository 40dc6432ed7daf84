/* Resources, as library/ itself sees them. Inner header. */
#ifndef TH_LIBRARY_RESOURCE_INTERNAL_H
#define TH_LIBRARY_RESOURCE_INTERNAL_H

#include "resource.h"

#include "host/library/library_internal.h"

#include <pthread.h>
#include <stdalign.h>
#include <stddef.h>

/* --- Types (resource_type.c) ----------------------------------------------------------------- */

/*
 * Whoever wants to call a callback must have it together with the library that it lies in, and that
 * library must not be closed meanwhile; a takeover changes both.
 */
struct th_resource_callbacks {
    struct th_library *library; /* NULL: closed, there are no callbacks */
    ErlNifResourceDtor *dtor;
    ErlNifResourceStop *stop;
    ErlNifResourceDown *down;
    ErlNifResourceDynCall *dyncall;
};

/* What can be called of a type. */
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
    _Atomic size_t count;              /* one for being open, one for each resource */
    pthread_mutex_t lock;              /* guards what follows */
    struct th_resource_callbacks callbacks; /* if any is set, the type has a share of the library */
};

/* What load() or upgrade() has opened becomes the library's own, or is forgotten. */
void th_resource_types_commit(struct th_library *library);
void th_resource_types_rollback(struct th_library *library);

/* Forgets the library's own types, as if they had never been opened: none of their callbacks will
 * be called any more. Those that run keep shares of the library. */
void th_resource_types_forget(struct th_library *library);

/* What LIBRARY has of OLD's is OLD's again, as it was. */
void th_resource_types_give_back(struct th_library *library, struct th_library *old);

/* LIBRARY will not give anything back. */
void th_resource_types_settle(struct th_library *library);

/* The library has no users any more: its types go with their last resources. */
void th_resource_types_orphan(struct th_library *library);

/* One more resource of TYPE, one less. */
void th_resource_type_keep(ErlNifResourceType *type);
void th_resource_type_release(ErlNifResourceType *type);

/* True if there is anything to call. */
bool th_resource_type_has_callbacks(ErlNifResourceType *type);

/* The callbacks of now, with a share of their library, and giving that share back. */
struct th_resource_callbacks th_resource_type_callbacks(ErlNifResourceType *type);
static inline void th_resource_callbacks_drop(const struct th_resource_callbacks *callbacks)
{
    if (callbacks->library)
        th_library_drop(callbacks->library);
}

/* --- Objects --------------------------------------------------------------------------------- */

enum { TH_RESOURCE_WORDS = 3 }; /* of the reference that a resource, or a monitor, is */

struct th_resource_watch;

/* What lies before a resource's data. */
struct th_resource {
    struct th_resource_due dying;      /* in use when the last share is gone */
    ErlNifResourceType *type;          /* has a count of this resource */
    _Atomic size_t count;              /* shares */
    size_t size;                       /* bytes of data */
    struct th_resource_watch *watches; /* its monitors; guarded by the lock in resource_monitor.c */
    bool saved;                        /* guarded by the lock in resource.c; with no share
                                          left nobody writes it any more */
    _Atomic bool named;                /* release: the words below are there; acquire */
    uint32_t words[TH_RESOURCE_WORDS];
    alignas(16) unsigned char data[];
};

struct th_resource *th_resource_of(const void *object);

/* The resource that TERM is; NULL for binaries in one, too. */
struct th_resource *th_resource_of_term(th_term term);

/* One share more, unless the last one is gone already: false then. */
bool th_resource_revive(struct th_resource *resource);

/* RESOURCE, whose last share is gone, can no longer be found. */
void th_resource_forget_saved(struct th_resource *resource);

/* A term of RESOURCE, with a share that the caller has. It has words. */
th_term th_resource_adopt(th_env *env, struct th_resource *resource);

/* What is to be done at a safe point, see th_resource_reap(). */
void th_resource_push_due(struct th_resource_due *due);

/*
 * A callback of a resource, being called: the callbacks of its type with a share of their library,
 * the environment, and what says that it runs.
 */
struct th_resource_running {
    struct th_resource_callbacks callbacks;
    struct th_library_frame call;
    th_env env; /* for the callback, unless it gets its caller's */
};

/* Before and after the callback CALL of RESOURCE, which is in `callbacks` already. Ending does not
 * give that share of the library back. */
void th_resource_begin(struct th_resource_running *running, struct th_resource *resource,
                       enum th_resource_call call);
void th_resource_end(struct th_resource_running *running);

/* Takes all monitors from RESOURCE, whose last share is gone. */
void th_resource_forget_watches(struct th_resource *resource);

#endif

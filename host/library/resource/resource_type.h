/* Resource types, as library/ itself sees them. Inner header. */
#ifndef TH_LIBRARY_RESOURCE_TYPE_H
#define TH_LIBRARY_RESOURCE_TYPE_H

#include "host/library/library_internal.h"
#include "resource.h"

#include <pthread.h>

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

/* The callbacks of now, with a share of their library that the caller gives back with
 * th_library_drop() unless it is NULL. */
struct th_resource_callbacks th_resource_type_callbacks(ErlNifResourceType *type);

#endif

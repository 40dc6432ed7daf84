/* Resources, as library/ itself sees them. Inner header. */
#ifndef TH_LIBRARY_RESOURCE_OBJECT_H
#define TH_LIBRARY_RESOURCE_OBJECT_H

#include "resource.h"
#include "resource_type.h"

#include <stdalign.h>
#include <stddef.h>

enum { TH_RESOURCE_WORDS = 3 }; /* of the reference that a resource, or a monitor, is */

struct th_resource_watch;

/* What lies before a resource's data. */
struct th_resource {
    struct th_resource_due dying;      /* in use when the last share is gone */
    ErlNifResourceType *type;          /* has a count of this resource */
    _Atomic size_t count;              /* shares */
    size_t size;                       /* bytes of data */
    struct th_resource_watch *watches; /* its monitors; guarded by the lock in resource_monitor.c */
    bool saved;                        /* guarded by the lock in resource_saved.c; with no share
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

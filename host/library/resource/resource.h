/*
 * Resources: objects of a library that terms and the library itself share.
 *
 * A resource has a type, which belongs to a library. A resource exists while it has shares: the
 * library's (from th_resource_alloc() or th_resource_keep() on, until th_resource_release()) and
 * those of terms. When the last share is dropped, the type's destructor becomes due: the next
 * thread that calls th_resource_reap() calls it, as the thread that drops the share may hold any
 * locks. Resources of types without callbacks are freed at once. The type's other callbacks are
 * called from here, too. All are those of the library that owns the type at that time, which is not
 * closed while they run.
 *
 * OBJECT is a resource as the library sees it: the address of its data, aligned to 16 bytes.
 * Thread: any, unless a function says otherwise.
 */
#ifndef TH_LIBRARY_RESOURCE_H
#define TH_LIBRARY_RESOURCE_H

#include "host/term/make.h"
#include "plugin_api/erl_nif.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>

struct th_library;

/*
 * Opens the resource type NAME (Latin-1) for LIBRARY, which must be in load() or upgrade(). FLAGS
 * are the allowed ways: ERL_NIF_RT_CREATE makes a type if the predecessor has none of this name,
 * ERL_NIF_RT_TAKEOVER takes the predecessor's with all its resources. *TRIED (may be NULL) is the
 * way that was taken. The first MEMBERS of CALLBACKS are read, in the order dtor, stop, down,
 * dyncall; those of a type that is taken over take effect when LIBRARY is loaded.
 * Errors: NULL, and *TRIED is FLAGS, if the way is not allowed, LIBRARY is not being loaded, or an
 * argument is invalid.
 *
 * For enif_open_resource_type() (1 member), _x() (3), enif_init_resource_type() (its own count).
 */
ErlNifResourceType *th_resource_type_open(struct th_library *library, const char *name,
                                          const ErlNifResourceTypeInit *callbacks, int members,
                                          ErlNifResourceFlags flags, ErlNifResourceFlags *tried);

/* Makes a resource of SIZE bytes, not cleared.
 * Owner: the caller gets one share.
 * Errors: NULL if there is no memory. */
void *th_resource_alloc(ErlNifResourceType *type, size_t size);
void th_resource_keep(void *object);
void th_resource_release(void *object);
size_t th_resource_size(const void *object);

/* Returns the name of the resource's type, in UTF-8. Owner: never freed. */
const char *th_resource_type_name(const void *object);

/* Makes a term with a share of its own. All terms of one resource are equal, and unequal to all
 * other terms; copies in other environments take further shares. */
static inline th_term th_resource_make(th_env *env, void *object);

/* Makes a binary of the SIZE bytes at DATA, with a share.
 * Owner: DATA stays valid and unchanged while the resource exists.
 * Errors: TH_NONE if there is no memory. */
th_term th_resource_make_binary(th_env *env, void *object, const void *data, size_t size);

/* Finds the resource of TERM, which either of the above has made; takes no share. Returns 0 if TERM
 * has none, or one of another type, else 1. */
int th_resource_get(th_term term, const ErlNifResourceType *type, void **object);

/*
 * Resources in external bytes. th_resource_save() remembers the resource of TERM, if any, when TERM
 * is written. th_resource_find() makes a term, with a share, of the resource with these WORDS, when
 * they are read; TH_NONE if it does not exist any more.
 */
void th_resource_save(th_term term);
th_term th_resource_find(th_env *env, const uint32_t words[], size_t count);

/*
 * Calls `stop` of OBJECT's type, if there is one, when OBJECT does not wait for EVENT any more.
 * DIRECT is true if the callback runs inside the call that requested the stop.
 * th_resource_has_stop(): the type has this callback.
 * Owner: the caller has a share of OBJECT.
 * Thread: one that holds no lock.
 */
bool th_resource_has_stop(void *object);
void th_resource_stop(void *object, ErlNifEvent event, bool direct);

/*
 * Calls `dyncall` of the resource of TERM, with ENV and DATA. False, and nothing is called, if TERM
 * is no resource of the type NAME of the module MODULE, or the type has no such callback.
 */
bool th_resource_dynamic_call(th_env *env, th_term module, th_term name, th_term term, void *data);

/*
 * Monitors PID for OBJECT, whose type must have `down`. When PID has ended, `down` is called at a
 * safe point (th_resource_reap()), with a share of the resource. *IDENTITY (may be NULL) becomes
 * the monitor's identity, before `down` can run. The monitor ends with its resource.
 * Errors: false if PID is no live process.
 */
bool th_resource_has_down(void *object);
bool th_resource_monitor(void *object, th_term pid, ErlNifMonitor *identity);

/* Ends a monitor. True: it was a monitor of OBJECT, and `down` will not be called. */
bool th_resource_demonitor(void *object, const ErlNifMonitor *identity);

/* Makes the reference of a monitor. */
th_term th_resource_monitor_term(th_env *env, const ErlNifMonitor *identity);

/* Work that is due at a safe point: destructors of resources without shares, `down` callbacks of
 * monitors whose processes have ended. */
struct th_resource_due {
    struct th_resource_due *next;
    void (*run)(struct th_resource_due *self);
};
extern struct th_resource_due *_Atomic th_resource_due __attribute__((visibility("hidden")));
void th_resource_reap_all(void);

/*
 * Does the due work, also work that becomes due meanwhile. Costs one load if nothing is due.
 * Thread: one that holds no lock and is in no library's code: after each callback, and before
 * waiting. Relaxed: work that is missed here is done by a later call.
 */
static inline void th_resource_reap(void)
{
    if (__builtin_expect(atomic_load_explicit(&th_resource_due, memory_order_relaxed) != NULL, 0))
        th_resource_reap_all();
}

/*
 * Hook for new due work, called by any thread, which may hold any locks of a library: it may only
 * wake a thread that calls th_resource_reap(). NULL: none is woken. Release by the writer, so that
 * the hook is ready; acquire.
 */
extern void (*_Atomic th_resource_on_dying)(void);

/* th_resource_reap() for threads that should not run destructors: only if no thread is woken. */
void th_resource_reap_unwoken(void);

/* --- Inline parts ---------------------------------------------------------------------------- */

struct th_resource_watch;

/* The head of a resource, before its data. */
struct th_resource {
    struct th_magic magic;             /* of its terms */
    ErlNifResourceType *type;          /* counts this resource */
    struct th_resource_due dying;      /* in use after the last share is dropped */
    _Atomic size_t count;              /* shares */
    size_t size;                       /* bytes of data */
    struct th_resource_watch *watches; /* its monitors; guarded by the lock in resource_monitor.c */
    bool saved;                        /* guarded by the lock in resource.c; constant after
                                          the last share is dropped */
    _Atomic bool named;                /* release: magic.words are written; acquire */
    alignas(16) unsigned char data[];
};

/* Releases the share of a term: tells the terms of resources from other magic references. */
void th_resource_release_term(struct th_offheap *self) __attribute__((visibility("hidden")));

/* Finds the resource of TERM, a reference of th_resource_make(); NULL for any other term. */
static inline struct th_resource *th_resource_of_term(th_term term)
{
    return (struct th_resource *)th_magic_object_of(term, th_resource_release_term);
}

static inline struct th_resource *th_resource_of(const void *object)
{
    return (struct th_resource *)((char *)(uintptr_t)object - offsetof(struct th_resource, data));
}

/* Relaxed: the caller already holds a share, which orders all that matters. */
static inline void th_resource_share(struct th_resource *resource)
{
    atomic_fetch_add_explicit(&resource->count, 1, memory_order_relaxed);
}

/* Called last, so that the usual way saves no register. */
th_term th_resource_make_slowly(th_env *env, struct th_resource *resource) __attribute__((cold));

static inline th_term th_resource_make(th_env *env, void *object)
{
    struct th_resource *resource = th_resource_of(object);
    th_term term;

    if (!atomic_load_explicit(&resource->named, memory_order_acquire) ||
        !th_env_has(env, TH_MAGIC_WORDS))
        return th_resource_make_slowly(env, resource);
    term = th_make_magic(env, &resource->magic, th_resource_release_term);
    th_resource_share(resource);
    return term;
}

#endif

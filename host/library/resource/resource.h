/*
 * Resources: objects of a library that terms and the library itself share.
 *
 * A resource has a type, which belongs to a library. It is there as long as anybody holds a share:
 * the library (from th_resource_alloc() or th_resource_keep() on, until th_resource_release()) or
 * a term. When the last share goes, the type's destructor is called: not by whoever let go of it,
 * who may hold any locks, but by the next thread that calls th_resource_reap(). Resources of types
 * without callbacks are freed at once. The type's other callbacks are called from here, too, and
 * are always those of the library that owns the type by then, which is not closed while they run.
 *
 * OBJECT is what the library knows of a resource: the address of its data, aligned to 16 bytes.
 * Unless said otherwise, any thread may call any of these.
 */
#ifndef TH_LIBRARY_RESOURCE_H
#define TH_LIBRARY_RESOURCE_H

#include "host/term/env.h"
#include "plugin_api/erl_nif.h"

#include <stdatomic.h>

struct th_library;

/*
 * Opens the resource type NAME (Latin-1) for LIBRARY, which must be in load() or upgrade(). FLAGS
 * say what may be done: ERL_NIF_RT_CREATE it if the library that is being replaced has none of that
 * name, ERL_NIF_RT_TAKEOVER its one with all resources. *TRIED (if not NULL) tells which it was;
 * NULL is returned if that was not allowed. Of CALLBACKS the first MEMBERS count, in the order
 * dtor, stop, down, dyncall; those of a type that is taken over change when the library is loaded.
 *
 * For enif_open_resource_type() (1 member), _x() (3), enif_init_resource_type() (its own count).
 */
ErlNifResourceType *th_resource_type_open(struct th_library *library, const char *name,
                                          const ErlNifResourceTypeInit *callbacks, int members,
                                          ErlNifResourceFlags flags, ErlNifResourceFlags *tried);

/* A resource of SIZE bytes, not cleared, with one share, the caller's. NULL if there is no memory.
 */
void *th_resource_alloc(ErlNifResourceType *type, size_t size);
void th_resource_keep(void *object);
void th_resource_release(void *object);
size_t th_resource_size(const void *object);

/* The name of its type, in UTF-8; valid for ever. */
const char *th_resource_type_name(const void *object);

/* A term with a share of its own. All terms of one resource are equal, and are equal to no other
 * term; copies in other environments take further shares. */
th_term th_resource_make(th_env *env, void *object);

/* A binary of the SIZE bytes at DATA, which stay valid and unchanged as long as the resource is
 * there. It has a share. */
th_term th_resource_make_binary(th_env *env, void *object, const void *data, size_t size);

/* The resource of TERM, from either of the above; false if it has none, or one of another type. No
 * share is taken. */
bool th_resource_get(th_term term, const ErlNifResourceType *type, void **object);

/*
 * Resources in external bytes. A reference that was saved when it was written is the resource again
 * when it is read, as long as that is there: th_resource_find() makes a term with a share of it,
 * TH_NONE if no resource that lives has these words. Terms that are none are not saved.
 */
void th_resource_save(th_term term);
th_term th_resource_find(th_env *env, const uint32_t words[], size_t count);

/*
 * `stop`, for who waits for EVENT on behalf of OBJECT: whether its type has it, and calling it.
 * DIRECT tells the callback whether it runs within the call that asked for it. The caller has a
 * share of OBJECT, and no lock.
 */
bool th_resource_has_stop(void *object);
void th_resource_stop(void *object, ErlNifEvent event, bool direct);

/*
 * Calls `dyncall` of the resource that TERM is, with ENV and DATA. False, and nothing was called,
 * if TERM is no resource of the type NAME of the module MODULE, or that has no such callback.
 */
bool th_resource_dynamic_call(th_env *env, th_term module, th_term name, th_term term, void *data);

/*
 * Monitors. Has `down`, which the type of OBJECT must have, called when PID has ended: at a safe
 * point (th_resource_reap()), with the resource kept. *IDENTITY (if not NULL) is what the monitor
 * is known by. False if PID is no process that is alive. A monitor goes with its resource.
 */
bool th_resource_has_down(void *object);
bool th_resource_monitor(void *object, th_term pid, ErlNifMonitor *identity);

/* True: it was a monitor of OBJECT, and `down` will not be called. */
bool th_resource_demonitor(void *object, const ErlNifMonitor *identity);

/* The reference that a monitor is. */
th_term th_resource_monitor_term(th_env *env, const ErlNifMonitor *identity);

/* What is to be done at a safe point: destructors of resources whose last share is gone, `down`
 * callbacks of monitors that have fired. */
struct th_resource_due {
    struct th_resource_due *next;
    void (*run)(struct th_resource_due *self);
};
extern struct th_resource_due *_Atomic th_resource_due;
void th_resource_reap_all(void);

/*
 * Calls what is due; while that runs, also what comes to be. Costs one load while nothing is. Call
 * it where no lock is held and no code of a library is running: after each callback, and before
 * waiting. Relaxed: what is missed here is met next time.
 */
static inline void th_resource_reap(void)
{
    if (__builtin_expect(atomic_load_explicit(&th_resource_due, memory_order_relaxed) != NULL, 0))
        th_resource_reap_all();
}

/*
 * Called when something has come to be due, by any thread, which may hold any locks of a library:
 * it may only wake somebody who calls th_resource_reap(). NULL: nobody is woken. Release by who
 * sets it, so that it is ready; acquire.
 */
extern void (*_Atomic th_resource_on_dying)(void);

/* For threads that are not meant to run destructors: th_resource_reap() if nobody would be woken.
 */
void th_resource_reap_unwoken(void);

#endif

#include "resource.h"

#include "resource_type.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>

enum { REF_WORDS = 3 };

/* What lies before a resource's data. */
struct th_resource {
    ErlNifResourceType *type; /* has a count of this resource */
    _Atomic size_t count;     /* shares */
    size_t size;              /* bytes of data */
    struct th_resource *next; /* among the dying */
    _Atomic bool named;       /* release: the words below are there; acquire */
    uint32_t words[REF_WORDS];
    alignas(16) unsigned char data[];
};

static struct th_resource *resource_of(const void *object)
{
    return (struct th_resource *)((char *)(uintptr_t)object - offsetof(struct th_resource, data));
}

/* --- The last share -------------------------------------------------------------------------- */

/*
 * A stack that is only ever taken as a whole. Push: release, so that the taker sees the resource as
 * it was left. Take: acquire, for the same.
 */
struct th_resource *_Atomic th_resource_dying;

static void push_dying(struct th_resource *resource)
{
    resource->next = atomic_load_explicit(&th_resource_dying, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&th_resource_dying, &resource->next, resource,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

/* All that are dying, the first to die first. */
static struct th_resource *take_dying(void)
{
    struct th_resource *stack =
        atomic_exchange_explicit(&th_resource_dying, NULL, memory_order_acquire);
    struct th_resource *list = NULL;

    while (stack) {
        struct th_resource *next = stack->next;
        stack->next = list;
        list = stack;
        stack = next;
    }
    return list;
}

static void call_destructor(struct th_resource *resource,
                            const struct th_resource_callbacks *callbacks)
{
    struct th_library_call call;
    th_env env;

    th_library_init_env(&env, callbacks->library);
    th_library_begin(&call, th_library_path(callbacks->library), resource->type->destructor);
    callbacks->dtor(&env, resource->data);
    th_library_end(&call);
    th_env_release(&env);
}

static void destroy(struct th_resource *resource)
{
    struct th_resource_callbacks callbacks = th_resource_type_callbacks(resource->type);

    if (callbacks.dtor)
        call_destructor(resource, &callbacks);
    th_resource_type_release(resource->type);
    free(resource);
    if (callbacks.library)
        th_library_drop(callbacks.library);
}

void th_resource_reap_all(void)
{
    struct th_resource *list;

    while ((list = take_dying())) {
        while (list) {
            struct th_resource *next = list->next;
            destroy(list);
            list = next;
        }
    }
}

/* --- Shares ---------------------------------------------------------------------------------- */

void *th_resource_alloc(ErlNifResourceType *type, size_t size)
{
    struct th_resource *resource;

    if (size > PTRDIFF_MAX - sizeof *resource || !(resource = malloc(sizeof *resource + size)))
        return NULL;
    resource->type = type;
    resource->size = size;
    atomic_init(&resource->count, 1);
    atomic_init(&resource->named, false);
    th_resource_type_keep(type);
    return resource->data;
}

/* Relaxed: whoever keeps a share already holds one, which orders everything that matters. */
static void keep(void *resource)
{
    atomic_fetch_add_explicit(&((struct th_resource *)resource)->count, 1, memory_order_relaxed);
}

/* Release, so that this holder's accesses come before the destructor; acquire with the last share,
 * so that it comes after those of all other holders. */
static void release(struct th_resource *resource)
{
    if (atomic_fetch_sub_explicit(&resource->count, 1, memory_order_acq_rel) > 1)
        return;
    if (th_resource_type_has_callbacks(resource->type))
        push_dying(resource);
    else
        destroy(resource);
}

void th_resource_keep(void *object)
{
    keep(resource_of(object));
}

void th_resource_release(void *object)
{
    release(resource_of(object));
}

size_t th_resource_size(const void *object)
{
    return resource_of(object)->size;
}

const char *th_resource_type_name(const void *object)
{
    return th_atom_name(resource_of(object)->type->name)->text;
}

/* --- Terms ----------------------------------------------------------------------------------- */

static void release_term(struct th_offheap *self)
{
    release(th_magic_owner(self));
}

/* Gives the resource the words of a reference of its own, when it is first asked for a term. */
static void ensure_named(struct th_resource *resource, th_env *env)
{
    static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER; /* guards words until named */
    struct th_ref_parts parts;

    if (atomic_load_explicit(&resource->named, memory_order_acquire))
        return;
    th_get_ref(th_make_new_reference(env), &parts);
    pthread_mutex_lock(&naming);
    if (!atomic_load_explicit(&resource->named, memory_order_relaxed)) {
        for (size_t i = 0; i < REF_WORDS; i++)
            resource->words[i] = parts.words[i];
        atomic_store_explicit(&resource->named, true, memory_order_release);
    }
    pthread_mutex_unlock(&naming);
}

th_term th_resource_make(th_env *env, void *object)
{
    struct th_resource *resource = resource_of(object);

    ensure_named(resource, env);
    keep(resource);
    return th_make_magic(env, resource, keep, release_term, resource->words);
}

static void release_binary(struct th_binary *self, void *resource)
{
    release(resource);
    free(self);
}

th_term th_resource_make_binary(th_env *env, void *object, const void *data, size_t size)
{
    struct th_resource *resource = resource_of(object);
    struct th_binary *binary =
        th_binary_wrap((unsigned char *)(uintptr_t)data, size, resource, release_binary);
    th_term term;

    if (!binary)
        return TH_NONE;
    keep(resource);
    term = th_make_shared_binary(env, binary, binary->data, 8 * size);
    th_binary_release(binary); /* the term has a share of its own */
    return term;
}

bool th_resource_get(th_term term, const ErlNifResourceType *type, void **object)
{
    struct th_binary *binary = th_shared_binary_of(term);
    struct th_resource *resource = th_magic_object_of(term, release_term);

    if (!resource && binary && binary->free == release_binary)
        resource = binary->owner;
    if (!resource || resource->type != type)
        return false;
    *object = resource->data;
    return true;
}

#include "resource.h"

#include "resource_internal.h"

#include "host/base/hash.h"
#include "host/term/atom.h"
#include "host/term/make.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- The end --------------------------------------------------------------------------------- */

/* Monitors end before the destructor is called, as in a BEAM; those that it makes, after it. */
static void destroy(struct th_resource_due *due)
{
    struct th_resource *resource =
        (struct th_resource *)((char *)due - offsetof(struct th_resource, dying));
    struct th_resource_running running = {th_resource_type_callbacks(resource->type), {0}, {0}};

    th_resource_forget_saved(resource);
    th_resource_forget_watches(resource);
    if (running.callbacks.dtor) {
        th_resource_begin(&running, resource, TH_RESOURCE_DTOR);
        running.callbacks.dtor(&running.env, resource->data);
        th_resource_end(&running);
        th_resource_forget_watches(resource);
    }
    th_resource_type_release(resource->type);
    free(resource);
    th_resource_callbacks_drop(&running.callbacks);
}

/* --- Shares ---------------------------------------------------------------------------------- */

/* A resource begins with its struct th_magic. */
static void keep_for_term(struct th_magic *resource)
{
    th_resource_share((struct th_resource *)resource);
}

void *th_resource_alloc(ErlNifResourceType *type, size_t size)
{
    struct th_resource *resource;

    if (size > PTRDIFF_MAX - sizeof *resource || !(resource = malloc(sizeof *resource + size)))
        return NULL;
    resource->magic.keep = keep_for_term;
    resource->type = type;
    resource->dying.run = destroy;
    resource->size = size;
    resource->watches = NULL;
    resource->saved = false;
    atomic_init(&resource->count, 1);
    atomic_init(&resource->named, false);
    th_resource_type_keep(type);
    return resource->data;
}

/*
 * The count after the last share is dropped. So a destructor that releases its own resource, or
 * keeps and releases it, does not end the resource a second time; in a BEAM, too, this is harmless.
 */
#define DYING (SIZE_MAX / 2)

/* Relaxed: the caller is ordered with the holders of shares by other means. */
bool th_resource_revive(struct th_resource *resource)
{
    size_t count = atomic_load_explicit(&resource->count, memory_order_relaxed);

    while (count > 0 && count < DYING / 2)
        if (atomic_compare_exchange_weak_explicit(&resource->count, &count, count + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    return false;
}

/* Release: this holder's use comes before the destructor; acquire with the last share: so does the
 * use of all other holders. Only holders change `watches`, so it can be read here without its lock.
 */
static void resource_release(struct th_resource *resource)
{
    if (atomic_fetch_sub_explicit(&resource->count, 1, memory_order_acq_rel) != 1)
        return;
    /* Relaxed: only a caller without a share, which is an error, could change it meanwhile. */
    atomic_store_explicit(&resource->count, DYING, memory_order_relaxed);
    if (resource->watches || th_resource_type_has_callbacks(resource->type))
        th_resource_push_due(&resource->dying);
    else
        destroy(&resource->dying);
}

void th_resource_keep(void *object)
{
    th_resource_share(th_resource_of(object));
}

void th_resource_release(void *object)
{
    resource_release(th_resource_of(object));
}

size_t th_resource_size(const void *object)
{
    return th_resource_of(object)->size;
}

const char *th_resource_type_name(const void *object)
{
    return th_atom_name(th_resource_of(object)->type->name)->text;
}

/* --- Terms ----------------------------------------------------------------------------------- */

void th_resource_release_term(struct th_offheap *self)
{
    resource_release((struct th_resource *)th_magic_owner(self));
}

/* Gives the resource the words of a reference, before its first term is made. */
static void ensure_named(struct th_resource *resource, th_env *env)
{
    static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER; /* guards words until named */
    struct th_ref_parts parts;

    if (atomic_load_explicit(&resource->named, memory_order_acquire))
        return;
    th_get_ref(th_make_new_reference(env), &parts);
    pthread_mutex_lock(&naming);
    if (!atomic_load_explicit(&resource->named, memory_order_relaxed)) {
        for (size_t i = 0; i < TH_RESOURCE_WORDS; i++)
            resource->magic.words[i] = parts.words[i];
        atomic_store_explicit(&resource->named, true, memory_order_release);
    }
    pthread_mutex_unlock(&naming);
}

th_term th_resource_adopt(th_env *env, struct th_resource *resource)
{
    return th_make_magic(env, &resource->magic, th_resource_release_term);
}

th_term th_resource_make_slowly(th_env *env, struct th_resource *resource)
{
    ensure_named(resource, env);
    th_resource_share(resource);
    return th_resource_adopt(env, resource);
}

static void release_binary(struct th_binary *self, void *resource)
{
    resource_release(resource);
    free(self);
}

th_term th_resource_make_binary(th_env *env, void *object, const void *data, size_t size)
{
    struct th_resource *resource = th_resource_of(object);
    struct th_binary *binary =
        th_binary_wrap((unsigned char *)(uintptr_t)data, size, resource, release_binary);
    th_term term;

    if (!binary)
        return TH_NONE;
    th_resource_share(resource);
    term = th_make_shared_binary(env, binary, binary->data, 8 * size);
    th_binary_release(binary); /* the term has its own share */
    return term;
}

/* Finds the resource that keeps the bytes of TERM; called last, so that the usual way saves no
 * register. */
static __attribute__((noinline)) int get_of_binary(th_term term, const ErlNifResourceType *type,
                                                   void **object)
{
    struct th_binary *binary = th_shared_binary_of(term);
    struct th_resource *resource;

    if (!binary || binary->free != release_binary)
        return 0;
    resource = binary->owner;
    if (resource->type != type)
        return 0;
    *object = resource->data;
    return 1;
}

int th_resource_get(th_term term, const ErlNifResourceType *type, void **object)
{
    struct th_resource *resource = th_resource_of_term(term);

    if (!resource)
        return get_of_binary(term, type, object);
    if (resource->type != type)
        return 0;
    *object = resource->data;
    return 1;
}

/* Calls of callbacks: `stop` and `dyncall` here, the others when they become due. */

void th_resource_begin(struct th_resource_running *running, struct th_resource *resource,
                       enum th_resource_call call)
{
    th_library_init_env(&running->env, running->callbacks.library);
    th_library_begin(&running->call, th_library_path(running->callbacks.library),
                     resource->type->titles[call]);
}

void th_resource_end(struct th_resource_running *running)
{
    th_library_end(&running->call);
    th_env_release(&running->env);
}

bool th_resource_has_stop(void *object)
{
    struct th_resource_callbacks callbacks =
        th_resource_type_callbacks(th_resource_of(object)->type);

    th_resource_callbacks_drop(&callbacks);
    return callbacks.stop;
}

bool th_resource_has_down(void *object)
{
    struct th_resource_callbacks callbacks =
        th_resource_type_callbacks(th_resource_of(object)->type);

    th_resource_callbacks_drop(&callbacks);
    return callbacks.down;
}

void th_resource_stop(void *object, ErlNifEvent event, bool direct)
{
    struct th_resource *resource = th_resource_of(object);
    struct th_resource_running running = {th_resource_type_callbacks(resource->type), {0}, {0}};

    if (running.callbacks.stop) {
        th_resource_begin(&running, resource, TH_RESOURCE_STOP);
        running.callbacks.stop(&running.env, object, event, direct);
        th_resource_end(&running);
    }
    th_resource_callbacks_drop(&running.callbacks);
}

/* The callback gets its caller's environment, which makes enif_self() work in it. */
bool th_resource_dynamic_call(th_env *env, th_term module, th_term name, th_term term, void *data)
{
    struct th_resource *resource = th_resource_of_term(term);
    struct th_resource_callbacks callbacks;
    struct th_library_frame call;
    bool called;

    if (!resource || resource->type->name != name)
        return false;
    callbacks = th_resource_type_callbacks(resource->type);
    called = callbacks.dyncall && th_library_name(callbacks.library) == module;
    if (called) {
        th_library_begin(&call, th_library_path(callbacks.library),
                         resource->type->titles[TH_RESOURCE_DYNCALL]);
        callbacks.dyncall(env, resource->data, data);
        th_library_end(&call);
    }
    th_resource_callbacks_drop(&callbacks);
    return called;
}

/* Work that is due at a safe point: destructors, `down` callbacks. */

/*
 * A stack that is only taken as a whole. Push: release, so that the taker sees the whole element.
 * Take: acquire, for the same.
 */
struct th_resource_due *_Atomic th_resource_due;

void (*_Atomic th_resource_on_dying)(void);

void th_resource_push_due(struct th_resource_due *due)
{
    void (*wake)(void);

    due->next = atomic_load_explicit(&th_resource_due, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&th_resource_due, &due->next, due,
                                                  memory_order_release, memory_order_relaxed))
        ;
    wake = atomic_load_explicit(&th_resource_on_dying, memory_order_acquire);
    if (wake)
        wake();
}

/* The subject of a running callback of trace/ is set aside: a destructor may raise events. */
void th_resource_reap_all(void)
{
    struct th_callback_subject *outer = th_self.subject;
    struct th_resource_due *stack, *list, *next;

    th_self.subject = NULL;
    while ((stack = atomic_exchange_explicit(&th_resource_due, NULL, memory_order_acquire))) {
        /* Reverses the order: the first to become due runs first. */
        for (list = NULL; stack; stack = next) {
            next = stack->next;
            stack->next = list;
            list = stack;
        }
        for (; list; list = next) {
            next = list->next;
            list->run(list);
        }
    }
    th_self.subject = outer;
}

void th_resource_reap_unwoken(void)
{
    if (!atomic_load_explicit(&th_resource_on_dying, memory_order_acquire))
        th_resource_reap();
}

/*
 * Resources whose terms were written as external bytes, found by the words of their references.
 *
 * Only these are in the table: resources that are never written cost nothing. A resource stays in
 * the table until its last share is dropped, as the bytes may be anywhere.
 */

/* Guards the table and `saved` of all resources. No other lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_table saved; /* struct th_resource * by resource_key_of() its words */

/* The words that count the host's references, never 0; the first word is the same in all. */
static uint64_t resource_key_of(const uint32_t words[])
{
    return words[1] | (uint64_t)words[2] << 32;
}

void th_resource_save(th_term term)
{
    struct th_resource *resource = th_resource_of_term(term);

    if (!resource)
        return;
    pthread_mutex_lock(&lock);
    if (!resource->saved) {
        resource->saved = true;
        th_hash_table_set(&saved, resource_key_of(resource->magic.words), resource);
    }
    pthread_mutex_unlock(&lock);
}

th_term th_resource_find(th_env *env, const uint32_t words[], size_t count)
{
    struct th_resource *resource;

    if (count != TH_RESOURCE_WORDS || resource_key_of(words) == 0)
        return TH_NONE;
    pthread_mutex_lock(&lock);
    resource = th_hash_table_get(&saved, resource_key_of(words));
    if (resource && (memcmp(resource->magic.words, words, sizeof resource->magic.words) != 0 ||
                     !th_resource_revive(resource)))
        resource = NULL;
    pthread_mutex_unlock(&lock);
    return resource ? th_resource_adopt(env, resource) : TH_NONE;
}

/* `saved` was last written by a holder of a share, whose release comes before this. */
void th_resource_forget_saved(struct th_resource *resource)
{
    if (!resource->saved)
        return;
    pthread_mutex_lock(&lock);
    th_hash_table_remove(&saved, resource_key_of(resource->magic.words));
    if (saved.count == 0)
        th_hash_table_free(&saved);
    pthread_mutex_unlock(&lock);
}

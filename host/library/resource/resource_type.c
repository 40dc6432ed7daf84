#include "resource.h"
#include "resource_internal.h"

#include "host/base/memory.h"
#include "host/base/shared.h"
#include "host/term/atom.h"

#include <string.h>

/* A type that a library opens in load() or upgrade(); or one taken over, with its former data. */
struct th_opened_type {
    struct th_opened_type *next;
    ErlNifResourceType *type;
    bool takeover;
    struct th_resource_callbacks callbacks;
};

/* Guards the `types` of all libraries and the `next` of all types. Held for a few steps only. */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;

static bool is_any_set(const struct th_resource_callbacks *callbacks)
{
    return callbacks->dtor || callbacks->stop || callbacks->down || callbacks->dyncall;
}

/* --- Lists ----------------------------------------------------------------------------------- */

static ErlNifResourceType *find_type(struct th_library *library, th_term name)
{
    ErlNifResourceType *type;

    pthread_mutex_lock(&lists);
    for (type = library->types; type && type->name != name; type = type->next)
        ;
    pthread_mutex_unlock(&lists);
    return type;
}

static void link_type(struct th_library *library, ErlNifResourceType *type)
{
    pthread_mutex_lock(&lists);
    type->next = library->types;
    library->types = type;
    pthread_mutex_unlock(&lists);
}

/* --- One type -------------------------------------------------------------------------------- */

/* The names of callbacks in reports. */
static const char *const title_formats[TH_RESOURCE_CALLS] = {
    [TH_RESOURCE_DTOR] = "the destructor of %s",
    [TH_RESOURCE_STOP] = "the stop callback of %s",
    [TH_RESOURCE_DOWN] = "the down callback of %s",
    [TH_RESOURCE_DYNCALL] = "the dynamic call of %s",
};

/* Owner: the caller frees the title by th_shared_free(): the supervisor reads it. */
static char *make_title(const char *format, const char *name)
{
    char *made = th_printf(format, name), *title = th_shared_strdup(made);

    th_free(made);
    return title;
}

static struct th_resource_callbacks set_callbacks(ErlNifResourceType *type,
                                                  const struct th_resource_callbacks *callbacks)
{
    struct th_resource_callbacks old;

    pthread_mutex_lock(&type->lock);
    old = type->callbacks;
    type->callbacks = *callbacks;
    pthread_mutex_unlock(&type->lock);
    return old;
}

/* Orders as in th_library_hold() and th_library_drop(), for the same reasons. */
void th_resource_type_keep(ErlNifResourceType *type)
{
    atomic_fetch_add_explicit(&type->count, 1, memory_order_relaxed);
}

void th_resource_type_release(ErlNifResourceType *type)
{
    struct th_resource_callbacks callbacks;

    if (atomic_fetch_sub_explicit(&type->count, 1, memory_order_acq_rel) > 1)
        return;
    callbacks = type->callbacks;
    pthread_mutex_destroy(&type->lock);
    for (size_t i = 0; i < TH_RESOURCE_CALLS; i++)
        th_shared_free(type->titles[i]);
    th_free(type);
    if (is_any_set(&callbacks))
        th_library_drop(callbacks.library);
}

bool th_resource_type_has_callbacks(ErlNifResourceType *type)
{
    bool any;

    pthread_mutex_lock(&type->lock);
    any = is_any_set(&type->callbacks);
    pthread_mutex_unlock(&type->lock);
    return any;
}

struct th_resource_callbacks th_resource_type_callbacks(ErlNifResourceType *type)
{
    struct th_resource_callbacks callbacks = {0};

    pthread_mutex_lock(&type->lock);
    if (is_any_set(&type->callbacks)) {
        callbacks = type->callbacks;
        th_library_hold(callbacks.library);
    }
    pthread_mutex_unlock(&type->lock);
    return callbacks;
}

/* --- Opening --------------------------------------------------------------------------------- */

ErlNifResourceType *th_resource_type_open(struct th_library *library, const char *name,
                                          const ErlNifResourceTypeInit *init, int members,
                                          ErlNifResourceFlags flags, ErlNifResourceFlags *tried)
{
    /* Older structures lack the callbacks behind the first MEMBERS. */
    struct th_resource_callbacks callbacks = {.library = library};
    struct th_opened_type *opened;
    ErlNifResourceType *type = NULL;
    ErlNifResourceFlags done;
    th_term atom;

    if (tried)
        *tried = flags;
    if (!library || !th_library_is_loading(library) || !name || members < 0 || members > 4 ||
        (members > 0 && !init) || (atom = th_atom_latin1(name, strlen(name))) == TH_NONE)
        return NULL;
    callbacks.dtor = members > 0 ? init->dtor : NULL;
    callbacks.stop = members > 1 ? init->stop : NULL;
    callbacks.down = members > 2 ? init->down : NULL;
    callbacks.dyncall = members > 3 ? init->dyncall : NULL;
    if (library->predecessor)
        type = find_type(library->predecessor, atom);
    done = type ? ERL_NIF_RT_TAKEOVER : ERL_NIF_RT_CREATE;
    if (!(flags & done))
        return NULL;
    if (!type) {
        type = th_alloc_zero(sizeof *type);
        type->name = atom;
        for (size_t i = 0; i < TH_RESOURCE_CALLS; i++)
            type->titles[i] = make_title(title_formats[i], th_atom_name(atom)->text);
        type->callbacks = callbacks;
        atomic_init(&type->count, 1);
        pthread_mutex_init(&type->lock, NULL);
    }
    opened = th_alloc(sizeof *opened);
    *opened =
        (struct th_opened_type){library->opened, type, done == ERL_NIF_RT_TAKEOVER, callbacks};
    library->opened = opened;
    if (tried)
        *tried = done;
    return type;
}

/* --- Commit and rollback --------------------------------------------------------------------- */

/* Makes TYPE LIBRARY's, with these CALLBACKS; returns the former ones, of another library. */
static struct th_resource_callbacks take_over(struct th_library *library, ErlNifResourceType *type,
                                              const struct th_resource_callbacks *callbacks)
{
    struct th_resource_callbacks old;
    ErlNifResourceType **place;

    if (is_any_set(callbacks))
        th_library_hold(library);
    old = set_callbacks(type, callbacks);
    pthread_mutex_lock(&lists);
    place = &old.library->types;
    while (*place != type)
        place = &(*place)->next;
    *place = type->next;
    pthread_mutex_unlock(&lists);
    link_type(library, type);
    if (is_any_set(&old))
        th_library_drop(old.library);
    return old;
}

/* Removes the callbacks of a type that ends early: the destructors of its resources are not called,
 * as its library goes. */
static struct th_resource_callbacks resource_type_forget(ErlNifResourceType *type)
{
    static const struct th_resource_callbacks none;
    struct th_resource_callbacks callbacks = set_callbacks(type, &none);

    th_resource_type_release(type);
    return callbacks;
}

static struct th_opened_type *take_opened(struct th_library *library)
{
    struct th_opened_type *opened = library->opened;

    if (opened)
        library->opened = opened->next;
    return opened;
}

void th_resource_types_commit(struct th_library *library)
{
    struct th_opened_type *opened;

    while ((opened = take_opened(library))) {
        if (opened->takeover) {
            opened->callbacks = take_over(library, opened->type, &opened->callbacks);
            opened->next = library->taken;
            library->taken = opened;
            continue;
        }
        if (is_any_set(&opened->callbacks))
            th_library_hold(library);
        link_type(library, opened->type);
        th_free(opened);
    }
}

void th_resource_types_rollback(struct th_library *library)
{
    struct th_opened_type *opened;

    while ((opened = take_opened(library))) {
        if (!opened->takeover)
            resource_type_forget(opened->type);
        th_free(opened);
    }
}

static ErlNifResourceType *take_type(struct th_library *library)
{
    ErlNifResourceType *type;

    pthread_mutex_lock(&lists);
    type = library->types;
    if (type)
        library->types = type->next;
    pthread_mutex_unlock(&lists);
    return type;
}

void th_resource_types_orphan(struct th_library *library)
{
    ErlNifResourceType *type;

    while ((type = take_type(library)))
        th_resource_type_release(type);
}

void th_resource_types_forget(struct th_library *library)
{
    ErlNifResourceType *type;

    while ((type = take_type(library))) {
        struct th_resource_callbacks callbacks = resource_type_forget(type);
        if (is_any_set(&callbacks))
            th_library_drop(callbacks.library);
    }
}

/* --- Taking back ----------------------------------------------------------------------------- */

/* Types that OLD's upgrade() has opened are OLD's already. */
void th_resource_types_give_back(struct th_library *library, struct th_library *old)
{
    for (struct th_opened_type *taken = library->taken; taken; taken = taken->next)
        if (taken->callbacks.library == old && find_type(library, taken->type->name) == taken->type)
            take_over(old, taken->type, &taken->callbacks);
    th_resource_types_settle(library);
}

void th_resource_types_settle(struct th_library *library)
{
    struct th_opened_type *taken;

    while ((taken = library->taken)) {
        library->taken = taken->next;
        th_free(taken);
    }
}

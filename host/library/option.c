#include "library_internal.h"

#include "host/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>

void (*th_library_on_schedulers)(void (*function)(void *argument), void *argument);

/* Written by th_library_halt(). See th_library_left() for the orders. */
static _Atomic bool halting;

/* Serves waiting and waking only; guards no data. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;

/* --- Setting --------------------------------------------------------------------------------- */

/* Returns the library whose load() or upgrade() has ENV; NULL: none. */
static struct th_library *loading(const th_env *env)
{
    struct th_library *library = env ? env->library : NULL;

    return library && atomic_load_explicit(&library->loading, memory_order_relaxed) == env ? library
                                                                                           : NULL;
}

bool th_library_delay_halt(th_env *env)
{
    struct th_library *library = loading(env);

    if (!library || library->head.delays_halt)
        return false;
    library->head.delays_halt = true;
    return true;
}

bool th_library_set_on_halt(th_env *env, ErlNifOnHaltCallback *callback)
{
    struct th_library *library = loading(env);

    if (!library || !callback || library->options.on_halt)
        return false;
    library->options.on_halt = callback;
    return true;
}

bool th_library_set_on_unload_thread(th_env *env, ErlNifOnUnloadThreadCallback *callback)
{
    struct th_library *library = loading(env);

    if (!library || !callback || library->options.on_unload_thread)
        return false;
    library->options.on_unload_thread = callback;
    return true;
}

/* --- Functions that run ---------------------------------------------------------------------- */

/* Relaxed: the halt must see only functions that were entered before its request, which the
 * requester is ordered with by other means. */
void th_library_entered(struct th_library *library)
{
    atomic_fetch_add_explicit(&library->running, 1, memory_order_relaxed);
}

/*
 * Sequentially consistent, here and in the halt: one side writes `running` and reads `halting`, the
 * other writes `halting` and reads `running`, and one of the two must see the other's write. Also,
 * all that the function did comes before the end of the halt.
 */
void th_library_left(struct th_library *library)
{
    if (atomic_fetch_sub_explicit(&library->running, 1, memory_order_seq_cst) > 1 ||
        !atomic_load_explicit(&halting, memory_order_seq_cst))
        return;
    pthread_mutex_lock(&lock); /* the halt waits, or has not yet looked */
    pthread_cond_broadcast(&idle);
    pthread_mutex_unlock(&lock);
}

/* --- The halt -------------------------------------------------------------------------------- */

bool th_library_halting(void)
{
    return atomic_load_explicit(&halting, memory_order_relaxed);
}

void th_library_halt(void)
{
    struct th_library **libraries;
    size_t count = th_library_registry_keep_all(&libraries);

    atomic_store_explicit(&halting, true, memory_order_seq_cst);
    for (size_t i = 0; i < count; i++) {
        struct th_library *library = libraries[i];
        struct th_library_frame call;
        if (!library->options.on_halt)
            continue;
        th_library_begin(&call, library->facts.path, "on_halt");
        library->options.on_halt(library->head.private_data);
        th_library_end(&call);
    }
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&lock);
        while (libraries[i]->head.delays_halt &&
               atomic_load_explicit(&libraries[i]->running, memory_order_seq_cst) > 0)
            pthread_cond_wait(&idle, &lock);
        pthread_mutex_unlock(&lock);
        th_library_release(libraries[i]);
    }
    th_free(libraries);
}

/* Relaxed: no thread runs that could read it. */
void th_library_halt_over(void)
{
    atomic_store_explicit(&halting, false, memory_order_relaxed);
}

/* --- Unloading ------------------------------------------------------------------------------- */

static void leave_thread(void *argument)
{
    struct th_library *library = argument;
    struct th_library_frame call;

    th_library_begin(&call, library->facts.path, "on_unload_thread");
    library->options.on_unload_thread(library->head.private_data);
    th_library_end(&call);
}

void th_library_leave_threads(struct th_library *library)
{
    if (!library->options.on_unload_thread)
        return;
    if (th_library_on_schedulers)
        th_library_on_schedulers(leave_thread, library);
    else
        leave_thread(library);
}

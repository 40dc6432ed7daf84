/*
 * Libraries that stay in memory although nobody uses them.
 *
 * What the loader unmaps must not run any more. Threads that a library has started and does not end
 * in unload(), and handlers of signals that it leaves, would crash the program; so it is not closed
 * then. Others the loader keeps by itself. All are in a list, with the reason.
 */
#include "instance.h"

#include "host/base/base.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct th_library *kept;
static struct th_names warned; /* "PATH: REASON" */
static bool looking;           /* a thread is in forget_gone(), and has found some */

/* --- Threads --------------------------------------------------------------------------------- */

/* Marking costs some 50 microseconds, which are spared to those that cannot start any. */
void th_library_begin_starting(const struct th_library *library, struct th_started_threads *mark)
{
    *mark = (struct th_started_threads){0};
    if (library->facts.starts_threads)
        th_started_threads_begin(mark);
}

void th_library_end_starting(struct th_library *library, const struct th_started_threads *mark)
{
    th_started_threads_end(mark, &library->started);
}

/* Acquire, with the release in th_library_thread_ends(): closing comes after what they did. */
static bool has_threads(const struct th_library *library)
{
    return atomic_load_explicit(&library->threads, memory_order_acquire) > 0 ||
           th_threads_run(&library->started) ||
           (!library->facts.ends_itself && th_threads_run(&library->constructed));
}

/* One that has told unload() that it ends may still be on its way out. */
static bool has_threads_that_stay(const struct th_library *library)
{
    enum { MOST_WAITS = 20 };
    static const struct timespec millisecond = {.tv_nsec = 1000000};

    for (int i = 0; i < MOST_WAITS; i++) {
        if (!has_threads(library))
            return false;
        nanosleep(&millisecond, NULL);
    }
    return true;
}

/* --- Why ------------------------------------------------------------------------------------- */

/* The signal that is handled in the library, 0 if there is none. */
static int handled_signal(const struct th_library *library)
{
    struct sigaction action;

    for (int number = 1; number <= SIGRTMAX; number++)
        if (sigaction(number, NULL, &action) == 0 &&
            th_library_executes(library, (uintptr_t)action.sa_sigaction, 1))
            return number;
    return 0;
}

/* Why its code may run still, which the caller frees; NULL: it cannot. */
static char *why_it_runs(const struct th_library *library)
{
    int number = handled_signal(library);

    if (library->facts.exit_hook)
        return th_strdup(library->kept);
    if (has_threads_that_stay(library))
        return th_strdup("threads that it has started still run (end them in unload())");
    if (number > 0)
        return th_printf("its handler of signal %d (%s) is still set (restore the old one in "
                         "unload())",
                         number, strsignal(number));
    return NULL;
}

/* Of a copy, which nobody else has opened by its name. */
static bool is_in_memory(const struct th_library *library)
{
    void *handle = library->facts.copy ? dlopen(library->facts.copy, RTLD_NOW | RTLD_NOLOAD) : NULL;

    if (handle)
        dlclose(handle);
    return handle != NULL;
}

/* --- Keeping --------------------------------------------------------------------------------- */

/* The lock is held. */
static void warn(const struct th_library *library)
{
    char *warning = th_printf("%s: %s", library->facts.path, library->kept);

    if (th_names_contain(&warned, warning)) {
        th_free(warning);
        return;
    }
    th_warn("%s stays in memory: %s", library->facts.path, library->kept);
    th_names_take(&warned, warning);
}

static void keep(struct th_library *library, char *why)
{
    th_free(library->kept);
    library->kept = why;
    pthread_mutex_lock(&lock);
    library->next = kept;
    kept = library;
    warn(library);
    pthread_mutex_unlock(&lock);
}

void th_library_for_kept(void (*each)(const struct th_library *library, const char *why,
                                      void *context),
                         void *context)
{
    pthread_mutex_lock(&lock);
    for (const struct th_library *library = kept; library; library = library->next)
        each(library, library->kept, context);
    pthread_mutex_unlock(&lock);
}

/* --- Going ----------------------------------------------------------------------------------- */

static void forget(struct th_library *library)
{
    th_library_remove_files(library);
    th_library_free(library);
}

/* What is closed and may go some day, in an array that the caller frees. False: another thread is
 * at it. */
static bool begin_looking(struct th_library ***found, size_t *count)
{
    size_t capacity = 0;
    bool alone;

    *found = NULL;
    *count = 0;
    pthread_mutex_lock(&lock);
    alone = !looking;
    for (struct th_library *library = alone ? kept : NULL; library; library = library->next)
        if (!library->handle && th_examination_is_unloadable(&library->facts)) {
            TH_ARRAY_GROW(*found, *count, capacity);
            (*found)[(*count)++] = library;
        }
    looking = alone ? *count > 0 : looking;
    pthread_mutex_unlock(&lock);
    return *count > 0;
}

static void take_out(const struct th_library *library)
{
    struct th_library **place = &kept;

    while (*place != library)
        place = &(*place)->next;
    *place = library->next;
}

/* Forgets those that the loader has let go of since. It is asked without the lock, as it has one
 * itself, which a constructor that comes here has already. */
static void forget_gone(void)
{
    struct th_library **found;
    size_t count, gone = 0;

    if (!begin_looking(&found, &count))
        return;
    for (size_t i = 0; i < count; i++)
        if (!is_in_memory(found[i]))
            found[gone++] = found[i];
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < gone; i++)
        take_out(found[i]);
    looking = false;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < gone; i++)
        forget(found[i]);
    th_free(found);
}

void th_library_retire(struct th_library *library)
{
    char *why = why_it_runs(library);

    if (!why)
        th_library_close(library);
    /* Not before it is closed, so that nobody takes its handle for that of a new one. */
    th_registry_remove(library);
    forget_gone();
    if (why) {
        keep(library, why);
        return;
    }
    library->handle = NULL;
    if (is_in_memory(library))
        keep(library, library->kept ? th_strdup(library->kept)
                                    : th_strdup("the loader has not let go of it: for destructors "
                                                "of other threads' thread-local objects, or for a "
                                                "library that needs it"));
    else
        forget(library);
}

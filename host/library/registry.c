#include "library_internal.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/library/debuginfo/line.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `all`, next and users */
static struct th_library *all;

/*
 * Makes a warning if the copy PINNED was replaced by another library of its module; once for each
 * path. NULL: no warning. Owner: the caller frees the text, and holds the lock.
 */
static char *warning_of(struct th_library *pinned)
{
    for (const struct th_library *other = all; other; other = other->next)
        if (other->warned && strcmp(other->facts.path, pinned->facts.path) == 0)
            return NULL;
    for (const struct th_library *other = all; pinned->facts.copy && other; other = other->next)
        if (other->users > 0 && other->name == pinned->name) {
            pinned->warned = true;
            return th_printf("%s was replaced, but stays in memory: %s", pinned->facts.path,
                             pinned->pinned);
        }
    return NULL;
}

static void put_in(struct th_library *library)
{
    library->next = all;
    all = library;
}

static bool registry_take_out(struct th_library *library)
{
    struct th_library **place = &all;

    while (*place && *place != library)
        place = &(*place)->next;
    if (!*place)
        return false;
    *place = library->next;
    return true;
}

void th_library_registry_add(struct th_library *library)
{
    pthread_mutex_lock(&lock);
    put_in(library);
    pthread_mutex_unlock(&lock);
}

void th_library_registry_remove(struct th_library *library)
{
    pthread_mutex_lock(&lock);
    registry_take_out(library);
    pthread_mutex_unlock(&lock);
}

void th_library_registry_pin(struct th_library *library)
{
    char *warning;

    pthread_mutex_lock(&lock);
    registry_take_out(library); /* it is not in the list if it was refused */
    library->users = 0;
    library->retired = true;
    put_in(library);
    warning = warning_of(library);
    pthread_mutex_unlock(&lock);
    if (warning)
        th_warn("%s", warning);
    th_free(warning);
}

void th_library_keep(struct th_library *library)
{
    pthread_mutex_lock(&lock);
    library->users++;
    pthread_mutex_unlock(&lock);
}

bool th_library_registry_leave(struct th_library *library)
{
    bool last;

    pthread_mutex_lock(&lock);
    last = --library->users == 0;
    pthread_mutex_unlock(&lock);
    return last;
}

bool th_library_is_open(const char *path)
{
    struct th_library *library;

    pthread_mutex_lock(&lock);
    library = all;
    while (library && (library->retired || strcmp(library->facts.path, path) != 0))
        library = library->next;
    pthread_mutex_unlock(&lock);
    return library != NULL;
}

size_t th_library_registry_keep_all(struct th_library ***libraries)
{
    size_t count = 0, capacity = 0;

    *libraries = NULL;
    pthread_mutex_lock(&lock);
    for (struct th_library *library = all; library; library = library->next) {
        /* Acquire: with the data that load() left. */
        if (library->users == 0 ||
            atomic_load_explicit(&library->state, memory_order_acquire) != TH_LIBRARY_LOADED)
            continue;
        library->users++;
        TH_ARRAY_GROW(*libraries, count, capacity);
        (*libraries)[count++] = library;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

struct th_library *th_library_registry_find(const struct th_library *wanted, bool *in_use)
{
    struct th_library *library;

    pthread_mutex_lock(&lock);
    /* The handle of a copy is unique. The handle of a library that was just closed may already be
     * another's. */
    for (library = all; library; library = library->next)
        if (library->handle == wanted->handle && !library->facts.copy && !library->retired &&
            (library->users > 0 || (library->facts.device == wanted->facts.device &&
                                    library->facts.inode == wanted->facts.inode)))
            break;
    *in_use = library && library->users > 0;
    if (*in_use)
        library->users++;
    pthread_mutex_unlock(&lock);
    return library;
}

bool th_library_registry_is_taken(const struct th_examination *facts)
{
    bool taken = false;

    pthread_mutex_lock(&lock);
    for (const struct th_library *library = all; library && !taken; library = library->next)
        taken = !library->facts.copy && strcmp(library->facts.path, facts->path) == 0 &&
                (library->retired || library->facts.device != facts->device ||
                 library->facts.inode != facts->inode);
    pthread_mutex_unlock(&lock);
    return taken;
}

struct th_library *th_library_registry_find_file(const struct stat *file)
{
    struct th_library *library;

    pthread_mutex_lock(&lock);
    for (library = all; library; library = library->next)
        if (library->replaceable && library->users > 0 &&
            th_library_examination_is_of(&library->facts, file))
            break;
    if (library)
        library->users++;
    pthread_mutex_unlock(&lock);
    return library;
}

struct th_library *th_library_at(uintptr_t address)
{
    struct th_library *library;

    pthread_mutex_lock(&lock);
    for (library = all; library; library = library->next)
        if (library->users > 0 && th_library_executes(library, address, 1))
            break;
    if (library)
        library->users++;
    pthread_mutex_unlock(&lock);
    return library;
}

/* Relaxed, and release below: load.c reads the count after the threads that were waited for have
 * ended. */
struct th_library *th_library_thread_begins(uintptr_t code)
{
    struct th_library *library;

    pthread_mutex_lock(&lock);
    for (library = all; library && !th_library_executes(library, code, 1); library = library->next)
        ;
    if (library)
        atomic_fetch_add_explicit(&library->threads, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return library;
}

void th_library_thread_ends(struct th_library *library)
{
    if (library)
        atomic_fetch_sub_explicit(&library->threads, 1, memory_order_release);
}

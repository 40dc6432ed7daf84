#include "generation.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* Which file the loader was given under each name. Names stay: libraries that cannot be unloaded
 * keep them. Guarded by the lock, which is not held while the loader is asked. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct given {
    char *name;
    dev_t device;
    ino_t inode;
} * all;
static size_t count, capacity;

static bool is_in_memory(const char *name)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD);

    if (handle)
        dlclose(handle);
    return handle != NULL;
}

/* dir/x.so, dir/./x.so, dir/././x.so, ... There is a slash in each, or the loader would search. */
static char *spell(const char *path, size_t generation)
{
    const char *slash = strrchr(path, '/');
    struct th_buffer name = {0};
    char *spelt;

    if (slash)
        th_buffer_add(&name, path, (size_t)(slash + 1 - path));
    else
        th_buffer_add_text(&name, "./");
    for (size_t i = 0; i < generation; i++)
        th_buffer_add_text(&name, "./");
    th_buffer_add_text(&name, slash ? slash + 1 : path);
    spelt = th_strdup(th_buffer_text(&name));
    th_buffer_free(&name);
    return spelt;
}

static struct given *find(const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

static void note(const char *name, const struct th_examination *facts)
{
    struct given *given;

    pthread_mutex_lock(&lock);
    given = find(name);
    if (!given) {
        TH_ARRAY_GROW(all, count, capacity);
        given = &all[count++];
        given->name = th_strdup(name);
    }
    given->device = facts->device;
    given->inode = facts->inode;
    pthread_mutex_unlock(&lock);
}

/* Nobody is known to have given it to the loader: what it has is what others brought along. */
static bool is_other(const char *name, const struct th_examination *facts)
{
    const struct given *given;
    bool other;

    pthread_mutex_lock(&lock);
    given = find(name);
    other = given && (given->device != facts->device || given->inode != facts->inode);
    pthread_mutex_unlock(&lock);
    return other;
}

char *th_generation_name(const struct th_examination *facts, bool *in_memory)
{
    for (size_t generation = 0;; generation++) {
        char *name = spell(facts->path, generation);
        *in_memory = is_in_memory(name);
        if (!*in_memory || !is_other(name, facts)) {
            note(name, facts);
            return name;
        }
        th_free(name);
    }
}

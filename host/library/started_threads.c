#include "started_threads.h"

#include "load.h"

#include "host/base/base.h"

#include <dirent.h>
#include <linux/ioprio.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEVELS = 8 };

static int priority_of(long thread)
{
    return (int)syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, thread);
}

static bool set_priority(long thread, int priority)
{
    return syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, thread, priority) == 0;
}

static int at_level(int level)
{
    return IOPRIO_CLASS_BE << IOPRIO_CLASS_SHIFT | level;
}

/* The folder of threads has a link for each, besides two. */
static unsigned long count_threads(DIR *folder)
{
    struct stat st;

    return fstat(dirfd(folder), &st) == 0 && st.st_nlink > 2 ? st.st_nlink - 2 : 0;
}

static unsigned long visit(DIR *folder, void (*each)(long thread, void *context), void *context)
{
    unsigned long visited = 0;
    struct dirent *entry;

    rewinddir(folder);
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.') {
            each(strtol(entry->d_name, NULL, 10), context);
            visited++;
        }
    return visited;
}

/*
 * Calls EACH for the threads of this process, for some more than once; false if they are not told.
 * Where threads end while the folder is read, the kernel may leave out others; so it is read again
 * then, but not for ever.
 */
static bool for_threads(void (*each)(long thread, void *context), void *context)
{
    enum { TRIES = 20 };
    DIR *folder = opendir("/proc/self/task");

    if (!folder)
        return false;
    for (int i = 0; i < TRIES; i++) {
        unsigned long before = count_threads(folder);
        unsigned long visited = visit(folder, each, context);
        if (visited == before && before == count_threads(folder))
            break;
    }
    closedir(folder);
    return true;
}

/* --- The mark -------------------------------------------------------------------------------- */

static void note_level(long thread, void *context)
{
    int priority = priority_of(thread);
    bool *taken = context;

    for (int level = 0; level < LEVELS; level++)
        taken[level] |= priority == at_level(level);
}

/* Guards `used`: the levels that openers have now. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static bool used[LEVELS];
static size_t used_count;

/* The free level that is next to what threads have that were not given any, which is 4. */
static int free_level(const bool taken[LEVELS])
{
    static const int levels[LEVELS] = {4, 5, 3, 6, 2, 7, 1, 0};

    for (int i = 0; i < LEVELS; i++)
        if (!taken[levels[i]])
            return levels[i];
    return -1;
}

/* The lock is held. -1: there is none, or threads are not told. */
static int find_level(void)
{
    bool taken[LEVELS];

    for (int level = 0; level < LEVELS; level++)
        taken[level] = used[level];
    return for_threads(note_level, taken) ? free_level(taken) : -1;
}

/*
 * Openers mostly wait for each other anyhow, in the loader, which has a lock for all. One that is
 * in a constructor has that lock, so that nobody whom it waits for could go on: it does not wait.
 * Nor do others for ever, as they may be in a constructor that we know nothing of.
 */
static int take_level(bool *crowded)
{
    enum { LONGEST = 10 }; /* seconds */
    struct timespec end;
    int level, error = 0;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += LONGEST;
    pthread_mutex_lock(&lock);
    while ((level = find_level()) < 0 && used_count > 0 && !th_library_running && error == 0)
        error = pthread_cond_clockwait(&given_back, &lock, CLOCK_MONOTONIC, &end);
    *crowded = level < 0 && used_count > 0;
    if (level >= 0) {
        used[level] = true;
        used_count++;
    }
    pthread_mutex_unlock(&lock);
    return level;
}

static void give_level_back(int level)
{
    pthread_mutex_lock(&lock);
    used[level] = false;
    used_count--;
    pthread_cond_broadcast(&given_back);
    pthread_mutex_unlock(&lock);
}

void th_started_threads_begin(struct th_started_threads *started)
{
    int level;

    *started = (struct th_started_threads){.before = priority_of(0)};
    if (started->before < 0 || (level = take_level(&started->crowded)) < 0)
        return;
    if (set_priority(0, at_level(level)))
        started->mark = at_level(level);
    else
        give_level_back(level);
    /* Of a thread that was given none, some kernels tell a level, which they do not take back. */
    if (started->before >> IOPRIO_CLASS_SHIFT == IOPRIO_CLASS_NONE)
        started->before = 0;
}

/* --- Who has it ------------------------------------------------------------------------------ */

struct search {
    const struct th_started_threads *started;
    struct th_threads *threads;
    bool found;
};

/* False if there is none of that NUMBER, or it does not run code any more. */
static bool read_thread(long number, struct th_thread *thread)
{
    enum { EXITING = 4 }; /* the kernel's PF_EXITING */
    char *path = th_printf("/proc/self/task/%ld/stat", number), line[1024] = "";
    FILE *file = fopen(path, "re");
    const char *rest = NULL;
    unsigned flags;
    char state;

    th_free(path);
    if (file) {
        rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
        fclose(file);
    }
    *thread = (struct th_thread){.number = number};
    return rest &&
           sscanf(rest,
                  ") %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                  "%*d %llu",
                  &state, &flags, &thread->began) == 3 &&
           state != 'Z' && state != 'X' && !(flags & EXITING);
}

static void note_marked(long thread, void *context)
{
    struct search *search = context;
    struct th_thread found;

    if (priority_of(thread) != search->started->mark)
        return;
    search->found = true;
    if (read_thread(thread, &found)) {
        TH_ARRAY_GROW(search->threads->items, search->threads->count, search->threads->capacity);
        search->threads->items[search->threads->count++] = found;
    }
    set_priority(thread, search->started->before);
}

bool th_started_threads_end(const struct th_started_threads *started, struct th_threads *threads)
{
    struct search search = {.started = started, .threads = threads};

    if (!started->mark)
        return started->crowded;
    set_priority(0, started->before);
    for_threads(note_marked, &search);
    give_level_back(started->mark & (LEVELS - 1));
    return search.found;
}

bool th_threads_run(const struct th_threads *threads)
{
    struct th_thread now;

    for (size_t i = 0; i < threads->count; i++)
        if (read_thread(threads->items[i].number, &now) && now.began == threads->items[i].began)
            return true;
    return false;
}

void th_threads_free(struct th_threads *threads)
{
    th_free(threads->items);
    *threads = (struct th_threads){0};
}

#include "started_threads.h"

#include <dirent.h>
#include <linux/ioprio.h>
#include <stdint.h>
#include <stdlib.h>
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

/* Calls EACH for the threads of this process; false if they are not told. */
static bool for_threads(void (*each)(long thread, void *context), void *context)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;

    if (!folder)
        return false;
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            each(strtol(entry->d_name, NULL, 10), context);
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

/* The free level that is next to what threads have that were not given any, which is 4. */
static int free_level(const bool taken[LEVELS])
{
    static const int levels[LEVELS] = {4, 5, 3, 6, 2, 7, 1, 0};

    for (int i = 0; i < LEVELS; i++)
        if (!taken[levels[i]])
            return levels[i];
    return -1;
}

void th_started_threads_begin(struct th_started_threads *started)
{
    bool taken[LEVELS] = {false};
    int level;

    *started = (struct th_started_threads){.before = priority_of(0)};
    if (started->before < 0 || !for_threads(note_level, taken) || (level = free_level(taken)) < 0)
        return;
    if (set_priority(0, at_level(level)))
        started->mark = at_level(level);
    /* Of a thread that was given none, some kernels tell a level, which they do not take back. */
    if (started->before >> IOPRIO_CLASS_SHIFT == IOPRIO_CLASS_NONE)
        started->before = 0;
}

/* --- Who has it ------------------------------------------------------------------------------ */

struct search {
    const struct th_started_threads *started;
    bool found;
};

static void note_marked(long thread, void *context)
{
    struct search *search = context;

    if (priority_of(thread) != search->started->mark)
        return;
    search->found = true;
    set_priority(thread, search->started->before);
}

bool th_started_threads_end(const struct th_started_threads *started)
{
    struct search search = {.started = started};

    if (!started->mark)
        return false;
    set_priority(0, started->before);
    for_threads(note_marked, &search);
    return search.found;
}

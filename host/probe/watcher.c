#include "watcher.h"

#include <fnmatch.h>
#include <string.h>

_Atomic(th_probe_watcher) th_probe_watcher_set;

void th_probe_watch(th_probe_watcher watcher)
{
    atomic_store_explicit(&th_probe_watcher_set, watcher, memory_order_release);
}

/* Relaxed, as the semaphore orders nothing (probe.h); atomic, as outside watchers write it, too. */
void th_probe_raise(const struct th_probe *probe)
{
    __atomic_add_fetch(probe->semaphore, 1, __ATOMIC_RELAXED);
}

void th_probe_lower(const struct th_probe *probe)
{
    __atomic_sub_fetch(probe->semaphore, 1, __ATOMIC_RELAXED);
}

bool th_probe_matches(const struct th_probe *probe, const char *pattern)
{
    return fnmatch(pattern, probe->name, 0) == 0;
}

const struct th_probe *th_probe_find(const char *name)
{
    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        if (strcmp(th_probe_probes[i].name, name) == 0)
            return &th_probe_probes[i];
    return NULL;
}

const char *th_probe_type_name(enum th_probe_type type)
{
    static const char *const names[] = {"char *", "int", "uint32_t", "int64_t"};

    return names[type];
}

int th_probe_type_size(enum th_probe_type type)
{
    static const int sizes[] = {8, -4, 4, -8};

    return sizes[type];
}

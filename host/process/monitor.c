/*
 * Monitors: lists of monitors, found by a hash of the watched identifier.
 *
 * Starting a monitor takes the lock, then checks whether the process is alive. Ending a process
 * publishes its death, then takes the lock. So one of the two always sees the other. (The end of a
 * process that was never observed, th_process_observe(), takes no lock: a monitor that starts later
 * finds the process dead.) Monitors that fire move to a list of the firing thread, under the lock,
 * and leave that list one by one: monitors still in the list can be stopped.
 */
#include "process_internal.h"

#include "host/base/hash.h"
#include "host/base/memory.h"

enum { FEWEST = 64 };

/* Guards the following, and the links of all monitors in lists; no lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_monitor **lists;
static size_t list_count; /* a power of two, or 0 */
static size_t monitor_count;

static void link_monitor(struct th_monitor **list, struct th_monitor *monitor)
{
    monitor->next = *list;
    if (monitor->next)
        monitor->next->place = &monitor->next;
    monitor->place = list;
    *list = monitor;
}

static void unlink_monitor(struct th_monitor *monitor)
{
    *monitor->place = monitor->next;
    if (monitor->next)
        monitor->next->place = monitor->place;
    monitor->place = NULL;
}

static struct th_monitor **monitors_of(th_term id)
{
    return &lists[th_hash_mix(id) & (list_count - 1)];
}

/* At least one list for each monitor, so that a list has one monitor, as a rule. */
static void grow_monitors(void)
{
    struct th_monitor **old = lists;
    size_t old_count = list_count;

    list_count = old_count ? 2 * old_count : FEWEST;
    lists = th_alloc_zero(list_count * sizeof *lists);
    for (size_t i = 0; i < old_count; i++) {
        while (old[i]) {
            struct th_monitor *monitor = old[i];
            unlink_monitor(monitor);
            link_monitor(monitors_of(monitor->watched), monitor);
        }
    }
    th_free(old);
}

bool th_process_monitor_start(struct th_monitor *monitor, th_term id)
{
    bool alive = th_process_observe(id);

    pthread_mutex_lock(&lock);
    monitor->watched = id;
    monitor->place = NULL;
    alive = alive && th_process_alive(id);
    if (alive) {
        if (monitor_count == list_count)
            grow_monitors();
        monitor_count++;
        link_monitor(monitors_of(id), monitor);
    }
    pthread_mutex_unlock(&lock);
    return alive;
}

bool th_process_monitor_stop(struct th_monitor *monitor)
{
    bool was_there;

    pthread_mutex_lock(&lock);
    was_there = monitor->place != NULL;
    if (was_there) {
        unlink_monitor(monitor);
        monitor_count--;
    }
    pthread_mutex_unlock(&lock);
    return was_there;
}

/* Moves the monitors of ID from LIST to FIRING; if ID is TH_NONE, those of recorded identifiers. */
static void move_watchers(struct th_monitor *list, th_term id, struct th_monitor **firing)
{
    while (list) {
        struct th_monitor *next = list->next;
        if (id != TH_NONE ? list->watched == id
                          : th_process_host_life(list->watched) == TH_HOST_NEVER) {
            unlink_monitor(list);
            link_monitor(firing, list);
        }
        list = next;
    }
}

/* The lock is not held while DOWN is called. */
void th_process_monitors_fire(th_term id, th_term reason)
{
    struct th_monitor *firing = NULL;

    pthread_mutex_lock(&lock);
    if (id == TH_NONE)
        for (size_t i = 0; i < list_count; i++)
            move_watchers(lists[i], TH_NONE, &firing);
    else if (list_count > 0)
        move_watchers(*monitors_of(id), id, &firing);
    while (firing) {
        struct th_monitor *monitor = firing;
        unlink_monitor(monitor);
        monitor_count--;
        pthread_mutex_unlock(&lock);
        monitor->down(monitor, reason);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
}

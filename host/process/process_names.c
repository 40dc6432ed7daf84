/*
 * Who has which name: two tables, one for the recording, one for the host's own.
 *
 * A process of the host dies first and loses its name then, under the lock under which names are
 * given to the living: so no name is left with the dead. (If it was attended before:
 * th_process_attend().)
 */
#include "process_internal.h"

#include "host/progress/progress.h"

struct th_name_table th_process_names_recorded;

/* Guards writing the names of the host's own; nothing else is locked while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_name_table names;
static struct th_table name_of; /* id -> its name, the word as the pointer */

th_term th_process_whereis(th_term name)
{
    th_term id;

    if (!th_is_atom(name))
        return TH_NONE;
    th_progress_enter();
    id = th_process_name_table_get(&th_process_names_recorded, name);
    if (id == TH_NONE)
        id = th_process_name_table_get(&names, name);
    th_progress_leave();
    return id;
}

/* Written while nothing happens. */
static const struct th_process_watcher *watcher;

void th_process_watch(const struct th_process_watcher *watches)
{
    watcher = watches;
}

const struct th_process_watcher *th_process_watcher(void)
{
    return watcher;
}

static void tell_named(th_term id, th_term name, bool given)
{
    if (watcher)
        watcher->named(id, name, given);
}

static bool can_have_name(th_term id)
{
    return (th_is_local_pid(id) || th_is_local_port(id)) &&
           th_process_host_life(id) == TH_HOST_RUNNING && !th_hash_table_get(&name_of, id);
}

bool th_process_name_register(th_term name, th_term id)
{
    bool good;

    if (!th_is_atom(name) || name == TH_AM(undefined) || !th_process_attend(id))
        return false;
    pthread_mutex_lock(&lock);
    good = th_process_name_table_get(&names, name) == TH_NONE && can_have_name(id);
    if (good) {
        th_hash_table_set(&name_of, id, (void *)(uintptr_t)name);
        th_process_name_table_set(&names, name, id);
    }
    pthread_mutex_unlock(&lock);
    if (good)
        tell_named(id, name, true);
    return good;
}

bool th_process_name_unregister(th_term name)
{
    th_term id;

    pthread_mutex_lock(&lock);
    id = th_process_name_table_get(&names, name);
    if (id != TH_NONE) {
        th_hash_table_remove(&name_of, id);
        th_process_name_table_set(&names, name, TH_NONE);
    }
    pthread_mutex_unlock(&lock);
    if (id != TH_NONE)
        tell_named(id, name, false);
    return id != TH_NONE;
}

th_term th_process_name_of(th_term id)
{
    th_term name;

    pthread_mutex_lock(&lock);
    name = (th_term)(uintptr_t)th_hash_table_get(&name_of, id);
    pthread_mutex_unlock(&lock);
    return name;
}

th_term th_process_names_end(th_term id)
{
    th_term name;

    pthread_mutex_lock(&lock);
    name = (th_term)(uintptr_t)th_hash_table_remove(&name_of, id);
    if (name != TH_NONE)
        th_process_name_table_set(&names, name, TH_NONE);
    pthread_mutex_unlock(&lock);
    return name;
}

/*
 * Registered names: one table for the recording, one for the host's own.
 *
 * A process of the host dies first and then loses its name, under the lock under which names are
 * given to living processes: so no dead process keeps a name. (If the process was observed before:
 * th_process_observe().)
 */
#include "process_internal.h"

#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/progress/progress.h"
#include "host/term/atom.h"

/* --- Tables: open addressing in places that a reader finds by one pointer --------------------- */

/*
 * A place gets its name once and keeps it; the identifier with the name is a word of its own, which
 * may change or become TH_NONE. So a reader that has found the name reads one word, and each value
 * of the word was valid at some time. When three quarters of the places have names, the names in
 * use move to new places, of which they fill a quarter at most; so at least half as many new names
 * as there are places come between two moves. The old places are freed after a grace period.
 */
enum { FEWEST = 64 };

struct place {
    _Atomic th_term name; /* TH_NONE: free. Release: `id` was written before; acquire. */
    _Atomic th_term id;   /* relaxed: a word that stands for itself */
};

struct th_name_places {
    struct th_later later;
    size_t count; /* a power of two */
    size_t named; /* used by the writer */
    struct place places[];
};

static void free_places(struct th_later *later)
{
    th_free(caa_container_of(later, struct th_name_places, later));
}

/* Returns the place with NAME, or the free one for it. */
static struct place *find_name_place(struct th_name_places *in, th_term name)
{
    for (size_t i = th_hash_mix(name);; i++) {
        struct place *place = &in->places[i & (in->count - 1)];
        th_term found = atomic_load_explicit(&place->name, memory_order_acquire);
        if (found == name || found == TH_NONE)
            return place;
    }
}

static th_term id_at(const struct place *place)
{
    return atomic_load_explicit(&place->id, memory_order_relaxed);
}

/* A place that was free when found may have got another name since. */
th_term th_process_name_table_get(const struct th_name_table *table, th_term name)
{
    struct th_name_places *places = atomic_load_explicit(&table->places, memory_order_acquire);
    const struct place *place;

    if (!places)
        return TH_NONE;
    place = find_name_place(places, name);
    return atomic_load_explicit(&place->name, memory_order_acquire) == name ? id_at(place)
                                                                            : TH_NONE;
}

static bool has_name(const struct place *place)
{
    return atomic_load_explicit(&place->name, memory_order_relaxed) != TH_NONE;
}

static void fill_name_place(struct th_name_places *places, struct place *place, th_term name,
                            th_term id)
{
    atomic_store_explicit(&place->id, id, memory_order_relaxed);
    if (!has_name(place)) {
        places->named++;
        atomic_store_explicit(&place->name, name, memory_order_release);
    }
}

static void publish_names(struct th_name_table *table, struct th_name_places *places)
{
    struct th_name_places *old = atomic_load_explicit(&table->places, memory_order_relaxed);

    atomic_store_explicit(&table->places, places, memory_order_release);
    if (old)
        th_progress_later(&old->later, free_places);
}

/* Returns new places with the names in use of OLD (NULL: none), and with room for more. */
static struct th_name_places *move_names(struct th_name_places *old)
{
    struct th_name_places *places;
    size_t had = 0;
    size_t count = FEWEST;

    for (size_t i = 0; old && i < old->count; i++)
        had += id_at(&old->places[i]) != TH_NONE;
    while (count < 4 * had)
        count *= 2;
    places = th_alloc_zero(sizeof *places + count * sizeof places->places[0]);
    places->count = count;
    for (size_t i = 0; old && i < old->count; i++) {
        th_term id = id_at(&old->places[i]);
        th_term name = atomic_load_explicit(&old->places[i].name, memory_order_relaxed);
        if (id != TH_NONE)
            fill_name_place(places, find_name_place(places, name), name, id);
    }
    return places;
}

void th_process_name_table_set(struct th_name_table *table, th_term name, th_term id)
{
    struct th_name_places *places = atomic_load_explicit(&table->places, memory_order_relaxed);

    if (id == TH_NONE && (!places || !has_name(find_name_place(places, name))))
        return;
    if (!places || 4 * (places->named + 1) > 3 * places->count) {
        places = move_names(places);
        publish_names(table, places);
    }
    fill_name_place(places, find_name_place(places, name), name, id);
}

void th_process_name_table_clear(struct th_name_table *table)
{
    if (atomic_load_explicit(&table->places, memory_order_relaxed))
        publish_names(table, NULL);
}

/* --- The two tables --------------------------------------------------------------------------- */

struct th_name_table th_process_names_recorded;

/* Guards writes to the names of the host's own; no lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_name_table names;
static struct th_table name_of; /* id -> its name; the pointer is the word */

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

th_term th_process_world_named(th_term name, unsigned peer)
{
    th_term id;

    th_progress_enter();
    id = th_process_name_table_get(&th_process_names_recorded, th_process_name_key(name, peer));
    th_progress_leave();
    return id;
}

/* Written while no process runs. */
const struct th_process_watcher *th_process_watching;

void th_process_watch(const struct th_process_watcher *watcher)
{
    th_process_watching = watcher;
}

bool th_process_name_register(th_term name, th_term id)
{
    bool good;

    if (!th_is_atom(name) || name == TH_AM(undefined) || !th_process_observe(id))
        return false;
    pthread_mutex_lock(&lock);
    good = th_process_name_table_get(&names, name) == TH_NONE &&
           (th_is_local_pid(id) || th_is_local_port(id)) &&
           th_process_host_life(id) == TH_HOST_RUNNING && !th_hash_table_get(&name_of, id);
    if (good) {
        th_hash_table_set(&name_of, id, (void *)(uintptr_t)name);
        th_process_name_table_set(&names, name, id);
    }
    pthread_mutex_unlock(&lock);
    if (good && th_process_watching)
        th_process_watching->named(id, name, true);
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
    if (id != TH_NONE && th_process_watching)
        th_process_watching->named(id, name, false);
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

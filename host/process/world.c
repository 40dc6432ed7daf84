/*
 * The world: processes and ports of the recording.
 *
 * A hash table finds structs by the identifier's word. The events of a stream come in runs of the
 * same tracee, so the last struct is remembered and costs one comparison. Identifiers that are no
 * immediates (numbers out of a BEAM's range, in a damaged or artificial recording) are found by a
 * hash of their content; two of them with the same hash share a struct, without other harm.
 *
 * When there are many structs, a sweep drops those without data that were not seen since the sweep
 * before. The next sweep follows when the number of structs has doubled, so that sweeping costs
 * constant time for each event.
 */
#include "process_internal.h"

#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/term/atom.h"
#include "host/term/compare.h"
#include "host/term/make.h"
#include "host/term/peer.h"

#include <string.h>

/* --- Identifiers seen, identifiers ended: pages of bits --------------------------------------- */

/*
 * Pages are only added. They are published, like the array that finds them by hash, with a release
 * store and read with an acquire load: a reader finds a page zeroed and with its key. When the
 * array is three quarters full, a larger one is filled and published. Old arrays are kept, as
 * readers may use them; sizes double, so that all old arrays together are smaller than the newest.
 * A new world clears the bits and keeps the pages.
 */
enum { FIRST_PLACES = 64 };

struct places {
    struct places *older;
    size_t mask;
    struct th_life_page *_Atomic pages[];
};

struct th_life_page *_Atomic th_process_life_direct[2][TH_LIFE_DIRECT];

static struct places *_Atomic places; /* written by the world's thread only, as the following */
static size_t place_count;            /* pages found by hash */
static struct th_life_page *all_pages;

/* Never 0, as the place is not direct. */
static uint64_t life_key(struct th_life_place place)
{
    return place.page << 1 | place.port;
}

/* Returns the place of the page with KEY, or the free one for it; *PAGE is the page or NULL. */
static struct th_life_page *_Atomic *find_life_place(struct places *table, uint64_t key,
                                                     struct th_life_page **page)
{
    for (size_t i = th_hash_mix(key) & table->mask;; i = (i + 1) & table->mask) {
        *page = atomic_load_explicit(&table->pages[i], memory_order_acquire);
        if (!*page || (*page)->key == key)
            return &table->pages[i];
    }
}

static struct places *grow_places(struct places *old)
{
    size_t count = old ? 2 * (old->mask + 1) : FIRST_PLACES;
    struct places *table = th_alloc_zero(sizeof *table + count * sizeof table->pages[0]);

    table->older = old;
    table->mask = count - 1;
    for (size_t i = 0; old && i <= old->mask; i++) {
        struct th_life_page *page = atomic_load_explicit(&old->pages[i], memory_order_relaxed);
        struct th_life_page *none;
        if (page)
            atomic_store_explicit(find_life_place(table, page->key, &none), page,
                                  memory_order_relaxed);
    }
    atomic_store_explicit(&places, table, memory_order_release);
    return table;
}

/* Records FACT of ID, a local pid or port. Returns true if the fact is new. */
static bool note_life(th_term id, enum th_life fact)
{
    struct th_life_place place = th_process_life_place(id);
    struct places *table = atomic_load_explicit(&places, memory_order_relaxed);
    struct th_life_page *_Atomic *where;
    uint64_t mask = (uint64_t)1 << place.bit % 64;
    struct th_life_page *page;
    _Atomic uint64_t *word;
    uint64_t old;

    if (place.page < TH_LIFE_DIRECT) {
        where = &th_process_life_direct[place.port][place.page];
    } else {
        if (!table || 4 * place_count >= 3 * (table->mask + 1))
            table = grow_places(table);
        where = find_life_place(table, life_key(place), &page);
        place_count += !page;
    }
    page = atomic_load_explicit(where, memory_order_relaxed);
    if (!page) {
        page = th_alloc_zero(sizeof *page);
        page->key = life_key(place);
        page->next = all_pages;
        all_pages = page;
        atomic_store_explicit(where, page, memory_order_release);
    }
    word = &page->bits[fact][place.bit / 64];
    old = atomic_load_explicit(word, memory_order_relaxed);
    atomic_store_explicit(word, old | mask, memory_order_relaxed);
    return !(old & mask);
}

const struct th_life_page *th_process_life_find(struct th_life_place place)
{
    struct places *table = atomic_load_explicit(&places, memory_order_acquire);
    struct th_life_page *page = NULL;

    if (table)
        find_life_place(table, life_key(place), &page);
    return page;
}

/* --- The world -------------------------------------------------------------------------------- */

enum { FIRST_SWEEP = 65536 };

static struct {
    struct th_table processes; /* process_key(id) -> struct th_recorded_process */
    th_term last_id;           /* of `last`; TH_NONE: no last one */
    struct th_recorded_process *last;
    struct th_recorded_process *spare; /* free structs, linked through `tracing` */
    size_t sweep_at;                   /* number of structs at which a sweep follows */
    uint32_t sweeps;
    uint64_t seen, ended;
    void (*drop)(struct th_recorded_process *process);
} world = {.sweep_at = FIRST_SWEEP}; /* used by the thread that replays only */

/* The node and creation that are local, atom index << 32 | creation; 0: the host itself. */
static _Atomic uint64_t world_node; /* relaxed: one word, complete in itself */

static bool is_immediate_id(th_term id)
{
    return th_is_local_pid(id) || th_is_local_port(id);
}

/* An immediate identifier has a bit set in the low four, so the two kinds of keys differ. */
static uint64_t process_key(th_term id)
{
    return is_immediate_id(id) ? id : th_internal_hash(id, 0) << 4 | (uint64_t)1 << 63;
}

/* Returns the index of the node of ID, any pid or port: 0, that of a peer, or one more than any. */
static unsigned node_index(th_term id)
{
    struct th_pid_parts pid;
    struct th_port_parts port = {0};
    unsigned peer;

    if (is_immediate_id(id))
        return th_peer_of(id);
    if (th_get_pid(id, &pid))
        port = (struct th_port_parts){pid.node, pid.creation, 0};
    else
        th_get_port(id, &port);
    if (port.node == TH_NONE)
        return 0;
    peer = th_peer_find(port.node, port.creation);
    return peer ? peer : TH_PEERS_MAX + 1;
}

static __attribute__((noinline)) void forget_registered_name(struct th_recorded_process *process)
{
    th_term key = th_process_name_key(process->name, th_peer_of(process->id));

    th_process_name_table_set(&th_process_names_recorded, key, TH_NONE);
    process->name = TH_NONE;
}

/* Most processes have no name. */
static inline void forget_name(struct th_recorded_process *process)
{
    if (process->name != TH_NONE)
        forget_registered_name(process);
}

void th_process_world_each(void (*seen)(void *context, const struct th_recorded_process *process),
                           void *context)
{
    struct th_slot *slot;
    size_t position = 0;

    while ((slot = th_hash_table_next(&world.processes, &position)))
        seen(context, slot->value);
}

/* Frees PROCESS, which is in the table no more. */
static void drop_process(struct th_recorded_process *process)
{
    if (process->tracing && world.drop)
        world.drop(process);
    if (process == world.last)
        world.last_id = TH_NONE;
    process->tracing = world.spare;
    world.spare = process;
}

static void sweep_processes(void)
{
    uint64_t *idle = th_alloc(world.processes.count * sizeof *idle);
    struct th_slot *slot;
    size_t position = 0;
    size_t count = 0;

    while ((slot = th_hash_table_next(&world.processes, &position))) {
        const struct th_recorded_process *process = slot->value;
        if (!process->tracing && process->name == TH_NONE && process->seen != world.sweeps)
            idle[count++] = slot->key;
    }
    for (size_t i = 0; i < count; i++)
        drop_process(th_hash_table_remove(&world.processes, idle[i]));
    th_free(idle);
    world.sweeps++;
    world.last_id = TH_NONE; /* so that the next sight records the new sweep */
    world.sweep_at = 2 * world.processes.count;
    if (world.sweep_at < FIRST_SWEEP)
        world.sweep_at = FIRST_SWEEP;
}

static struct th_recorded_process *add_world_process(th_term id, uint64_t key)
{
    struct th_recorded_process *process;

    if (world.processes.count >= world.sweep_at)
        sweep_processes();
    process = world.spare;
    if (process)
        world.spare = process->tracing;
    else
        process = th_alloc(sizeof *process);
    *process = (struct th_recorded_process){
        .id = is_immediate_id(id) ? id : TH_NONE,
        .name = TH_NONE,
        .seen = world.sweeps,
        .expected = true,
    };
    th_hash_table_set(&world.processes, key, process);
    return process;
}

static __attribute__((noinline)) struct th_recorded_process *see_another(th_term id)
{
    uint64_t key = process_key(id);
    struct th_recorded_process *process = th_hash_table_get(&world.processes, key);

    if (!process)
        process = add_world_process(id, key);
    if (process->expected) {
        process->expected = false;
        world.seen += process->id == TH_NONE || note_life(id, TH_LIFE_SEEN);
    }
    process->seen = world.sweeps;
    if (is_immediate_id(id)) {
        world.last_id = id;
        world.last = process;
    }
    return process;
}

struct th_recorded_process *th_process_world_see(th_term id)
{
    if (__builtin_expect(id == world.last_id, 1))
        return world.last;
    return see_another(id);
}

struct th_recorded_process *th_process_world_expect(th_term id)
{
    uint64_t key = process_key(id);
    struct th_recorded_process *process = th_hash_table_get(&world.processes, key);

    return process ? process : add_world_process(id, key);
}

struct th_recorded_process *th_process_world_find(th_term id)
{
    return th_hash_table_get(&world.processes, process_key(id));
}

void th_process_world_end(th_term id)
{
    struct th_recorded_process *process = th_hash_table_remove(&world.processes, process_key(id));
    bool immediate = is_immediate_id(id);

    if (process) {
        forget_name(process);
        drop_process(process);
    }
    if (immediate && note_life(id, TH_LIFE_SEEN))
        world.seen++;
    if (!immediate || note_life(id, TH_LIFE_ENDED))
        world.ended++;
    if (immediate)
        th_process_monitors_fire(id, TH_AM(noproc));
}

void th_process_world_reset(void (*drop)(struct th_recorded_process *process))
{
    struct th_slot *slot;
    size_t position = 0;

    while ((slot = th_hash_table_next(&world.processes, &position))) {
        struct th_recorded_process *process = slot->value;
        if (process->tracing && drop)
            drop(process);
        th_free(process);
    }
    while (world.spare) {
        struct th_recorded_process *process = world.spare;
        world.spare = process->tracing;
        th_free(process);
    }
    th_hash_table_free(&world.processes);
    th_process_name_table_clear(&th_process_names_recorded);
    memset(&world, 0, sizeof world);
    world.sweep_at = FIRST_SWEEP;
    world.drop = drop;
    for (struct th_life_page *page = all_pages; page; page = page->next) {
        for (size_t word = 0; word < TH_LIFE_PAGE_BITS / 64; word++) {
            atomic_store_explicit(&page->bits[TH_LIFE_SEEN][word], 0, memory_order_relaxed);
            atomic_store_explicit(&page->bits[TH_LIFE_ENDED][word], 0, memory_order_relaxed);
        }
    }
    th_process_world_set_node((struct th_etf_node){0});
    th_process_monitors_fire(TH_NONE, th_atom("noconnection"));
}

static bool has_named; /* used by the thread that replays only */

bool th_process_world_has_named(void)
{
    return has_named;
}

void th_process_world_register(th_term id, th_term name)
{
    struct th_recorded_process *process = th_process_world_see(id);

    has_named = true;
    if (process->name == name)
        return;
    th_process_world_unregister(id, name);
    forget_name(process);
    if (process->id == TH_NONE)
        return; /* only identifiers that can be shown get a name */
    process->name = name;
    th_process_name_table_set(&th_process_names_recorded, th_process_name_key(name, th_peer_of(id)),
                              id);
}

void th_process_world_unregister(th_term id, th_term name)
{
    th_term named = th_process_name_table_get(&th_process_names_recorded,
                                              th_process_name_key(name, node_index(id)));

    if (named != TH_NONE)
        forget_name(th_process_world_find(named));
}

struct th_world_counts th_process_world_counts(void)
{
    return (struct th_world_counts){world.processes.count, world.seen, world.ended};
}

/* The inverse of th_process_life_place(). */
static th_term life_id(const struct th_life_page *page, uint32_t bit)
{
    uint64_t number = (page->key >> 1) * TH_LIFE_PAGE_BITS + bit;

    if (page->key & 1)
        return number << 4 | TH_TAG_PORT;
    return (number & 0x1FFFFFFF) << 35 | (number >> 28 & 0x7FFFFFFF0) | TH_TAG_PID;
}

bool th_process_world_each_seen(void (*seen)(void *context, th_term id), void *context)
{
    uint64_t count = 0;

    for (const struct th_life_page *page = all_pages; page; page = page->next)
        for (uint32_t bit = 0; bit < TH_LIFE_PAGE_BITS; bit++)
            if (atomic_load_explicit(&page->bits[TH_LIFE_SEEN][bit / 64], memory_order_relaxed) >>
                    bit % 64 &
                1) {
                seen(context, life_id(page, bit));
                count++;
            }
    return count == world.seen;
}

void th_process_world_set_node(struct th_etf_node node)
{
    uint64_t index = node.node ? th_atom_index(node.node) : 0; /* 0 is `false`: no name */

    atomic_store_explicit(&world_node, index << 32 | node.creation, memory_order_relaxed);
}

struct th_etf_node th_process_world_node(void)
{
    uint64_t packed = atomic_load_explicit(&world_node, memory_order_relaxed);
    th_term index = packed >> 32;

    return (struct th_etf_node){index ? index << 6 | TH_TAG_ATOM : 0, (uint32_t)packed};
}

/* A separate function, so that th_process_alive() saves no registers. */
__attribute__((noinline)) static bool is_recorded_alive(th_term id)
{
    return is_immediate_id(id) && !th_process_life_ended(id);
}

bool th_process_alive(th_term id)
{
    enum th_host_life life = th_process_host_life(id);

    return life == TH_HOST_NEVER ? is_recorded_alive(id) : life == TH_HOST_RUNNING;
}

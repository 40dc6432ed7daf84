/*
 * What the files of process/ share: slots, the host's own processes, lives, names, monitors. Inner
 * header of process/.
 */
#ifndef TH_PROCESS_INTERNAL_H
#define TH_PROCESS_INTERNAL_H

#include "process.h"

#include "host/term/word.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- Slots, where the host's own processes and ports live (host_process.c) ------------------- */

/*
 * Slots are made in pages that never move and are never freed; who has stopped leaves its slot to a
 * later one, whose identifier has the next serial. So any thread may look at the slot that an
 * identifier names, whatever became of it, without a lock: it is always a slot. A pid's number is
 * the slot's index + 1; a port's id has the index in its low bits and the serial above.
 */

enum th_host_kind { TH_HOST_PROCESS, TH_HOST_PORT };

enum {
    TH_HOST_INDEX_BITS = 24, /* of a port's id */
    TH_HOST_MOST = 1 << TH_HOST_INDEX_BITS,
    TH_HOST_PAGE = 256 /* slots */
};

struct th_mailbox {
    /* Held while the process receives, so that messages come one at a time and stopping waits for
     * the last. Guards what follows, but for what says otherwise. Nothing of this room is locked
     * while it is held; what `receive` locks is its own matter. */
    pthread_mutex_t lock;
    /* The pid or port, TH_NONE while nobody is here. Written under `lock`. Release: what the slot
     * holds for this identifier came before; acquire. */
    _Atomic th_term id;
    _Atomic uint32_t serial; /* of the latest identifier; relaxed: only ever grows, and with `id` */
    /* Has a mailbox, does not receive. Relaxed: comes with `id`, and whoever acts on it asks for
     * `id` again under the lock. */
    _Atomic bool has_mailbox;
    void (*receive)(void *context, th_term message);
    th_host_arrived *arrived;
    void *context;
    struct th_message *first, **last; /* the mailbox; `last` is where the next message goes */
    uint64_t mail_count;              /* messages in it */
    const _Atomic uint64_t *kept;     /* see th_process_start_mailbox(); NULL: none */
    bool observed;                    /* see th_process_observe() */
    uint32_t index;                   /* constant */
    struct th_mailbox *next_free;     /* under the lock of the free slots */
};

/* Release: the page is clear; acquire. */
extern struct th_mailbox *_Atomic th_process_host_pages[TH_HOST_MOST / TH_HOST_PAGE];

/* Whether ID, a local pid or port, is of those that are the host's. (For a pid: the bits of its
 * word that the serial has from TH_HOST_SERIAL on.) */
static inline bool th_process_slot_may_have(th_term id)
{
    const th_term serial_bits = th_local_pid(0, ~(uint32_t)(TH_HOST_SERIAL - 1)) ^ TH_TAG_PID;

    return th_is_local_port(id) ? th_local_port_id(id) >= TH_HOST_PORT_ID : id & serial_bits;
}

/* The slot that an identifier names that may be the host's; NULL: there is none. */
static inline struct th_mailbox *th_process_slot_of(th_term id)
{
    uint32_t index = th_is_local_port(id) ? th_local_port_id(id) & (TH_HOST_MOST - 1)
                                          : th_local_pid_number(id) - 1;
    struct th_mailbox *page;

    if (index >= TH_HOST_MOST)
        return NULL;
    page = atomic_load_explicit(&th_process_host_pages[index / TH_HOST_PAGE], memory_order_acquire);
    return page ? &page[index % TH_HOST_PAGE] : NULL;
}

enum th_host_life { TH_HOST_NEVER, TH_HOST_STOPPED, TH_HOST_RUNNING };

/* Whether ID is one of the host's. One that it has not given out yet counts as one that has
 * stopped: no recording has it. Never, for what is no local pid or port. Pids that live go straight
 * through. */
static inline enum th_host_life th_process_host_life(th_term id)
{
    const struct th_mailbox *slot;

    if (__builtin_expect(!th_process_slot_may_have(id), 0))
        return TH_HOST_NEVER;
    slot = th_process_slot_of(id);
    if (__builtin_expect(slot && atomic_load_explicit(&slot->id, memory_order_acquire) == id, 1))
        return TH_HOST_RUNNING;
    return th_is_local_pid(id) || th_is_local_port(id) ? TH_HOST_STOPPED : TH_HOST_NEVER;
}

/* --- The host's own processes and ports (host_process.c). Any thread. ------------------------ */

/* Calls the `receive` of ID, which was a running process or port of the host. False if ID has
 * stopped, or has no `receive`. */
bool th_process_receive(th_term id, th_term message);

/* Starts a port: as th_process_start(), but what is sent are commands. RECEIVE may be NULL: it
 * takes none. */
struct th_mailbox *th_process_host_port_start(void (*receive)(void *context, th_term command),
                                              void *context);

/* Whether ID is a port of the host that runs and takes commands. */
bool th_process_host_port_takes(th_term id);

/*
 * ID is about to get a name, or to be watched, if it still lives then. False: it is one of the
 * host's that is dead. Who ends it need not look for a name, or for those who watch, unless this
 * came before; and most processes have neither. What is not the host's is left alone. Any thread,
 * with no lock held that is taken while a process receives.
 */
bool th_process_observe(th_term id);

/* The first half of th_process_exit(): all but telling those who watch it. The identifier that
 * it had; REMAINS is what it leaves behind. */
th_term th_process_die(struct th_mailbox *process, struct th_host_remains *remains);

/* --- Who was ever seen, and who has ended (world.c) ------------------------------------------ */

/*
 * Two bits an identifier. One thread writes, the one that the world belongs to; any thread reads,
 * without a lock.
 *
 * Identifiers are handed out in sequence, so the low bits of their number choose a bit in a page
 * and the rest finds the page: in an array for the first TH_LIFE_DIRECT pages of pids and of ports,
 * which are all that most recordings have; by a hash for others.
 */

enum th_life { TH_LIFE_SEEN, TH_LIFE_ENDED, TH_LIFE_FACTS };

enum { TH_LIFE_PAGE_BITS = 256, TH_LIFE_DIRECT = 4096 };

struct th_life_page {
    uint64_t key;              /* of one found by hash */
    struct th_life_page *next; /* in the list of all; used by who writes */
    /* Relaxed: a bit stands for itself, nothing else is read because of it. */
    _Atomic uint64_t bits[TH_LIFE_FACTS][TH_LIFE_PAGE_BITS / 64];
};

/* Of pids, and of ports. Release: the page is clear; acquire. */
extern struct th_life_page *_Atomic th_process_life_direct[2][TH_LIFE_DIRECT];

/* Where the bits of an identifier are. */
struct th_life_place {
    uint64_t page; /* for a direct one below TH_LIFE_DIRECT */
    uint32_t bit;
    bool port;
};

/* ID is a local pid or port. The number and serial of a pid, where no bits but the usual are in
 * use, lie side by side in its word; where others are, the place is beyond the direct ones. */
static inline struct th_life_place th_process_life_place(th_term id)
{
    bool port = th_is_local_port(id);
    uint64_t number = port ? th_local_port_id(id) : id >> 35 | (id & 0x7FFFFFFF0) << 28;

    return (struct th_life_place){number / TH_LIFE_PAGE_BITS, number % TH_LIFE_PAGE_BITS, port};
}

/* The page of a place that is not direct; NULL: there is none. Any thread. */
const struct th_life_page *th_process_life_find(struct th_life_place place);

/* Whether ID, a local pid or port, is known to have ended. Any thread. */
static inline bool th_process_life_ended(th_term id)
{
    struct th_life_place place = th_process_life_place(id);
    const struct th_life_page *page;

    if (__builtin_expect(place.page < TH_LIFE_DIRECT, 1))
        page = atomic_load_explicit(&th_process_life_direct[place.port][place.page],
                                    memory_order_acquire);
    else
        page = th_process_life_find(place);
    return page &&
           atomic_load_explicit(&page->bits[TH_LIFE_ENDED][place.bit / 64], memory_order_relaxed) >>
                   place.bit % 64 &
               1;
}

/* --- Tables of names (process_names.c) ------------------------------------------------------- */

/* From atoms to pids and ports. One thread at a time writes a table; any may read it, without a
 * lock. */

struct th_name_places;

/* {0} is an empty table. */
struct th_name_table {
    struct th_name_places *_Atomic places; /* release: they are filled in; acquire */
};

/* Who has NAME, TH_NONE: nobody. In a read section (progress/), or by who writes. */
th_term th_process_name_table_get(const struct th_name_table *table, th_term name);

/* Gives NAME, an atom, to ID; to nobody if that is TH_NONE. */
void th_process_name_table_set(struct th_name_table *table, th_term name, th_term id);

/* Forgets all names. */
void th_process_name_table_clear(struct th_name_table *table);

/* NULL: nobody watches. Written while nothing happens. */
extern const struct th_process_watcher *th_process_watching;

/* The names of the recording. Written by the world's thread only. */
extern struct th_name_table th_process_names_recorded;

/* ID, a process or port of the host, is dead; so is its name, which is returned (TH_NONE: none). */
th_term th_process_names_end(th_term id);

/* --- Monitors (monitor.c) -------------------------------------------------------------------- */

/* Fires the monitors of ID, which is dead already for everyone who asks; TH_NONE: those of all that
 * was recorded. Calls DOWN, in the calling thread: no lock may be held. */
void th_process_monitors_fire(th_term id, th_term reason);

#endif

/*
 * Interfaces between the files of process/: slots of the host's own processes, life bits of
 * recorded ones, names, monitors. Inner header of process/.
 */
#ifndef TH_PROCESS_INTERNAL_H
#define TH_PROCESS_INTERNAL_H

#include "process.h"

#include "host/term/word.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- Slots of the host's own processes and ports (host_process.c) ----------------------------- */

/*
 * Slots are allocated in pages that never move and are never freed. The slot of a stopped process
 * is used again for a later one with the next serial. So any thread may read the slot of an
 * identifier without a lock, whether the process lives or not. The number of a pid is the slot's
 * index + 1; the id of a port has the index in its low bits and the serial above.
 */

enum th_host_kind { TH_HOST_PROCESS, TH_HOST_PORT };

enum { TH_HOST_PAGE = 256 /* slots */ };

struct th_mailbox {
    /* Held while the process receives, so that messages come one at a time and stopping waits for
     * the last. Guards the following fields without another rule. This room takes no other lock
     * under it; `receive` may take locks. */
    pthread_mutex_t lock;
    /* The pid or port; TH_NONE while the slot is free. Written under `lock`. Release: the other
     * fields for this identifier were written before; acquire. */
    _Atomic th_term id;
    _Atomic uint32_t serial; /* of the latest identifier; relaxed: only grows, together with `id` */
    /* Has a mailbox, and no `receive`. Relaxed: written before `id`, and users check `id` again
     * under the lock. */
    _Atomic bool has_mailbox;
    void (*receive)(void *context, th_term message);
    th_host_arrived *arrived;
    void *context;
    struct th_message *first, **last; /* the mailbox; `last`: link for the next message */
    uint64_t mail_count;              /* messages in it */
    const _Atomic uint64_t *kept;     /* see th_process_start_mailbox(); NULL: none */
    bool observed;                    /* see th_process_observe() */
    uint32_t index;                   /* constant */
    struct th_mailbox *next_free;     /* under the lock of the free slots */
};

/* Release: the page is zeroed; acquire. */
extern struct th_mailbox *_Atomic th_process_host_pages[TH_HOST_MOST / TH_HOST_PAGE];

/* Returns whether ID, a local pid or port, is in the host's own range. For a pid: a bit of the
 * serial from TH_HOST_SERIAL on is set. */
static inline bool th_process_slot_may_have(th_term id)
{
    const th_term serial_bits =
        th_local_pid(0, TH_PID_SERIAL_MAX & ~(uint32_t)(TH_HOST_SERIAL - 1)) ^ TH_TAG_PID;

    return th_is_local_port(id) ? th_local_port_id(id) >= TH_HOST_PORT_ID : id & serial_bits;
}

/* Returns the slot of ID, which may be the host's; NULL: there is none. */
static inline struct th_mailbox *th_process_slot_of(th_term id)
{
    uint32_t index = th_process_host_index(id);
    struct th_mailbox *page;

    if (index >= TH_HOST_MOST)
        return NULL;
    page = atomic_load_explicit(&th_process_host_pages[index / TH_HOST_PAGE], memory_order_acquire);
    return page ? &page[index % TH_HOST_PAGE] : NULL;
}

enum th_host_life { TH_HOST_NEVER, TH_HOST_STOPPED, TH_HOST_RUNNING };

/* Returns the state of ID among the host's own. An identifier that was not given out yet counts as
 * stopped: no recording has it. TH_HOST_NEVER for terms that are no pid or port of this node. Fast
 * for pids that live. */
static inline enum th_host_life th_process_host_life(th_term id)
{
    const struct th_mailbox *slot;

    if (__builtin_expect(!th_process_slot_may_have(id), 0))
        return TH_HOST_NEVER;
    slot = th_process_slot_of(id);
    if (__builtin_expect(slot && atomic_load_explicit(&slot->id, memory_order_acquire) == id, 1))
        return TH_HOST_RUNNING;
    return (th_is_local_pid(id) || th_is_local_port(id)) && th_peer_of(id) == 0 ? TH_HOST_STOPPED
                                                                                : TH_HOST_NEVER;
}

/* --- The host's own processes and ports (host_process.c) -------------------------------------- */

/* Calls the `receive` of ID, which was a running process or port of the host. Returns false if ID
 * has stopped or has no `receive`.
 * Thread: any, as for the other functions of this section. */
bool th_process_receive(th_term id, th_term message);

/* Starts a port, as th_process_start() starts a process: RECEIVE gets commands instead of messages.
 * If RECEIVE is NULL, the port takes no commands. */
struct th_mailbox *th_process_host_port_start(void (*receive)(void *context, th_term command),
                                              void *context);

/* Returns whether ID is a running port of the host that takes commands. */
bool th_process_host_port_takes(th_term id);

/*
 * Marks ID as observed if it lives, before it gets a name or a monitor. Returns false if ID is a
 * dead one of the host's own; ignores others. The end of an unobserved process, the common case,
 * need not look for a name and monitors.
 * Thread: any, with no lock held that a `receive` takes.
 */
bool th_process_observe(th_term id);

/* First half of th_process_exit(): does all but firing the monitors. Returns the former identifier;
 * REMAINS gets the contents. */
th_term th_process_die(struct th_mailbox *process, struct th_host_remains *remains);

/* --- Life bits: identifiers seen, identifiers ended (world.c) --------------------------------- */

/*
 * Two bits for each identifier. The world's thread writes; any thread reads, without a lock.
 *
 * Identifiers are assigned in sequence. So the low bits of their number select a bit in a page, and
 * the other bits select the page: in an array for the first TH_LIFE_DIRECT pages of pids and of
 * ports, which suffice for most recordings; by a hash for other pages.
 */

enum th_life { TH_LIFE_SEEN, TH_LIFE_ENDED, TH_LIFE_FACTS };

enum { TH_LIFE_PAGE_BITS = 256, TH_LIFE_DIRECT = 4096 };

struct th_life_page {
    uint64_t key;              /* of a page found by hash */
    struct th_life_page *next; /* in the list of all; used by the writer */
    /* Relaxed: each bit stands for itself, no other data depend on it. */
    _Atomic uint64_t bits[TH_LIFE_FACTS][TH_LIFE_PAGE_BITS / 64];
};

/* Pages of pids, and of ports. Release: the page is zeroed; acquire. */
extern struct th_life_page *_Atomic th_process_life_direct[2][TH_LIFE_DIRECT];

/* Place of an identifier's bits. */
struct th_life_place {
    uint64_t page; /* direct if below TH_LIFE_DIRECT */
    uint32_t bit;
    bool port;
};

/* Returns the place of ID, a local pid or port. Number and serial of a pid lie side by side in its
 * word if only the usual bits are in use; with other bits, as those of a peer, the place is beyond
 * the direct ones. */
static inline struct th_life_place th_process_life_place(th_term id)
{
    bool port = th_is_local_port(id);
    uint64_t number = port ? id >> 4 : id >> 35 | (id & 0x7FFFFFFF0) << 28;

    return (struct th_life_place){number / TH_LIFE_PAGE_BITS, number % TH_LIFE_PAGE_BITS, port};
}

/* Returns the page of PLACE, which is not direct; NULL: none.
 * Thread: any. */
const struct th_life_page *th_process_life_find(struct th_life_place place);

/* Returns whether ID, a local pid or port, is known to have ended.
 * Thread: any. */
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

/* Tables from atoms to pids and ports. One thread at a time writes a table; any thread reads,
 * without a lock. */

struct th_name_places;

/* {0} is an empty table. */
struct th_name_table {
    struct th_name_places *_Atomic places; /* release: the places are filled in; acquire */
};

/* Returns the identifier with NAME, an atom or a key; TH_NONE: none. In a reader section (progress/), or by the
 * writer. */
th_term th_process_name_table_get(const struct th_name_table *table, th_term name);

/* Gives NAME, an atom or a key, to ID; removes NAME if ID is TH_NONE. */
void th_process_name_table_set(struct th_name_table *table, th_term name, th_term id);

/* Removes all names. */
void th_process_name_table_clear(struct th_name_table *table);

/* NULL: none. Written while no process runs. */
extern const struct th_process_watcher *th_process_watching;

/* Names of the recording, as th_process_name_key(). Written by the world's thread only. */
extern struct th_name_table th_process_names_recorded;

/* Returns NAME, an atom, as a name of the node with INDEX: NAME itself for this node, 0. The name is
 * in the low bits of its word. */
static inline th_term th_process_name_key(th_term name, unsigned index)
{
    return name | (th_term)index << 56;
}

/* Removes and returns the name of ID, a dead process or port of the host; TH_NONE: none. */
th_term th_process_names_end(th_term id);

/* --- Monitors (monitor.c) -------------------------------------------------------------------- */

/* Fires the monitors of ID; TH_NONE: of all recorded identifiers. Calls DOWN in the calling thread.
 * Order: after th_process_alive(ID) has become false.
 * Thread: no lock may be held. */
void th_process_monitors_fire(th_term id, th_term reason);

#endif

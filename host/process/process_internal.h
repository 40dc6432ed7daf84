/*
 * Slots: where the host's own processes and ports live. Inside process/ only.
 *
 * Slots are made in pages that never move and are never freed; who has stopped leaves its slot to a
 * later one, whose identifier has the next serial. So any thread may look at the slot that an
 * identifier names, whatever became of it, without a lock: it is always a slot. A pid's number is
 * the slot's index + 1; a port's id has the index in its low bits and the serial above.
 */
#ifndef TH_HOST_SLOT_H
#define TH_HOST_SLOT_H

#include "process.h"

#include <pthread.h>
#include <stdatomic.h>

enum th_host_kind { TH_HOST_PROCESS, TH_HOST_PORT };

enum {
    TH_HOST_INDEX_BITS = 24, /* of a port's id */
    TH_HOST_MOST = 1 << TH_HOST_INDEX_BITS,
    TH_HOST_PAGE = 256 /* slots */
};

struct th_host_process {
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
    struct th_message *first, **last;  /* the mailbox; `last` is where the next message goes */
    uint64_t mail_count;               /* messages in it */
    const _Atomic uint64_t *kept;      /* see th_host_process_start_mailbox(); NULL: none */
    bool attended;                     /* see th_host_process_attend() */
    uint32_t index;                    /* constant */
    struct th_host_process *next_free; /* under the lock of the free slots */
};

/* A slot that nobody else uses; back again. */
struct th_host_process *th_host_slot_take(void);
void th_host_slot_give(struct th_host_process *slot);

/* The slot of that index; NULL from the first on that was never taken. */
struct th_host_process *th_host_slot_at(uint32_t index);

/* The slot's next identifier: no one ever had it. Under the slot's lock. */
th_term th_host_slot_next_id(struct th_host_process *slot, enum th_host_kind kind);

/* Release: the page is clear; acquire. */
extern struct th_host_process *_Atomic th_host_pages[TH_HOST_MOST / TH_HOST_PAGE];

/* Whether ID, a local pid or port, is of those that are the host's. (For a pid: the bits of its
 * word that the serial has from TH_HOST_SERIAL on.) */
static inline bool th_host_slot_may_have(th_term id)
{
    const th_term serial_bits = th_local_pid(0, ~(uint32_t)(TH_HOST_SERIAL - 1)) ^ TH_TAG_PID;

    return th_is_local_port(id) ? th_local_port_id(id) >= TH_HOST_PORT_ID : id & serial_bits;
}

/* The slot that an identifier names that may be the host's; NULL: there is none. */
static inline struct th_host_process *th_host_slot_of(th_term id)
{
    uint32_t index = th_is_local_port(id) ? th_local_port_id(id) & (TH_HOST_MOST - 1)
                                          : th_local_pid_number(id) - 1;
    struct th_host_process *page;

    if (index >= TH_HOST_MOST)
        return NULL;
    page = atomic_load_explicit(&th_host_pages[index / TH_HOST_PAGE], memory_order_acquire);
    return page ? &page[index % TH_HOST_PAGE] : NULL;
}

enum th_host_life { TH_HOST_NEVER, TH_HOST_STOPPED, TH_HOST_RUNNING };

/* Whether ID is one of the host's. One that it has not given out yet counts as one that has
 * stopped: no recording has it. Never, for what is no local pid or port. Pids that live go straight
 * through. */
static inline enum th_host_life th_host_life(th_term id)
{
    const struct th_host_process *slot;

    if (__builtin_expect(!th_host_slot_may_have(id), 0))
        return TH_HOST_NEVER;
    slot = th_host_slot_of(id);
    if (__builtin_expect(slot && atomic_load_explicit(&slot->id, memory_order_acquire) == id, 1))
        return TH_HOST_RUNNING;
    return th_is_local_pid(id) || th_is_local_port(id) ? TH_HOST_STOPPED : TH_HOST_NEVER;
}

#endif

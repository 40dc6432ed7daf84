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
    void (*arrived)(void *context);
    void *context;
    struct th_message *first, **last;  /* the mailbox; `last` is where the next message goes */
    uint32_t index;                    /* constant */
    struct th_host_process *next_free; /* under the lock of the free slots */
};

/* A slot that nobody else uses; back again. */
struct th_host_process *th_host_slot_take(void);
void th_host_slot_give(struct th_host_process *slot);

/* The slot's next identifier: no one ever had it. Under the slot's lock. */
th_term th_host_slot_next_id(struct th_host_process *slot, enum th_host_kind kind);

/* The slot that ID, a local pid or port, names; NULL if that never had so late an identifier. */
struct th_host_process *th_host_slot_of(th_term id);

#endif

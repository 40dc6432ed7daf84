#include "process_internal.h"

_Static_assert((TH_HOST_SERIAL & (TH_HOST_SERIAL - 1)) == 0, "some bits tell later serials");

struct th_mailbox *_Atomic th_process_host_pages[TH_HOST_MOST / TH_HOST_PAGE];

/* Guards the free slots and making new ones; nothing else is locked while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t slot_count;
static struct th_mailbox *free_slots;

th_term th_process_slot_next_id(struct th_mailbox *slot, enum th_host_kind kind)
{
    uint32_t serial = atomic_load_explicit(&slot->serial, memory_order_relaxed);

    serial = serial ? serial + 1 : TH_HOST_SERIAL;
    atomic_store_explicit(&slot->serial, serial, memory_order_relaxed);
    if (kind == TH_HOST_PROCESS)
        return th_local_pid(slot->index + 1, serial);
    return th_local_port(TH_HOST_PORT_ID +
                         ((uint64_t)(serial - TH_HOST_SERIAL) << TH_HOST_INDEX_BITS | slot->index));
}

/* Nobody looks at its lock before it has an identifier. */
static struct th_mailbox *new_host_slot(void)
{
    uint32_t index = slot_count++;
    struct th_mailbox *page, *slot;

    if (index >= TH_HOST_MOST)
        th_bug("more than %d processes and ports of the host", TH_HOST_MOST);
    if (index % TH_HOST_PAGE == 0) {
        page = th_alloc_zero(TH_HOST_PAGE * sizeof *page);
        atomic_store_explicit(&th_process_host_pages[index / TH_HOST_PAGE], page,
                              memory_order_release);
    }
    page = atomic_load_explicit(&th_process_host_pages[index / TH_HOST_PAGE], memory_order_relaxed);
    slot = &page[index % TH_HOST_PAGE];
    pthread_mutex_init(&slot->lock, NULL);
    slot->index = index;
    return slot;
}

struct th_mailbox *th_process_slot_take(void)
{
    struct th_mailbox *slot;

    pthread_mutex_lock(&lock);
    slot = free_slots;
    if (slot)
        free_slots = slot->next_free;
    else
        slot = new_host_slot();
    pthread_mutex_unlock(&lock);
    return slot;
}

void th_process_slot_give(struct th_mailbox *slot)
{
    if (atomic_load_explicit(&slot->serial, memory_order_relaxed) == UINT32_MAX)
        return; /* no identifier is ever given twice */
    pthread_mutex_lock(&lock);
    slot->next_free = free_slots;
    free_slots = slot;
    pthread_mutex_unlock(&lock);
}

struct th_mailbox *th_process_slot_at(uint32_t index)
{
    struct th_mailbox *page;
    bool there;

    pthread_mutex_lock(&lock);
    there = index < slot_count;
    pthread_mutex_unlock(&lock);
    if (!there)
        return NULL;
    page = atomic_load_explicit(&th_process_host_pages[index / TH_HOST_PAGE], memory_order_acquire);
    return &page[index % TH_HOST_PAGE];
}

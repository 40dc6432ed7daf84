#include "host_slot.h"

#include "host/base/base.h"

enum {
    FIRST_PAGE = 16,
    PAGES = 20,
    MOST = FIRST_PAGE * ((1 << PAGES) - 1),
    INDEX_BITS = 24 /* of a port's id */
};
_Static_assert(MOST <= 1 << INDEX_BITS, "each slot has ports of its own");

/* Guards the free slots and making new ones; nothing else is locked while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_host_process *_Atomic pages[PAGES]; /* release: slots are set up; acquire */
static uint32_t slot_count;
static struct th_host_process *free_slots;

static uint32_t page_of(uint32_t index)
{
    return 31 - (uint32_t)__builtin_clz(index / FIRST_PAGE + 1);
}

static uint32_t first_of(uint32_t page)
{
    return FIRST_PAGE * (((uint32_t)1 << page) - 1);
}

static struct th_host_process *find(uint32_t index, uint64_t serial)
{
    uint32_t page = page_of(index);
    struct th_host_process *slot;

    if (index >= MOST)
        return NULL;
    slot = atomic_load_explicit(&pages[page], memory_order_acquire);
    if (!slot)
        return NULL;
    slot += index - first_of(page);
    return serial <= atomic_load_explicit(&slot->serial, memory_order_relaxed) ? slot : NULL;
}

struct th_host_process *th_host_slot_of(th_term id)
{
    uint64_t port_id = th_local_port_id(id) - TH_HOST_PORT_ID;

    if (!th_is_local_port(id))
        return th_local_pid_serial(id) < TH_HOST_SERIAL
                   ? NULL
                   : find(th_local_pid_number(id) - 1, th_local_pid_serial(id));
    if (th_local_port_id(id) < TH_HOST_PORT_ID)
        return NULL;
    return find(port_id & ((1 << INDEX_BITS) - 1), TH_HOST_SERIAL + (port_id >> INDEX_BITS));
}

th_term th_host_slot_next_id(struct th_host_process *slot, enum th_host_kind kind)
{
    uint32_t serial = atomic_load_explicit(&slot->serial, memory_order_relaxed);

    serial = serial ? serial + 1 : TH_HOST_SERIAL;
    atomic_store_explicit(&slot->serial, serial, memory_order_relaxed);
    if (kind == TH_HOST_PROCESS)
        return th_local_pid(slot->index + 1, serial);
    return th_local_port(TH_HOST_PORT_ID +
                         ((uint64_t)(serial - TH_HOST_SERIAL) << INDEX_BITS | slot->index));
}

static struct th_host_process *new_slot(void)
{
    uint32_t index = slot_count++;
    uint32_t page = page_of(index);
    struct th_host_process *slots = atomic_load_explicit(&pages[page], memory_order_relaxed);
    uint32_t count = (uint32_t)FIRST_PAGE << page;

    if (index >= MOST)
        th_bug("more than %d processes and ports of the host", MOST);
    if (!slots) {
        slots = th_alloc_zero(count * sizeof *slots);
        for (uint32_t i = 0; i < count; i++) {
            pthread_mutex_init(&slots[i].lock, NULL);
            slots[i].index = first_of(page) + i;
        }
        atomic_store_explicit(&pages[page], slots, memory_order_release);
    }
    return &slots[index - first_of(page)];
}

struct th_host_process *th_host_slot_take(void)
{
    struct th_host_process *slot;

    pthread_mutex_lock(&lock);
    slot = free_slots;
    if (slot)
        free_slots = slot->next_free;
    else
        slot = new_slot();
    pthread_mutex_unlock(&lock);
    return slot;
}

void th_host_slot_give(struct th_host_process *slot)
{
    if (atomic_load_explicit(&slot->serial, memory_order_relaxed) == UINT32_MAX)
        return; /* no identifier is ever given twice */
    pthread_mutex_lock(&lock);
    slot->next_free = free_slots;
    free_slots = slot;
    pthread_mutex_unlock(&lock);
}

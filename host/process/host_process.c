/*
 * The host's own processes.
 *
 * A process is a slot. Slots are made in pages that never move and are never freed; a stopped
 * process leaves its slot to a later one, whose pid has the next serial. So any thread may look at
 * the slot that a pid names, whatever became of the process, without a lock: it is always a slot.
 * The pid's number is the slot's index + 1.
 *
 * Locks: `registry_lock` guards starting and stopping; a slot's own lock is held while its process
 * receives, so that messages come one at a time and stopping waits for the last. Order: registry
 * first. Neither is taken to ask who is alive.
 */
#include "host_process.h"

#include "process.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FIRST_PAGE = 16, PAGES = 20, MOST = FIRST_PAGE * ((1 << PAGES) - 1) };

struct th_host_process {
    pthread_mutex_t lock;
    /* The pid, TH_NONE while the slot is free. Written under `lock`. Release: what the slot holds
     * for this pid came before; acquire. */
    _Atomic th_term pid;
    _Atomic uint32_t serial; /* of the latest pid; relaxed: only ever grows, and with `pid` */
    void (*receive)(void *context, th_term message);
    void *context;
    uint32_t index;
    struct th_host_process *next_free;
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_host_process *_Atomic pages[PAGES]; /* release: slots are set up; acquire */
static uint32_t slot_count;                          /* under registry_lock */
static struct th_host_process *free_slots;           /* likewise */

static uint32_t page_of(uint32_t index)
{
    return 31 - (uint32_t)__builtin_clz(index / FIRST_PAGE + 1);
}

static uint32_t first_of(uint32_t page)
{
    return FIRST_PAGE * (((uint32_t)1 << page) - 1);
}

/* The slot that PID names, NULL if none was ever made there. */
static struct th_host_process *slot_of(th_term pid)
{
    uint32_t index = th_local_pid_number(pid) - 1;
    uint32_t page;
    struct th_host_process *slots;

    if (th_local_pid_serial(pid) < TH_HOST_SERIAL || !th_is_local_pid(pid) || index >= MOST)
        return NULL;
    page = page_of(index);
    slots = atomic_load_explicit(&pages[page], memory_order_acquire);
    return slots ? &slots[index - first_of(page)] : NULL;
}

enum th_host_life th_host_process_life(th_term id)
{
    struct th_host_process *slot = slot_of(id);

    if (!slot)
        return TH_HOST_NEVER;
    if (atomic_load_explicit(&slot->pid, memory_order_acquire) == id)
        return TH_HOST_RUNNING;
    return th_local_pid_serial(id) <= atomic_load_explicit(&slot->serial, memory_order_relaxed)
               ? TH_HOST_STOPPED
               : TH_HOST_NEVER;
}

bool th_host_process_deliver(th_term id, th_term message)
{
    struct th_host_process *slot = slot_of(id);
    bool here;

    if (!slot)
        return false;
    pthread_mutex_lock(&slot->lock);
    here = atomic_load_explicit(&slot->pid, memory_order_relaxed) == id;
    if (here)
        slot->receive(slot->context, message);
    pthread_mutex_unlock(&slot->lock);
    return here;
}

static struct th_host_process *new_slot(void)
{
    uint32_t index = slot_count++;
    uint32_t page = page_of(index);
    struct th_host_process *slots = atomic_load_explicit(&pages[page], memory_order_relaxed);
    uint32_t count = (uint32_t)FIRST_PAGE << page;

    if (index >= MOST)
        th_bug("more than %d processes of the host", MOST);
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

static struct th_host_process *take_slot(void)
{
    struct th_host_process *slot;

    pthread_mutex_lock(&registry_lock);
    slot = free_slots;
    if (slot)
        free_slots = slot->next_free;
    else
        slot = new_slot();
    pthread_mutex_unlock(&registry_lock);
    return slot;
}

struct th_host_process *th_host_process_start(void (*receive)(void *context, th_term message),
                                              void *context)
{
    struct th_host_process *slot = take_slot();
    uint32_t serial = atomic_load_explicit(&slot->serial, memory_order_relaxed);

    serial = serial ? serial + 1 : TH_HOST_SERIAL;
    pthread_mutex_lock(&slot->lock);
    slot->receive = receive;
    slot->context = context;
    atomic_store_explicit(&slot->serial, serial, memory_order_relaxed);
    atomic_store_explicit(&slot->pid, th_local_pid(slot->index + 1, serial), memory_order_release);
    pthread_mutex_unlock(&slot->lock);
    return slot;
}

th_term th_host_process_pid(const struct th_host_process *process)
{
    return atomic_load_explicit(&process->pid, memory_order_relaxed);
}

void th_host_process_stop(struct th_host_process *process)
{
    bool exhausted = atomic_load_explicit(&process->serial, memory_order_relaxed) == UINT32_MAX;

    pthread_mutex_lock(&process->lock);
    atomic_store_explicit(&process->pid, TH_NONE, memory_order_release);
    pthread_mutex_unlock(&process->lock);
    if (exhausted)
        return; /* no pid is ever given twice */
    pthread_mutex_lock(&registry_lock);
    process->next_free = free_slots;
    free_slots = process;
    pthread_mutex_unlock(&registry_lock);
}

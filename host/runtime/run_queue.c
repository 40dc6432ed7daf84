/*
 * Run queues: balance and sleep.
 *
 * No scheduler sleeps while there is work. A thread that adds a process increments the queue's
 * length, then checks for sleepers. A scheduler that goes to sleep publishes this, then checks the
 * lengths. Both are sequentially consistent, so that one of the two sees the other. The same holds
 * for schedulers that look for work, which count as awake: they leave the count `looking` before
 * they look for the last time.
 *
 * If a process wakes another and then waits itself, as in a conversation, the same scheduler should
 * run both. So the only process in the queue of a working scheduler is not taken at once, but after
 * some rounds of looking. And a scheduler that adds a process to its own empty queue wakes no other
 * scheduler if one watches: a watcher has found nothing while others work, sleeps only for a
 * moment, and looks again. The watcher looks once more before it stops watching, which it does by
 * sleeping without limit or by finding work; so either the watcher sees a process that was added in
 * reliance on it, or the adding thread sees that no scheduler watches.
 */

#include "mailbox.h"
#include "queue.h"

#include "host/base/memory.h"

enum {
    ROUNDS = 32,     /* of looking before sleeping, some 20 microseconds */
    PATIENCE = 8,    /* rounds after which the only process is taken */
    PAUSES = 16,     /* of the processor in a round */
    MOST_TAKEN = 64, /* processes at once */
    BALANCE = 61,    /* turns between two comparisons of queues */
    WATCH = 200000   /* nanoseconds that a watcher sleeps */
};

struct run_queue {
    _Alignas(64) pthread_mutex_t lock; /* guards the list */
    struct th_process *first, **end;
    _Atomic unsigned length; /* written under the lock; seq_cst, see above */
    _Atomic unsigned taken;  /* number of takes; relaxed: a hint */
    _Atomic bool idle;       /* its scheduler has no work; relaxed: a hint */
    _Atomic bool poked;      /* seq_cst, like the length */
    bool sleeping;           /* under the sleepers' lock */
    sem_t wake;
    unsigned turns;   /* by its scheduler only */
    unsigned *others; /* `taken` of the others at the start of looking; by its scheduler only */
};

static struct run_queue *queues;
static unsigned queue_count;

static pthread_mutex_t sleepers = PTHREAD_MUTEX_INITIALIZER; /* innermost */
static _Atomic unsigned asleep, looking, watching;           /* seq_cst, see above */

void th_runtime_run_queues_open(unsigned count)
{
    queues = th_alloc_aligned(_Alignof(struct run_queue), count * sizeof *queues);
    memset(queues, 0, count * sizeof *queues);
    queue_count = count;
    for (unsigned i = 0; i < count; i++) {
        pthread_mutex_init(&queues[i].lock, NULL);
        queues[i].end = &queues[i].first;
        queues[i].others = th_alloc_zero(count * sizeof *queues[i].others);
        sem_init(&queues[i].wake, 0, 0);
    }
}

void th_runtime_run_queues_close(void)
{
    for (unsigned i = 0; i < queue_count; i++) {
        pthread_mutex_destroy(&queues[i].lock);
        sem_destroy(&queues[i].wake);
        th_free(queues[i].others);
    }
    th_free(queues);
    queues = NULL;
    queue_count = 0;
}

unsigned th_runtime_run_queue_length(unsigned own)
{
    return atomic_load(&queues[own].length);
}

/* --- Sleeping -------------------------------------------------------------------------------- */

/* Under the sleepers' lock. */
static bool wake_if_sleeping(struct run_queue *queue)
{
    if (!queue->sleeping)
        return false;
    queue->sleeping = false;
    atomic_fetch_sub(&asleep, 1);
    sem_post(&queue->wake);
    return true;
}

/* Wakes a scheduler, that of the queue PREFERRED if it sleeps. */
static void wake_one(unsigned preferred)
{
    pthread_mutex_lock(&sleepers);
    for (unsigned i = 0; i < queue_count; i++)
        if (wake_if_sleeping(&queues[(preferred + i) % queue_count]))
            break;
    pthread_mutex_unlock(&sleepers);
}

static bool is_work(void)
{
    for (unsigned i = 0; i < queue_count; i++)
        if (atomic_load(&queues[i].length) > 0)
            return true;
    return false;
}

/* There are more processes than the working schedulers will run soon by themselves. */
static bool is_plenty(void)
{
    for (unsigned i = 0; i < queue_count; i++) {
        unsigned length = atomic_load(&queues[i].length);
        if (length > 1 ||
            (length == 1 && atomic_load_explicit(&queues[i].idle, memory_order_relaxed)))
            return true;
    }
    return false;
}

static void fall_asleep(struct run_queue *own)
{
    pthread_mutex_lock(&sleepers);
    own->sleeping = true;
    atomic_fetch_add(&asleep, 1);
    pthread_mutex_unlock(&sleepers);
}

/* Returns false if the scheduler was woken meanwhile: then the caller must take the post. */
static bool stay_awake(struct run_queue *own)
{
    bool slept;

    pthread_mutex_lock(&sleepers);
    slept = own->sleeping;
    if (slept)
        atomic_fetch_sub(&asleep, 1);
    own->sleeping = false;
    pthread_mutex_unlock(&sleepers);
    return slept;
}

static void take_post(struct run_queue *own)
{
    while (sem_wait(&own->wake) != 0)
        ; /* interrupted by a signal handler */
}

/* Sleeps until woken; returns at once if there is work that no scheduler watches. */
static void sleep_in(struct run_queue *own)
{
    bool stays;

    fall_asleep(own);
    stays = !atomic_load(&own->poked) && !(atomic_load(&watching) > 0 ? is_plenty() : is_work());
    if (!stays && stay_awake(own))
        return;
    take_post(own);
}

/* If another scheduler works and none watches, makes the caller the watcher and returns true. */
static bool begin_to_watch(const struct run_queue *own)
{
    unsigned none = 0;

    for (unsigned i = 0; i < queue_count; i++)
        if (&queues[i] != own && !atomic_load_explicit(&queues[i].idle, memory_order_relaxed))
            return atomic_compare_exchange_strong(&watching, &none, 1);
    return false;
}

/* Sleeps like sleep_in(), but only for a moment. The caller must look for work next. */
static void run_queue_watch(struct run_queue *own)
{
    struct timespec until = th_runtime_moment(CLOCK_MONOTONIC, WATCH);

    fall_asleep(own);
    if (!is_plenty() && !atomic_load(&own->poked) &&
        sem_clockwait(&own->wake, CLOCK_MONOTONIC, &until) == 0)
        return;
    if (!stay_awake(own))
        take_post(own);
}

void th_runtime_run_queue_poke(unsigned own)
{
    atomic_store(&queues[own].poked, true);
    pthread_mutex_lock(&sleepers);
    wake_if_sleeping(&queues[own]);
    pthread_mutex_unlock(&sleepers);
}

bool th_runtime_run_queue_poked(unsigned own)
{
    return atomic_load(&queues[own].poked) && atomic_exchange(&queues[own].poked, false);
}

/* --- The lists ------------------------------------------------------------------------------- */

/* Appends COUNT processes, from FIRST to *END. Returns the former length. */
static unsigned run_queue_append(struct run_queue *queue, struct th_process *first,
                                 struct th_process **end, unsigned count)
{
    unsigned before;

    pthread_mutex_lock(&queue->lock);
    *queue->end = first;
    queue->end = end;
    before = atomic_fetch_add(&queue->length, count);
    pthread_mutex_unlock(&queue->lock);
    return before;
}

void th_runtime_run_queue_add(struct th_process *process)
{
    const struct th_scheduler *self = th_self.scheduler;
    bool own = self && self->type == ERL_NIF_THR_NORMAL_SCHEDULER;
    unsigned at = own ? self->number - 1 : process->home % queue_count;
    unsigned before;

    process->behind = NULL;
    before = run_queue_append(&queues[at], process, &process->behind, 1);
    if (atomic_load(&asleep) > 0 && atomic_load(&looking) == 0 &&
        !(own && before == 0 && atomic_load(&watching) > 0))
        wake_one(at);
}

/* Takes half of QUEUE, at least one and at most MOST processes, the oldest first. Returns the
 * first; *REST are the others, *END their end, *COUNT their number. */
static struct th_process *run_queue_take(struct run_queue *queue, unsigned most,
                                         struct th_process **rest, struct th_process ***end,
                                         unsigned *count)
{
    struct th_process *first, *last;
    unsigned length, taken;

    pthread_mutex_lock(&queue->lock);
    first = last = queue->first;
    length = atomic_load_explicit(&queue->length, memory_order_relaxed);
    taken = length < 2 ? length : length / 2;
    if (taken > most)
        taken = most;
    for (unsigned i = 1; i < taken; i++)
        last = last->behind;
    if (first) {
        queue->first = last->behind;
        if (!queue->first)
            queue->end = &queue->first;
        last->behind = NULL;
        *rest = first->behind;
        *end = &last->behind;
        *count = taken - 1;
        atomic_fetch_sub(&queue->length, taken);
        atomic_fetch_add_explicit(&queue->taken, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&queue->lock);
    return first;
}

static struct th_process *take_one(struct run_queue *queue)
{
    struct th_process *rest, **end;
    unsigned count;

    if (atomic_load(&queue->length) == 0)
        return NULL;
    return run_queue_take(queue, 1, &rest, &end, &count);
}

/* Moves half of OTHER's processes to OWN, except one, which is returned. */
static struct th_process *steal(struct run_queue *own, struct run_queue *other)
{
    struct th_process *rest, **end;
    unsigned count;
    struct th_process *process = run_queue_take(other, MOST_TAKEN, &rest, &end, &count);

    if (process && count > 0)
        run_queue_append(own, rest, end, count);
    return process;
}

/* --- Looking for work ------------------------------------------------------------------------ */

static void remember_others(struct run_queue *own)
{
    for (unsigned i = 0; i < queue_count; i++)
        own->others[i] = atomic_load_explicit(&queues[i].taken, memory_order_relaxed);
}

/* PATIENT: leaves a process that is the only one of a working scheduler. */
static struct th_process *take_from_others(struct run_queue *own, bool patient)
{
    unsigned begin = (unsigned)(own - queues);

    for (unsigned i = 1; i < queue_count; i++) {
        struct run_queue *other = &queues[(begin + i) % queue_count];
        unsigned length = atomic_load(&other->length);
        struct th_process *process = NULL;

        if (length > 1 || (length == 1 && atomic_load_explicit(&other->idle, memory_order_relaxed)))
            process = steal(own, other);
        else if (length == 1 && !patient &&
                 atomic_load_explicit(&other->taken, memory_order_relaxed) ==
                     own->others[other - queues])
            process = steal(own, other);
        if (process)
            return process;
    }
    return NULL;
}

static void pause_a_round(void)
{
    for (int i = 0; i < PAUSES; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#else
        atomic_signal_fence(memory_order_seq_cst);
#endif
    }
}

/* WATCHED: the caller is the watcher, and stops watching. */
static struct th_process *run_queue_look(struct run_queue *own, bool watched)
{
    struct th_process *process = NULL;

    atomic_fetch_add(&looking, 1);
    if (watched)
        atomic_store(&watching, 0);
    remember_others(own);
    for (unsigned round = 1; round <= ROUNDS && !process && !atomic_load(&own->poked); round++) {
        process = take_one(own);
        if (!process)
            process = take_from_others(own, round % PATIENCE != 0);
        if (round % PATIENCE == 0)
            remember_others(own);
        if (!process)
            pause_a_round();
    }
    atomic_fetch_sub(&looking, 1);
    if ((process || atomic_load(&own->poked)) && atomic_load(&asleep) > 0 && is_work())
        wake_one((unsigned)(own - queues)); /* for processes added during the look or the watch */
    return process;
}

/* Takes processes from a queue that is much longer than OWN, every BALANCE turns. */
static struct th_process *balance(struct run_queue *own)
{
    unsigned length = atomic_load_explicit(&own->length, memory_order_relaxed);

    for (unsigned i = 0; i < queue_count; i++) {
        struct run_queue *other = &queues[i];
        if (other != own &&
            atomic_load_explicit(&other->length, memory_order_relaxed) > 2 * length + 2)
            return steal(own, other);
    }
    return NULL;
}

struct th_process *th_runtime_run_queue_next(unsigned number)
{
    struct run_queue *own = &queues[number];
    struct th_process *process = NULL;

    if (++own->turns % BALANCE == 0)
        process = balance(own);
    if (!process)
        process = take_one(own);
    if (!process) {
        atomic_store_explicit(&own->idle, true, memory_order_relaxed);
        process = run_queue_look(own, false);
        while (!process && !atomic_load(&own->poked) && begin_to_watch(own)) {
            run_queue_watch(own);
            process = run_queue_look(own, true);
        }
        if (!process && !atomic_load(&own->poked))
            sleep_in(own); /* then the caller asks again */
        atomic_store_explicit(&own->idle, false, memory_order_relaxed);
    }
    if (process)
        process->home = number;
    return process;
}

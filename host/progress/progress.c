#include "progress.h"

#include "host/base/base.h"

#include <pthread.h>
#include <semaphore.h>

_Thread_local bool th_progress_registered;

#ifdef TH_PROGRESS_TSAN
char th_progress_order;
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;

static void unregister(void *registered)
{
    (void)registered;
    th_progress_registered = false;
    urcu_memb_unregister_thread();
}

static void make_key(void)
{
    if (pthread_key_create(&at_thread_end, unregister) != 0)
        th_bug("no thread-specific key is left");
}

void th_progress_register(void)
{
    pthread_once(&once, make_key);
    pthread_setspecific(at_thread_end, &at_thread_end);
    urcu_memb_register_thread();
    th_progress_registered = true;
}

static void check_outside(const char *what)
{
    if (th_progress_inside())
        th_bug("%s in a read section would wait for itself", what);
}

void th_progress_wait(void)
{
    check_outside("th_progress_wait()");
    urcu_memb_synchronize_rcu();
#ifdef TH_PROGRESS_TSAN
    __tsan_acquire(&th_progress_order);
#endif
}

static void run_later(struct rcu_head *head)
{
    struct th_later *later = caa_container_of(head, struct th_later, head);

    th_progress_registered = true; /* liburcu has registered this thread, which is its own */
#ifdef TH_PROGRESS_TSAN
    __tsan_acquire(&th_progress_order);
    __tsan_acquire(later);
#endif
    later->run(later);
}

void th_progress_later(struct th_later *self, void (*run)(struct th_later *self))
{
    self->run = run;
    if (!th_progress_registered)
        th_progress_register(); /* call_rcu() opens a section of its own */
#ifdef TH_PROGRESS_TSAN
    __tsan_release(self);
#endif
    urcu_memb_call_rcu(&self->head, run_later);
}

/* Work is done in order, so all that was handed in before this is done when this is. */
struct settling {
    struct th_later later; /* the first member */
    sem_t done;
};

static void settled(struct th_later *later)
{
    sem_post(&((struct settling *)later)->done);
}

void th_progress_settle(void)
{
    struct settling settling;

    check_outside("th_progress_settle()");
    sem_init(&settling.done, 0, 0);
    th_progress_later(&settling.later, settled);
    while (sem_wait(&settling.done) != 0)
        ; /* a signal handler ran */
    sem_destroy(&settling.done);
}

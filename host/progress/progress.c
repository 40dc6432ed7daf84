#include "progress.h"

#include "host/base/base.h"

#include <pthread.h>

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

#ifdef TH_PROGRESS_TSAN
    __tsan_acquire(&th_progress_order);
    __tsan_acquire(later);
#endif
    later->run(later);
#ifdef TH_PROGRESS_TSAN
    __tsan_release(&th_progress_order); /* for th_progress_settle() */
#endif
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

void th_progress_settle(void)
{
    check_outside("th_progress_settle()");
    urcu_memb_barrier();
#ifdef TH_PROGRESS_TSAN
    __tsan_acquire(&th_progress_order);
#endif
}

#include "progress.h"

#include "host/base/memory.h"
#include "host/self/self.h"

#include <pthread.h>

static _Thread_local bool registered;

#ifdef TH_PROGRESS_TSAN
static char order; /* represents the order that liburcu makes */
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#endif

/* --- Registration ----------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;

static void unregister(void *unused)
{
    (void)unused;
    registered = false;
    th_self.progress_word = NULL;
    th_self.live_thread = NULL;
    urcu_memb_unregister_thread();
}

static void make_thread_key(void)
{
    if (pthread_key_create(&at_thread_end, unregister) != 0)
        th_give_up("no thread-specific key is left");
}

static void register_thread(void)
{
    pthread_once(&once, make_thread_key);
    pthread_setspecific(at_thread_end, &at_thread_end);
    urcu_memb_register_thread();
    registered = true;
#ifndef TH_PROGRESS_TSAN
    if (urcu_memb_has_sys_membarrier) /* set by liburcu's constructor */
        th_self.progress_word = &URCU_TLS(urcu_memb_reader).ctr;
#endif
}

/* --- Sections, the slow paths ----------------------------------------------------------------- */

void th_progress_enter_slowly(void)
{
    if (!registered)
        register_thread();
    urcu_memb_read_lock();
}

void th_progress_leave_slowly(void)
{
#ifdef TH_PROGRESS_TSAN
    __tsan_release(&order); /* orders the section's reads before the end of a wait */
#endif
    urcu_memb_read_unlock();
}

/* (Under the thread sanitizer, liburcu wakes the waiting thread itself.) */
void th_progress_wake(void)
{
#ifndef TH_PROGRESS_TSAN
    if (!th_progress_inside()) /* the outermost section ended, a thread may wait for it */
        urcu_common_wake_up_gp(&urcu_memb_gp);
#endif
}

/* --- Grace periods ---------------------------------------------------------------------------- */

void th_progress_must_be_outside(const char *what)
{
    if (th_progress_inside())
        th_bug("%s in a read section would wait for itself", what);
}

void th_progress_wait(void)
{
    th_progress_must_be_outside("th_progress_wait()");
    urcu_memb_synchronize_rcu();
#ifdef TH_PROGRESS_TSAN
    __tsan_acquire(&order);
#endif
}

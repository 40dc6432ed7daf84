#include "inbox.h"

#include "host/base/base.h"
#include "host/process/process.h"

#include <pthread.h>
#include <time.h>

enum { LONGEST_WAIT = 10 }; /* seconds */

static struct th_mailbox *process;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that follows */
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct th_buffer messages;
static unsigned present;

static void receive(void *unused, th_term message)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    th_text_print(&messages, message);
    th_buffer_add(&messages, "\n", 1);
    present++;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
}

th_term inbox_open(void)
{
    process = th_process_start(receive, NULL);
    return th_process_pid(process);
}

void inbox_close(void)
{
    th_process_exit(process, TH_AM(normal));
    th_buffer_free(&messages);
    present = 0;
}

const char *inbox_await(unsigned count)
{
    static char *taken;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LONGEST_WAIT;
    pthread_mutex_lock(&lock);
    while (present < count && pthread_cond_timedwait(&arrived, &lock, &until) == 0)
        ;
    th_free(taken);
    taken = th_printf("%.*s", (int)messages.size, messages.size ? (char *)messages.data : "");
    messages.size = 0;
    present = 0;
    pthread_mutex_unlock(&lock);
    return taken;
}

const char *inbox_take(void)
{
    return inbox_await(0);
}

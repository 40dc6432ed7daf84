#include "apart.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct th_control_task {
    const struct th_control_setup *setup;
    int told; /* when it is done */
    pthread_t thread;
    struct th_control_wire_request request;
    struct th_buffer answer;
    bool abandoned;
    atomic_bool done; /* release: the answer is there; acquire */
};

int th_control_apart_begin(struct th_control_apart *apart)
{
    apart->count = 0;
    apart->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return apart->done < 0 ? errno : 0;
}

/* A counter that is full is readable, too. */
static void tell(const struct th_control_task *task)
{
    uint64_t one = 1;

    while (write(task->told, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static void *run(void *context)
{
    struct th_control_task *task = context;

    if (task->setup->begin)
        task->setup->begin();
    th_control_wire_carry_out(task->setup, &task->request, &task->answer);
    if (task->setup->end)
        task->setup->end();
    atomic_store_explicit(&task->done, true, memory_order_release);
    tell(task);
    return NULL;
}

struct th_control_task *th_control_apart_start(struct th_control_apart *apart,
                                               const struct th_control_setup *setup,
                                               const struct th_control_wire_request *request)
{
    struct th_control_task *task;
    int error;

    if (apart->count == TH_CONTROL_APART) {
        th_error_raise(TH_FAILED,
                       "%d commands that take long are being carried out; try again "
                       "later",
                       TH_CONTROL_APART);
        return NULL;
    }
    task = th_alloc_zero(sizeof *task);
    task->setup = setup;
    task->told = apart->done;
    task->request = *request;
    atomic_init(&task->done, false);
    error = th_thread_start(&task->thread, NULL, run, task);
    if (error == 0) {
        apart->tasks[apart->count++] = task;
        return task;
    }
    th_free(task);
    th_error_raise(TH_FAILED, "there is no thread for it: %s", strerror(error));
    return NULL;
}

bool th_control_task_is_done(const struct th_control_task *task)
{
    return atomic_load_explicit(&task->done, memory_order_acquire);
}

static void forget(struct th_control_apart *apart, const struct th_control_task *task)
{
    size_t i = 0;

    while (apart->tasks[i] != task)
        i++;
    apart->tasks[i] = apart->tasks[--apart->count];
}

void th_control_task_end(struct th_control_apart *apart, struct th_control_task *task,
                         struct th_buffer *out)
{
    pthread_join(task->thread, NULL);
    forget(apart, task);
    th_buffer_add(out, task->answer.data, task->answer.size);
    th_buffer_free(&task->answer);
    th_free(task);
}

void th_control_task_abandon(struct th_control_task *task)
{
    task->abandoned = true;
}

static void drop(struct th_control_apart *apart, struct th_control_task *task)
{
    struct th_buffer nowhere = {0};

    th_control_task_end(apart, task, &nowhere);
    th_buffer_free(&nowhere);
}

void th_control_apart_hear(const struct th_control_apart *apart)
{
    uint64_t times;

    while (read(apart->done, &times, sizeof times) < 0 && errno == EINTR)
        ;
}

void th_control_apart_sweep(struct th_control_apart *apart)
{
    for (size_t i = apart->count; i-- > 0;) /* the last one takes the place of one that goes */
        if (apart->tasks[i]->abandoned && th_control_task_is_done(apart->tasks[i]))
            drop(apart, apart->tasks[i]);
}

void th_control_apart_end(struct th_control_apart *apart)
{
    while (apart->count > 0)
        drop(apart, apart->tasks[0]);
    close(apart->done);
}

#include "apart.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct th_errand {
    const struct th_control_setup *setup;
    int told; /* when it is done */
    pthread_t thread;
    struct th_wire_request request;
    struct th_buffer answer;
    bool abandoned;
    atomic_bool done; /* release: the answer is there; acquire */
};

int th_apart_begin(struct th_apart *apart)
{
    apart->count = 0;
    apart->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return apart->done < 0 ? errno : 0;
}

/* A counter that is full is readable, too. */
static void tell(const struct th_errand *errand)
{
    uint64_t one = 1;

    while (write(errand->told, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static void *run(void *context)
{
    struct th_errand *errand = context;

    if (errand->setup->begin)
        errand->setup->begin();
    th_wire_carry_out(errand->setup, &errand->request, &errand->answer);
    if (errand->setup->end)
        errand->setup->end();
    atomic_store_explicit(&errand->done, true, memory_order_release);
    tell(errand);
    return NULL;
}

struct th_errand *th_apart_start(struct th_apart *apart, const struct th_control_setup *setup,
                                 const struct th_wire_request *request)
{
    struct th_errand *errand;
    int error;

    if (apart->count == TH_CONTROL_APART) {
        th_error_raise(TH_FAILED,
                       "%d commands that take long are being carried out; try again "
                       "later",
                       TH_CONTROL_APART);
        return NULL;
    }
    errand = th_alloc_zero(sizeof *errand);
    errand->setup = setup;
    errand->told = apart->done;
    errand->request = *request;
    atomic_init(&errand->done, false);
    error = th_thread_start(&errand->thread, NULL, run, errand);
    if (error == 0) {
        apart->errands[apart->count++] = errand;
        return errand;
    }
    th_free(errand);
    th_error_raise(TH_FAILED, "there is no thread for it: %s", strerror(error));
    return NULL;
}

bool th_errand_is_done(const struct th_errand *errand)
{
    return atomic_load_explicit(&errand->done, memory_order_acquire);
}

static void forget(struct th_apart *apart, const struct th_errand *errand)
{
    size_t i = 0;

    while (apart->errands[i] != errand)
        i++;
    apart->errands[i] = apart->errands[--apart->count];
}

void th_errand_end(struct th_apart *apart, struct th_errand *errand, struct th_buffer *out)
{
    pthread_join(errand->thread, NULL);
    forget(apart, errand);
    th_buffer_add(out, errand->answer.data, errand->answer.size);
    th_buffer_free(&errand->answer);
    th_free(errand);
}

void th_errand_abandon(struct th_errand *errand)
{
    errand->abandoned = true;
}

static void drop(struct th_apart *apart, struct th_errand *errand)
{
    struct th_buffer nowhere = {0};

    th_errand_end(apart, errand, &nowhere);
    th_buffer_free(&nowhere);
}

void th_apart_hear(const struct th_apart *apart)
{
    uint64_t times;

    while (read(apart->done, &times, sizeof times) < 0 && errno == EINTR)
        ;
}

void th_apart_sweep(struct th_apart *apart)
{
    for (size_t i = apart->count; i-- > 0;) /* the last one takes the place of one that goes */
        if (apart->errands[i]->abandoned && th_errand_is_done(apart->errands[i]))
            drop(apart, apart->errands[i]);
}

void th_apart_end(struct th_apart *apart)
{
    while (apart->count > 0)
        drop(apart, apart->errands[0]);
    close(apart->done);
}

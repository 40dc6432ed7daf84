#include "main_thread_task.h"

#include <time.h>

struct th_errand {
    enum th_status (*errand)(void *argument);
    void *argument;
    enum th_status status;
    char *links[TH_ERROR_LINKS]; /* the chain, the outermost first */
    size_t link_count;
    bool begun;
    struct th_buffer *warned; /* the asking thread's: what the other one warns of goes there, too */
};

void th_between_begin(struct th_between *between)
{
    pthread_condattr_t attributes;

    *between = (struct th_between){.ended = false};
    pthread_mutex_init(&between->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&between->done, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Chains are threads' own: this one's is carried over. */
static void keep_chain(struct th_errand *errand)
{
    const char *link;

    for (size_t i = 0; i < TH_ERROR_LINKS && (link = th_error_link(i)); i++)
        errand->links[errand->link_count++] = th_strdup(link);
    th_error_clear();
}

static enum th_status raise_again(struct th_errand *errand)
{
    size_t i = errand->link_count;

    if (errand->status == TH_OK)
        return TH_OK;
    th_error_raise(errand->status, "%s", i > 0 ? errand->links[i - 1] : "it has failed");
    while (i-- > 1)
        th_error_context("%s", errand->links[i - 1]);
    for (i = 0; i < errand->link_count; i++)
        th_free(errand->links[i]);
    return errand->status;
}

/* The errand stays `asked` while it is carried out, without the lock: nobody takes it back then. */
void th_between_do(struct th_between *between)
{
    struct th_buffer *before;
    struct th_errand *errand;

    pthread_mutex_lock(&between->lock);
    errand = atomic_load_explicit(&between->asked, memory_order_relaxed);
    if (errand)
        errand->begun = true;
    pthread_mutex_unlock(&between->lock);
    if (!errand)
        return;
    before = th_warn_into(errand->warned);
    errand->status = errand->errand(errand->argument);
    th_warn_into(before);
    if (errand->status != TH_OK)
        keep_chain(errand);
    pthread_mutex_lock(&between->lock);
    atomic_store_explicit(&between->asked, NULL, memory_order_relaxed);
    pthread_cond_signal(&between->done);
    pthread_mutex_unlock(&between->lock);
}

/* Under the lock. False: it was not begun in time, and is not asked any more. */
static bool wait_for(struct th_between *between, const struct th_errand *errand)
{
    struct timespec until;
    int error = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += TH_BETWEEN_PATIENCE;
    while (!errand->begun && !between->ended && error == 0)
        error = pthread_cond_timedwait(&between->done, &between->lock, &until);
    while (errand->begun && atomic_load_explicit(&between->asked, memory_order_relaxed))
        pthread_cond_wait(&between->done, &between->lock);
    atomic_store_explicit(&between->asked, NULL, memory_order_relaxed);
    return errand->begun;
}

enum th_status th_between_ask(struct th_between *between, enum th_status (*errand)(void *argument),
                              void *argument)
{
    struct th_errand asked = {.errand = errand, .argument = argument};
    bool done, ended;

    asked.warned = th_warn_into(NULL);
    th_warn_into(asked.warned);
    pthread_mutex_lock(&between->lock);
    if (!between->ended)
        atomic_store_explicit(&between->asked, &asked, memory_order_relaxed);
    done = !between->ended && wait_for(between, &asked);
    ended = between->ended;
    pthread_mutex_unlock(&between->lock);
    if (done)
        return raise_again(&asked);
    if (ended)
        return th_error_raise(TH_FAILED, "all that was to be done is done; the host ends");
    return th_error_raise(TH_FAILED,
                          "no event has ended in %d seconds, and this can be done between two "
                          "events alone",
                          TH_BETWEEN_PATIENCE);
}

void th_between_end(struct th_between *between)
{
    pthread_mutex_lock(&between->lock);
    between->ended = true;
    pthread_cond_signal(&between->done);
    pthread_mutex_unlock(&between->lock);
}

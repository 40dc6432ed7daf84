/*
 * The pool: members, each with a queue and a thread.
 *
 * A file that is opened, or an operation by path, goes to the first of the members with the least
 * work; the thread of a member is created at the member's first operation. So the number of threads
 * is at most the greatest number of operations at one time.
 */
#include "file_internal.h"

#include "host/base/thread.h"
#include "host/probe/probe.h"
#include "host/term/text.h"

#include <pthread.h>
#include <string.h>

enum { NAME_BYTES = 32 };

struct member {
    pthread_mutex_t lock; /* innermost; guards the members below, and states of operations */
    pthread_cond_t work;
    struct th_file_operation *first, **end; /* END: the link for the next one */
    int length;
    bool started, ending;
    pthread_t thread;
    /* Number of queued and running operations. Written under the lock; relaxed: a hint. */
    _Atomic unsigned load;
    /* The command under way, 0: none. Relaxed: only shown. */
    _Atomic unsigned carries_out;
};

/* Constant while there is a pool. */
static struct member *members;
static unsigned member_count;

unsigned th_file_pool_choose(void)
{
    unsigned best = 0, least = UINT32_MAX;

    for (unsigned i = 0; i < member_count && least > 0; i++) {
        unsigned load = atomic_load_explicit(&members[i].load, memory_order_relaxed);
        if (load < least) {
            least = load;
            best = i;
        }
    }
    return best;
}

/* --- The threads ------------------------------------------------------------------------------ */

/* Fires the probe after OPERATION was added to, or taken from, its queue, which has LENGTH now. */
static void probe_queue(const struct th_file_operation *operation, bool added, int length)
{
    struct th_buffer port = {0};

    if (!(added ? TH_PROBE_ENABLED(aio_pool__add) : TH_PROBE_ENABLED(aio_pool__get)))
        return;
    th_text_print(&port, operation->port);
    if (added)
        TH_PROBE(aio_pool__add, th_buffer_text(&port), length);
    else
        TH_PROBE(aio_pool__get, th_buffer_text(&port), length);
    th_buffer_free(&port);
}

/* Takes the next operation; NULL: the thread must end. */
static struct th_file_operation *take_operation(struct member *member)
{
    struct th_file_operation *operation;

    pthread_mutex_lock(&member->lock);
    while (!member->first && !member->ending)
        pthread_cond_wait(&member->work, &member->lock);
    operation = member->first;
    if (operation) {
        member->first = operation->next;
        if (!member->first)
            member->end = &member->first;
        member->length--;
        operation->state = TH_FILE_RUNNING;
        atomic_store_explicit(&member->carries_out, operation->command, memory_order_relaxed);
        probe_queue(operation, false, member->length);
    }
    pthread_mutex_unlock(&member->lock);
    return operation;
}

static void *run_member(void *context)
{
    struct member *member = context;
    struct th_file_operation *operation;
    char name[NAME_BYTES];
    bool awaited;

    snprintf(name, sizeof name, "file io %u", (unsigned)(member - members) + 1);
    pthread_setname_np(pthread_self(), name);
    while ((operation = take_operation(member))) {
        TH_PROBE(efile_drv__int_entry, operation->thread, operation->tag, (int)operation->command);
        th_file_carry_out(operation);
        TH_PROBE(efile_drv__int_return, operation->thread, operation->tag, (int)operation->command);

        pthread_mutex_lock(&member->lock);
        operation->state = TH_FILE_DONE;
        awaited = operation->done && !operation->abandoned;
        atomic_store_explicit(&member->carries_out, 0, memory_order_relaxed);
        atomic_fetch_sub_explicit(&member->load, 1, memory_order_relaxed);
        pthread_mutex_unlock(&member->lock);

        if (awaited) {
            operation->done(operation);
        } else {
            th_file_settle(operation, NULL);
            th_file_operation_drop(operation);
        }
    }
    return NULL;
}

/* --- Interface -------------------------------------------------------------------------------- */

void th_file_pool_add(struct th_file_operation *operation)
{
    struct member *member = &members[operation->member];
    int error = 0;

    pthread_mutex_lock(&member->lock);
    operation->next = NULL;
    operation->state = TH_FILE_QUEUED;
    *member->end = operation;
    member->end = &operation->next;
    member->length++;
    atomic_fetch_add_explicit(&member->load, 1, memory_order_relaxed);
    probe_queue(operation, true, member->length);
    if (!member->started)
        error = th_thread_start(&member->thread, NULL, run_member, member);
    /* Without its thread, a member carries nothing out, and processes wait for ever: so the program
     * ends, as for schedulers. */
    if (error)
        th_give_up("cannot start a thread: %s", strerror(error));
    member->started = true;
    pthread_cond_signal(&member->work);
    pthread_mutex_unlock(&member->lock);
}

enum th_file_state th_file_pool_abandon(struct th_file_operation *operation)
{
    struct member *member = &members[operation->member];
    struct th_file_operation **place = &member->first;
    enum th_file_state state;

    pthread_mutex_lock(&member->lock);
    state = operation->state;
    if (state == TH_FILE_QUEUED && operation->command != TH_FILE_CLOSE) {
        while (*place != operation)
            place = &(*place)->next;
        *place = operation->next;
        if (member->end == &operation->next)
            member->end = place;
        member->length--;
        atomic_fetch_sub_explicit(&member->load, 1, memory_order_relaxed);
    } else if (state != TH_FILE_DONE) {
        operation->abandoned = true;
        state = TH_FILE_RUNNING;
    }
    pthread_mutex_unlock(&member->lock);
    return state;
}

void th_file_pool_start(unsigned threads)
{
    members = th_alloc_zero(threads * sizeof *members);
    member_count = threads;
    for (unsigned i = 0; i < threads; i++) {
        pthread_mutex_init(&members[i].lock, NULL);
        pthread_cond_init(&members[i].work, NULL);
        members[i].end = &members[i].first;
    }
}

void th_file_pool_stop(void)
{
    for (unsigned i = 0; i < member_count; i++) {
        struct member *member = &members[i];
        pthread_mutex_lock(&member->lock);
        member->ending = true;
        pthread_cond_signal(&member->work);
        pthread_mutex_unlock(&member->lock);
    }
    for (unsigned i = 0; i < member_count; i++) {
        if (members[i].started)
            pthread_join(members[i].thread, NULL);
        pthread_mutex_destroy(&members[i].lock);
        pthread_cond_destroy(&members[i].work);
    }
    th_free(members);
    members = NULL;
    member_count = 0;
}

void th_file_pool_each_running(void (*each)(void *context, const char *operation), void *context)
{
    for (unsigned i = 0; i < member_count; i++) {
        unsigned command = atomic_load_explicit(&members[i].carries_out, memory_order_relaxed);
        char text[64];
        if (command) {
            snprintf(text, sizeof text, "file operation %s", th_file_rows[command].name);
            each(context, text);
        }
    }
}

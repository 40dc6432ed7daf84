#include "permission.h"

#include "host/base/base.h"
#include "host/progress/progress.h"

#include <pthread.h>

/* The lock guards all of it, is held for a few instructions, and no other lock is taken, nor
 * anything called, under it. */
static struct {
    pthread_mutex_t lock;
    bool held;
    struct th_permission_request *first, **end; /* who waits, the longest first */
} permission = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &permission.first};

/* How many continuations the thread is in. */
static _Thread_local unsigned depth;

/* The thread is in a release that calls continuations; the next of them, left there by a release
 * inside of one. There can be one at most: only who has been granted the permission releases it. */
static _Thread_local bool passing_on;
static _Thread_local struct th_permission_request *due;

void th_code_permission_begin(void)
{
    depth++;
}

void th_code_permission_end(void)
{
    depth--;
}

bool th_code_permission_may_wait(void)
{
    return depth == 0 && !th_progress_inside();
}

static void grant(struct th_permission_request *request)
{
    th_code_permission_begin();
    request->granted(request);
    th_code_permission_end();
}

bool th_code_permission_seize(struct th_permission_request *self,
                              void (*granted)(struct th_permission_request *self))
{
    bool now;

    self->granted = granted;
    pthread_mutex_lock(&permission.lock);
    now = !permission.held;
    permission.held = true;
    if (!now) {
        self->next = NULL;
        *permission.end = self;
        permission.end = &self->next;
    }
    pthread_mutex_unlock(&permission.lock);
    if (now)
        grant(self);
    return now;
}

void th_code_permission_release(void)
{
    struct th_permission_request *next;

    pthread_mutex_lock(&permission.lock);
    if (!permission.held)
        th_bug("the code modification permission is released and nobody has it");
    next = permission.first;
    if (next)
        permission.first = next->next;
    if (!permission.first)
        permission.end = &permission.first;
    permission.held = next != NULL;
    pthread_mutex_unlock(&permission.lock);

    if (next)
        due = next;
    if (!next || passing_on)
        return;
    passing_on = true;
    while (due) {
        next = due;
        due = NULL;
        grant(next);
    }
    passing_on = false;
}

/* --- A thread that waits ---------------------------------------------------------------------- */

static void wake(struct th_permission_request *request)
{
    sem_post(&((struct th_permission_turn *)request)->granted);
}

static void must_wait(void)
{
    if (!th_code_permission_may_wait())
        th_bug(
            "th_code_permission_wait() in a read section or a continuation would wait for itself");
}

void th_code_permission_queue(struct th_permission_turn *turn)
{
    must_wait(); /* who has a turn keeps all others waiting */
    sem_init(&turn->granted, 0, 0);
    th_code_permission_seize(&turn->request, wake);
}

void th_code_permission_await(struct th_permission_turn *turn)
{
    must_wait();
    while (sem_wait(&turn->granted) != 0)
        ; /* a signal handler ran */
    sem_destroy(&turn->granted);
}

void th_code_permission_wait(void)
{
    struct th_permission_turn turn;

    th_code_permission_queue(&turn);
    th_code_permission_await(&turn);
}

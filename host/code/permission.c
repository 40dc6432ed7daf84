#include "permission.h"

#include "code_internal.h"

#include <pthread.h>
#include <stddef.h>

/* The lock guards all fields and is held for a few instructions; under it, no other lock is taken
 * and nothing is called. */
static struct {
    pthread_mutex_t lock;
    bool held;
    struct th_permission_request *first, **end; /* the queue, the oldest first */
} permission = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &permission.first};

/* Nesting depth of the continuations that the thread runs. */
static _Thread_local unsigned depth;

/* The thread is in a release that calls continuations; and the next request, left there by a
 * release inside a continuation. One at most: only the holder of the permission releases it. */
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
        th_bug("the code modification permission is released, but no thread has the permission");
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

static void permission_wake(struct th_permission_request *request)
{
    sem_post(&((struct th_permission_turn *)request)->granted);
}

static void must_wait(void)
{
    if (!th_code_permission_may_wait())
        th_bug("th_code_permission_wait() was called in a reader section or a continuation: it "
               "would wait for ever");
}

/* Queues TURN; neither blocks nor waits. */
static void queue_turn(struct th_permission_turn *turn)
{
    must_wait(); /* a thread with a turn delays all others */
    sem_init(&turn->granted, 0, 0);
    th_code_permission_seize(&turn->request, permission_wake);
}

/* Waits until the same TURN is granted. */
static void await_turn(struct th_permission_turn *turn)
{
    must_wait();
    while (sem_wait(&turn->granted) != 0)
        ; /* a signal handler ran */
    sem_destroy(&turn->granted);
}

void th_code_permission_wait(void)
{
    struct th_permission_turn turn;

    queue_turn(&turn);
    await_turn(&turn);
}

/* --- Modifications ---------------------------------------------------------------------------- */

#define OF(pointer, member) \
    ((struct th_modification *)((char *)(pointer)-offsetof(struct th_modification, member)))

static bool permission_step(struct th_modification *self)
{
    bool more;

    th_code_permission_begin();
    more = self->step(self);
    th_code_permission_end();
    return more;
}

static void permission_is_done(struct th_modification *self)
{
    th_code_permission_begin();
    self->done(self);
    th_code_permission_end();
}

static void permission_end(struct th_modification *self)
{
    th_code_permission_release();
    permission_is_done(self);
}

/* --- Modifications that go on by themselves --------------------------------------------------- */

static bool permission_go_on(struct th_modification *self);

static void go_on_later(struct th_later *later)
{
    permission_go_on(OF(later, later));
}

/* True if SELF is done. SELF may be freed on return, by done() or in another thread. */
static bool permission_go_on(struct th_modification *self)
{
    if (permission_step(self)) {
        self->rounds++;
        th_progress_later(&self->later, go_on_later);
        return false;
    }
    permission_end(self);
    return true;
}

/* Result of the thread's latest permission_begin(). When seize() returns true, the latest is that
 * of the requested modification: nested ones have ended before. */
static _Thread_local bool done_at_once;

static void permission_begin(struct th_permission_request *request)
{
    bool done = permission_go_on(OF(request, turn.request));

    done_at_once = done;
}

bool th_code_modification_start(struct th_modification *self)
{
    return th_code_permission_seize(&self->turn.request, permission_begin) && done_at_once;
}

/* --- Modifications that a thread waits for ---------------------------------------------------- */

void th_code_modification_queue(struct th_modification *self)
{
    self->queued = true;
    queue_turn(&self->turn);
}

static void take_all_steps(struct th_modification *self)
{
    while (permission_step(self)) {
        self->rounds++;
        th_progress_wait();
    }
}

bool th_code_modification_run(struct th_modification *self)
{
    if (!self->queued && !th_code_permission_may_wait())
        return th_code_modification_start(self);
    if (!self->queued)
        th_code_modification_queue(self);
    await_turn(&self->turn);
    take_all_steps(self);
    permission_end(self);
    return true;
}

void th_code_modification_run_held(struct th_modification *self)
{
    if (!th_code_permission_may_wait())
        th_bug("a thread must not wait for a modification in a reader section or a continuation");
    take_all_steps(self);
    permission_is_done(self);
}

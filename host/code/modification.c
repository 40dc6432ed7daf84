#include "modification.h"

#include "host/base/base.h"

#include <stddef.h>

#define OF(pointer, member) \
    ((struct th_modification *)((char *)(pointer)-offsetof(struct th_modification, member)))

static bool step(struct th_modification *self)
{
    bool more;

    th_code_permission_begin();
    more = self->step(self);
    th_code_permission_end();
    return more;
}

static void is_done(struct th_modification *self)
{
    th_code_permission_begin();
    self->done(self);
    th_code_permission_end();
}

static void end(struct th_modification *self)
{
    th_code_permission_release();
    is_done(self);
}

/* --- Going on by itself ----------------------------------------------------------------------- */

static bool go_on(struct th_modification *self);

static void go_on_later(struct th_later *later)
{
    go_on(OF(later, later));
}

/* True if it is done. The step may have been the last that anybody may look at SELF. */
static bool go_on(struct th_modification *self)
{
    if (step(self)) {
        self->rounds++;
        th_progress_later(&self->later, go_on_later);
        return false;
    }
    end(self);
    return true;
}

/* What the thread's latest begin() came to: others' are over when the one that was asked for is. */
static _Thread_local bool done_at_once;

static void begin(struct th_permission_request *request)
{
    bool done = go_on(OF(request, turn.request));

    done_at_once = done;
}

bool th_code_modification_start(struct th_modification *self)
{
    return th_code_permission_seize(&self->turn.request, begin) && done_at_once;
}

/* --- Being waited for ------------------------------------------------------------------------- */

void th_code_modification_queue(struct th_modification *self)
{
    self->queued = true;
    th_code_permission_queue(&self->turn);
}

static void take_all_steps(struct th_modification *self)
{
    while (step(self)) {
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
    th_code_permission_await(&self->turn);
    take_all_steps(self);
    end(self);
    return true;
}

void th_code_modification_run_held(struct th_modification *self)
{
    if (!th_code_permission_may_wait())
        th_bug("a modification is to be waited for in a read section or a continuation");
    take_all_steps(self);
    is_done(self);
}

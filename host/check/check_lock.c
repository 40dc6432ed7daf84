/*
 * Locks: which ones each thread has.
 */
#include "check_internal.h"

#include "host/self/self.h"

enum { MOST = 64 /* locks of one thread; what it has beyond is not known */ };

/* What the thread has, the last one last. */
struct held_locks {
    size_t count;
    struct held_lock {
        const void *lock;
        uint64_t call; /* that took it, 0: none */
        bool shared;
        unsigned refused; /* how often it was not taken again */
    } locks[MOST];
};
static _Thread_local void *of_thread; /* its struct held_locks; NULL: it never had any */

static struct held_lock *find_held(const void *lock)
{
    struct held_locks *held = of_thread;

    for (size_t i = held ? held->count : 0; i > 0; i--)
        if (held->locks[i - 1].lock == lock)
            return &held->locks[i - 1];
    return NULL;
}

static void forget_held(struct held_lock *mine)
{
    struct held_locks *held = of_thread;
    const struct held_lock *end = held->locks + held->count--;

    memmove(mine, mine + 1, (size_t)(end - (mine + 1)) * sizeof *mine);
}

bool th_check_note_locks(const void *lock, bool shared, const char *function)
{
    struct held_lock *mine = find_held(lock);

    if (!th_check_note_has(TH_CHECK_LOCK, lock, function))
        return false;
    if (!mine)
        return true;
    if (shared && mine->shared) {
        th_check_blame(function, "of a lock that it has already: a writer that waits would be "
                                 "waited for, for ever");
        return true; /* mostly that goes well */
    }
    th_check_blame(function, "of a lock that it has already: it would wait for itself, for ever");
    mine->refused++;
    return false;
}

void th_check_note_locked(const void *lock, bool shared)
{
    struct held_locks *held = of_thread;
    int before;

    if (!th_check_hold(lock, 1, &before, NULL))
        return;
    if (!held)
        held = th_thread_memory(&of_thread, sizeof *held);
    if (!held || held->count == MOST)
        return;
    held->locks[held->count++] =
        (struct held_lock){lock, th_self.check_frame ? th_self.check_frame->number : 0, shared, 0};
}

/* The thread gives up MINE; false if that was refused. */
static bool give_up_held(struct held_lock *mine, bool shared, const char *function)
{
    int before;

    if (mine->refused > 0) {
        mine->refused--;
        return false;
    }
    if (mine->shared != shared)
        th_check_blame(function, shared ? "of a lock that it has not for reading but for writing"
                                        : "of a lock that it has not for writing but for reading");
    th_check_hold(mine->lock, -1, &before, NULL);
    forget_held(mine);
    return true;
}

bool th_check_note_unlocks(const void *lock, bool shared, const char *function)
{
    struct held_lock *mine = find_held(lock);
    int before;

    if (!th_check_note_has(TH_CHECK_LOCK, lock, function))
        return false;
    if (mine)
        return give_up_held(mine, shared, function);
    if (!th_check_hold(lock, 0, &before, NULL) || before <= 0) {
        th_check_blame(function, "of a lock that nobody has");
        return false;
    }
    th_check_hold(lock, -1, &before, NULL);
    th_check_blame(function, "of a lock that another thread has");
    return true;
}

void th_check_lock_gone(const void *lock)
{
    struct held_lock *mine;

    while ((mine = find_held(lock)))
        forget_held(mine);
}

void th_check_locks_left(const struct th_check_frame *frame)
{
    const struct held_locks *held = of_thread;

    for (size_t i = 0; held && i < held->count; i++) {
        const struct held_lock *mine = &held->locks[i];
        char *name = NULL;
        int before;

        if (mine->call != frame->number || !th_check_hold(mine->lock, 0, &before, &name))
            continue;
        th_check_found_now("returns with lock", "returns with the lock%s%s%s locked",
                           name ? " '" : "", name ? name : "", name ? "'" : "");
        th_free(name);
    }
}

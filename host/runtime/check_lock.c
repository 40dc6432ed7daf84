/*
 * Locks: which ones each thread has.
 */
#include "checking.h"

enum { MOST = 64 /* locks of one thread; what it has beyond is not known */ };

/* What the thread has, the last one last. */
static _Thread_local struct {
    const void *lock;
    uint64_t call; /* that took it, 0: none */
    bool shared;
    unsigned refused; /* how often it was not taken again */
} mine[MOST];
static _Thread_local size_t count;

/* The place behind that of LOCK, 0 if the thread does not have it. */
static size_t find(const void *lock)
{
    size_t i = count;

    while (i > 0 && mine[i - 1].lock != lock)
        i--;
    return i;
}

static void forget(size_t place)
{
    memmove(&mine[place - 1], &mine[place], (count - place) * sizeof *mine);
    count--;
}

bool th_check_note_locks(const void *lock, bool shared, const char *function)
{
    size_t place = find(lock);

    if (!th_check_note_has(TH_CHECK_LOCK, lock, function))
        return false;
    if (place == 0)
        return true;
    if (shared && mine[place - 1].shared) {
        th_check_blame(function, "of a lock that it has already: a writer that waits would be "
                                 "waited for, for ever");
        return true; /* mostly that goes well */
    }
    th_check_blame(function, "of a lock that it has already: it would wait for itself, for ever");
    mine[place - 1].refused++;
    return false;
}

void th_check_note_locked(const void *lock, bool shared)
{
    int before;

    if (!th_check_hold(lock, 1, &before, NULL) || count == MOST)
        return;
    mine[count].lock = lock;
    mine[count].shared = shared;
    mine[count].refused = 0;
    mine[count].call = th_check_frame ? th_check_frame->number : 0;
    count++;
}

/* The thread gives up what stands at PLACE; false if that was refused. */
static bool give_up(size_t place, bool shared, const char *function)
{
    int before;

    if (mine[place - 1].refused > 0) {
        mine[place - 1].refused--;
        return false;
    }
    if (mine[place - 1].shared != shared)
        th_check_blame(function, shared ? "of a lock that it has not for reading but for writing"
                                        : "of a lock that it has not for writing but for reading");
    th_check_hold(mine[place - 1].lock, -1, &before, NULL);
    forget(place);
    return true;
}

bool th_check_note_unlocks(const void *lock, bool shared, const char *function)
{
    size_t place = find(lock);
    int before;

    if (!th_check_note_has(TH_CHECK_LOCK, lock, function))
        return false;
    if (place > 0)
        return give_up(place, shared, function);
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
    size_t place;

    while ((place = find(lock)) > 0)
        forget(place);
}

void th_check_locks_left(const struct th_check_frame *frame)
{
    for (size_t i = 0; i < count; i++) {
        char *name = NULL;
        int before;

        if (mine[i].call != frame->number || !th_check_hold(mine[i].lock, 0, &before, &name))
            continue;
        th_check_found_now("returns with lock", "returns with the lock%s%s%s locked",
                           name ? " '" : "", name ? name : "", name ? "'" : "");
        th_free(name);
    }
}

/*
 * The poll thread: waits for descriptors, sends the selected messages, and calls `stop` where
 * select.c could not.
 *
 * The thread holds the lock while it interprets an event of epoll, never while it sends or runs
 * code of a library. A descriptor can be stopped, closed and reused between epoll_wait() and the
 * lock; the generation in epoll's data shows that, so no other thread waits for this one.
 *
 * Descriptors are armed for one report (EPOLLONESHOT) of any selected mode, and armed again for the
 * modes that are still selected. Cancelling leaves epoll unchanged: a report of a mode that is not
 * selected is dropped.
 */
#include "poll_event.h"
#include "select.h"

#include "host/base/log.h"
#include "host/base/memory.h"
#include "host/library/resource/resource.h"
#include "host/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

pthread_mutex_t th_poll_lock = PTHREAD_MUTEX_INITIALIZER;

/* By descriptor, and the list of due events. All guarded by the lock. */
static struct th_poll_event **events;
static size_t size; /* places in `events` */
static struct th_poll_event *due;

/* --- Mail and leavings ------------------------------------------------------------------------ */

void th_poll_leave_mail(struct th_poll_leavings *leavings, struct th_message *mail)
{
    if (!mail)
        return;
    mail->next = leavings->mail;
    leavings->mail = mail;
}

void th_poll_give_back(struct th_poll_leavings *leavings)
{
    th_process_messages_free(leavings->mail);
    leavings->mail = NULL;
    while (leavings->gone) {
        struct th_poll_event *next = leavings->gone->next_gone;
        th_resource_release(leavings->gone->object);
        th_free(leavings->gone);
        leavings->gone = next;
    }
}

/* --- The table -------------------------------------------------------------------------------- */

struct th_poll_event *th_poll_find(ErlNifEvent fd)
{
    return (size_t)fd < size ? events[fd] : NULL;
}

struct th_poll_event *th_poll_add(ErlNifEvent fd, void *object)
{
    static uint32_t generation;
    struct th_poll_event *event = th_alloc_zero(sizeof *event);
    size_t wanted = (size_t)fd + 1 > 2 * size ? (size_t)fd + 1 : 2 * size;

    if ((size_t)fd >= size) {
        events = th_realloc(events, wanted * sizeof(struct th_poll_event *));
        memset(events + size, 0, (wanted - size) * sizeof(struct th_poll_event *));
        size = wanted;
    }
    events[fd] = event;
    event->fd = fd;
    event->generation = ++generation;
    event->object = object;
    th_resource_keep(object);
    return event;
}

void th_poll_put_due(struct th_poll_event *event)
{
    if (event->due)
        return;
    event->due = true;
    event->place = &due;
    event->next = due;
    if (due)
        due->place = &event->next;
    due = event;
}

static void poll_thread_take_out(struct th_poll_event *event)
{
    event->due = false;
    *event->place = event->next;
    if (event->next)
        event->next->place = event->place;
}

static struct th_poll_event *take_due(void)
{
    struct th_poll_event *first = due;

    if (first)
        poll_thread_take_out(first);
    return first;
}

void th_poll_dissolve(struct th_poll_event *event, struct th_poll_leavings *leavings)
{
    if (event->pollable)
        th_poll_disarm(event);
    if (event->due)
        poll_thread_take_out(event);
    for (int mode = 0; mode < TH_POLL_MODES; mode++)
        th_poll_leave_mail(leavings, event->mail[mode]);
    events[event->fd] = NULL;
    event->next_gone = leavings->gone;
    leavings->gone = event;
}

static void dissolve_all(struct th_poll_leavings *leavings)
{
    for (size_t i = 0; i < size; i++)
        if (events[i])
            th_poll_dissolve(events[i], leavings);
    th_free(events);
    events = NULL;
    size = 0;
}

unsigned th_poll_wanted(const struct th_poll_event *event)
{
    unsigned wanted = 0;

    for (int mode = 0; mode < TH_POLL_MODES; mode++)
        if (event->mail[mode])
            wanted |= 1u << mode;
    return wanted;
}

/* --- The thread ------------------------------------------------------------------------------ */

enum { BATCH = 64 };

/* Guarded by the lock; constant while the thread runs, except `ending`. */
static struct {
    bool running, ending;
    int epoll, wakeup; /* descriptors; the second, an eventfd, is in the set of the first */
    pthread_t thread;
} poller;

/* The data of `wakeup` in epoll. Other data have the generation in the high half and the
 * descriptor, which is not negative, in the low half. */
static const uint64_t wakeup_data = UINT64_MAX;

/* --- Requests of other threads; the lock is held ---------------------------------------------- */

void th_poll_wake(void)
{
    uint64_t one = 1;

    if (write(poller.wakeup, &one, sizeof one) < 0 && errno != EAGAIN) /* full: it is awake */
        th_warn("cannot wake the poll thread: %m");
}

/* epoll always reports errors, so that a descriptor armed for no mode waits for errors. */
enum th_poll_watched th_poll_arm(struct th_poll_event *event, unsigned modes)
{
    struct epoll_event armed = {
        .events = EPOLLONESHOT | (modes & 1u << TH_POLL_READ ? EPOLLIN : 0u) |
                  (modes & 1u << TH_POLL_WRITE ? EPOLLOUT : 0u),
        .data.u64 = (uint64_t)event->generation << 32 | (uint32_t)event->fd,
    };
    int operation = event->pollable ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    if (epoll_ctl(poller.epoll, operation, event->fd, &armed) != 0)
        return !event->pollable && (errno == EPERM || errno == EBADF) ? TH_POLL_UNWATCHABLE
                                                                      : TH_POLL_FAILED;
    event->pollable = true;
    event->armed = modes;
    return TH_POLL_WATCHED;
}

/* Fails if the descriptor is closed already; then it is in no set. */
void th_poll_disarm(struct th_poll_event *event)
{
    epoll_ctl(poller.epoll, EPOLL_CTL_DEL, event->fd, NULL);
}

/* --- Rounds ----------------------------------------------------------------------------------- */

/* Work of the thread when the lock is free. */
struct round {
    struct th_message *first, **last; /* to be sent, in order */
    struct th_poll_event *stop;       /* dissolved events whose `stop` is due */
    struct th_poll_leavings leavings;
    ErlNifEvent closed; /* a descriptor that was not open, or -1 */
};

static void fire(struct round *round, struct th_poll_event *event, unsigned modes)
{
    for (int mode = 0; mode < TH_POLL_MODES; mode++) {
        if (!(modes & 1u << mode) || !event->mail[mode])
            continue;
        *round->last = event->mail[mode];
        round->last = &event->mail[mode]->next;
        event->mail[mode] = NULL;
    }
    *round->last = NULL;
}

static void see_report(struct round *round, const struct epoll_event *report)
{
    struct th_poll_event *event = th_poll_find((ErlNifEvent)(uint32_t)report->data.u64);
    unsigned modes = (report->events & EPOLLIN ? 1u << TH_POLL_READ : 0) |
                     (report->events & EPOLLOUT ? 1u << TH_POLL_WRITE : 0);

    if (!event || event->generation != report->data.u64 >> 32)
        return;
    if (report->events & (EPOLLERR | EPOLLHUP)) /* concerns all selected modes */
        modes = (1u << TH_POLL_MODES) - 1;
    event->armed = 0;
    fire(round, event, modes);
    modes = th_poll_wanted(event);
    if (modes && th_poll_arm(event, modes) == TH_POLL_FAILED)
        th_warn("cannot watch file descriptor %d any more: %m", event->fd);
}

/* Returns false if the thread must end, after it has done all due work. */
static bool run_round(const struct epoll_event reports[], int count)
{
    struct round round = {.last = &round.first, .closed = -1};
    struct th_poll_leavings none = {0};
    struct th_poll_event *event;
    bool ending;

    pthread_mutex_lock(&th_poll_lock);
    for (int i = 0; i < count; i++)
        if (reports[i].data.u64 != wakeup_data)
            see_report(&round, &reports[i]);
    while ((event = take_due())) {
        if (event->stopping) {
            th_poll_dissolve(event, &none); /* no mail: stopping has cancelled it */
            event->next_gone = round.stop;
            round.stop = event;
        } else if (fcntl(event->fd, F_GETFD) < 0) {
            round.closed = event->fd;
            th_poll_dissolve(event, &round.leavings);
        } else { /* epoll cannot watch it: it is ready for reading and writing */
            fire(&round, event, 1u << TH_POLL_READ | 1u << TH_POLL_WRITE);
        }
    }
    ending = poller.ending;
    pthread_mutex_unlock(&th_poll_lock);

    while (round.first) {
        struct th_message *mail = round.first;
        round.first = mail->next;
        mail->next = NULL;
        th_process_send_message(mail->number, mail);
    }
    while (round.stop) {
        event = round.stop;
        round.stop = event->next_gone;
        th_resource_stop(event->object, event->fd, false);
        th_resource_release(event->object);
        th_free(event);
    }
    th_poll_give_back(&round.leavings);
    if (round.closed >= 0)
        th_warn("enif_select: file descriptor %d is not open", round.closed);
    th_resource_reap_unwoken();
    return !ending;
}

static void *poll_events(void *unused)
{
    struct epoll_event reports[BATCH];
    uint64_t wakeups;
    int count;

    do {
        count = epoll_wait(poller.epoll, reports, BATCH, -1);
        for (int i = 0; i < count; i++)
            if (reports[i].data.u64 == wakeup_data &&
                read(poller.wakeup, &wakeups, sizeof wakeups) < 0 && errno != EAGAIN)
                th_warn("cannot read the wakeups of the poll thread: %m");
    } while (run_round(reports, count));
    return unused;
}

/* --- Start and end ---------------------------------------------------------------------------- */

static void close_descriptors(void)
{
    if (poller.epoll >= 0)
        close(poller.epoll);
    if (poller.wakeup >= 0)
        close(poller.wakeup);
}

/* Blocks signals that are sent to the program: other threads handle them. */
bool th_poll_start(void)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    struct epoll_event wakeup = {.events = EPOLLIN, .data.u64 = wakeup_data};
    sigset_t blocked, old;

    if (poller.running)
        return true;
    poller.epoll = epoll_create1(EPOLL_CLOEXEC);
    poller.wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (poller.epoll >= 0 && poller.wakeup >= 0 &&
        epoll_ctl(poller.epoll, EPOLL_CTL_ADD, poller.wakeup, &wakeup) == 0) {
        sigfillset(&blocked);
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            sigdelset(&blocked, own[i]);
        pthread_sigmask(SIG_BLOCK, &blocked, &old);
        poller.running = pthread_create(&poller.thread, NULL, poll_events, NULL) == 0;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    if (poller.running)
        pthread_setname_np(poller.thread, "poll");
    else
        close_descriptors();
    return poller.running;
}

void th_poll_select_end(void)
{
    struct th_poll_leavings leavings = {0};
    bool running;

    pthread_mutex_lock(&th_poll_lock);
    running = poller.running;
    if (running) {
        poller.ending = true;
        th_poll_wake();
    }
    pthread_mutex_unlock(&th_poll_lock);
    if (!running)
        return;
    pthread_join(poller.thread, NULL);
    pthread_mutex_lock(&th_poll_lock);
    dissolve_all(&leavings);
    close_descriptors();
    poller.running = poller.ending = false;
    pthread_mutex_unlock(&th_poll_lock);
    th_poll_give_back(&leavings);
    th_resource_reap();
}

/*
 * What is selected, and the one lock for it. Inner header of runtime/: select.c changes what is
 * selected, poll_thread.c acts on it.
 */
#ifndef TH_POLL_EVENT_H
#define TH_POLL_EVENT_H

#include "plugin_api/erl_nif.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What can be waited for, each by itself. Order: that in which messages are sent. */
enum th_poll_mode { TH_POLL_READ, TH_POLL_WRITE, TH_POLL_ERROR, TH_POLL_MODES };

/*
 * A file descriptor and its resource.
 *
 * One that epoll cannot watch (a regular file, or one that is closed) is `due` whenever somebody
 * waits for it; the poll thread then finds it ready, as poll(2) would, or closed.
 */
struct th_poll_event {
    ErlNifEvent fd;
    uint32_t generation; /* tells it from those that had the same descriptor before */
    void *object;        /* with a share of the resource */
    bool pollable;       /* it is in the epoll set */
    bool stopping;       /* the poll thread will call `stop` */
    bool due;            /* in the list of those that the poll thread is to look at */
    unsigned armed;      /* modes, as bits, that epoll will report: once for all of them together */
    /* What to send, to the pid in its `number`; NULL: not selected. */
    struct th_message *mail[TH_POLL_MODES];
    struct th_poll_event *next, **place; /* while due */
    struct th_poll_event *next_gone;     /* in th_poll_leavings */
};

/*
 * Guards all events and the table of them. While it is held nothing is called but epoll_ctl() and
 * what wakes the poll thread; it is taken inside any other lock.
 */
extern pthread_mutex_t th_poll_lock;

/*
 * What a change has left over, to be given back when the lock is free: messages that will not be
 * sent, events whose relation has ended.
 */
struct th_poll_leavings {
    struct th_message *mail;
    struct th_poll_event *gone;
};
void th_poll_leave_mail(struct th_poll_leavings *leavings, struct th_message *mail);
void th_poll_give_back(struct th_poll_leavings *leavings);

/* --- The table; the lock is held -------------------------------------------------------------- */

/* The event of FD, which is not negative; NULL: there is none. */
struct th_poll_event *th_poll_find(ErlNifEvent fd);

/* A new event of FD, which has none, with a share of OBJECT; in no epoll set. */
struct th_poll_event *th_poll_add(ErlNifEvent fd, void *object);

/* The relation ends: EVENT goes with its mail. The share of its object does with the LEAVINGS. */
void th_poll_dissolve(struct th_poll_event *event, struct th_poll_leavings *leavings);

/* Puts EVENT into the list of those that are due, unless it is there already. */
void th_poll_put_due(struct th_poll_event *event);

/* Modes, as bits, that somebody waits for. */
unsigned th_poll_wanted(const struct th_poll_event *event);

/* --- The poll thread; the lock is held -------------------------------------------------------- */

/* Starts it if it does not run. False if that was not possible. */
bool th_poll_start(void);

enum th_poll_watched {
    TH_POLL_WATCHED,
    TH_POLL_UNWATCHABLE, /* epoll cannot, or it is closed: the event is not pollable */
    TH_POLL_FAILED
};

/* Has epoll report MODES of EVENT. */
enum th_poll_watched th_poll_arm(struct th_poll_event *event, unsigned modes);

/* Takes it out of the epoll set. */
void th_poll_disarm(struct th_poll_event *event);

/* Wakes it, as something is due. */
void th_poll_wake(void);

#endif

/*
 * The table of selected file descriptors and its lock. Inner header of runtime/: select.c changes
 * selections, poll_thread.c acts on them.
 */
#ifndef TH_POLL_EVENT_H
#define TH_POLL_EVENT_H

#include "plugin_api/erl_nif.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Modes that are selected separately. Messages are sent in this order. */
enum th_poll_mode { TH_POLL_READ, TH_POLL_WRITE, TH_POLL_ERROR, TH_POLL_MODES };

/*
 * A file descriptor and its resource (their relation).
 *
 * epoll cannot watch some descriptors (regular files, closed descriptors). The event of such a
 * descriptor is `due` whenever a mode is selected; the poll thread then finds the descriptor ready,
 * as poll(2) would, or closed.
 */
struct th_poll_event {
    ErlNifEvent fd;
    uint32_t generation; /* differs from former events of the same descriptor */
    void *object;        /* resource, with a reference */
    bool pollable;       /* in the epoll set */
    bool stopping;       /* the poll thread must call `stop` */
    bool due;            /* in the list of events for the poll thread */
    unsigned armed;      /* modes, as bits, that epoll will report, together once */
    /* Messages to send, each to the pid in its `number`; NULL: mode not selected. */
    struct th_message *mail[TH_POLL_MODES];
    struct th_poll_event *next, **place; /* while `due` */
    struct th_poll_event *next_gone;     /* in th_poll_leavings */
};

/*
 * Guards all events and their table. Innermost: no code of a library runs under it.
 */
extern pthread_mutex_t th_poll_lock;

/*
 * Objects that a change leaves over, to be freed without the lock: messages that will not be sent,
 * and events whose relation has ended.
 */
struct th_poll_leavings {
    struct th_message *mail;
    struct th_poll_event *gone;
};
void th_poll_leave_mail(struct th_poll_leavings *leavings, struct th_message *mail);
void th_poll_give_back(struct th_poll_leavings *leavings);

/* --- The table; the lock is held -------------------------------------------------------------- */

/* Returns the event of FD, which is not negative; NULL: none. */
struct th_poll_event *th_poll_find(ErlNifEvent fd);

/* Adds an event of FD, which has none, with a reference to OBJECT. The event is in no epoll set. */
struct th_poll_event *th_poll_add(ErlNifEvent fd, void *object);

/* Ends the relation: moves EVENT, its messages and its resource's reference to LEAVINGS. */
void th_poll_dissolve(struct th_poll_event *event, struct th_poll_leavings *leavings);

/* Adds EVENT to the list of due events, unless it is there. */
void th_poll_put_due(struct th_poll_event *event);

/* Returns the modes, as bits, that are selected. */
unsigned th_poll_wanted(const struct th_poll_event *event);

/* --- The poll thread; the lock is held -------------------------------------------------------- */

/* Starts the poll thread if it does not run. Returns false if that failed. */
bool th_poll_start(void);

enum th_poll_watched {
    TH_POLL_WATCHED,
    TH_POLL_UNWATCHABLE, /* epoll cannot watch it, or it is closed: the event is not pollable */
    TH_POLL_FAILED
};

/* Requests one report of MODES of EVENT from epoll. */
enum th_poll_watched th_poll_arm(struct th_poll_event *event, unsigned modes);

/* Removes EVENT from the epoll set. */
void th_poll_disarm(struct th_poll_event *event);

/* Wakes the poll thread, as an event is due. */
void th_poll_wake(void);

#endif

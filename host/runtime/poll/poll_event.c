#include "poll_event.h"

#include "host/base/base.h"

#include <string.h>

pthread_mutex_t th_poll_lock = PTHREAD_MUTEX_INITIALIZER;

/* By descriptor, and the list of those that are due. All guarded by the lock. */
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

static void take_out(struct th_poll_event *event)
{
    event->due = false;
    *event->place = event->next;
    if (event->next)
        event->next->place = event->place;
}

struct th_poll_event *th_poll_take_due(void)
{
    struct th_poll_event *first = due;

    if (first)
        take_out(first);
    return first;
}

void th_poll_dissolve(struct th_poll_event *event, struct th_poll_leavings *leavings)
{
    if (event->pollable)
        th_poll_disarm(event);
    if (event->due)
        take_out(event);
    for (int mode = 0; mode < TH_POLL_MODES; mode++)
        th_poll_leave_mail(leavings, event->mail[mode]);
    events[event->fd] = NULL;
    event->next_gone = leavings->gone;
    leavings->gone = event;
}

void th_poll_dissolve_all(struct th_poll_leavings *leavings)
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

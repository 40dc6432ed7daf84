/* What a session has set for messages, and how events meet it. Inner header of trace/. */
#ifndef TH_MESSAGE_FILTER_H
#define TH_MESSAGE_FILTER_H

#include "host/match/match.h"
#include "message_pattern.h"
#include "host/progress/progress.h"

#include <stdatomic.h>

struct th_tracee_ref;
struct th_dispatch;

enum th_message_side { TH_MESSAGE_SENT, TH_MESSAGE_RECEIVED, TH_MESSAGES };

/* Never changes. */
struct th_message_filter {
    struct th_match_spec *spec; /* NULL: nothing passes */
    struct th_later later;      /* when it is replaced */
};

struct th_message_filters {
    /* By enum th_message_side; NULL: everything passes. Exchanged by whoever sets another (release:
     * it is complete); read in read sections (acquire), and what was there freed after progress. */
    struct th_message_filter *_Atomic items[TH_MESSAGES];
    atomic_bool used; /* one was set; relaxed, for reports alone */
};

/* True if there is a filter for events of GROUP. Relaxed, as only th_trace_message_filter_offer()
 * looks into it; one that is set meanwhile counts from the next event on. */
static inline bool th_trace_message_filter_is_set(const struct th_message_filters *filters,
                                                  enum th_tracer_group group)
{
    unsigned message = (unsigned)group - TH_GROUP_send;

    _Static_assert(TH_GROUP_receive - TH_GROUP_send == TH_MESSAGE_RECEIVED, "as the groups");
    return message < TH_MESSAGES &&
           atomic_load_explicit(&filters->items[message], memory_order_relaxed);
}

/* Offers a send or receive of a process, which is addressed to a session that has a filter for it
 * and traces TRACED for such events. False: there is no filter any more. */
bool th_trace_message_filter_offer(struct th_dispatch *dispatch, bool traced);

/* Nobody looks at them any more. */
void th_trace_message_filters_end(struct th_message_filters *filters);

#endif

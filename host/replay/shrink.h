/*
 * Shrinks the terms of an event while a test still holds, such as "the tracer crashes in the same
 * place". The event stays a trace message that a node could send.
 *
 * Terms that may be anything are shrunk: arguments of a call, messages, values that are returned or
 * thrown, reasons, labels and messages of seq_trace, results of match specifications. Numbers in the
 * list of a garbage collection become 0. Functions, pids, names and times stay.
 *
 * For each such term, in this order: [] in its place; an integer becomes 0, a float 0.0; a binary
 * becomes the shortest prefix that suffices; a tuple, list or map is replaced by one of its
 * elements; a list loses elements and a map pairs, by th_replay_minimize_units(); then each element
 * is shrunk. A call may so lose arguments.
 */
#ifndef TH_SHRINK_H
#define TH_SHRINK_H

#include "host/trace/event.h"

/* A place of an event where any term may stand, but the result of a match specification. */
struct th_event_place {
    th_term *field; /* member of the event */
    enum {
        TH_PLACE_WHOLE,    /* *field itself */
        TH_PLACE_ELEMENT,  /* an element of the tuple *field */
        TH_PLACE_ARGUMENTS /* each element of an element, which is a list that is not empty */
    } kind;
    size_t index; /* of the element of *field */
};

enum { TH_EVENT_PLACES = 2 };

/* Finds the places of EVENT, which is decoded. Returns their number. */
size_t th_replay_event_places(struct th_event *event,
                              struct th_event_place places[TH_EVENT_PLACES]);

/* Returns whether the test holds for EVENT. */
typedef bool th_replay_event_trial(void *context, const struct th_event *event);

/* Shrinks the terms of EVENT, which is decoded and for which TRIAL holds. Terms are made in ENV. If
 * ENV takes more than MOST bytes, the terms stay as they are then. */
void th_replay_shrink(struct th_event *event, th_env *env, size_t most,
                      th_replay_event_trial *trial, void *context);

#endif

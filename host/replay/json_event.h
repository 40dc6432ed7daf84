/* Events from JSON objects: one line each. Their terms are made when somebody wants them. */
#ifndef TH_JSON_EVENT_H
#define TH_JSON_EVENT_H

#include "json_fields.h"

struct th_json_event {
    struct th_etf_node here; /* of the stream; see th_etf_options */
    json_t *root;            /* the line; NULL before the first */
    const json_t *fields[TH_JSON_FIELD_COUNT];
    unsigned shape; /* enum th_json_shape */
    th_env scratch;
};

void th_json_event_init(struct th_json_event *json);
void th_json_event_release(struct th_json_event *json);

/* Gives up the event at hand, and what was made of it here. */
void th_json_event_drop(struct th_json_event *json);

/*
 * Begins EVENT, whose number and position are set, with the object ROOT, whose reference it takes
 * over. TH_MALFORMED, naming the field, if a field is missing, unknown or out of place, or the
 * kind, tag, tracee or time is wrong; terms are looked at later.
 */
enum th_status th_json_event_begin(struct th_json_event *json, json_t *root,
                                   struct th_event *event);

#endif

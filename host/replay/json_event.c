#include "json_lines.h"

#include "host/term/json.h"
#include "host/trace/recorded/execution.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const char *const th_replay_json_time_kinds[] = {
    [TH_TIME_NONE] = "",
    [TH_TIME_TIMESTAMP] = "timestamp",
    [TH_TIME_CPU] = "cpu_timestamp",
    [TH_TIME_MONOTONIC] = "monotonic",
    [TH_TIME_STRICT_MONOTONIC] = "strict_monotonic",
};

static const struct {
    const char *name;
    unsigned may, must; /* enum th_json_shape */
} fields[] = {
#define X(name, may, must) {#name, may, must},
    TH_JSON_FIELDS(X)
#undef X
};

static const struct th_event_source source;

static enum th_status field_is_wrong(enum th_json_field field, const char *why)
{
    return th_error_raise(TH_MALFORMED, "the field \"%s\" %s", fields[field].name, why);
}

/* Fields of a line. */

static enum th_status take_fields(struct th_json_event *json)
{
    void *at = json_object_iter(json->root);
    int field = TH_JSON_FIELD_COUNT - 1;

    memset(json->fields, 0, sizeof json->fields);
    for (; at; at = json_object_iter_next(json->root, at)) {
        const char *name = json_object_iter_key(at);
        int left = TH_JSON_FIELD_COUNT;

        /* Continue in the table behind the last field found: lines mostly have its order. */
        do
            field = (field + 1) % TH_JSON_FIELD_COUNT;
        while (strcmp(fields[field].name, name) != 0 && --left > 0);
        if (left == 0)
            return th_error_raise(TH_MALFORMED, "unknown field \"%s\"", name);
        json->fields[field] = json_object_iter_value(at);
    }
    return TH_OK;
}

static enum th_status take_time_kind(struct th_json_event *json, struct th_event *event)
{
    const json_t *value = json->fields[TH_JSON_FIELD_ts_kind];

    event->time.kind = TH_TIME_MONOTONIC;
    if (!value)
        return TH_OK;
    if (!json_is_string(value))
        return field_is_wrong(TH_JSON_FIELD_ts_kind, "is not a string");
    for (int kind = TH_TIME_TIMESTAMP; kind <= TH_TIME_STRICT_MONOTONIC; kind++)
        if (strcmp(json_string_value(value), th_replay_json_time_kinds[kind]) == 0) {
            event->time.kind = (enum th_time_kind)kind;
            return TH_OK;
        }
    return field_is_wrong(TH_JSON_FIELD_ts_kind,
                          "must be timestamp, cpu_timestamp, monotonic or strict_monotonic");
}

/* Sets the kind and tag of EVENT, and the shape of the line. */
static enum th_status take_shape(struct th_json_event *json, struct th_event *event)
{
    const json_t *tag = json->fields[TH_JSON_FIELD_tag];

    if (json->fields[TH_JSON_FIELD_drop] || json->fields[TH_JSON_FIELD_other]) {
        bool drop = json->fields[TH_JSON_FIELD_drop];
        json->shape = drop ? TH_JSON_DROP : TH_JSON_OTHER;
        event->kind = drop ? TH_EVENT_DROP : TH_EVENT_OTHER;
        return TH_OK;
    }

    if (!tag)
        return th_error_raise(TH_MALFORMED,
                              "one of the fields \"tag\", \"drop\" and \"other\" is needed");
    if (!json_is_string(tag))
        return field_is_wrong(TH_JSON_FIELD_tag, "is not a string");
    event->tag =
        th_trace_tag_of(th_atom_existing_utf8(json_string_value(tag), json_string_length(tag)));
    if (event->tag > TH_TAG_seq_trace)
        return field_is_wrong(TH_JSON_FIELD_tag, "is not a known tag");

    if (event->tag == TH_TAG_seq_trace) {
        json->shape = TH_JSON_SEQ_TRACE;
        event->kind = TH_EVENT_SEQ_TRACE;
    } else {
        json->shape = TH_JSON_TRACE | (th_trace_tag_has_extra(event->tag) ? TH_JSON_EXTRA : 0) |
                      (th_trace_tag_has_result(event->tag) ? TH_JSON_RESULT : 0) |
                      (event->tag == TH_TAG_call ? TH_JSON_CALL : 0);
        event->kind = TH_EVENT_TRACE;
    }
    if (!json->fields[TH_JSON_FIELD_ts])
        return TH_OK;
    if (take_time_kind(json, event) != TH_OK)
        return TH_MALFORMED;
    json->shape |= TH_JSON_TIMED;
    if (event->time.kind == TH_TIME_STRICT_MONOTONIC)
        json->shape |= TH_JSON_STRICT;
    if (event->kind == TH_EVENT_TRACE)
        event->kind = TH_EVENT_TRACE_TS;
    return TH_OK;
}

/* Values of the fields. */

static enum th_status take_json_integer(const struct th_json_event *json, enum th_json_field field,
                                        int64_t least, int64_t most, int64_t *value)
{
    *value = json_integer_value(json->fields[field]);
    if (!json_is_integer(json->fields[field]))
        return field_is_wrong(field, "is not an integer");
    return *value < least || *value > most ? field_is_wrong(field, "is out of range") : TH_OK;
}

/* Reads an integer, or its decimal digits as a string, with an optional minus sign, for programs
 * that would round a large number. */
static enum th_status take_exact(const struct th_json_event *json, enum th_json_field field,
                                 int64_t least, int64_t *value)
{
    const json_t *string = json->fields[field];
    const char *text = json_string_value(string), *digits;
    char *end;

    if (!text)
        return take_json_integer(json, field, least, INT64_MAX, value);
    digits = text + (*text == '-');
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (*digits < '0' || *digits > '9' || errno != 0 || end != text + json_string_length(string))
        return field_is_wrong(field, "is not an integer");
    return *value < least ? field_is_wrong(field, "is out of range") : TH_OK;
}

/* Reads decimal digits up to the byte END, and moves *TEXT behind END. Returns false if there are
 * no digits, or their value is above MOST. */
static bool scan_number(const char **text, char end, uint64_t most, uint64_t *number)
{
    const char *p = *text;

    *number = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        *number = *number * 10 + (uint64_t)(*p - '0');
        if (*number > most)
            return false;
    }
    if (p == *text || *p != end)
        return false;
    *text = p + 1;
    return true;
}

/* Parses the usual forms, <0.N.S> and #Port<0.N>; TH_NONE for any other. */
static th_term scan_tracee(const char *text)
{
    uint64_t number, serial;

    if (strncmp(text, "<0.", 3) == 0) {
        text += 3;
        if (scan_number(&text, '.', TH_PID_NUMBER_MAX, &number) &&
            scan_number(&text, '>', UINT32_MAX, &serial) && *text == 0)
            return th_local_pid((uint32_t)number, (uint32_t)serial);
    } else if (strncmp(text, "#Port<0.", 8) == 0) {
        text += 8;
        if (scan_number(&text, '>', TH_PORT_ID_MAX, &number) && *text == 0)
            return th_local_port(number);
    }
    return TH_NONE;
}

static enum th_status take_term(const struct th_json_event *json, enum th_json_field field,
                                th_env *env, th_term *term)
{
    if (th_json_to_term(env, json->fields[field], &json->here, term) != TH_OK)
        return th_error_context("cannot read the field \"%s\"", fields[field].name);
    return TH_OK;
}

static enum th_status take_fact(const struct th_json_event *json, enum th_json_field field,
                                enum th_fact *fact)
{
    const json_t *value = json->fields[field];

    if (!value)
        return TH_OK;
    if (!json_is_boolean(value))
        return field_is_wrong(field, "must be true or false");
    *fact = json_is_true(value) ? TH_YES : TH_NO;
    return TH_OK;
}

static enum th_status take_message(struct th_json_event *json, struct th_event *event)
{
    const json_t *tracee = json->fields[TH_JSON_FIELD_tracee];
    bool clock = event->time.kind == TH_TIME_TIMESTAMP || event->time.kind == TH_TIME_CPU;
    int64_t scheduler;

    event->tuple_size = (json->shape & TH_JSON_SEQ_TRACE ? 3 : 4) +
                        (json->fields[TH_JSON_FIELD_ts] != NULL) +
                        (json->fields[TH_JSON_FIELD_extra] != NULL) +
                        (json->fields[TH_JSON_FIELD_match_spec_result] != NULL) +
                        (json->fields[TH_JSON_FIELD_scheduler_id] != NULL);

    if (json->shape & TH_JSON_TIMED &&
        take_exact(json, TH_JSON_FIELD_ts, clock ? 0 : INT64_MIN, &event->time.ns) != TH_OK)
        return TH_MALFORMED;
    if (clock && event->time.ns % 1000 != 0)
        return field_is_wrong(TH_JSON_FIELD_ts,
                              "must be whole microseconds with this ts_kind, a multiple of 1000");
    if (json->shape & TH_JSON_STRICT &&
        take_exact(json, TH_JSON_FIELD_ts_unique, INT64_MIN, &event->time.unique) != TH_OK)
        return TH_MALFORMED;

    if (json->fields[TH_JSON_FIELD_scheduler_id] &&
        take_json_integer(json, TH_JSON_FIELD_scheduler_id, TH_SMALL_MIN, TH_SMALL_MAX,
                          &scheduler) != TH_OK)
        return TH_MALFORMED;
    if (take_fact(json, TH_JSON_FIELD_external, &event->external) != TH_OK ||
        take_fact(json, TH_JSON_FIELD_tail, &event->tail) != TH_OK)
        return TH_MALFORMED;
    event->callers_told = json->fields[TH_JSON_FIELD_callers];

    if (!(json->shape & TH_JSON_TRACE))
        return TH_OK;
    if (json_is_string(tracee))
        event->tracee = scan_tracee(json_string_value(tracee));
    if (event->tracee != TH_NONE)
        return TH_OK;
    if (take_term(json, TH_JSON_FIELD_tracee, &json->scratch, &event->tracee) != TH_OK)
        return TH_MALFORMED;
    if (!th_is_pid(event->tracee) && !th_is_port(event->tracee))
        return field_is_wrong(TH_JSON_FIELD_tracee, "is neither a process nor a port");
    return TH_OK;
}

void th_replay_json_event_drop(struct th_json_event *json)
{
    json_decref(json->root);
    json->root = NULL;
    th_env_clear(&json->scratch);
}

enum th_status th_replay_json_event_begin(struct th_json_event *json, json_t *root,
                                          struct th_event *event)
{
    int64_t dropped;

    th_replay_json_event_drop(json);
    json->root = root;
    event->source = &source;
    event->reader = json;
    th_trace_event_begin(event, TH_EVENT_OTHER);
    event->timed = true;
    if (take_fields(json) != TH_OK || take_shape(json, event) != TH_OK)
        return TH_MALFORMED;
    for (int i = 0; i < TH_JSON_FIELD_COUNT; i++) {
        if (json->fields[i] && !(fields[i].may & json->shape))
            return th_error_raise(TH_MALFORMED, "the field \"%s\" is not allowed in this record",
                                  fields[i].name);
        if (!json->fields[i] && (fields[i].must & json->shape))
            return th_error_raise(TH_MALFORMED, "the field \"%s\" is missing", fields[i].name);
    }
    if (event->kind == TH_EVENT_OTHER)
        return TH_OK;
    if (event->kind != TH_EVENT_DROP)
        return take_message(json, event);

    /* The range that a trace-port file can hold. */
    if (take_json_integer(json, TH_JSON_FIELD_drop, 0, UINT32_MAX, &dropped) != TH_OK)
        return TH_MALFORMED;
    event->dropped = (uint64_t)dropped;
    event->tuple_size = 2;
    return TH_OK;
}

/* The source of JSON events. */

static enum th_status decode_json(struct th_event *event, th_env *env)
{
    const struct th_json_event *json = event->reader;
    const struct {
        enum th_json_field field;
        th_term *term;
    } parts[] = {
        {TH_JSON_FIELD_other, &event->term},
        {TH_JSON_FIELD_label, &event->label},
        {TH_JSON_FIELD_info, &event->term},
        {TH_JSON_FIELD_term, &event->term},
        {TH_JSON_FIELD_extra, &event->extra},
        {TH_JSON_FIELD_match_spec_result, &event->match_spec_result},
        {TH_JSON_FIELD_scheduler_id, &event->scheduler_id},
        {TH_JSON_FIELD_callers, &event->callers},
    };

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (json->fields[parts[i].field] &&
            take_term(json, parts[i].field, env, parts[i].term) != TH_OK)
            return TH_MALFORMED;
    if (event->callers_told && !th_recorded_are_callers(event->callers))
        return field_is_wrong(
            TH_JSON_FIELD_callers,
            "is not a list of {Module, Function, Arity, Location}, or is too long");
    event->decoded = true;
    return TH_OK;
}

/* Never called: the time is known from the beginning. */
static enum th_status time_of_json(struct th_event *event)
{
    event->timed = true;
    return TH_OK;
}

static enum th_status function_of_json(struct th_event *event, struct th_mfa *function)
{
    struct th_json_event *json = event->reader;
    th_term term = event->term;

    if (th_trace_tag_has_function(event->tag)) {
        if (!event->decoded && take_term(json, TH_JSON_FIELD_term, &json->scratch, &term) != TH_OK)
            return TH_MALFORMED;
        if (th_trace_event_function_from_term(term, function))
            return TH_OK;
    }
    return th_error_raise(TH_MALFORMED, "the record has no module, function and arity");
}

static th_term actor_of_json(struct th_event *event)
{
    struct th_json_event *json = event->reader;
    th_term info = event->term;

    if (!event->decoded && take_term(json, TH_JSON_FIELD_info, &json->scratch, &info) != TH_OK) {
        th_error_clear(); /* a later reader of the terms finds the damage again */
        return TH_NONE;
    }
    return th_trace_event_actor_from_info(info);
}

static enum th_status whole_of_json(struct th_event *event, th_env *env, th_term *tuple)
{
    struct th_event copy = *event;
    struct th_event *here = event->decoded ? &copy : event; /* terms may be in another env */

    if (decode_json(here, env) != TH_OK)
        return TH_MALFORMED;
    *tuple = th_trace_event_to_tuple(here, env);
    return TH_OK;
}

static const struct th_event_source source = {
    .decode = decode_json,
    .time = time_of_json,
    .function = function_of_json,
    .actor = actor_of_json,
    .whole = whole_of_json,
};

#include "json_cache.h"
#include "json_lines.h"

#include "host/base/memory.h"
#include "host/term/json.h"
#include "host/term/make.h"
#include "host/term/text.h"
#include "host/trace/recorded/execution.h"

#include <errno.h>
#include <jansson.h>
#include <stddef.h>
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

static struct th_json_value value_of_json(const json_t *json)
{
    const json_t *etf = json_object_size(json) == 1 ? json_object_get(json, TH_JSON_ETF) : NULL;

    if (json_is_string(json) || json_is_string(etf))
        return (struct th_json_value){
            .kind = etf ? TH_JSON_KIND_ETF : TH_JSON_KIND_STRING,
            .text = json_string_value(etf ? etf : json),
            .size = json_string_length(etf ? etf : json),
        };
    if (json_is_integer(json))
        return (struct th_json_value){.kind = TH_JSON_KIND_INTEGER,
                                      .integer = json_integer_value(json)};
    if (json_is_boolean(json))
        return (struct th_json_value){.kind = TH_JSON_KIND_BOOLEAN, .integer = json_is_true(json)};
    return (struct th_json_value){.kind = TH_JSON_KIND_OTHER, .json = json};
}

/* Fills the values from the object. */
static enum th_status take_fields(struct th_json_event *json)
{
    void *at = json_object_iter(json->root);
    int field = TH_JSON_FIELD_COUNT - 1;

    json->given = 0;
    for (; at; at = json_object_iter_next(json->root, at)) {
        const char *name = json_object_iter_key(at);
        int left = TH_JSON_FIELD_COUNT;

        /* Continue in the table behind the last field found: lines mostly have its order. */
        do
            field = (field + 1) % TH_JSON_FIELD_COUNT;
        while (strcmp(fields[field].name, name) != 0 && --left > 0);
        if (left == 0)
            return th_error_raise(TH_MALFORMED, "unknown field \"%s\"", name);
        json->values[field] = value_of_json(json_object_iter_value(at));
        json->given |= 1u << field;
    }
    return TH_OK;
}

static bool is_text(const struct th_json_value *value, const char *text)
{
    return strlen(text) == value->size && memcmp(value->text, text, value->size) == 0;
}

/* True if the cache can have VALUE, which is then a string that was read in one pass. */
static inline bool is_cacheable(const struct th_json_event *json, const struct th_json_value *value)
{
    return !json->root && value->size <= TH_JSON_CACHE_TEXT;
}

/* Returns the tag that VALUE, a string, names, as a number; TH_TAG_COUNT: none. */
static th_term tag_number(const struct th_json_value *value)
{
    return th_small(th_trace_tag_of(th_atom_existing_utf8(value->text, value->size)));
}

/* Returns the kind of time that VALUE, a string, names, as a number; TH_TIME_NONE: none. */
static th_term time_number(const struct th_json_value *value)
{
    int kind = TH_TIME_STRICT_MONOTONIC;

    while (kind > TH_TIME_NONE && !is_text(value, th_replay_json_time_kinds[kind]))
        kind--;
    return th_small(kind);
}

/* Returns NUMBER(VALUE), a small integer that is not 0, or 0. */
static inline unsigned number_of(const struct th_json_event *json,
                                 const struct th_json_value *value, enum th_json_meaning meaning,
                                 th_term (*number)(const struct th_json_value *value))
{
    struct th_json_cache_slot *slot;
    bool known;

    if (!is_cacheable(json, value))
        return (unsigned)th_small_value(number(value));
    slot = th_replay_json_cache_find(json->cache, meaning, value->text, value->size, &known);
    if (!known)
        th_replay_json_cache_fill(slot, meaning, value->size, number(value));
    return (unsigned)th_small_value(slot->terms[0]);
}

static enum th_status take_time_kind(struct th_json_event *json, struct th_event *event)
{
    const struct th_json_value *value = &json->values[TH_JSON_FIELD_ts_kind];

    event->time.kind = TH_TIME_MONOTONIC;
    if (!th_replay_json_has(json, TH_JSON_FIELD_ts_kind))
        return TH_OK;
    if (value->kind != TH_JSON_KIND_STRING)
        return field_is_wrong(TH_JSON_FIELD_ts_kind, "is not a string");
    event->time.kind = (enum th_time_kind)number_of(json, value, TH_JSON_MEANS_TIME, time_number);
    if (event->time.kind != TH_TIME_NONE)
        return TH_OK;
    event->time.kind = TH_TIME_MONOTONIC;
    return field_is_wrong(TH_JSON_FIELD_ts_kind,
                          "must be timestamp, cpu_timestamp, monotonic or strict_monotonic");
}

/* Sets the kind and tag of EVENT, and the shape of the line. */
static enum th_status take_shape(struct th_json_event *json, struct th_event *event)
{
    const struct th_json_value *tag = &json->values[TH_JSON_FIELD_tag];

    if (json->given & (1u << TH_JSON_FIELD_drop | 1u << TH_JSON_FIELD_other)) {
        bool drop = th_replay_json_has(json, TH_JSON_FIELD_drop);
        json->shape = drop ? TH_JSON_DROP : TH_JSON_OTHER;
        event->kind = drop ? TH_EVENT_DROP : TH_EVENT_OTHER;
        return TH_OK;
    }

    if (!th_replay_json_has(json, TH_JSON_FIELD_tag))
        return th_error_raise(TH_MALFORMED,
                              "one of the fields \"tag\", \"drop\" and \"other\" is needed");
    if (tag->kind != TH_JSON_KIND_STRING)
        return field_is_wrong(TH_JSON_FIELD_tag, "is not a string");
    event->tag = (enum th_tracer_tag)number_of(json, tag, TH_JSON_MEANS_TAG, tag_number);
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
    if (!th_replay_json_has(json, TH_JSON_FIELD_ts))
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
    *value = json->values[field].integer;
    if (json->values[field].kind != TH_JSON_KIND_INTEGER)
        return field_is_wrong(field, "is not an integer");
    return *value < least || *value > most ? field_is_wrong(field, "is out of range") : TH_OK;
}

/* Reads an integer, or its decimal digits as a string, with an optional minus sign, for programs
 * that would round a large number. */
static enum th_status take_exact(const struct th_json_event *json, enum th_json_field field,
                                 int64_t least, int64_t *value)
{
    const struct th_json_value *string = &json->values[field];
    const char *digits;
    char *end;

    if (string->kind != TH_JSON_KIND_STRING)
        return take_json_integer(json, field, least, INT64_MAX, value);
    digits = string->text + (string->size > 0 && *string->text == '-');
    errno = 0;
    *value = strtoll(string->text, &end, 10);
    if (*digits < '0' || *digits > '9' || errno != 0 || end != string->text + string->size)
        return field_is_wrong(field, "is not an integer");
    return *value < least ? field_is_wrong(field, "is out of range") : TH_OK;
}

static enum th_status take_integer_value(th_env *env, int64_t integer, th_term *term)
{
    if (!th_env_room(env, 2)) /* a large integer of one limb */
        return th_error_status();
    *term = th_make_int64(env, integer);
    return TH_OK;
}

/* Makes the term of a slot of the cache. */
static inline enum th_status copy_cached(th_env *env, const struct th_json_cache_slot *slot,
                                         th_term *term)
{
    th_term *words;

    *term = slot->terms[0];
    if (slot->arity > TH_JSON_CACHE_TERMS)
        return TH_OK;
    if (!th_env_room(env, TH_JSON_CACHE_TERMS + 1))
        return th_error_status();
    words = th_env_take(env, slot->arity + 1);
    words[0] = th_header(TH_TUPLE, slot->arity);
    for (uint32_t i = 0; i < slot->arity; i++)
        words[i + 1] = slot->terms[i];
    *term = th_boxed(words);
    return TH_OK;
}

static enum th_status take_text(const struct th_json_event *json, const struct th_json_value *value,
                                th_env *env, th_term *term)
{
    struct th_json_cache_slot *slot;
    enum th_status status;
    bool known;

    if (!is_cacheable(json, value))
        return th_text_parse(env, value->text, value->size, term);
    slot = th_replay_json_cache_find(json->cache, TH_JSON_MEANS_TERM, value->text, value->size,
                                     &known);
    if (known)
        return copy_cached(env, slot, term);
    status = th_text_parse(env, value->text, value->size, term);
    if (status == TH_OK)
        th_replay_json_cache_fill(slot, TH_JSON_MEANS_TERM, value->size, *term);
    return status;
}

static enum th_status take_term(const struct th_json_event *json, enum th_json_field field,
                                th_env *env, th_term *term)
{
    const struct th_json_value *value = &json->values[field];
    enum th_status status = TH_OK;

    if (value->kind == TH_JSON_KIND_STRING)
        status = take_text(json, value, env, term);
    else if (value->kind == TH_JSON_KIND_ETF)
        status = th_json_etf_to_term(env, value->text, value->size, &json->here, term);
    else if (value->kind == TH_JSON_KIND_INTEGER)
        status = take_integer_value(env, value->integer, term);
    else if (value->kind == TH_JSON_KIND_BOOLEAN)
        *term = value->integer ? TH_AM(true) : TH_AM(false);
    else
        status = th_json_to_term(env, value->json, &json->here, term);
    if (status != TH_OK)
        return th_error_context("cannot read the field \"%s\"", fields[field].name);
    return TH_OK;
}

static enum th_status take_fact(const struct th_json_event *json, enum th_json_field field,
                                enum th_fact *fact)
{
    if (!th_replay_json_has(json, field))
        return TH_OK;
    if (json->values[field].kind != TH_JSON_KIND_BOOLEAN)
        return field_is_wrong(field, "must be true or false");
    *fact = json->values[field].integer ? TH_YES : TH_NO;
    return TH_OK;
}

static enum th_status take_message(struct th_json_event *json, struct th_event *event)
{
    bool clock = event->time.kind == TH_TIME_TIMESTAMP || event->time.kind == TH_TIME_CPU;
    int64_t scheduler;

    event->tuple_size = (json->shape & TH_JSON_SEQ_TRACE ? 3 : 4) +
                        th_replay_json_has(json, TH_JSON_FIELD_ts) +
                        th_replay_json_has(json, TH_JSON_FIELD_extra) +
                        th_replay_json_has(json, TH_JSON_FIELD_match_spec_result) +
                        th_replay_json_has(json, TH_JSON_FIELD_scheduler_id);

    if (json->shape & TH_JSON_TIMED &&
        take_exact(json, TH_JSON_FIELD_ts, clock ? 0 : INT64_MIN, &event->time.ns) != TH_OK)
        return TH_MALFORMED;
    if (clock && event->time.ns % 1000 != 0)
        return field_is_wrong(TH_JSON_FIELD_ts,
                              "must be whole microseconds with this ts_kind, a multiple of 1000");
    if (json->shape & TH_JSON_STRICT &&
        take_exact(json, TH_JSON_FIELD_ts_unique, INT64_MIN, &event->time.unique) != TH_OK)
        return TH_MALFORMED;

    if (th_replay_json_has(json, TH_JSON_FIELD_scheduler_id) &&
        take_json_integer(json, TH_JSON_FIELD_scheduler_id, TH_SMALL_MIN, TH_SMALL_MAX,
                          &scheduler) != TH_OK)
        return TH_MALFORMED;
    if (take_fact(json, TH_JSON_FIELD_external, &event->external) != TH_OK ||
        take_fact(json, TH_JSON_FIELD_tail, &event->tail) != TH_OK)
        return TH_MALFORMED;
    event->callers_told = th_replay_json_has(json, TH_JSON_FIELD_callers);

    if (!(json->shape & TH_JSON_TRACE))
        return TH_OK;
    if (take_term(json, TH_JSON_FIELD_tracee, &json->scratch, &event->tracee) != TH_OK)
        return TH_MALFORMED;
    if (!th_is_pid(event->tracee) && !th_is_port(event->tracee))
        return field_is_wrong(TH_JSON_FIELD_tracee, "is neither a process nor a port");
    return TH_OK;
}

void th_replay_json_event_init(struct th_json_event *json)
{
    memset(json, 0, sizeof *json);
    th_env_init(&json->scratch, TH_ENV_PLAIN);
    for (int i = 0; i < TH_JSON_FIELD_COUNT; i++)
        for (int bit = 0; bit < TH_JSON_SHAPES; bit++) {
            json->rules[bit].may |= (fields[i].may >> bit & 1) << i;
            json->rules[bit].must |= (fields[i].must >> bit & 1) << i;
        }
}

void th_replay_json_event_drop(struct th_json_event *json)
{
    if (json->root)
        json_decref(json->root);
    json->root = NULL;
    th_env_clear(&json->scratch);
}

void th_replay_json_event_end(struct th_json_event *json)
{
    th_replay_json_event_drop(json);
    th_env_release(&json->scratch);
    th_free(json->unescaped);
    th_free(json->cache);
}

/* Checks that the line has the fields that its shape needs, and no others. */
static enum th_status check_fields(const struct th_json_event *json)
{
    struct th_json_rule rule = {0};
    uint32_t wrong;

    for (unsigned shape = json->shape; shape; shape &= shape - 1) {
        rule.may |= json->rules[__builtin_ctz(shape)].may;
        rule.must |= json->rules[__builtin_ctz(shape)].must;
    }
    wrong = (json->given & ~rule.may) | (~json->given & rule.must);
    if (__builtin_expect(!wrong, 1))
        return TH_OK;
    wrong = (uint32_t)__builtin_ctz(wrong);
    return json->given >> wrong & 1
               ? th_error_raise(TH_MALFORMED, "the field \"%s\" is not allowed in this record",
                                fields[wrong].name)
               : th_error_raise(TH_MALFORMED, "the field \"%s\" is missing", fields[wrong].name);
}

enum th_status th_replay_json_event_begin(struct th_json_event *json, json_t *root,
                                          struct th_event *event)
{
    int64_t dropped;

    json->root = root;
    event->source = &source;
    event->reader = json;
    th_trace_event_begin(event, TH_EVENT_OTHER);
    event->timed = true;
    if ((root && take_fields(json) != TH_OK) || take_shape(json, event) != TH_OK ||
        check_fields(json) != TH_OK)
        return TH_MALFORMED;
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
    static const size_t places[TH_JSON_FIELD_COUNT] = {
        [TH_JSON_FIELD_other] = offsetof(struct th_event, term),
        [TH_JSON_FIELD_label] = offsetof(struct th_event, label),
        [TH_JSON_FIELD_info] = offsetof(struct th_event, term),
        [TH_JSON_FIELD_term] = offsetof(struct th_event, term),
        [TH_JSON_FIELD_extra] = offsetof(struct th_event, extra),
        [TH_JSON_FIELD_match_spec_result] = offsetof(struct th_event, match_spec_result),
        [TH_JSON_FIELD_scheduler_id] = offsetof(struct th_event, scheduler_id),
        [TH_JSON_FIELD_callers] = offsetof(struct th_event, callers),
    };
    const struct th_json_event *json = event->reader;

    for (uint32_t left = json->given; left; left &= left - 1) {
        enum th_json_field field = (enum th_json_field)__builtin_ctz(left);
        if (places[field] > 0 &&
            take_term(json, field, env, (th_term *)((char *)event + places[field])) != TH_OK)
            return TH_MALFORMED;
    }
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

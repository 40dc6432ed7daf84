/* Decodes the terms, the time and the function of a record. */
#include "record.h"

/* --- External terms in their bytes ------------------------------------------------------------ */

/* Reads SMALL_BIG_EXT: count, sign, bytes from the least significant on. */
static const unsigned char *big(const unsigned char *p, const unsigned char *end, int64_t *value)
{
    uint64_t magnitude;
    size_t count;

    if (end - p < 3 || (count = p[1]) > 8 || (size_t)(end - p) < 3 + count)
        return NULL;
    memcpy(&magnitude, p + 3, sizeof magnitude); /* TH_RECORD_SLACK */
    magnitude = count == 0 ? 0 : le64toh(magnitude) & UINT64_MAX >> (64 - 8 * count);
    if (magnitude > INT64_MAX)
        return NULL;
    *value = p[2] ? -(int64_t)magnitude : (int64_t)magnitude;
    return p + 3 + count;
}

/* Reads an integer of at most 64 bits; NULL for a larger one. */
static const unsigned char *raw_integer(const unsigned char *p, const unsigned char *end,
                                        int64_t *value)
{
    if (end - p < 2)
        return NULL;
    switch (p[0]) {
    case TH_ETF_SMALL_INTEGER:
        *value = p[1];
        return p + 2;
    case TH_ETF_INTEGER:
        if (end - p < 5)
            return NULL;
        *value = (int32_t)th_etf_get32(p + 1);
        return p + 5;
    case TH_ETF_SMALL_BIG:
        return big(p, end, value);
    default:
        return NULL;
    }
}

bool th_replay_raw_node(const unsigned char *p, const unsigned char *end, struct th_etf_node *node)
{
    /* Number of bytes between the node's name and the creation, and of the creation. */
    static const struct {
        unsigned char numbers, creation;
    } layouts[256] = {
        [TH_ETF_NEW_PID] = {8, 4}, [TH_ETF_NEW_PORT] = {4, 4}, [TH_ETF_V4_PORT] = {8, 4},
        [TH_ETF_PID] = {8, 1},     [TH_ETF_PORT] = {4, 1},
    };
    unsigned char numbers, creation;
    struct th_raw_name name;
    th_term atom;

    if (p == end || layouts[*p].creation == 0)
        return false;
    numbers = layouts[*p].numbers;
    creation = layouts[*p].creation;
    p = th_replay_raw_atom(p + 1, end, &name);
    if (!p || end - p < numbers + creation || !(atom = th_replay_raw_intern(&name)))
        return false;
    node->node = atom;
    node->creation = creation == 1 ? p[numbers] : th_etf_get32(p + numbers);
    return true;
}

/* Reads the number of elements of a list, such as the arguments of a call; elements and tail are
 * not checked. */
static bool raw_length(const unsigned char *p, const unsigned char *end, int64_t *length)
{
    if (end - p >= 1 && p[0] == TH_ETF_NIL)
        *length = 0;
    else if (end - p >= 3 && p[0] == TH_ETF_STRING)
        *length = th_etf_get16(p + 1);
    else if (end - p >= 5 && p[0] == TH_ETF_LIST)
        *length = th_etf_get32(p + 1);
    else
        return false;
    return true;
}

/* --- Functions -------------------------------------------------------------------------------- */

/* Returns the bytes of the atom at P, with one of the usual tags, up to its name; *NAME gets those
 * of the name. 0: another tag. Three bytes must be readable. */
static inline size_t atom_head(const unsigned char *p, size_t *name)
{
    bool old = p[0] == TH_ETF_ATOM;

    *name = old ? th_etf_get16(p + 1) : p[1];
    return old ? 3 : p[0] == TH_ETF_SMALL_ATOM_UTF8 ? 2 : 0;
}

/* Returns the place of the BYTES bytes at P in the cache. */
static inline struct th_record_function *function_place(struct th_record *record,
                                                        const unsigned char *p, size_t bytes)
{
    uint64_t middle, last;

    memcpy(&middle, p + (bytes - 8) / 2, sizeof middle);
    memcpy(&last, p + bytes - 8, sizeof last);
    middle = (middle ^ (last + bytes) * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
    return &record->functions[middle >> (64 - TH_RECORD_FUNCTION_BITS)];
}

/* Finds the atoms of two new names of together BYTES bytes, and puts them into the cache. */
static __attribute__((noinline)) bool remember_function(const struct th_record *record,
                                                        const unsigned char *p, size_t bytes,
                                                        struct th_record_function *place,
                                                        struct th_mfa *function)
{
    struct th_raw_name module, name;
    const unsigned char *second = th_replay_raw_atom(p, record->end, &module);

    if (!second || !th_replay_raw_atom(second, record->end, &name))
        return false;
    function->module = th_replay_raw_intern(&module);
    function->function = th_replay_raw_intern(&name);
    if (function->module == TH_NONE || function->function == TH_NONE)
        return false;
    memcpy(place->key, p, bytes);
    place->module = (uint32_t)th_atom_index(function->module);
    place->function = (uint32_t)th_atom_index(function->function);
    return true;
}

/* Reads the module and the function of {Module, Function, _} at P. Returns the address behind them;
 * NULL: another term, or names that the cache cannot hold. */
static inline __attribute__((always_inline)) const unsigned char *
cached_function(struct th_record *record, const unsigned char *p, struct th_mfa *function)
{
    size_t left = (size_t)(record->end - p), head, bytes, name;
    struct th_record_function *place;

    if (left < 2 + 8 || p[0] != TH_ETF_SMALL_TUPLE || p[1] != 3)
        return NULL;
    p += 2;
    left -= 2;
    head = atom_head(p, &bytes);
    bytes += head;
    if (head == 0 || bytes > TH_RECORD_FUNCTION_BYTES - 3 || left < bytes + 3)
        return NULL;
    head = atom_head(p + bytes, &name);
    bytes += head + name;
    if (head == 0 || bytes > TH_RECORD_FUNCTION_BYTES || bytes < 8 || left < bytes)
        return NULL;
    place = function_place(record, p, bytes);
    if (th_replay_raw_same(place->key, p, bytes)) {
        function->module = (th_term)place->module << 6 | TH_TAG_ATOM;
        function->function = (th_term)place->function << 6 | TH_TAG_ATOM;
    } else if (!remember_function(record, p, bytes, place, function)) {
        return NULL;
    }
    return p + bytes;
}

static bool raw_function(struct th_record *record, struct th_mfa *function)
{
    const unsigned char *p = cached_function(record, record->rest, function);
    struct th_raw_name module, name;
    uint32_t elements;
    int64_t arity;

    if (!p) {
        p = th_replay_raw_tuple(record->rest, record->end, &elements);
        if (!p || elements != 3 || !(p = th_replay_raw_atom(p, record->end, &module)) ||
            !(p = th_replay_raw_atom(p, record->end, &name)))
            return false;
        function->module = th_replay_raw_intern(&module);
        function->function = th_replay_raw_intern(&name);
    }
    if (!raw_integer(p, record->end, &arity) && !raw_length(p, record->end, &arity))
        return false;
    if (arity < 0 || arity > TH_FUNCTION_ARITY_MAX)
        return false;
    function->arity = (uint32_t)arity;
    return function->module != TH_NONE && function->function != TH_NONE;
}

static enum th_status function_of_record(struct th_event *event, struct th_mfa *function)
{
    struct th_record *record = event->reader;
    th_term made = record->whole != TH_NONE || event->decoded ? event->term : event->brief;
    bool found = th_trace_tag_has_function(event->tag) &&
                 (made == TH_NONE ? raw_function(record, function)
                                  : th_trace_event_function_from_term(made, function));

    return found ? TH_OK
                 : th_error_raise(TH_MALFORMED, "the record has no module, function and arity");
}

/* --- Terms ------------------------------------------------------------------------------------ */

/* Raises TH_MALFORMED: the term ends before the record, at P. */
static enum th_status too_long(const struct th_record *record, const unsigned char *p)
{
    return th_error_raise(TH_MALFORMED, "%td bytes follow the term", record->end - p);
}

enum th_status th_replay_record_whole(struct th_record *record, th_env *env, th_term *tuple)
{
    size_t size = (size_t)(record->end - record->data);
    size_t used;
    enum th_status status =
        th_etf_decode(env, record->data, size, true, &record->etf, tuple, &used);

    if (status != TH_OK)
        return status;
    return used < size ? too_long(record, record->data + used) : TH_OK;
}

void th_replay_record_from_tuple(const struct th_record *record, struct th_event *event,
                                 th_term tuple)
{
    if (th_trace_event_from_tuple(event, tuple, record->scheduler_id) != TH_OK)
        th_error_clear();
    if (event->kind != TH_EVENT_DROP)
        return;
    /* A drop is no term in the stream: this term only looks like one. */
    th_trace_event_begin(event, TH_EVENT_OTHER);
    event->term = tuple;
    event->decoded = true;
    event->timed = true;
}

/* Decodes the element at *P, and moves *P behind it. */
static enum th_status decode_element(const struct th_record *record, th_env *env,
                                     const unsigned char **p, th_term *term)
{
    size_t left = (size_t)(record->end - *p);
    size_t used = th_etf_decode_mfa(env, *p, left, term);

    if (used == 0 && th_etf_decode(env, *p, left, false, &record->etf, term, &used) != TH_OK)
        return th_error_context("the element at byte %td of the term is damaged",
                                *p - record->data);
    *p += used;
    return TH_OK;
}

static enum th_status trace_terms(struct th_record *record, struct th_event *event, th_env *env,
                                  const unsigned char **p)
{
    uint32_t fixed = 1 + th_trace_tag_has_extra(event->tag);
    th_term optional[2] = {TH_NONE, TH_NONE};

    if (decode_element(record, env, p, &event->term) != TH_OK)
        return TH_MALFORMED;
    if (fixed == 2 && decode_element(record, env, p, &event->extra) != TH_OK)
        return TH_MALFORMED;
    if (record->elements == fixed)
        return TH_OK;
    for (uint32_t i = 0; i < record->elements - fixed; i++)
        if (decode_element(record, env, p, &optional[i]) != TH_OK)
            return TH_MALFORMED;
    return th_trace_event_take_optional(event, optional[0], optional[1], record->scheduler_id);
}

static enum th_status decode_record(struct th_event *event, th_env *env)
{
    struct th_record *record = event->reader;
    const unsigned char *p = record->rest;
    enum th_status status = TH_OK;

    if (record->whole != TH_NONE) {
        if (!th_env_room(env, th_term_words(record->whole)))
            return th_error_status();
        th_replay_record_from_tuple(record, event, th_copy(env, record->whole));
        return TH_OK;
    }
    switch (event->kind) {
    case TH_EVENT_TRACE:
    case TH_EVENT_TRACE_TS:
        status = trace_terms(record, event, env, &p);
        break;
    case TH_EVENT_SEQ_TRACE:
        status = decode_element(record, env, &p, &event->label);
        if (status == TH_OK)
            status = decode_element(record, env, &p, &event->term);
        break;
    case TH_EVENT_OTHER:
        status = th_replay_record_whole(record, env, &event->term);
        p = record->end;
        break;
    case TH_EVENT_DROP:
        break;
    }
    if (status != TH_OK)
        return status;
    if (record->timed)
        record->time = p;
    else if (p < record->end && event->kind != TH_EVENT_DROP)
        return too_long(record, p);
    event->decoded = true;
    return TH_OK;
}

/* Reads an integer of eight bytes, without its tag and count. */
static inline int64_t eight_bytes(const unsigned char *p)
{
    uint64_t magnitude;

    memcpy(&magnitude, p + 1, sizeof magnitude);
    magnitude = le64toh(magnitude);
    return p[0] ? -(int64_t)magnitude : (int64_t)magnitude;
}

bool th_replay_record_quick_time(const unsigned char *p, const unsigned char *end,
                                 struct th_event_time *time)
{
    if (end - p == 2 + 2 * 11 && p[0] == TH_ETF_SMALL_TUPLE && p[1] == 2 &&
        p[2] == TH_ETF_SMALL_BIG && p[3] == 8 && p[12] < 0x80 && p[13] == TH_ETF_SMALL_BIG &&
        p[14] == 8 && p[23] < 0x80) {
        *time = (struct th_event_time){TH_TIME_STRICT_MONOTONIC, eight_bytes(p + 4),
                                       eight_bytes(p + 15)};
        return true;
    }
    if (end - p == 11 && p[0] == TH_ETF_SMALL_BIG && p[1] == 8 && p[10] < 0x80) {
        *time = (struct th_event_time){.kind = TH_TIME_MONOTONIC, .ns = eight_bytes(p + 2)};
        return true;
    }
    if (end - p != 2 + 3 * 5 || p[0] != TH_ETF_SMALL_TUPLE || p[1] != 3 || p[2] != TH_ETF_INTEGER ||
        p[7] != TH_ETF_INTEGER || p[12] != TH_ETF_INTEGER)
        return false;
    return th_trace_event_time_from_clock((int32_t)th_etf_get32(p + 3),
                                          (int32_t)th_etf_get32(p + 8),
                                          (int32_t)th_etf_get32(p + 13), time);
}

/* Reads {Module, Function, Arity or Arguments} at P, skips the arguments, and makes {Module,
 * Function, Arity}. Returns the address behind the term; NULL: decode_record() must decide. */
static inline const unsigned char *brief_function(struct th_record *record, th_env *env,
                                                  const unsigned char *p, th_term *term)
{
    struct th_mfa function;
    size_t left, arity, used;
    th_term *words;

    p = cached_function(record, p, &function);
    if (!p)
        return NULL;
    left = (size_t)(record->end - p);
    if (left >= 2 && p[0] == TH_ETF_SMALL_INTEGER) {
        arity = p[1];
        used = 2;
    } else if (left >= 1 && p[0] == TH_ETF_NIL) {
        arity = 0;
        used = 1;
    } else if (left >= 3 && p[0] == TH_ETF_STRING) {
        arity = th_etf_get16(p + 1);
        used = 3 + arity;
    } else if (left >= 5 && p[0] == TH_ETF_LIST) {
        arity = th_etf_get32(p + 1);
        used = th_etf_skip_sound(p + 5, left - 5, arity, &record->etf);
        if (used == 0 || left - 5 == used || p[5 + used] != TH_ETF_NIL)
            return NULL;
        used += 6;
    } else {
        return NULL;
    }
    if (used > left)
        return NULL;
    words = th_env_take(env, 4);
    words[0] = th_header(TH_TUPLE, 3);
    words[1] = function.module;
    words[2] = function.function;
    words[3] = th_small((int64_t)arity);
    *term = th_boxed(words);
    return p + used;
}

/* Skips the last LEFT elements of {Term [, Extra] [, Result] [, Scheduler]}, from P on, and reads
 * the number of the scheduler. Returns their end; NULL: decode_record() must decide. */
static const unsigned char *skip_elements(const struct th_record *record, struct th_event *event,
                                          const unsigned char *p, uint32_t left)
{
    bool has_result = record->most == record->least + 2;
    bool scheduled = record->elements > (has_result ? record->least + 1 : record->least);
    size_t used;

    if (record->scheduler_id && has_result && record->elements == record->least + 1)
        return NULL; /* it may be either */
    left -= scheduled;
    if (left > 0) {
        used = th_etf_skip_sound(p, (size_t)(record->end - p), left, &record->etf);
        if (used == 0)
            return NULL;
        p += used;
    }
    if (!scheduled)
        return p;
    if (record->end - p < 2 || p[0] != TH_ETF_SMALL_INTEGER)
        return NULL;
    event->scheduler_id = th_small(p[1]);
    return p + 2;
}

static enum th_status brief_of_record(struct th_event *event, th_env *env)
{
    struct th_record *record = event->reader;
    const unsigned char *p = record->rest;
    th_term brief = TH_AM(undefined);
    uint32_t left = record->elements;

    if (record->whole != TH_NONE || event->kind > TH_EVENT_TRACE_TS)
        return th_trace_event_brief_decoded(event, env);
    if (event->tag >= TH_TAG_call && event->tag <= TH_TAG_exception_from) {
        p = brief_function(record, env, p, &brief);
        left--;
    }
    if (p && left > 0)
        p = skip_elements(record, event, p, left);
    if (!p)
        return th_trace_event_brief_decoded(event, env);
    if (record->timed) {
        record->time = p;
        event->timed |= th_replay_record_quick_time(p, record->end, &event->time);
    } else if (p < record->end) {
        return too_long(record, p);
    }
    event->brief = brief;
    return TH_OK;
}

/* The time stamp. */

/* Reads the usual encodings; returns the end of the time, NULL for any other term. */
static const unsigned char *raw_time(const unsigned char *p, const unsigned char *end,
                                     struct th_event_time *time)
{
    int64_t parts[3] = {0};
    uint32_t count;

    if (p < end && *p != TH_ETF_SMALL_TUPLE) {
        *time = (struct th_event_time){.kind = TH_TIME_MONOTONIC};
        return raw_integer(p, end, &time->ns);
    }
    p = th_replay_raw_tuple(p, end, &count);
    if (!p || (count != 2 && count != 3))
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!(p = raw_integer(p, end, &parts[i])))
            return NULL;
    if (count == 3)
        return th_trace_event_time_from_clock(parts[0], parts[1], parts[2], time) ? p : NULL;
    *time = (struct th_event_time){TH_TIME_STRICT_MONOTONIC, parts[0], parts[1]};
    return p;
}

static enum th_status time_of_record(struct th_event *event)
{
    struct th_record *record = event->reader;
    const unsigned char *p = record->time ? record->time : record->rest;
    struct th_event_time time = {.kind = TH_TIME_NONE};
    th_term term;

    if (!record->timed) {
        event->time = time;
        event->timed = true;
        return TH_OK;
    }
    for (uint32_t i = 0; !record->time && i < record->elements; i++) {
        size_t used = th_etf_skip(p, (size_t)(record->end - p));
        if (used == 0)
            return th_error_raise(TH_MALFORMED, "the term is damaged or truncated");
        p += used;
    }
    record->time = p;

    if (th_replay_record_quick_time(p, record->end, &event->time)) {
        event->timed = true;
        return TH_OK;
    }
    if (raw_time(p, record->end, &time) != record->end) { /* another encoding */
        if (decode_element(record, &record->scratch, &p, &term) != TH_OK)
            return TH_MALFORMED;
        if (!th_trace_event_time_from_term(term, &time))
            return th_error_raise(TH_MALFORMED, "the last element is not a time stamp");
        if (p < record->end)
            return too_long(record, p);
    }
    event->time = time;
    event->timed = true;
    return TH_OK;
}

/* Skips the message, which may be long, without decoding it. */
static th_term actor_of_record(struct th_event *event)
{
    struct th_record *record = event->reader;
    const unsigned char *p = record->rest;
    size_t label;
    th_term id;

    if (record->whole != TH_NONE)
        return th_trace_event_actor_from_info(th_tuple_elements(record->whole)[2]);
    label = th_etf_skip(p, (size_t)(record->end - p));
    p = label ? th_replay_record_actor(p + label, record->end) : NULL;
    if (!p)
        return TH_NONE;
    if (decode_element(record, &record->scratch, &p, &id) != TH_OK) {
        th_error_clear(); /* a later reader of the terms finds the damage again */
        return TH_NONE;
    }
    return th_is_pid(id) || th_is_port(id) ? id : TH_NONE;
}

/* If the event was decoded, its terms may be in another environment, and a tracer that crashed may
 * have damaged them: the record is decoded again. */
static enum th_status whole_of_record(struct th_event *event, th_env *env, th_term *tuple)
{
    if (event->kind == TH_EVENT_DROP ||
        (event->kind != TH_EVENT_OTHER && !event->decoded && decode_record(event, env) == TH_OK &&
         th_trace_event_time(event) == TH_OK)) {
        *tuple = th_trace_event_to_tuple(event, env);
        return TH_OK;
    }
    th_error_clear();
    return th_replay_record_whole(event->reader, env, tuple);
}

const struct th_event_source th_replay_record_source = {
    .decode = decode_record,
    .brief = brief_of_record,
    .time = time_of_record,
    .function = function_of_record,
    .actor = actor_of_record,
    .whole = whole_of_record,
};

void th_replay_record_meet_clock(struct th_record *record, struct th_event *event)
{
    if (event->timed || !record->timed || event->kind == TH_EVENT_OTHER ||
        event->kind == TH_EVENT_TRACE)
        return;
    if (th_trace_event_time(event) == TH_OK)
        record->clocks |= 1U << th_trace_time_clock(event->time.kind);
    else
        th_error_clear();
}

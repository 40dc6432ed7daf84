#include "past.h"

#include "record.h"
#include "replay_internal.h"

#include "host/base/memory.h"
#include "host/trace/recorded/recordings.h"

enum {
    MOST = 1 << 14, /* keys that are kept */
    PLACES = 2 * MOST,
    PROBES = 8, /* places looked at for one key */
    KEY_BYTES = 124,
    LONGEST = 1 << 16, /* limit in bytes of a record */
    LEAST = 8 + 24,    /* bytes behind the tracee that are read without a test */
    TIMESTAMP = 17,    /* bytes of {Mega, Sec, Micro} */
    SECOND_BYTES = 13, /* of these, before the digits of Micro */
    US_PER_S = 1000000,
    NS_PER_US = 1000
};

struct known {
    struct th_past_call call;
    uint16_t bytes;
    uint16_t next;                 /* index of the key that came after this one last */
    uint8_t elements;              /* of the record's tuple */
    uint8_t time;                  /* enum th_time_kind */
    unsigned char text[KEY_BYTES]; /* from the tag up to the time */
} __attribute__((aligned(64)));

struct th_past {
    uint16_t places[PLACES]; /* a hash table: index of a key, plus 1; 0: free */
    size_t count;            /* number of keys */
    size_t latest;           /* index of the latest key */
    size_t stamp;            /* bytes of the latest time */
    /* The latest {Mega, Sec, Micro}, up to the digits of Micro; and its time with Micro 0. Most times have
     * the same second. */
    unsigned char second[SECOND_BYTES];
    struct th_event_time begun;
    struct known known[MOST]; /* in the order in which they were learned */
};

/* The zeros of clocks, as th_recorded_streams_zero() returns them. */
struct zeros {
    bool known[TH_CLOCKS];
    int64_t ns[TH_CLOCKS];
};

struct th_past *th_replay_past_begin(void)
{
    struct th_past *past = th_alloc_aligned(_Alignof(struct th_past), sizeof *past);

    memset(past, 0, offsetof(struct th_past, known));
    return past;
}

void th_replay_past_end(struct th_past *past)
{
    th_free(past);
}

static inline uint64_t key_word(const unsigned char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

static inline uint64_t key_sum(const unsigned char *p, size_t bytes)
{
    uint64_t sum = key_word(p) * 0x9E3779B97F4A7C15u ^
                   (key_word(p + (bytes - 8) / 3) + bytes) * 0xD6E8FEB86659FD93u ^
                   key_word(p + (bytes - 8) * 2 / 3) * 0xBF58476D1CE4E5B9u ^
                   key_word(p + bytes - 8) * 0x94D049BB133111EBu;

    return sum ^ sum >> 32;
}

static inline bool is_key(const struct known *known, const unsigned char *p, size_t bytes)
{
    return known->bytes == bytes && th_replay_raw_same(known->text, p, bytes);
}

/* Returns the place of the key of BYTES bytes, at least 8, at P, or a free one; NULL: there is neither. */
static inline uint16_t *key_place(struct th_past *past, const unsigned char *p, size_t bytes)
{
    uint64_t sum = key_sum(p, bytes);

    for (unsigned i = 0; i < PROBES; i++) {
        uint16_t *place = &past->places[(sum + i) % PLACES];
        if (*place == 0 || is_key(&past->known[*place - 1], p, bytes))
            return place;
    }
    return NULL;
}

/* Reads a {Mega, Sec, Micro} that ends at END. */
static inline bool take_timestamp(struct th_past *past, const unsigned char *end,
                                  struct th_event_time *time)
{
    const unsigned char *begin = end - TIMESTAMP;
    uint32_t us = th_etf_get32(end - 4);

    if (us < US_PER_S && th_replay_raw_same(begin, past->second, SECOND_BYTES)) {
        *time = past->begun;
        time->ns += (int64_t)us * NS_PER_US;
        return true;
    }
    if (!th_replay_record_quick_time(begin, end, time))
        return false;
    memcpy(past->second, begin, SECOND_BYTES);
    past->begun = *time;
    past->begun.ns -= (int64_t)us * NS_PER_US;
    return true;
}

/* Reads the time that ends at END, mostly of the same form as the one before. False: another form
 * than the usual ones. */
static inline bool take_stamp(struct th_past *past, const unsigned char *end,
                              struct th_event_time *time)
{
    static const unsigned char sizes[] = {24, TIMESTAMP, 11};

    if (past->stamp == TIMESTAMP
            ? take_timestamp(past, end, time)
            : past->stamp && th_replay_record_quick_time(end - past->stamp, end, time))
        return true;
    for (size_t i = 0; i < sizeof sizes; i++)
        if (th_replay_record_quick_time(end - sizes[i], end, time)) {
            past->stamp = sizes[i];
            return true;
        }
    return false;
}

/* Returns the bytes of RECORD from the tag on; NULL: its beginning is not that of the latest
 * records of processes with times. */
static inline const unsigned char *find_key(const struct th_record *record,
                                            const unsigned char *data, size_t size, th_term *tracee)
{
    const struct th_record_prefix *prefix = &record->prefixes[record->latest];
    const unsigned char *numbers = th_replay_record_same_begin(record, data, size, LEAST);

    return numbers && prefix->kind == TH_EVENT_TRACE_TS
               ? th_replay_record_numbers(prefix, numbers, tracee)
               : NULL;
}

/* Returns the key of BYTES bytes at P; NULL: it is not known. Tries the key first that came after the
 * latest one before: most keys come in the order in which they came before. */
static inline const struct known *find_known(struct th_past *past, const unsigned char *p,
                                             size_t bytes)
{
    struct known *latest = &past->known[past->latest];
    size_t index = latest->next;
    const uint16_t *place;

    if (bytes < 8 || bytes > KEY_BYTES || past->count == 0)
        return NULL;
    if (!is_key(&past->known[index], p, bytes)) {
        place = key_place(past, p, bytes);
        if (!place || *place == 0)
            return NULL;
        index = *place - 1;
        latest->next = (uint16_t)index;
    }
    past->latest = index;
    return &past->known[index];
}

/* Fills EVENT from the record of SIZE bytes at DATA. False if its bytes are not known. */
static inline bool take_record(struct th_past *past, const struct th_record *record,
                               const unsigned char *data, size_t size, struct zeros *zeros,
                               struct th_past_event *event)
{
    const unsigned char *end = data + size, *key = find_key(record, data, size, &event->tracee);
    const struct known *known;
    struct th_event_time time;
    enum th_time_clock clock;

    if (!key || !take_stamp(past, end, &time))
        return false;
    clock = th_trace_time_clock(time.kind);
    if (!(record->clocks >> clock & 1) ||
        !(known = find_known(past, key, (size_t)(end - key) - past->stamp)) ||
        known->elements != data[2] || known->time != time.kind)
        return false;
    event->call = &known->call;
    if (!zeros->known[clock]) {
        zeros->known[clock] = true;
        zeros->ns[clock] = th_recorded_streams_zero(&time);
    }
    if (__builtin_sub_overflow(time.ns, zeros->ns[clock], &event->time))
        event->time = time.ns < 0 ? INT64_MIN : INT64_MAX;
    return true;
}

/* Waits for the next record. Returns its message of *SIZE bytes; NULL: it is not a short one. */
static inline const unsigned char *next_message(struct th_input *input, size_t *size)
{
    const unsigned char *p;

    if (!th_replay_input_have(input, TH_PORT_HEAD))
        return NULL;
    p = th_replay_input_bytes(input);
    *size = th_etf_get32(p + 1);
    return p[0] == TH_PORT_MESSAGE && *size <= LONGEST &&
                   th_replay_input_have(input, TH_PORT_HEAD + *size)
               ? th_replay_input_bytes(input) + TH_PORT_HEAD
               : NULL;
}

size_t th_replay_past_read(struct th_past *past, struct th_reader *reader,
                           struct th_past_event *events)
{
    const unsigned char *data;
    struct zeros zeros = {0};
    size_t count = 0, size;

    while (count < TH_PAST_BATCH && (data = next_message(&reader->input, &size)) &&
           take_record(past, reader->state, data, size, &zeros, &events[count])) {
        th_replay_input_take(&reader->input, TH_PORT_HEAD + size);
        count++;
    }
    reader->info.records += count;
    return count;
}

/* --- Learning --------------------------------------------------------------------------------- */

/* Reads {Module, Function, Arity}, and `undefined` with function 0. */
static bool describe_function(th_term term, ERL_NIF_TERM *module, ERL_NIF_TERM *function,
                              unsigned *arity)
{
    struct th_mfa mfa;

    if (term == TH_AM(undefined)) {
        *module = term;
        return true;
    }
    if (!th_trace_event_function_from_term(term, &mfa) || !th_is_small(th_tuple_elements(term)[2]))
        return false;
    *module = mfa.module;
    *function = mfa.function;
    *arity = mfa.arity;
    return true;
}

/* Fills CALL from EVENT. False if past_calls() cannot get it. */
static bool describe_call(const struct th_event *event, struct th_past_call *call)
{
    static const th_term kinds[] = {[TH_TIME_TIMESTAMP] = TH_AM(timestamp),
                                    [TH_TIME_MONOTONIC] = TH_AM(monotonic),
                                    [TH_TIME_STRICT_MONOTONIC] = TH_AM(strict_monotonic)};
    th_term result = event->match_spec_result;

    *call = (struct th_past_call){.tag = event->tag, .timestamp = kinds[event->time.kind]};
    if (!describe_function(event->term, &call->module, &call->function, &call->arity) ||
        (!call->function && event->tag != TH_TAG_return_to))
        return false;
    return event->tag != TH_TAG_call || result == TH_NONE || result == TH_AM(true) ||
           describe_function(result, &call->caller_module, &call->caller_function,
                             &call->caller_arity);
}

void th_replay_past_learn(struct th_past *past, const struct th_reader *reader,
                          struct th_event *event, th_env *env)
{
    const struct th_record *record = reader->state;
    const unsigned char *data = record->data, *tag;
    struct th_event_time time;
    struct th_past_call call;
    struct known *known;
    uint16_t *place;
    size_t bytes;
    th_term tracee;

    if (event->kind != TH_EVENT_TRACE_TS || event->tag < TH_TAG_call ||
        event->tag > TH_TAG_exception_from || record->whole != TH_NONE)
        return;
    if (th_trace_event_decode(event, env) != TH_OK || th_trace_event_time(event) != TH_OK) {
        th_error_clear(); /* raised again when the event is played */
        return;
    }
    if (!(tag = find_key(record, data, (size_t)(record->end - data), &tracee)) ||
        tracee != event->tracee || !take_stamp(past, record->end, &time) ||
        record->time != record->end - past->stamp || time.kind != event->time.kind ||
        !describe_call(event, &call))
        return;
    bytes = (size_t)(record->time - tag);
    place = bytes >= 8 && bytes <= KEY_BYTES ? key_place(past, tag, bytes) : NULL;
    if (!place || (*place == 0 && past->count == MOST))
        return;
    if (*place == 0)
        *place = (uint16_t)++past->count;
    known = &past->known[*place - 1];
    *known = (struct known){
        .bytes = (uint16_t)bytes, .elements = data[2], .time = (uint8_t)time.kind, .call = call};
    memcpy(known->text, tag, bytes);
}

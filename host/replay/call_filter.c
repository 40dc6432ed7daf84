#include "call_filter.h"

#include "reader.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/term/make.h"
#include "host/trace/event.h"

/* A record that is held, with its terms. */
struct held {
    struct th_event event;
    th_env *env;
    size_t bytes; /* of `env` */
    enum fate { UNDECIDED, KEPT, LEFT_OUT } fate;
};

/* The word of a call on a stack: its number among the records, from 1, and bits. */
enum { TOO_DEEP = 1, NOT_TIMED = 2, WORD_BITS = 2 };

struct th_call_filter {
    struct th_call_filter_options options;
    struct th_limit max_records;
    struct th_call_filter_counts *counts;
    struct th_call_ends *ends;
    bool stopped;
    uint64_t read; /* records of the reader */

    /* The held records: a ring. */
    struct held *ring;
    size_t capacity, begin, count; /* capacity: 0 or a power of two */
    size_t bytes;
    uint64_t first; /* number of the first held record; if none is held, of the next one */
    th_env *given;  /* the terms of the latest event, if it was held; NULL: it was not */

    int64_t now[TH_CLOCKS]; /* latest time by each clock */
    struct th_event event;  /* the latest record of the reader */
    th_env env;             /* its terms that are needed before it is held */

    /* The end that is examined. */
    uint64_t *frame; /* words of calls of one physical frame, the latest call first */
    size_t frame_count, frame_capacity;
    bool any_kept, any_left_out; /* the fates of the calls that it ends */
    bool is_certain;             /* these calls have ended now */
};

/* --- Events that are held --------------------------------------------------------------------- */

static enum th_status function_of_held(struct th_event *event, struct th_mfa *function)
{
    if (th_trace_tag_has_function(event->tag) &&
        th_trace_event_function_from_term(event->term, function))
        return TH_OK;
    return th_error_raise(TH_MALFORMED, "the record has no module, function and arity");
}

static th_term actor_of_held(struct th_event *event)
{
    return th_trace_event_actor_from_info(event->term);
}

static enum th_status whole_of_held(struct th_event *event, th_env *env, th_term *tuple)
{
    *tuple = th_trace_event_to_tuple(event, env);
    return TH_OK;
}

/* All terms are decoded. */
static const struct th_event_source held_source = {
    .function = function_of_held,
    .actor = actor_of_held,
    .whole = whole_of_held,
};

/* Decodes EVENT into ENV, which then has all its terms. */
static enum th_status decode_for_holding(struct th_event *event, th_env *env)
{
    enum th_status status;

    if (event->kind == TH_EVENT_DROP)
        return TH_OK;
    if (event->kind == TH_EVENT_OTHER)
        return event->source->whole(event, env, &event->term);
    status = th_trace_event_decode(event, env);
    if (status == TH_OK)
        status = th_trace_event_time(event);
    if (status == TH_OK && event->tracee != TH_NONE && !th_is_immediate(event->tracee))
        event->tracee = th_copy(env, event->tracee);
    return status;
}

static struct held *held_at(const struct th_call_filter *filter, size_t index)
{
    return &filter->ring[(filter->begin + index) & (filter->capacity - 1)];
}

static void grow_ring(struct th_call_filter *filter)
{
    size_t capacity = filter->capacity ? 2 * filter->capacity : 64;
    struct held *ring = th_alloc(capacity * sizeof *ring);

    for (size_t i = 0; i < filter->count; i++)
        ring[i] = *held_at(filter, i);
    th_free(filter->ring);
    filter->ring = ring;
    filter->capacity = capacity;
    filter->begin = 0;
}

/* Holds the latest record. */
static enum th_status hold_record(struct th_call_filter *filter, enum fate fate)
{
    struct held held = {.event = filter->event, .env = th_env_create(TH_ENV_PLAIN), .fate = fate};
    enum th_status status;

    /* Terms that were decoded for the decision are decoded again, into the record's own memory. */
    held.event.decoded = false;
    status = decode_for_holding(&held.event, held.env);
    if (status != TH_OK) {
        th_env_free(held.env);
        return status;
    }
    held.event.source = &held_source;
    held.bytes = sizeof held + th_env_footprint(held.env) + th_binary_held(held.env, NULL);
    if (filter->count == filter->capacity)
        grow_ring(filter);
    *held_at(filter, filter->count) = held;
    filter->count++;
    filter->bytes += held.bytes;
    return TH_OK;
}

/* --- Decisions -------------------------------------------------------------------------------- */

static void decide_call(struct th_call_filter *filter, struct held *held, enum fate fate)
{
    held->fate = fate;
    filter->counts->short_calls += fate == LEFT_OUT;
}

/* Keeps the first COUNT held records, whatever follows. */
static void keep_undecided(struct th_call_filter *filter, size_t count, uint64_t *cause)
{
    for (size_t i = 0; i < count; i++) {
        struct held *held = held_at(filter, i);
        if (held->fate != UNDECIDED)
            continue;
        decide_call(filter, held, KEPT);
        filter->counts->unended++;
        if (cause)
            ++*cause;
    }
}

/* Returns the nanoseconds since EVENT by its clock; INT64_MAX if they do not fit. */
static int64_t since_event(const struct th_call_filter *filter, const struct th_event *event)
{
    int64_t since;

    if (__builtin_sub_overflow(filter->now[th_trace_time_clock(event->time.kind)], event->time.ns,
                               &since))
        return INT64_MAX;
    return since;
}

/* Returns whether the first held record is decided. */
static bool is_first_decided(struct th_call_filter *filter)
{
    struct held *held = held_at(filter, 0);

    if (held->fate == UNDECIDED && since_event(filter, &held->event) >= filter->options.least_ns)
        keep_undecided(filter, 1, NULL);
    if (held->fate == UNDECIDED &&
        (filter->count > TH_CALL_FILTER_HELD || filter->bytes > TH_CALL_FILTER_BYTES))
        keep_undecided(filter, 1, &filter->counts->overflowed);
    return held->fate != UNDECIDED;
}

/* Returns the held call of WORD; NULL: it is kept, and not held any more. */
static struct held *held_call(const struct th_call_filter *filter, uint64_t word)
{
    uint64_t number = word >> WORD_BITS;

    return number < filter->first ? NULL : held_at(filter, (size_t)(number - filter->first));
}

/* Returns the fate of the call of WORD, which ends at the latest now. */
static enum fate fate_at_end(const struct th_call_filter *filter, uint64_t word)
{
    const struct held *held = held_call(filter, word);
    const struct th_event *end = &filter->event;

    if (word & TOO_DEEP)
        return LEFT_OUT;
    if (!held || held->fate != UNDECIDED)
        return held ? held->fate : KEPT;
    if (end->time.kind == TH_TIME_NONE ||
        th_trace_time_clock(end->time.kind) != th_trace_time_clock(held->event.time.kind) ||
        end->time.ns < held->event.time.ns)
        return UNDECIDED;
    return end->time.ns - held->event.time.ns < filter->options.least_ns ? LEFT_OUT : KEPT;
}

/* Decides about the ended call of WORD. */
static void decide_at_end(struct th_call_filter *filter, uint64_t word, enum fate fate)
{
    struct held *held = held_call(filter, word);

    if (word & (TOO_DEEP | NOT_TIMED) || fate == UNDECIDED)
        return;
    if (held && held->fate == UNDECIDED) {
        decide_call(filter, held, fate);
        filter->counts->unended += fate == KEPT && !filter->is_certain;
    } else if (filter->is_certain) {
        filter->counts->unended--; /* it was kept before its end */
    }
}

/* Decides about the calls in `frame`. The first of them has lasted longest. */
static void decide_frame(struct th_call_filter *filter)
{
    enum fate fate = UNDECIDED;

    if (filter->frame_count)
        fate = fate_at_end(filter, filter->frame[filter->frame_count - 1]);
    for (size_t i = 0; i < filter->frame_count; i++)
        decide_at_end(filter, filter->frame[i], fate);
    filter->any_kept |= filter->frame_count && fate != LEFT_OUT;
    filter->any_left_out |= filter->frame_count && fate == LEFT_OUT;
    filter->frame_count = 0;
}

static bool filter_ended(void *context, enum th_ending ending, uint64_t word, bool begins)
{
    struct th_call_filter *filter = context;

    TH_ARRAY_GROW(filter->frame, filter->frame_count, filter->frame_capacity);
    filter->frame[filter->frame_count++] = word;
    filter->is_certain = ending <= TH_ENDED_RAISED ||
                         (ending == TH_ENDED_UNTOLD && filter->event.tag == TH_TAG_return_to);
    if (begins)
        decide_frame(filter);
    return fate_at_end(filter, word) != LEFT_OUT;
}

/* Returns whether the last call of PROCESS is too deep. Calls that may have ended do not count. */
static bool is_deep(struct th_call_filter *filter, const struct th_call_ends_process *process)
{
    const uint64_t most = (uint64_t)filter->options.most_deep;

    if (most == 0 || process->depth <= most)
        return false;
    if (th_recorded_open_calls(&process->stack, most + 1) > most)
        return true;
    filter->counts->shallow++;
    return false;
}

/* Decides about a call, as far as its record shows. */
static enum th_status examine_call(struct th_call_filter *filter, enum fate *fate)
{
    struct th_event *event = &filter->event;
    struct th_call_ends_process *process = NULL;
    enum th_status status = th_replay_call_ends_enter(filter->ends, event, &filter->env, &process);
    uint64_t word = (filter->first + filter->count) << WORD_BITS;

    filter->counts->calls++;
    *fate = KEPT;
    if (status != TH_OK || !process)
        return status;
    process->stack.sessions.due = 0; /* no return_to has come */
    if (is_deep(filter, process)) {
        *fate = LEFT_OUT;
        filter->counts->deep_calls++;
        word |= TOO_DEEP;
    } else if (!filter->options.least_ns || event->time.kind == TH_TIME_NONE) {
        filter->counts->untimed += filter->options.least_ns != 0;
        word |= NOT_TIMED;
    } else {
        *fate = UNDECIDED;
    }
    th_replay_call_ends_want(filter->ends, process, word);
    return TH_OK;
}

/* Decides about an end, and the calls that it ends. */
static enum th_status examine_end(struct th_call_filter *filter, enum fate *fate)
{
    struct th_event *event = &filter->event;
    bool returned_to = event->tag == TH_TAG_return_to, kept = false;
    struct th_call_ends_process *process = NULL;
    struct th_execution_left left;
    enum th_status status;

    filter->counts->ends++;
    filter->any_kept = filter->any_left_out = false;
    status = th_replay_call_ends_leave(filter->ends, event, &process, &left);
    decide_frame(filter);
    *fate = KEPT;
    if (status != TH_OK || !process)
        return status;
    if (filter->any_kept || filter->any_left_out)
        kept = filter->any_kept;
    else if (left.known)
        kept = process->keeps_ends; /* of the calls that the former end has ended */
    else
        kept = true;
    filter->counts->unmatched += !left.known;
    if (returned_to) {
        filter->counts->doubtful += !kept && left.doubtful && !process->stack.sessions.due;
        kept |= (process->stack.sessions.due | left.doubtful) != 0;
        process->stack.sessions.due = 0;
    }
    process->keeps_ends = kept;
    if (!kept)
        *fate = LEFT_OUT;
    filter->counts->left_ends += !kept;
    return TH_OK;
}

/* Decides about the latest record. */
static enum th_status examine_record(struct th_call_filter *filter, enum fate *fate)
{
    struct th_event *event = &filter->event;
    int64_t *now;

    *fate = KEPT;
    if (event->kind <= TH_EVENT_SEQ_TRACE && filter->options.least_ns) {
        if (th_trace_event_time(event) != TH_OK)
            return TH_MALFORMED;
        now = event->time.kind == TH_TIME_NONE
                  ? NULL
                  : &filter->now[th_trace_time_clock(event->time.kind)];
        if (now && event->time.ns > *now)
            *now = event->time.ns;
    }
    if (event->kind == TH_EVENT_DROP)
        keep_undecided(filter, filter->count, NULL);
    if (event->kind <= TH_EVENT_TRACE_TS && event->tag == TH_TAG_call)
        return examine_call(filter, fate);
    if (event->kind <= TH_EVENT_TRACE_TS && th_trace_tag_has_function(event->tag))
        return examine_end(filter, fate);
    th_replay_call_ends_other(filter->ends, event);
    decide_frame(filter);
    return TH_OK;
}

/* --- The stage -------------------------------------------------------------------------------- */

/* Gives the first held record. */
static void give_first(struct th_call_filter *filter, struct th_event *event, bool *left_out)
{
    struct held *held = held_at(filter, 0);

    *event = held->event;
    *left_out = held->fate == LEFT_OUT;
    filter->given = held->env;
    filter->bytes -= held->bytes;
    filter->begin = (filter->begin + 1) & (filter->capacity - 1);
    filter->count--;
    filter->first++;
}

/* Returns whether a record may be there soon enough for the records that are held. */
static bool is_worth_waiting(const struct th_call_filter *filter, struct th_reader *reader)
{
    int64_t ms = filter->options.least_ns / 1000000 + 1;

    return filter->count == 0 ||
           th_replay_reader_await(reader, ms > INT32_MAX ? INT32_MAX : (int)ms);
}

/* Reads a record, and holds it if it must wait. *DONE: EVENT has it, or the status is to be
 * returned. */
static enum th_status read_record(struct th_call_filter *filter, struct th_reader *reader,
                                  struct th_event *event, bool *left_out, bool *done)
{
    enum th_status status = th_replay_reader_next(reader, &filter->event);
    enum fate fate;

    *done = true;
    filter->stopped |= status == TH_END;
    if (status == TH_END)
        *done = filter->count == 0;
    filter->read += status == TH_OK || status == TH_MALFORMED;
    if (status == TH_PARTIAL) {
        filter->event.kind = TH_EVENT_DROP; /* a call that is open here may end in what is lost */
        examine_record(filter, &fate);
    }
    if (status != TH_OK)
        return status;
    th_env_clear(&filter->env);
    status = examine_record(filter, &fate);
    if (status == TH_OK && (filter->count > 0 || fate == UNDECIDED)) {
        status = hold_record(filter, fate);
        *done = status != TH_OK;
    } else if (status == TH_OK) {
        *event = filter->event;
        *left_out = fate == LEFT_OUT;
        filter->first++;
    }
    if (status == TH_MALFORMED)
        th_error_context("record %llu at byte %llu was skipped",
                         (unsigned long long)filter->event.number,
                         (unsigned long long)filter->event.position);
    return status;
}

enum th_status th_replay_call_filter_next(struct th_call_filter *filter, struct th_reader *reader,
                                          struct th_event *event, bool *left_out)
{
    enum th_status status = TH_OK;
    bool done = false;

    *left_out = false;
    if (filter->given)
        th_env_free(filter->given);
    filter->given = NULL;
    while (!done) {
        filter->stopped |= filter->max_records.set && filter->read >= filter->max_records.count;
        if (filter->count > 0 && (filter->stopped || !is_worth_waiting(filter, reader)))
            keep_undecided(filter, filter->count, NULL);
        if (filter->count > 0 && is_first_decided(filter)) {
            give_first(filter, event, left_out);
            return TH_OK;
        }
        if (filter->stopped)
            return TH_END;
        status = read_record(filter, reader, event, left_out, &done);
    }
    return status;
}

struct th_call_filter *th_replay_call_filter_begin(const struct th_call_filter_options *options,
                                                   const struct th_limit *max_records,
                                                   struct th_call_filter_counts *counts)
{
    struct th_call_filter *filter = th_alloc_zero(sizeof *filter);

    filter->options = *options;
    filter->max_records = *max_records;
    filter->counts = counts;
    filter->first = 1;
    for (size_t i = 0; i < TH_CLOCKS; i++)
        filter->now[i] = INT64_MIN;
    th_env_init(&filter->env, TH_ENV_PLAIN);
    filter->ends = th_replay_call_ends_begin(
        &(struct th_call_ends_options){.execution = options->execution,
                                       .recorded_callers = options->recorded_callers,
                                       .ended = filter_ended,
                                       .context = filter});
    return filter;
}

void th_replay_call_filter_stop(struct th_call_filter *filter)
{
    filter->stopped = true;
}

void th_replay_call_filter_end(struct th_call_filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++)
        th_env_free(held_at(filter, i)->env);
    if (filter->given)
        th_env_free(filter->given);
    th_replay_call_ends_end(filter->ends);
    th_env_release(&filter->env);
    th_free(filter->frame);
    th_free(filter->ring);
    th_free(filter);
}

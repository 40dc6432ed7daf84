/* Converts between events and trace tuples, and between times and their terms. */
#include "event.h"

#include "host/base/buffer.h"
#include "host/term/make.h"
#include "host/term/text.h"

enum { NS_PER_US = 1000, US_PER_S = 1000000, S_PER_MEGA = 1000000 };

/* A bit for each tag. erl_tracer.h defines which have an Extra; only tags with match specifications
 * can have a result. */
static const uint32_t extra_tags = 0
#define X(tag, process, port, calls, term, extra) | (uint32_t)(sizeof extra > 1) << TH_TAG_##tag
    TH_TRACER_TAGS(X)
#undef X
    ;
static const uint32_t result_tags = 1 << TH_TAG_send | 1 << TH_TAG_send_to_non_existing_process |
                                    1 << TH_TAG_receive | 1 << TH_TAG_call;

_Static_assert(TH_TAG_COUNT < 32, "a tag is a bit of a 32-bit word");

bool th_trace_tag_has_extra(enum th_tracer_tag tag)
{
    return extra_tags >> tag & 1;
}

bool th_trace_tag_has_result(enum th_tracer_tag tag)
{
    return result_tags >> tag & 1;
}

/* --- times --- */

th_term th_trace_event_time_term(const struct th_event_time *time, th_env *env)
{
    int64_t us = time->ns / NS_PER_US, s = us / US_PER_S;

    switch (time->kind) {
    case TH_TIME_TIMESTAMP:
    case TH_TIME_CPU:
        return th_make_tuple_of(env, th_small(s / S_PER_MEGA), th_small(s % S_PER_MEGA),
                                th_small(us % US_PER_S));
    case TH_TIME_MONOTONIC:
        return th_make_int64(env, time->ns);
    case TH_TIME_STRICT_MONOTONIC:
        return th_make_tuple_of(env, th_make_int64(env, time->ns),
                                th_make_int64(env, time->unique));
    default:
        return TH_NONE;
    }
}

bool th_trace_event_time_from_clock(int64_t mega, int64_t s, int64_t us, struct th_event_time *time)
{
    const int64_t last = INT64_MAX / ((int64_t)NS_PER_US * US_PER_S * S_PER_MEGA);
    int64_t ns;

    if (mega < 0 || mega > last || s < 0 || s >= S_PER_MEGA || us < 0 || us >= US_PER_S)
        return false;
    us += (mega * S_PER_MEGA + s) * US_PER_S;
    if (__builtin_mul_overflow(us, NS_PER_US, &ns))
        return false;
    time->kind = mega == 0 ? TH_TIME_CPU : TH_TIME_TIMESTAMP;
    time->ns = ns;
    time->unique = 0;
    return true;
}

bool th_trace_event_time_from_term(th_term t, struct th_event_time *time)
{
    struct th_event_time found = {.kind = TH_TIME_MONOTONIC};
    const th_term *e;

    if (th_is_tuple(t) && th_tuple_arity(t) == 3) {
        e = th_tuple_elements(t);
        return th_is_small(e[0]) && th_is_small(e[1]) && th_is_small(e[2]) &&
               th_trace_event_time_from_clock(th_small_value(e[0]), th_small_value(e[1]),
                                              th_small_value(e[2]), time);
    }
    if (th_is_tuple(t) && th_tuple_arity(t) == 2) {
        e = th_tuple_elements(t);
        found.kind = TH_TIME_STRICT_MONOTONIC;
        if (!th_get_int64(e[1], &found.unique))
            return false;
        t = e[0];
    }
    if (!th_get_int64(t, &found.ns))
        return false;
    *time = found;
    return true;
}

/* --- from a tuple --- */

static enum th_status event_no_message(const char *why)
{
    return th_error_raise(TH_MALFORMED, "the record is not a trace message: %s", why);
}

static enum th_status take_time(struct th_event *event, th_term t)
{
    return th_trace_event_time_from_term(t, &event->time)
               ? TH_OK
               : event_no_message("the last element is not a time stamp");
}

enum th_status th_trace_event_take_optional(struct th_event *event, th_term first, th_term second,
                                            bool scheduler_id)
{
    bool has_result = th_trace_tag_has_result(event->tag);

    if (second != TH_NONE && !has_result)
        return event_no_message("there are too many elements");
    if (second != TH_NONE || (has_result && !(scheduler_id && th_is_small(first)))) {
        event->match_spec_result = first;
        event->scheduler_id = second;
    } else {
        event->scheduler_id = first;
    }
    if (event->scheduler_id != TH_NONE && !th_is_small(event->scheduler_id))
        return event_no_message("the scheduler is not an integer");
    return TH_OK;
}

static enum th_status from_trace(struct th_event *event, const th_term *e, size_t count,
                                 bool scheduler_id)
{
    bool timed = e[0] == TH_AM(trace_ts);
    size_t fixed;

    if (count < (timed ? 5 : 4))
        return event_no_message("there are too few elements");
    event->kind = timed ? TH_EVENT_TRACE_TS : TH_EVENT_TRACE;
    event->tracee = e[1];
    event->tag = th_trace_tag_of(e[2]);
    if (!th_is_pid(event->tracee) && !th_is_port(event->tracee))
        return event_no_message("the tracee is neither a process nor a port");
    if (event->tag >= TH_TAG_seq_trace)
        return event_no_message("the tag is unknown");
    if (timed && take_time(event, e[--count]) != TH_OK)
        return TH_MALFORMED;

    fixed = 4 + th_trace_tag_has_extra(event->tag);
    if (count < fixed)
        return event_no_message("there are too few elements");
    if (count > fixed + 2)
        return event_no_message("there are too many elements");
    event->term = e[3];
    event->extra = fixed == 5 ? e[4] : TH_NONE;
    if (count == fixed)
        return TH_OK;
    return th_trace_event_take_optional(event, e[fixed],
                                        count == fixed + 2 ? e[fixed + 1] : TH_NONE, scheduler_id);
}

static enum th_status from_elements(struct th_event *event, const th_term *e, size_t count,
                                    bool scheduler_id)
{
    if (e[0] == TH_AM(trace) || e[0] == TH_AM(trace_ts))
        return from_trace(event, e, count, scheduler_id);
    if (e[0] == TH_AM(seq_trace)) {
        if (count != 3 && count != 4)
            return event_no_message("a seq_trace message has three or four elements");
        event->kind = TH_EVENT_SEQ_TRACE;
        event->tag = TH_TAG_seq_trace;
        event->label = e[1];
        event->term = e[2];
        return count == 4 ? take_time(event, e[3]) : TH_OK;
    }
    if (e[0] != TH_AM(drop))
        return event_no_message("the first element is neither trace, trace_ts, seq_trace nor drop");
    if (count != 2 || !th_get_uint64(e[1], &event->dropped))
        return event_no_message("drop needs the number of dropped events");
    event->kind = TH_EVENT_DROP;
    return TH_OK;
}

enum th_status th_trace_event_from_tuple(struct th_event *event, th_term tuple, bool scheduler_id)
{
    enum th_status status;

    th_trace_event_begin(event, TH_EVENT_OTHER);
    if (th_is_tuple(tuple) && th_tuple_arity(tuple) > 0)
        status =
            from_elements(event, th_tuple_elements(tuple), th_tuple_arity(tuple), scheduler_id);
    else
        status = event_no_message("the term is not a tuple");
    if (status == TH_OK) {
        event->tuple_size = (uint32_t)th_tuple_arity(tuple);
    } else {
        th_trace_event_begin(event, TH_EVENT_OTHER);
        event->term = tuple;
    }
    event->decoded = true;
    event->timed = true;
    return status;
}

/* --- to a tuple --- */

th_term th_trace_event_to_tuple(const struct th_event *event, th_env *env)
{
    th_term elements[8];
    size_t count = 0;
    const th_term optional[] = {event->extra, event->match_spec_result, event->scheduler_id,
                                th_trace_event_time_term(&event->time, env)};

    switch (event->kind) {
    case TH_EVENT_OTHER:
        return event->term;
    case TH_EVENT_DROP:
        return th_make_tuple_of(env, TH_AM(drop), th_make_uint64(env, event->dropped));
    case TH_EVENT_SEQ_TRACE:
        elements[count++] = TH_AM(seq_trace);
        elements[count++] = event->label;
        break;
    default:
        elements[count++] = event->kind == TH_EVENT_TRACE ? TH_AM(trace) : TH_AM(trace_ts);
        elements[count++] = event->tracee;
        elements[count++] = th_trace_tag_atom(event->tag);
    }
    elements[count++] = event->term;
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
        if (optional[i] != TH_NONE)
            elements[count++] = optional[i];
    return th_make_tuple(env, elements, count);
}

/* --- functions --- */

void th_trace_function_print(struct th_buffer *out, const struct th_mfa *function)
{
    th_text_print_atom(out, function->module);
    th_buffer_add_byte(out, ':');
    th_text_print_atom(out, function->function);
    th_buffer_printf(out, "/%u", function->arity);
}

void th_trace_function_show(struct th_buffer *out, const struct th_mfa *function)
{
    th_text_show_function(out, function->module, function->function);
    th_buffer_printf(out, "/%u", function->arity);
}

bool th_trace_tag_has_function(enum th_tracer_tag tag)
{
    return tag >= TH_TAG_call && tag <= TH_TAG_exception_from;
}

bool th_trace_event_function_from_term(th_term t, struct th_mfa *function)
{
    const th_term *e;
    size_t arity;

    if (!th_is_tuple(t) || th_tuple_arity(t) != 3)
        return false;
    e = th_tuple_elements(t);
    if (th_is_small(e[2]))
        arity = (size_t)th_small_value(e[2]);
    else if (!th_get_list_length(e[2], &arity))
        return false;
    *function = (struct th_mfa){e[0], e[1], (uint32_t)arity};
    return th_is_atom(e[0]) && th_is_atom(e[1]) && arity <= TH_FUNCTION_ARITY_MAX;
}

enum th_status th_trace_event_brief_decoded(struct th_event *event, th_env *env)
{
    enum th_status status = th_trace_event_decode(event, env);
    const th_term *e;
    size_t arity;

    if (status != TH_OK)
        return status;
    event->brief = th_trace_tag_has_function(event->tag) ? event->term : TH_AM(undefined);
    if (th_is_tuple(event->brief) && th_tuple_arity(event->brief) == 3) {
        e = th_tuple_elements(event->brief);
        if (th_get_list_length(e[2], &arity))
            event->brief = th_make_tuple_of(env, e[0], e[1], th_small((int64_t)arity));
    }
    return TH_OK;
}

th_term th_trace_event_actor_from_info(th_term info)
{
    const th_term *e;
    th_term actor;

    if (!th_is_tuple(info) || th_tuple_arity(info) != 5)
        return TH_NONE;
    e = th_tuple_elements(info);
    actor = e[0] == TH_AM(receive) ? e[3] : e[2];
    return th_is_pid(actor) || th_is_port(actor) ? actor : TH_NONE;
}

enum {
    REFERENCE_DEPTH =
        4 /* of a reference in a message: {'$gen_call', {From, [alias | Ref]}, Request} */
};

/* Returns whether TERM has a reference, down to DEPTH. */
static bool has_reference(th_term term, int depth)
{
    if (th_is_ref(term))
        return true;
    if (depth == 0)
        return false;
    if (th_is_list(term))
        return has_reference(th_cell(term)[0], depth - 1) ||
               has_reference(th_cell(term)[1], depth - 1);
    if (!th_is_tuple(term))
        return false;
    for (size_t i = 0; i < th_tuple_arity(term); i++)
        if (has_reference(th_tuple_elements(term)[i], depth - 1))
            return true;
    return false;
}

bool th_trace_message_has_reference(th_term term)
{
    return has_reference(term, REFERENCE_DEPTH);
}

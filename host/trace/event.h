/*
 * Trace events of a tracee, live or recorded.
 *
 * An event begins with the members that cost nothing: kind, tag and tracee. `source` makes all
 * others on demand: nothing is built before a tracer has answered that it wants the event.
 *
 * The terms stand as in the trace tuple that a BEAM sends:
 *   {trace | trace_ts, Tracee, Tag, Term [, Extra] [, MatchSpecResult] [, SchedulerId] [, Time]}
 *   {seq_trace, Label, Info [, Time]}
 */
#ifndef TH_EVENT_H
#define TH_EVENT_H

#include "tags.h"

#include "host/term/env.h"

struct th_buffer;

enum th_event_kind {
    TH_EVENT_TRACE,
    TH_EVENT_TRACE_TS, /* has a time */
    TH_EVENT_SEQ_TRACE,
    TH_EVENT_DROP, /* the recorder lost `dropped` events here */
    TH_EVENT_OTHER /* `term` is no trace message, or has an unknown tag */
};

enum th_time_kind {
    TH_TIME_NONE,
    TH_TIME_TIMESTAMP,       /* system time {Mega, Sec, Micro} */
    TH_TIME_CPU,             /* CPU time in that form */
    TH_TIME_MONOTONIC,       /* nanoseconds */
    TH_TIME_STRICT_MONOTONIC /* {nanoseconds, unique integer} */
};

/* Clocks. Times of different clocks cannot be compared. */
enum th_time_clock { TH_CLOCK_SYSTEM, TH_CLOCK_CPU, TH_CLOCK_MONOTONIC, TH_CLOCKS };

/* Returns the clock of KIND, which is not TH_TIME_NONE. */
static inline enum th_time_clock th_trace_time_clock(enum th_time_kind kind)
{
    return kind == TH_TIME_TIMESTAMP ? TH_CLOCK_SYSTEM
           : kind == TH_TIME_CPU     ? TH_CLOCK_CPU
                                     : TH_CLOCK_MONOTONIC;
}

struct th_event_time {
    enum th_time_kind kind;
    int64_t ns;     /* nanoseconds of the kind's clock */
    int64_t unique; /* for TH_TIME_STRICT_MONOTONIC */
};

struct th_mfa {
    th_term module, function; /* atoms */
    uint32_t arity;
};

struct th_caller {
    enum th_caller_kind {
        TH_CALLER_UNKNOWN,   /* no record names the caller; Erlang code gets `undefined` */
        TH_CALLER_UNDEFINED, /* no caller: the process was started with this function */
        TH_CALLER_FUNCTION
    } kind;
    struct th_mfa function;
};

enum { TH_FUNCTION_ARITY_MAX = 255 };

/* Append "m:f/1": _print() for programs, _show() in the encoding of users (term/text.h). */
void th_trace_function_print(struct th_buffer *out, const struct th_mfa *function);
void th_trace_function_show(struct th_buffer *out, const struct th_mfa *function);

enum th_fact { TH_UNKNOWN, TH_NO, TH_YES };

struct th_event;
struct th_tracee;

/* Operations of a source on its latest event. Terms are made in ENV and stay valid as long as ENV.
 * Errors: TH_MALFORMED if the record's content is damaged. */
struct th_event_source {
    /* Fills term, extra, match_spec_result, scheduler_id and callers; for seq_trace label and info
     * (as term). */
    enum th_status (*decode)(struct th_event *event, th_env *env);
    /* Fills `brief` (th_trace_event_brief()), and checks the other terms: the errors are those of
     * `decode`. Fills match_spec_result and scheduler_id, or leaves them TH_NONE. NULL: `brief` is
     * made of the decoded terms. */
    enum th_status (*brief)(struct th_event *event, th_env *env);
    /* Fills time. */
    enum th_status (*time)(struct th_event *event);
    /* Returns module and function (atoms) and arity of a call, return or exception.
     * Errors: TH_MALFORMED if the event has no function. */
    enum th_status (*function)(struct th_event *event, struct th_mfa *function);
    /* Returns the process of a seq_trace event that sent, received or printed, as `enabled` gets
     * it; TH_NONE if the event does not name one. */
    th_term (*actor)(struct th_event *event);
    /* Returns the whole record as its original tuple, {drop, N} for drops. For a sound event of a
     * recording that is not decoded yet, also decodes the event into ENV. */
    enum th_status (*whole)(struct th_event *event, th_env *env, th_term *tuple);
};

struct th_event {
    enum th_event_kind kind;
    enum th_tracer_tag tag;
    enum th_fact external, tail; /* of a call, if the recording has it */
    bool decoded;                /* the terms below are filled */
    bool timed;                  /* time is filled; readers do so for the stream's first record
                                    of each clock */
    bool callers_told;           /* the record has the callers of a call */
    th_term tracee;              /* a pid or port; TH_NONE for seq_trace, drop, other */
    uint64_t number;             /* of the record in its stream, from 1 */
    uint64_t position;           /* of the record's first byte in its file, from 0 */
    uint64_t dropped;
    uint32_t tuple_size; /* elements of the original tuple; 0 for TH_EVENT_OTHER */
    const struct th_event_source *source;
    void *reader; /* the source's own */
    /* The tracee, if the event happens in this host now (live/live.h); NULL: a recorded event. */
    struct th_tracee *live;

    /* Filled by th_trace_event_decode(); TH_NONE: absent. */
    th_term term;
    th_term extra;
    th_term match_spec_result;
    th_term scheduler_id;
    th_term label; /* of seq_trace */
    th_term brief; /* filled by th_trace_event_brief() */
    /* If `callers_told`, the callers of a call: a list of {M, F, Arity, Location}, the nearest
     * caller first, at most TH_EXECUTION_CALLERS; its tail is `undefined` if the next caller is
     * unknown. */
    th_term callers;

    struct th_event_time time;
};

/* Decodes EVENT at the first call; further calls cost nothing. ENV of the first call must stay
 * until the event is over. th_trace_event_time() does the same for the time.
 * Errors: those of the source, such as TH_MALFORMED; the next call tries again. */
static inline enum th_status th_trace_event_decode(struct th_event *event, th_env *env)
{
    return event->decoded ? TH_OK : event->source->decode(event, env);
}

/* Fills `brief`, for tracers that look at functions only: `term`, with {M, F, Arity} in place of
 * {M, F, Arguments}; `undefined` if the tag's term is no function. ENV and errors as for
 * th_trace_event_decode(), which the event need not pay for. */
enum th_status th_trace_event_brief_decoded(struct th_event *event, th_env *env);
static inline enum th_status th_trace_event_brief(struct th_event *event, th_env *env)
{
    if (event->brief != TH_NONE)
        return TH_OK;
    return event->decoded || !event->source->brief ? th_trace_event_brief_decoded(event, env)
                                                   : event->source->brief(event, env);
}

static inline enum th_status th_trace_event_time(struct th_event *event)
{
    return event->timed ? TH_OK : event->source->time(event);
}

/*
 * Convert between a trace tuple and the fields of an event. A single optional integer may be the
 * result of a match specification or the number of a scheduler: for a call, send or receive
 * SCHEDULER_ID decides; other tags never have a result. th_trace_event_from_tuple() leaves number,
 * position, source, reader and live unchanged; a tuple {drop, N} gives TH_EVENT_DROP.
 * Errors: TH_MALFORMED if TUPLE is no trace message; EVENT is a TH_EVENT_OTHER with TUPLE as its
 * term then.
 */
enum th_status th_trace_event_from_tuple(struct th_event *event, th_term tuple, bool scheduler_id);
th_term th_trace_event_to_tuple(const struct th_event *event, th_env *env);

/*
 * Convert between a time and its term (TH_NONE for TH_TIME_NONE), or the numbers of its tuple;
 * false if T is no time. System and CPU time have the same shape: Mega = 0 means CPU time, as no
 * recording is from 1970. This shape drops all below a microsecond.
 */
th_term th_trace_event_time_term(const struct th_event_time *time, th_env *env);
bool th_trace_event_time_from_term(th_term t, struct th_event_time *time);
bool th_trace_event_time_from_clock(int64_t mega, int64_t s, int64_t us,
                                    struct th_event_time *time);

/*
 * Clears all members but number, position, source, reader and live, for sources of events. Member
 * by member, as compilers clear a struct of this size with a string instruction that takes longer
 * than all else that a skipped event needs.
 */
static inline void th_trace_event_begin(struct th_event *event, enum th_event_kind kind)
{
    event->kind = kind;
    event->tag = (enum th_tracer_tag)TH_TAG_COUNT;
    event->external = TH_UNKNOWN;
    event->tail = TH_UNKNOWN;
    event->decoded = false;
    event->timed = false;
    event->callers_told = false;
    event->tracee = TH_NONE;
    event->dropped = 0;
    event->tuple_size = 0;
    event->term = TH_NONE;
    event->extra = TH_NONE;
    event->match_spec_result = TH_NONE;
    event->scheduler_id = TH_NONE;
    event->label = TH_NONE;
    event->brief = TH_NONE;
    event->callers = TH_NONE;
    event->time.kind = TH_TIME_NONE;
    event->time.ns = 0;
    event->time.unique = 0;
}

/*
 * Assigns the one or two elements (SECOND may be TH_NONE) between Term or Extra and the time to
 * match_spec_result and scheduler_id, for sources of events.
 * Errors: TH_MALFORMED if the tag cannot have them.
 */
enum th_status th_trace_event_take_optional(struct th_event *event, th_term first, th_term second,
                                            bool scheduler_id);

/* Reads a function {M, F, Arity} or {M, F, Args}; false if T is neither. */
bool th_trace_event_function_from_term(th_term t, struct th_mfa *function);

/* Returns the acting process of a seq_trace event's INFO: From of {send | print, {Previous,
 * Current}, From, To, Message}, To of {'receive', ...}; TH_NONE if INFO has another shape. */
th_term th_trace_event_actor_from_info(th_term info);

/* Returns whether the message TERM has a reference: then there is no other message like it. */
bool th_trace_message_has_reference(th_term term);

/* True if the term of an event with this tag is a function. */
bool th_trace_tag_has_function(enum th_tracer_tag tag);

/* True if a tuple with this tag has Extra as its fifth element. */
bool th_trace_tag_has_extra(enum th_tracer_tag tag);

/* True if an event with this tag can carry a match specification's result. */
bool th_trace_tag_has_result(enum th_tracer_tag tag);

#endif

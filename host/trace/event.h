/*
 * Events: what happened to a tracee, live or recorded.
 *
 * An event begins with what costs nothing: its kind, tag and tracee. All else is made on demand by
 * the source that the event comes from, through `source`: nothing of it is built before a tracer
 * has said that it wants it.
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

/* Times of different clocks cannot be compared. */
enum th_time_clock { TH_CLOCK_SYSTEM, TH_CLOCK_CPU, TH_CLOCK_MONOTONIC, TH_CLOCKS };

/* KIND is not TH_TIME_NONE. */
static inline enum th_time_clock th_trace_time_clock(enum th_time_kind kind)
{
    return kind == TH_TIME_TIMESTAMP ? TH_CLOCK_SYSTEM
           : kind == TH_TIME_CPU     ? TH_CLOCK_CPU
                                     : TH_CLOCK_MONOTONIC;
}

struct th_event_time {
    enum th_time_kind kind;
    int64_t ns;     /* nanoseconds of that clock */
    int64_t unique; /* TH_TIME_STRICT_MONOTONIC */
};

struct th_mfa {
    th_term module, function; /* atoms */
    uint32_t arity;
};

struct th_caller {
    enum th_caller_kind {
        TH_CALLER_UNKNOWN,   /* the recording does not tell; Erlang code gets `undefined` */
        TH_CALLER_UNDEFINED, /* nobody: the process was started with this function */
        TH_CALLER_FUNCTION
    } kind;
    struct th_mfa function;
};

enum { TH_FUNCTION_ARITY_MAX = 255 };

/* Appends "m:f/1": for programs, and in the encoding of people (text.h). */
void th_trace_function_print(struct th_buffer *out, const struct th_mfa *function);
void th_trace_function_show(struct th_buffer *out, const struct th_mfa *function);

enum th_fact { TH_UNKNOWN, TH_NO, TH_YES };

struct th_event;
struct th_tracee;

/* What a source can tell of its event. Each may be called at any time while the event is the
 * source's latest; terms are built in ENV and stay valid with it. TH_MALFORMED if the record's
 * content is damaged. */
struct th_event_source {
    /* Fills term, extra, match_spec_result, scheduler_id, callers, for seq_trace label and info (as
     * term). */
    enum th_status (*decode)(struct th_event *event, th_env *env);
    /* Fills time. */
    enum th_status (*time)(struct th_event *event);
    /* Of a call, return or exception: module and function (atoms) and arity; TH_MALFORMED if the
     * event has none. */
    enum th_status (*function)(struct th_event *event, struct th_mfa *function);
    /* Of seq_trace: who sent, received or printed, which is what `enabled` gets; TH_NONE if the
     * event does not tell. */
    th_term (*actor)(struct th_event *event);
    /* The whole record as the tuple it was, {drop, N} for drops. Of a recording, an event that is
     * sound and not decoded yet is decoded into ENV on the way. */
    enum th_status (*whole)(struct th_event *event, th_env *env, th_term *tuple);
};

struct th_event {
    enum th_event_kind kind;
    enum th_tracer_tag tag;
    enum th_fact external, tail; /* of a call, where the recording knows it */
    bool decoded;                /* the terms below are filled */
    bool timed;                  /* time is filled; a reader fills it in of the stream's first
                                    record by each clock */
    bool callers_told;           /* the recording has the callers of a call */
    th_term tracee;              /* a pid or port; TH_NONE for seq_trace, drop, other */
    uint64_t number;             /* of the record in its stream, from 1 */
    uint64_t position;           /* of the record's first byte in its file, from 0 */
    uint64_t dropped;
    uint32_t tuple_size; /* elements of the tuple that it is or would be; 0 of other */
    const struct th_event_source *source;
    void *reader; /* the source's own */
    /* Whose event it is, if it happens in this host now (live.h); NULL: it is recorded. */
    struct th_tracee *live;

    /* Filled by th_trace_event_decode(); TH_NONE where there is none. */
    th_term term;
    th_term extra;
    th_term match_spec_result;
    th_term scheduler_id;
    th_term label; /* seq_trace */
    /* Of a call, if `callers_told`: a list of {M, F, Arity, Location}, who called first, at most
     * TH_EXECUTION_CALLERS; its end is `undefined` where the next one is not known. */
    th_term callers;

    struct th_event_time time;
};

/* Decodes once: further calls cost nothing. After the first, ENV must stay until the event is done
 * with. */
static inline enum th_status th_trace_event_decode(struct th_event *event, th_env *env)
{
    return event->decoded ? TH_OK : event->source->decode(event, env);
}

static inline enum th_status th_trace_event_time(struct th_event *event)
{
    return event->timed ? TH_OK : event->source->time(event);
}

/*
 * The fields of a trace tuple, and the tuple of fields. Where a tuple's optional fields are
 * ambiguous (one integer that may be a match specification's result or a scheduler's number)
 * SCHEDULER_ID decides for a call, send or receive; other tags never have a match specification's
 * result. th_trace_event_from_tuple() leaves number, position, source, reader and live alone; a
 * tuple {drop, N} gives TH_EVENT_DROP. If TUPLE is no trace message it returns TH_MALFORMED, and
 * the event is a TH_EVENT_OTHER with TUPLE as its term.
 */
enum th_status th_trace_event_from_tuple(struct th_event *event, th_term tuple, bool scheduler_id);
th_term th_trace_event_to_tuple(const struct th_event *event, th_env *env);

/*
 * The term of a time (TH_NONE for TH_TIME_NONE), and back; false if T has no such shape. Both kinds
 * of clock have the same shape: with Mega = 0 it is CPU time, as no recording is from 1970. What is
 * below a microsecond is lost in it.
 */
th_term th_trace_event_time_term(const struct th_event_time *time, th_env *env);
bool th_trace_event_time_from_term(th_term t, struct th_event_time *time);
bool th_trace_event_time_from_clock(int64_t mega, int64_t s, int64_t us,
                                    struct th_event_time *time);

/*
 * For sources of events: empties all but number, position, source, reader and live. Member by
 * member, as compilers clear a struct of this size with a string instruction that takes longer than
 * all else that a skipped event needs.
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
    event->callers = TH_NONE;
    event->time.kind = TH_TIME_NONE;
    event->time.ns = 0;
    event->time.unique = 0;
}

/*
 * For sources of events: tells apart the one or two elements (SECOND may be TH_NONE) that stand
 * between Term or Extra and the time. TH_MALFORMED if there can be none such.
 */
enum th_status th_trace_event_take_optional(struct th_event *event, th_term first, th_term second,
                                            bool scheduler_id);

/* The function that T is: {M, F, Arity} or {M, F, Args}; false if it is none. */
bool th_trace_event_function_from_term(th_term t, struct th_mfa *function);

/* Who acted, of a seq_trace event's info: {send | 'receive' | print, {Previous, Current}, From, To,
 * Message}; TH_NONE if INFO is no such thing. */
th_term th_trace_event_actor_from_info(th_term info);

/* True if the term of an event with this tag is a function. */
bool th_trace_tag_has_function(enum th_tracer_tag tag);

/* True if a tuple with this tag has Extra as its fifth element. */
bool th_trace_tag_has_extra(enum th_tracer_tag tag);

/* True if an event with this tag can carry a match specification's result. */
bool th_trace_tag_has_result(enum th_tracer_tag tag);

#endif

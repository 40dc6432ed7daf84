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
#include "host/term/term.h"

enum th_event_kind {
    TH_EVENT_TRACE,
    TH_EVENT_TRACE_TS, /* has a time */
    TH_EVENT_SEQ_TRACE,
    TH_EVENT_DROP, /* the recorder lost `dropped` events here */
    TH_EVENT_OTHER /* a term that is no trace message, or has an unknown tag */
};

enum th_time_kind {
    TH_TIME_NONE,
    TH_TIME_TIMESTAMP,       /* system time {Mega, Sec, Micro} */
    TH_TIME_CPU,             /* CPU time in that form */
    TH_TIME_MONOTONIC,       /* nanoseconds */
    TH_TIME_STRICT_MONOTONIC /* {nanoseconds, unique integer} */
};

struct th_event_time {
    enum th_time_kind kind;
    int64_t ns;     /* nanoseconds of that clock */
    int64_t unique; /* TH_TIME_STRICT_MONOTONIC */
};

struct th_function {
    th_term module, function; /* atoms */
    uint32_t arity;
};

enum th_fact { TH_UNKNOWN, TH_NO, TH_YES };

struct th_event;

/* What a source can tell of its event. Each may be called at any time while the event is the
 * source's latest; terms are built in ENV and stay valid with it. TH_MALFORMED if the record's
 * content is damaged. */
struct th_event_source {
    /* Fills term, extra, match_spec_result, scheduler_id, for seq_trace label and info (as term).
     */
    enum th_status (*decode)(struct th_event *event, th_env *env);
    /* Fills time. */
    enum th_status (*time)(struct th_event *event);
    /* Of a call, return or exception: module and function (atoms) and arity; TH_MALFORMED if the
     * event has none. */
    enum th_status (*function)(struct th_event *event, struct th_function *function);
    /* The whole record as the tuple it was, {drop, N} for drops. */
    enum th_status (*whole)(struct th_event *event, th_env *env, th_term *tuple);
};

struct th_event {
    enum th_event_kind kind;
    enum th_tracer_tag tag;
    enum th_fact external, tail; /* of a call, where the recording knows it */
    bool decoded;                /* the terms below are filled */
    bool timed;                  /* time is filled */
    th_term tracee;              /* a pid or port; TH_NONE for seq_trace, drop, other */
    uint64_t number;             /* of the record in its stream, from 1 */
    uint64_t position;           /* of the record's first byte in its file, from 0 */
    uint64_t dropped;
    uint32_t tuple_size; /* elements of the tuple that it is or would be */
    const struct th_event_source *source;
    void *reader; /* the source's own */

    /* Filled by th_event_decode(); TH_NONE where there is none. */
    th_term term;
    th_term extra;
    th_term match_spec_result;
    th_term scheduler_id;
    th_term label; /* seq_trace */

    struct th_event_time time;
};

/* Decodes once: further calls cost nothing. After the first, ENV must stay until the event is done
 * with. */
static inline enum th_status th_event_decode(struct th_event *event, th_env *env)
{
    return event->decoded ? TH_OK : event->source->decode(event, env);
}

static inline enum th_status th_event_time(struct th_event *event)
{
    return event->timed ? TH_OK : event->source->time(event);
}

/*
 * The fields of a trace tuple, and the tuple of fields. Where a tuple's optional fields are
 * ambiguous (one integer that may be a match specification's result or a scheduler's number)
 * SCHEDULER_ID decides for a call, send or receive; other tags never have a match specification's
 * result. th_event_from_tuple() leaves number, position, source and reader alone; TH_MALFORMED if
 * TUPLE is no trace message; a tuple {drop, N} gives TH_EVENT_DROP.
 */
enum th_status th_event_from_tuple(struct th_event *event, th_term tuple, bool scheduler_id);
th_term th_event_to_tuple(const struct th_event *event, th_env *env);

/* The term of a time, and back; false if T has no such shape. */
th_term th_event_time_term(const struct th_event_time *time, th_env *env);
bool th_event_time_from_term(th_term t, struct th_event_time *time);

/* True if a tuple with this tag has Extra as its fifth element. */
bool th_tag_has_extra(enum th_tracer_tag tag);

/* True if an event with this tag can carry a match specification's result. */
bool th_tag_has_result(enum th_tracer_tag tag);

#endif

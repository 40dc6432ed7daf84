/*
 * Trace messages in the format of dbg:trace_port(), for the tracers that write it. A record is an op, a size
 * of four bytes, the highest first, and
 *
 *     op 0    SIZE bytes of external term format: the trace message, as a tracing process gets it
 *     op 1    nothing: SIZE events were lost here
 */
#ifndef TRACER_PORT_MESSAGE_H
#define TRACER_PORT_MESSAGE_H

#include "stamp.h"

#include <stdatomic.h>
#include <stdio.h>

enum { PORT_MESSAGE, PORT_DROP, PORT_HEAD = 5 /* bytes of op and size */ };

/* trace or seq_trace, tracee, tag, term, extra, match specification's result, scheduler, time */
enum { PORT_ELEMENTS = 8 };

/* Calls with more known facts than the format can carry. Relaxed: a count. */
static atomic_ullong port_plain;

/* Writes the op and the size of a record. */
static inline void port_write_head(unsigned char head[PORT_HEAD], unsigned char op, uint32_t size)
{
    head[0] = op;
    head[1] = (unsigned char)(size >> 24);
    head[2] = (unsigned char)(size >> 16);
    head[3] = (unsigned char)(size >> 8);
    head[4] = (unsigned char)size;
}

static inline ERL_NIF_TERM port_clock_term(ErlNifEnv *env, int64_t ns)
{
    int64_t seconds = ns / 1000000000;

    return enif_make_tuple3(env, enif_make_int64(env, seconds / 1000000),
                            enif_make_int64(env, seconds % 1000000),
                            enif_make_int64(env, ns / 1000 % 1000000));
}

/* Returns the time as the BEAM adds it to a trace message. */
static inline ERL_NIF_TERM port_stamp_term(ErlNifEnv *env, const struct stamp *stamp)
{
    ERL_NIF_TERM time;

    if (stamp->kind == STAMP_SYSTEM || stamp->kind == STAMP_CPU)
        return port_clock_term(env, stamp->ns);
    time = enif_make_int64(env, stamp->ns);
    return stamp->kind == STAMP_STRICT
               ? enif_make_tuple2(env, time, enif_make_int64(env, stamp->unique))
               : time;
}

static inline unsigned port_add_option(ErlNifEnv *env, ERL_NIF_TERM opts, ERL_NIF_TERM key,
                                       ERL_NIF_TERM *element)
{
    return !!enif_get_map_value(env, opts, key, element);
}

/* Makes {trace, Tracee, Tag, Term, Extra, Result, Scheduler}, without those of the last three that
 * the event lacks; {trace_ts, ..., Time}; for sequential tracing {seq_trace, Label, Info}, or the
 * same with a Time. */
static inline ERL_NIF_TERM port_message(ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM tracee,
                                        ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
    struct stamp stamp = stamp_take(env, opts);
    ERL_NIF_TERM elements[PORT_ELEMENTS];
    unsigned count = 2;

    elements[1] = tracee;
    if (tag == TH_TRACER_ATOM(env, seq_trace)) {
        elements[0] = tag;
        elements[count++] = term;
    } else {
        elements[0] = stamp.kind ? TH_TRACER_ATOM(env, trace_ts) : enif_make_atom(env, "trace");
        elements[count++] = tag;
        elements[count++] = term;
        count += port_add_option(env, opts, TH_TRACER_ATOM(env, extra), &elements[count]);
        count +=
            port_add_option(env, opts, TH_TRACER_ATOM(env, match_spec_result), &elements[count]);
        count += port_add_option(env, opts, TH_TRACER_ATOM(env, scheduler_id), &elements[count]);
    }
    if (stamp.kind)
        elements[count++] = port_stamp_term(env, &stamp);
    return enif_make_tuple_from_array(env, elements, count);
}

/* Counts calls whose facts and callers have no place in a trace message. */
static inline void port_count_what_stays(ErlNifEnv *env, ERL_NIF_TERM tag)
{
    if (tag == TH_TRACER_ATOM(env, call) && TH_HAS(th_call_fact) &&
        (th_call_fact(env, TH_CALL_EXTERNAL) >= 0 || th_call_fact(env, TH_CALL_TAIL) >= 0))
        atomic_fetch_add_explicit(&port_plain, 1, memory_order_relaxed);
}

/* For unload of the tracer NAME. */
static inline void port_report_plain(const char *name)
{
    if (port_plain)
        fprintf(
            stderr,
            "%s: calls written without `external`, `tail` and callers (jsonl keeps them): %llu\n",
            name, port_plain);
}

#endif

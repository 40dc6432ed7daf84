/*
 * usdt: trace events fire USDT probes, so that SystemTap, bpftrace, perf and gdb can watch them.
 *
 * The probes are this library's own, with the names and arguments of a BEAM's provider `erlang`;
 * README.md lists the event of each probe. An event is discarded unless the semaphore of its probe
 * shows that a tool watches the probe: without a tool the tracer costs no more than the `enabled`
 * callback.
 *
 * State: any term; an argument of the probe `trace`.
 */
#include "fired.h"
#include "text.h"

#include <erl_tracer.h>

#define IS(NAME) (tag == TH_TRACER_ATOM(env, NAME))
#define WANTED(probe) \
    (PROBE_ENABLED(probe) ? TH_TRACER_ATOM(env, trace) : TH_TRACER_ATOM(env, discard))

/* Returns the value of `extra` in opts as text; "" if there is none. */
static const char *extra_of(ErlNifEnv *env, ERL_NIF_TERM opts, struct text *text)
{
    ERL_NIF_TERM extra;

    return enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &extra) ? text_of(text, extra)
                                                                             : "";
}

static void fire_trace(ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM state, ERL_NIF_TERM tracee,
                       ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
    struct text who, what, with, about, more;

    if (PROBE_ENABLED(trace))
        probe_trace(text_of(&who, tracee), text_of(&what, tag), text_of(&with, state),
                    text_of(&about, term), extra_of(env, opts, &more));
}

/* --- Other events; sequential tokens ---------------------------------------------------------- */

TH_TRACER_ENABLED(generic)
{
    if (IS(trace_status))
        return TH_TRACER_ATOM(env, trace);
    return IS(seq_trace) ? WANTED(trace_seq) : WANTED(trace);
}

TH_TRACER_TRACE(generic)
{
    struct text with, label, info;

    if (!IS(seq_trace))
        fire_trace(env, tag, state, tracee, term, opts);
    else if (PROBE_ENABLED(trace_seq))
        probe_trace_seq(text_of(&with, state), text_of(&label, tracee), text_of(&info, term));
}

/* --- Messages --------------------------------------------------------------------------------- */

TH_TRACER_ENABLED(send)
{
    return IS(send) ? WANTED(message__send) : WANTED(trace);
}

TH_TRACER_TRACE(send)
{
    struct text who, to;

    if (!IS(send))
        fire_trace(env, tag, state, tracee, term, opts);
    else if (PROBE_ENABLED(message__send))
        probe_message__send(text_of(&who, tracee), extra_of(env, opts, &to), words_of(env, term), 0,
                            0, 0);
}

TH_TRACER_ENABLED(receive)
{
    return enif_is_port(env, tracee) ? WANTED(port__command) : WANTED(message__receive);
}

/* Fires a probe for {Process, {command, Data}}, or {Process, close} and the like. */
static void fire_port_command(ErlNifEnv *env, ERL_NIF_TERM port, ERL_NIF_TERM term)
{
    const ERL_NIF_TERM *parts, *command;
    struct text from, to, type;
    int arity;
    ERL_NIF_TERM what = term;
    const char *process = "";

    if (enif_get_tuple(env, term, &arity, &parts) && arity == 2) {
        process = text_of(&from, parts[0]);
        what = parts[1];
    }
    if (enif_get_tuple(env, what, &arity, &command) && arity > 0)
        what = command[0];
    probe_port__command(process, text_of(&to, port), "", text_of(&type, what));
}

TH_TRACER_TRACE(receive)
{
    struct text who;

    if (enif_is_port(env, tracee) && PROBE_ENABLED(port__command))
        fire_port_command(env, tracee, term);
    else if (!enif_is_port(env, tracee) && PROBE_ENABLED(message__receive))
        probe_message__receive(text_of(&who, tracee), words_of(env, term), 0, 0, 0, 0);
}

/* --- Functions -------------------------------------------------------------------------------- */

/* Return events follow only from an enabled call: so a call is enabled if the probe of its end is
 * watched. */
TH_TRACER_ENABLED(call)
{
    return PROBE_ENABLED(function__return) || PROBE_ENABLED(trace)
               ? TH_TRACER_ATOM(env, trace)
               : WANTED(global__function__entry);
}

TH_TRACER_TRACE(call)
{
    struct text who, function;

    if (IS(call) && PROBE_ENABLED(global__function__entry))
        probe_global__function__entry(text_of(&who, tracee), text_of_function(env, &function, term),
                                      0);
    else if (IS(return_from) && PROBE_ENABLED(function__return))
        probe_function__return(text_of(&who, tracee), text_of_function(env, &function, term), 0);
    else if (!IS(call) && !IS(return_from))
        fire_trace(env, tag, state, tracee, term, opts);
}

/* --- Processes and ports ---------------------------------------------------------------------- */

TH_TRACER_ENABLED(procs)
{
    if (IS(spawn))
        return WANTED(process__spawn);
    return IS(exit) ? WANTED(process__exit) : WANTED(trace);
}

static void fire_spawn(ErlNifEnv *env, ERL_NIF_TERM child, ERL_NIF_TERM opts)
{
    struct text p, mfa;
    ERL_NIF_TERM call;

    if (!enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &call))
        call = child;
    if (PROBE_ENABLED(process__spawn))
        probe_process__spawn(text_of(&p, child), text_of_function(env, &mfa, call));
}

TH_TRACER_TRACE(procs)
{
    struct text p, reason;

    if (IS(spawn))
        fire_spawn(env, term, opts);
    else if (!IS(exit))
        fire_trace(env, tag, state, tracee, term, opts);
    else if (PROBE_ENABLED(process__exit))
        probe_process__exit(text_of(&p, tracee), text_of(&reason, term));
}

TH_TRACER_ENABLED(ports)
{
    if (IS(open))
        return WANTED(port__open);
    return IS(closed) ? WANTED(port__exit) : WANTED(trace);
}

TH_TRACER_TRACE(ports)
{
    struct text port, more, about;

    if (IS(open) && PROBE_ENABLED(port__open))
        probe_port__open(text_of(&about, term), extra_of(env, opts, &more), text_of(&port, tracee));
    else if (IS(closed) && PROBE_ENABLED(port__exit))
        probe_port__exit("", text_of(&port, tracee), "", text_of(&about, term));
    else if (!IS(open) && !IS(closed))
        fire_trace(env, tag, state, tracee, term, opts);
}

TH_TRACER_ENABLED(running_procs)
{
    if (IS(in))
        return WANTED(process__scheduled);
    return IS(out) ? WANTED(process__unscheduled) : WANTED(trace);
}

TH_TRACER_TRACE(running_procs)
{
    struct text p, mfa;

    if (IS(in) && PROBE_ENABLED(process__scheduled))
        probe_process__scheduled(text_of(&p, tracee), text_of_function(env, &mfa, term));
    else if (IS(out) && PROBE_ENABLED(process__unscheduled))
        probe_process__unscheduled(text_of(&p, tracee));
    else if (!IS(in) && !IS(out))
        fire_trace(env, tag, state, tracee, term, opts);
}

/* --- Garbage collections ---------------------------------------------------------------------- */

#define COLLECTIONS(X)                 \
    X(gc_minor_start, gc_minor__start) \
    X(gc_minor_end, gc_minor__end) X(gc_major_start, gc_major__start) X(gc_major_end, gc_major__end)

TH_TRACER_ENABLED(garbage_collection)
{
#define ASK(tag_, probe) \
    if (IS(tag_))        \
        return WANTED(probe);
    COLLECTIONS(ASK)
    return WANTED(trace);
}

/* Returns the words that were needed, or reclaimed; 0 if LIST lacks them. */
static int gc_words(ErlNifEnv *env, ERL_NIF_TERM list)
{
    const ERL_NIF_TERM *pair;
    ERL_NIF_TERM head;
    int arity, words;

    while (enif_get_list_cell(env, list, &head, &list))
        if (enif_get_tuple(env, head, &arity, &pair) && arity == 2 &&
            pair[0] == TH_TRACER_ATOM(env, wordsize) && enif_get_int(env, pair[1], &words))
            return words;
    return 0;
}

TH_TRACER_TRACE(garbage_collection)
{
    struct text p;

#define FIRE(tag_, probe)                                            \
    if (IS(tag_)) {                                                  \
        if (PROBE_ENABLED(probe))                                    \
            probe_##probe(text_of(&p, tracee), gc_words(env, term)); \
        return;                                                      \
    }
    COLLECTIONS(FIRE)
    fire_trace(env, tag, state, tracee, term, opts);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {
    {"enabled", 3, enabled, 0},
    {"trace", 5, trace, 0},
    {"enabled_send", 3, enabled_send, 0},
    {"trace_send", 5, trace_send, 0},
    {"enabled_receive", 3, enabled_receive, 0},
    {"trace_receive", 5, trace_receive, 0},
    {"enabled_call", 3, enabled_call, 0},
    {"trace_call", 5, trace_call, 0},
    {"enabled_procs", 3, enabled_procs, 0},
    {"trace_procs", 5, trace_procs, 0},
    {"enabled_ports", 3, enabled_ports, 0},
    {"trace_ports", 5, trace_ports, 0},
    {"enabled_running_procs", 3, enabled_running_procs, 0},
    {"trace_running_procs", 5, trace_running_procs, 0},
    {"enabled_garbage_collection", 3, enabled_garbage_collection, 0},
    {"trace_garbage_collection", 5, trace_garbage_collection, 0},
};
ERL_NIF_INIT(tracehost_usdt, callbacks, NULL, NULL, NULL, NULL)

/*
 * Hits the USDT probe of a recorded event:
 *
 *   event                             probe
 *   call, external or unknown         global__function__entry
 *   call, local                       local__function__entry
 *   return_from                       function__return
 *   send                              message__send
 *   receive, of a process             message__receive
 *   receive, of a port: a command     port__command
 *   spawn                             process__spawn, of the child
 *   exit                              process__exit
 *   in, out, of a process             process__scheduled, process__unscheduled
 *   gc_minor_start and so on          gc_minor__start and so on
 *   open, closed                      port__open, port__exit
 *   seq_trace                         trace_seq
 *   any other                         trace
 */
#include "replay_internal.h"

#include "host/probe/probe.h"
#include "host/term/make.h"
#include "host/term/text.h"
#include "host/trace/event.h"

struct text {
    char bytes[TH_PROBE_TEXT];
};

static const char *probe_text(struct text *text, th_term t)
{
    return t == TH_NONE ? "" : th_text_fit(text->bytes, sizeof text->bytes, t);
}

/* Returns the text of a function as probes use it, for {M, F, Args} and {M, F, Arity} alike; any
 * other term as it is. */
static const char *probe_function_text(struct text *text, th_term t)
{
    struct th_mfa f;
    struct text module, name;

    if (!th_trace_event_function_from_term(t, &f))
        return probe_text(text, t);
    snprintf(text->bytes, sizeof text->bytes, "%s:%s/%u", probe_text(&module, f.module),
             probe_text(&name, f.function), f.arity);
    return text->bytes;
}

static uint32_t words_of_term(th_term t)
{
    return t == TH_NONE || th_is_immediate(t) ? 0 : (uint32_t)th_term_words(t);
}

/* Returns the words needed or reclaimed: `wordsize` in LIST, or 0. */
static int gc_words(th_term list)
{
    for (; th_is_list(list); list = th_cell(list)[1]) {
        th_term pair = th_cell(list)[0];
        int64_t words;

        if (th_term_is(pair, TH_TUPLE) && th_tuple_arity(pair) == 2 &&
            th_tuple_elements(pair)[0] == th_atom("wordsize") &&
            th_get_int64(th_tuple_elements(pair)[1], &words))
            return (int)words;
    }
    return 0;
}

/* --- Choice of the probe ---------------------------------------------------------------------- */

/* By tag, for a process. 0 stands for `trace`, except for send: message__send is number 0. */
static const unsigned char probe_of_tag[TH_TAG_COUNT] = {
    [TH_TAG_call] = TH_PROBE_global__function__entry,
    [TH_TAG_return_from] = TH_PROBE_function__return,
    [TH_TAG_send] = TH_PROBE_message__send,
    [TH_TAG_receive] = TH_PROBE_message__receive,
    [TH_TAG_spawn] = TH_PROBE_process__spawn,
    [TH_TAG_exit] = TH_PROBE_process__exit,
    [TH_TAG_in] = TH_PROBE_process__scheduled,
    [TH_TAG_out] = TH_PROBE_process__unscheduled,
    [TH_TAG_gc_minor_start] = TH_PROBE_gc_minor__start,
    [TH_TAG_gc_minor_end] = TH_PROBE_gc_minor__end,
    [TH_TAG_gc_major_start] = TH_PROBE_gc_major__start,
    [TH_TAG_gc_major_end] = TH_PROBE_gc_major__end,
    [TH_TAG_open] = TH_PROBE_port__open,
    [TH_TAG_closed] = TH_PROBE_port__exit,
    [TH_TAG_seq_trace] = TH_PROBE_trace_seq,
};

/* Returns the probe that EVENT hits. */
static enum th_probe_id probe_of(const struct th_event *event)
{
    bool is_port = th_is_port(event->tracee);

    if (event->tag == TH_TAG_call && event->external == TH_NO)
        return TH_PROBE_local__function__entry;
    if (is_port && event->tag == TH_TAG_receive)
        return TH_PROBE_port__command;
    if (is_port && (event->tag == TH_TAG_in || event->tag == TH_TAG_out))
        return TH_PROBE_trace;
    return probe_of_tag[event->tag] || event->tag == TH_TAG_send ? probe_of_tag[event->tag]
                                                                 : TH_PROBE_trace;
}

/* --- Arguments of the probe ------------------------------------------------------------------- */

/* MESSAGE is {Process, {command, Data}}, {Process, close} and the like. */
static void tell_port_command(const char *port, th_term message)
{
    const th_term *parts = th_term_is(message, TH_TUPLE) && th_tuple_arity(message) == 2
                               ? th_tuple_elements(message)
                               : NULL;
    struct text process, type;
    th_term command = parts ? parts[1] : message;

    if (th_term_is(command, TH_TUPLE) && th_tuple_arity(command) > 0)
        command = th_tuple_elements(command)[0];
    TH_PROBE(port__command, probe_text(&process, parts ? parts[0] : TH_NONE), port, "",
             probe_text(&type, command));
}

/* TRACEE is the event's tracee as text. */
static void fire_probe(enum th_probe_id probe, const struct th_event *event, const char *tracee)
{
    struct text text, more, tag;

    switch (probe) {
    case TH_PROBE_global__function__entry:
        TH_PROBE(global__function__entry, tracee, probe_function_text(&text, event->term), 0);
        break;
    case TH_PROBE_local__function__entry:
        TH_PROBE(local__function__entry, tracee, probe_function_text(&text, event->term), 0);
        break;
    case TH_PROBE_function__return:
        TH_PROBE(function__return, tracee, probe_function_text(&text, event->term), 0);
        break;
    case TH_PROBE_message__send:
        TH_PROBE(message__send, tracee, probe_text(&text, event->extra), words_of_term(event->term),
                 0, 0, 0);
        break;
    case TH_PROBE_message__receive:
        TH_PROBE(message__receive, tracee, words_of_term(event->term), 0, 0, 0, 0);
        break;
    case TH_PROBE_port__command:
        tell_port_command(tracee, event->term);
        break;
    case TH_PROBE_process__spawn:
        TH_PROBE(process__spawn, probe_text(&text, event->term),
                 probe_function_text(&more, event->extra));
        break;
    case TH_PROBE_process__exit:
        TH_PROBE(process__exit, tracee, probe_text(&text, event->term));
        break;
    case TH_PROBE_process__scheduled:
        TH_PROBE(process__scheduled, tracee, probe_function_text(&text, event->term));
        break;
    case TH_PROBE_process__unscheduled:
        TH_PROBE(process__unscheduled, tracee);
        break;
    case TH_PROBE_gc_minor__start:
        TH_PROBE(gc_minor__start, tracee, gc_words(event->term));
        break;
    case TH_PROBE_gc_minor__end:
        TH_PROBE(gc_minor__end, tracee, gc_words(event->term));
        break;
    case TH_PROBE_gc_major__start:
        TH_PROBE(gc_major__start, tracee, gc_words(event->term));
        break;
    case TH_PROBE_gc_major__end:
        TH_PROBE(gc_major__end, tracee, gc_words(event->term));
        break;
    case TH_PROBE_port__open:
        TH_PROBE(port__open, probe_text(&text, event->term), probe_text(&more, event->extra),
                 tracee);
        break;
    case TH_PROBE_port__exit:
        TH_PROBE(port__exit, "", tracee, "", probe_text(&text, event->term));
        break;
    case TH_PROBE_trace_seq:
        TH_PROBE(trace_seq, "", probe_text(&text, event->label), probe_text(&more, event->term));
        break;
    default:
        TH_PROBE(trace, tracee, probe_text(&tag, th_trace_tag_atom(event->tag)), "",
                 probe_text(&text, event->term), probe_text(&more, event->extra));
    }
}

enum th_status th_replay_event_probe(struct th_event *event, th_env *env)
{
    enum th_probe_id probe = probe_of(event);
    struct text tracee;
    enum th_status status;

    /* Relaxed: see probe.h. */
    if (!__atomic_load_n(th_probe_probes[probe].semaphore, __ATOMIC_RELAXED))
        return TH_OK;
    status = th_trace_event_decode(event, env);
    if (status == TH_OK)
        fire_probe(probe, event, probe_text(&tracee, event->tracee));
    return status;
}

/*
 * msg: senders and receivers of messages.
 *
 * Writes one line for each message, "SENDER -> RECEIVER", without the message: the idea of the
 * example in the erl_tracer manual. Lines of messages to dead processes end in "(gone)". All other
 * events are discarded early, at no cost.
 *
 * State: see ../output.h.
 */
#include "../kit/line.h"
#include "../kit/output.h"

TH_TRACER_ENABLED(generic)
{
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, discard));
}

TH_TRACER_ENABLED(send)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(send)
{
    const char *gone = tag == TH_TRACER_ATOM(env, send_to_non_existing_process) ? " (gone)" : "";
    struct output *output = output_of(env, state);
    ERL_NIF_TERM receiver;
    struct line line;

    if (!output || !enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &receiver))
        return;
    line_start(&line);
    line_add(&line, "%#T -> ", tracee);
    line_add_name(&line, receiver);
    line_add(&line, "%s", gone);
    line_end(&line, output->file);
}

/* Mandatory. Only returns, which need no `enabled`, come here: no messages. */
TH_TRACER_TRACE(generic)
{
}

TH_TRACER_UNLOAD()
{
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"enabled_send", 3, enabled_send, 0},
                                 {"trace_send", 5, trace_send, 0}};
ERL_NIF_INIT(tracehost_msg, callbacks, NULL, NULL, NULL, unload)

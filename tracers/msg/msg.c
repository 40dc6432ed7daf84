/*
 * msg: who sends to whom.
 *
 * One line a message, "SENDER -> RECEIVER", and nothing of what is in it: the idea of the example in
 * the erl_tracer manual. Messages to processes that are gone end in "(gone)". Everything else is
 * discarded before it costs anything.
 *
 * State: see ../output.h.
 */
#include "../output.h"

TH_TRACER_ENABLED(generic)
{
    return tag == TH_TRACER_ATOM(env, trace_status) ? TH_TRACER_ATOM(env, trace)
                                                    : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_ENABLED(send)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(send)
{
    const char *gone =
        tag == TH_TRACER_ATOM(env, send_to_non_existing_process) ? " (gone)" : "";
    struct output *output = output_of(env, state);
    ERL_NIF_TERM receiver;

    if (output && enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &receiver))
        enif_fprintf(output->file, "%T -> %T%s\n", tracee, receiver, gone);
}

/* Mandatory, and never called: generic events are discarded. */
TH_TRACER_TRACE(generic)
{
}

TH_TRACER_UNLOAD()
{
    output_close_all();
}

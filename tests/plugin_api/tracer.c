/* A tracer of messages for both kinds of host: plain symbols for tracehost, an entry for a BEAM. It
 * sends the sender and the receiver of each message to its state, a process. */
#include <erl_tracer.h>

TH_TRACER_ENABLED(generic)
{
    return tag == TH_TRACER_ATOM(env, trace_status) ? TH_TRACER_ATOM(env, trace)
                                                    : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(generic)
{
}

TH_TRACER_ENABLED(send)
{
    return tracee == state ? TH_TRACER_ATOM(env, discard) : TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(send)
{
    ErlNifPid to;
    ERL_NIF_TERM receiver;
    if (enif_get_local_pid(env, state, &to) &&
        enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &receiver))
        enif_send(env, &to, NULL, enif_make_tuple4(env, tag, tracee, receiver, term));
}

static ErlNifFunc functions[] = {
    {"enabled", 3, enabled, 0},
    {"trace", 5, trace, 0},
    {"enabled_send", 3, enabled_send, 0},
    {"trace_send", 5, trace_send, 0},
};

ERL_NIF_INIT(tracer, functions, NULL, NULL, NULL, NULL)

/* The tracer `placeholder`: prints each call and each message, and sums up at the end. */
#include <erl_tracer.h>

#include <mutex>
#include <new>

namespace
{

/*
 * Callbacks run in several threads at once, so data that change are protected. All data are in one
 * object, the private data: a new version of the tracer can take them over.
 */
struct Totals {
    std::mutex lock; /* protects the following */
    unsigned long calls = 0, messages = 0;
    ErlNifEnv *kept = enif_alloc_env(); /* environment of the next two terms */
    ERL_NIF_TERM who = 0, first = 0;    /* tracee and contents of the first event; 0: none yet */

    Totals() = default;
    Totals(const Totals &) = delete;
    Totals &operator=(const Totals &) = delete;
    ~Totals()
    {
        enif_free_env(kept);
    }

    /* A term of a callback is valid until the callback returns. A term that is kept longer is
     * copied into an environment of the tracer's own. */
    void count(unsigned long &counter, ERL_NIF_TERM tracee, ERL_NIF_TERM term)
    {
        std::lock_guard<std::mutex> guard(lock);

        counter++;
        if (first)
            return;
        who = enif_make_copy(kept, tracee);
        first = enif_make_copy(kept, term);
    }
};

Totals *totals_of(ErlNifEnv *env)
{
    return static_cast<Totals *>(enif_priv_data(env));
}

} // namespace

/* Runs before the first event. LOAD_INFO is the second argument of erlang:load_nif() in an Erlang
 * node, and 0 in tracehost: settings of a tracer come as `state`, an argument of each callback.
 * No C++ exception may leave a callback: the host is written in C. */
TH_TRACER_LOAD()
{
    *priv_data = new (std::nothrow) Totals;
    return *priv_data == nullptr; /* any value but 0: the tracer is refused */
}

/* Runs instead of load when this version replaces an older one. If Totals changes, the old object
 * must be converted here. */
TH_TRACER_UPGRADE()
{
    *priv_data = *old_priv_data;
    *old_priv_data = nullptr; /* unload of the old version gets nullptr */
    return 0;
}

/* The host asks `enabled` first, for each event, and builds only the events that are wanted. So
 * `enabled` must be quick, and must have no side effects: no output, no lock, no counting. The
 * generic callback decides for each group of events without an `enabled` of its own. */
TH_TRACER_ENABLED(generic)
{
    if (tag == TH_TRACER_ATOM(env, trace_status)) /* a question: shall tracing go on? */
        return TH_TRACER_ATOM(env, trace);        /* `remove` would end it */
    return TH_TRACER_ATOM(env, discard);
}

TH_TRACER_ENABLED(call)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_ENABLED(send)
{
    return TH_TRACER_ATOM(env, trace);
}

/* A callback must not send a message or a signal to the tracee: that would be an event, too. */
TH_TRACER_TRACE(call)
{
    const ERL_NIF_TERM *mfa;
    int size;

    /* The ends of traced calls come here, too: return_from, exception_from and return_to. The term
     * of a call is {M, F, Args}, or {M, F, Arity} with the flag `arity`. */
    if (tag != TH_TRACER_ATOM(env, call) || !enif_get_tuple(env, term, &size, &mfa) || size != 3)
        return;
    enif_fprintf(stdout, "%T calls %T:%T with %T\n", tracee, mfa[0], mfa[1], mfa[2]);
    Totals *totals = totals_of(env);
    totals->count(totals->calls, tracee, term);
}

TH_TRACER_TRACE(send)
{
    ERL_NIF_TERM receiver;

    /* `opts` is a map with more about the event; erl_tracer.h lists its keys for each tag. */
    if (!enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &receiver))
        return;
    enif_fprintf(stdout, "%T sends %T to %T\n", tracee, term, receiver);
    Totals *totals = totals_of(env);
    totals->count(totals->messages, tracee, term);
}

/* Each tracer must have this callback, for the groups without a `trace` of their own. */
TH_TRACER_TRACE(generic)
{
}

/* Runs after the last event. Whatever was allocated is freed. */
TH_TRACER_UNLOAD()
{
    Totals *totals = static_cast<Totals *>(priv_data);

    if (!totals)
        return;
    printf("%lu calls, %lu messages\n", totals->calls, totals->messages);
    if (totals->first)
        enif_fprintf(stdout, "the first event: %T, %T\n", totals->who, totals->first);
    fflush(stdout);
    delete totals;
}

/* An Erlang node finds the callbacks in this array. A callback that is missing here is never
 * called, neither in a node nor in tracehost. */
static ErlNifFunc callbacks[] = {
    {"enabled", 3, enabled, 0},           {"trace", 5, trace, 0},
    {"enabled_call", 3, enabled_call, 0}, {"trace_call", 5, trace_call, 0},
    {"enabled_send", 3, enabled_send, 0}, {"trace_send", 5, trace_send, 0}};

ERL_NIF_INIT(placeholder, callbacks, load, NULL, upgrade, unload)

/* The tracer `placeholder`: prints each call and each message, and sums up at the end. */
#include <erl_tracer.h>

/*
 * Callbacks run in several threads at once, so data that change are protected. All data are in one
 * struct, the private data: a new version of the tracer can take them over.
 */
struct totals {
    ErlNifMutex *lock; /* protects the following */
    unsigned long calls, messages;
    ErlNifEnv *kept;         /* environment of the next two terms */
    ERL_NIF_TERM who, first; /* tracee and contents of the first event; 0: none yet */
};

/* Runs before the first event. LOAD_INFO is the second argument of erlang:load_nif() in an Erlang
 * node, and 0 in tracehost: settings of a tracer come as `state`, an argument of each callback. */
TH_TRACER_LOAD()
{
    struct totals *totals = enif_alloc(sizeof *totals);

    if (!totals)
        return 1; /* any value but 0: the tracer is refused */
    *totals = (struct totals){.lock = enif_mutex_create("placeholder")};
    if (!totals->lock) {
        enif_free(totals);
        return 1;
    }
    totals->kept = enif_alloc_env();
    *priv_data = totals;
    return 0;
}

/* Runs instead of load when this version replaces an older one. If struct totals changes, the old
 * struct must be converted here. */
TH_TRACER_UPGRADE()
{
    *priv_data = *old_priv_data;
    *old_priv_data = NULL; /* unload of the old version gets NULL */
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

/* A term of a callback is valid until the callback returns. A term that is kept longer is copied
 * into an environment of the tracer's own. The lock is held. */
static void keep_first(struct totals *totals, ERL_NIF_TERM tracee, ERL_NIF_TERM term)
{
    if (totals->first)
        return;
    totals->who = enif_make_copy(totals->kept, tracee);
    totals->first = enif_make_copy(totals->kept, term);
}

/* A callback must not send a message or a signal to the tracee: that would be an event, too. */
TH_TRACER_TRACE(call)
{
    struct totals *totals = enif_priv_data(env);
    const ERL_NIF_TERM *mfa;
    int size;

    /* The ends of traced calls come here, too: return_from, exception_from and return_to. The term
     * of a call is {M, F, Args}, or {M, F, Arity} with the flag `arity`. */
    if (tag != TH_TRACER_ATOM(env, call) || !enif_get_tuple(env, term, &size, &mfa) || size != 3)
        return;
    enif_fprintf(stdout, "%T calls %T:%T with %T\n", tracee, mfa[0], mfa[1], mfa[2]);
    enif_mutex_lock(totals->lock);
    totals->calls++;
    keep_first(totals, tracee, term);
    enif_mutex_unlock(totals->lock);
}

TH_TRACER_TRACE(send)
{
    struct totals *totals = enif_priv_data(env);
    ERL_NIF_TERM receiver;

    /* `opts` is a map with more about the event; erl_tracer.h lists its keys for each tag. */
    if (!enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &receiver))
        return;
    enif_fprintf(stdout, "%T sends %T to %T\n", tracee, term, receiver);
    enif_mutex_lock(totals->lock);
    totals->messages++;
    keep_first(totals, tracee, term);
    enif_mutex_unlock(totals->lock);
}

/* Each tracer must have this callback, for the groups without a `trace` of their own. */
TH_TRACER_TRACE(generic)
{
}

/* Runs after the last event. Whatever was allocated is freed. */
TH_TRACER_UNLOAD()
{
    struct totals *totals = priv_data;

    if (!totals)
        return;
    printf("%lu calls, %lu messages\n", totals->calls, totals->messages);
    if (totals->first)
        enif_fprintf(stdout, "the first event: %T, %T\n", totals->who, totals->first);
    fflush(stdout);
    enif_free_env(totals->kept);
    enif_mutex_destroy(totals->lock);
    enif_free(totals);
}

/* An Erlang node finds the callbacks in this array. A callback that is missing here is never
 * called, neither in a node nor in tracehost. */
static ErlNifFunc callbacks[] = {
    {"enabled", 3, enabled, 0},           {"trace", 5, trace, 0},
    {"enabled_call", 3, enabled_call, 0}, {"trace_call", 5, trace_call, 0},
    {"enabled_send", 3, enabled_send, 0}, {"trace_send", 5, trace_send, 0}};

ERL_NIF_INIT(placeholder, callbacks, load, NULL, upgrade, unload)

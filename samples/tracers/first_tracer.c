/* A first tracer: shows the calls of one module, and prints their number at the end. */
#include <erl_tracer.h> /* 1 */

#include <stdio.h>

static unsigned long calls;

/* 2. All other events are discarded: the host does not build them. */
TH_TRACER_ENABLED(generic)
{
    if (tag == TH_TRACER_ATOM(env, trace_status))
        return TH_TRACER_ATOM(env, trace);
    return TH_TRACER_ATOM(env, discard);
}

/* 3. Calls are wanted. */
TH_TRACER_ENABLED(call)
{
    return TH_TRACER_ATOM(env, trace);
}

/* 4. Each tracer must have this callback. Here all its events are discarded. */
TH_TRACER_TRACE(generic)
{
}

/* 5. The term of a call is {Module, Function, Arguments}. The state is the module to show. */
TH_TRACER_TRACE(call)
{
    const ERL_NIF_TERM *mfa;
    int size;

    if (tag != TH_TRACER_ATOM(env, call) || !enif_get_tuple(env, term, &size, &mfa))
        return;
    if (size != 3 || mfa[0] != state)
        return;
    enif_fprintf(stdout, "%T calls %T:%T with %T\n", tracee, mfa[0], mfa[1], mfa[2]);
    calls++;
}

/* 6. Runs after the last event. */
TH_TRACER_UNLOAD()
{
    printf("%lu calls\n", calls);
}

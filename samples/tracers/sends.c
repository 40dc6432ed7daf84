/* Shows each message that is sent. Other events are discarded, and never built. */
#include <erl_tracer.h>
#include <stdio.h>

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, discard);
}

TH_TRACER_ENABLED(send)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
}

TH_TRACER_TRACE(send)
{
    enif_fprintf(stdout, "%T sends %T\n", tracee, term);
}

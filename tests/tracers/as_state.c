/* The smallest tracer: `enabled` returns the state, the atom trace or discard. */
#include <erl_tracer.h>

TH_TRACER_ENABLED(generic)
{
    (void)env;
    (void)tag;
    (void)tracee;
    return state;
}

TH_TRACER_TRACE(generic)
{
    (void)env;
    (void)tag;
    (void)state;
    (void)tracee;
    (void)term;
    (void)opts;
}

/* Prints each trace callback with its arguments; the state only once. */
#include <erl_tracer.h>

#include <stdio.h>

static int told_state;

#define DEFINE(group, self)                                                               \
    TH_TRACER_ENABLED(group)                                                              \
    {                                                                                     \
        if (!told_state++)                                                                \
            enif_fprintf(stdout, "state %#T\n", state);                                   \
        return TH_TRACER_ATOM(env, trace);                                                \
    }                                                                                     \
    TH_TRACER_TRACE(group)                                                                \
    {                                                                                     \
        enif_fprintf(stdout, #group ": %#T %#T %#T with %#T\n", tracee, tag, term, opts); \
    }
TH_TRACER_GROUPS(DEFINE)

#include "hit.h"

#ifdef EVENT
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"
#else
#define lttng_ust_tracepoint(...)
#endif

term hit(struct enif_environment_t *env, int argc, const term argv[])
{
    (void)env;
    (void)argc;
    lttng_ust_tracepoint(peers, EVENT, argc, argv[0]);
    return argv[0];
}

term other(struct enif_environment_t *env, int argc, const term argv[])
{
    (void)env;
    (void)argc;
    return argv[0] + 1;
}

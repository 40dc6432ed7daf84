/* What any code of a library may ask of the host: user probes. */
#include "nif.h"

#include "host/probe/probe.h"
#include "host/runtime/runtime.h"
#include "plugin_api/nif_module.h"

int th_user_trace_enabled(void)
{
    return (TH_PROBE_ENABLED(user_trace__s1) ? TH_USER_TRACE_S1 : 0) |
           (TH_PROBE_ENABLED(user_trace__i4s4) ? TH_USER_TRACE_I4S4 : 0);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

int th_user_trace_s1(const char *message)
{
    if (!TH_PROBE_ENABLED(user_trace__s1))
        return 0;
    TH_PROBE(user_trace__s1, or_empty(message));
    return 1;
}

int th_user_trace_i4s4(ErlNifEnv *env, const char *user_tag, int i_1, int i_2, int i_3, int i_4,
                       const char *s_1, const char *s_2, const char *s_3, const char *s_4)
{
    char proc[TH_PROBE_TEXT] = "";

    if (!TH_PROBE_ENABLED(user_trace__i4s4))
        return 0;
    if (env && env->self != TH_NONE)
        th_text_fit(proc, sizeof proc, env->self);
    TH_PROBE(user_trace__i4s4, proc, or_empty(user_tag), i_1, i_2, i_3, i_4, or_empty(s_1),
             or_empty(s_2), or_empty(s_3), or_empty(s_4));
    return 1;
}

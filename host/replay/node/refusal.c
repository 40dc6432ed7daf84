/* The reasons of tracehost_agent:start/2 in words. */
#include "node_internal.h"

/* The texts of the elements after NAME in the reason go to the first %s and so on. */
static const struct refusal {
    const char *name;
    const char *words;
} REFUSALS[] = {
    {"busy", "another tracehost traces the node (%s): end that one first"},
    {"traced_by", "the process %s is traced by %s already, and a process has one tracer: end that "
                  "tracing, or choose other processes"},
    {"pattern_of_other",
     "somebody else has a trace pattern on %s (%s): end that tracing, or choose "
     "other functions"},
    {"not_loaded", "the module %s is not loaded in the node: with --load the node loads it"},
    {"bad_match_spec", "the node refuses the match specification of pattern %s: %s"},
    {"bad_flag", "the node does not know the flag %s"},
    {"no_process", "the node has no process %s"},
    {"no_name", "no process of the node is registered as %s"},
    {"old_release", "the node runs OTP %s, which the agent does not know"},
    {"no_trace_port", "the node cannot open a trace port: %s: --via=agent needs none"},
    {"failed", "the node cannot trace: %s"},
};

enum { MOST_TEXTS = 2 };

bool th_node_say_refusal(const struct th_node_client *client, struct th_node_place *reason)
{
    char texts[MOST_TEXTS][400] = {"?", "?"};
    struct th_node_place whole = *reason;
    size_t arity;

    if (th_node_read_tuple(reason, &arity) && arity > 0)
        for (size_t i = 0; i < sizeof REFUSALS / sizeof *REFUSALS; i++)
            if (th_node_read_atom(reason, REFUSALS[i].name)) {
                for (size_t text = 0; text < MOST_TEXTS && text + 1 < arity; text++)
                    th_node_text(reason, texts[text], sizeof texts[text]);
                return th_node_say(client, REFUSALS[i].words, texts[0], texts[1]);
            }
    th_node_text(&whole, texts[0], sizeof texts[0]);
    return th_node_say(client, "the node cannot trace: %s", texts[0]);
}

/* logging.c with one callback of each group, alternately enabled and trace; logging_other_half.c
 * has the others. */
#define LOGGING_SLOTS(X)                       \
    X(enabled, 3, generic)                     \
    X(trace, 5, generic)                       \
    X(enabled_call, 3, call)                   \
    X(trace_send, 5, send)                     \
    X(enabled_receive, 3, receive)             \
    X(trace_procs, 5, procs)                   \
    X(enabled_ports, 3, ports)                 \
    X(trace_running_procs, 5, running_procs)   \
    X(enabled_running_ports, 3, running_ports) \
    X(trace_garbage_collection, 5, garbage_collection)

#include "logging.c"

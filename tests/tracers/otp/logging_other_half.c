/* logging.c with the callbacks that logging_half.c lacks. */
#define LOGGING_SLOTS(X)                       \
    X(enabled, 3, generic)                     \
    X(trace, 5, generic)                       \
    X(trace_call, 5, call)                     \
    X(enabled_send, 3, send)                   \
    X(trace_receive, 5, receive)               \
    X(enabled_procs, 3, procs)                 \
    X(trace_ports, 5, ports)                   \
    X(enabled_running_procs, 3, running_procs) \
    X(trace_running_ports, 5, running_ports)   \
    X(enabled_garbage_collection, 3, garbage_collection)

#include "logging.c"

/* Asks a running node to trace for sessions, which options describe. */
#ifndef TH_NODE_WISH_H
#define TH_NODE_WISH_H

#include "session_options.h"

struct th_buffer;

/* Limits for the node. */
struct th_node_limits {
    int64_t rate;   /* events a second; 0: no limit */
    int64_t bytes;  /* bytes of records a second; 0: no limit */
    int64_t sample; /* beyond a limit the node goes on with one process of so many; 0: with none */
    bool via_port;  /* a trace port of the node is the tracer; it keeps no limit itself */
    bool load;      /* modules that patterns name may be loaded */
    bool scheduler; /* records have the number of the scheduler */
    bool others;    /* several nodes are asked: each has some of the modules and names */
};

/*
 * Appends to WISH the external term that asks for what the sessions of OPTIONS want: the second
 * argument of tracehost_agent:start/2 (replay/node/). It asks for no less than they want: what the
 * node cannot decide, or must not, as it would change the node, is decided here once more. *DECIDED
 * becomes true if the node decides all patterns.
 *
 * Also appends to TEXT, for users, what is set in the node and what is decided here alone.
 * Errors: TH_USAGE, if a node cannot be asked so, or is asked for nothing.
 */
enum th_status th_control_node_wish(const struct th_control_session_options *options,
                                    const struct th_node_limits *limits, struct th_buffer *wish,
                                    struct th_buffer *text, bool *decided);

/* Lets sessions trace all tracees that a node sends, as the node has chosen them, and, if DECIDED, all
 * calls and messages. */
void th_control_node_chosen(struct th_control_session_options *options, bool decided);

#endif

/*
 * The feeder of a running node, node:NAME@HOST: the face of tracehost_node.so.
 *
 * The feeder speaks the distribution protocol of Erlang, with libei. Few users need it, so it is a
 * shared object of its own: lib/tracehost/tracehost_node.so, beside the folders of tracers and
 * plugins. It needs no symbol of the host. The host forks a process for each node, and calls a function
 * of the shared object there: tracehost_node_serve() feeds, tracehost_node_list() (list.c) reads names.
 *
 *     host (reader) <-- OUT, pipe of trace-port records -- feeder <== distribution ==> node
 *
 * tracehost_agent.erl is the part in the node. It is within the shared object, compiled and as text.
 *
 * The steps: find the node's port (epmd.c), connect under a free name of ours (connect.c), start the
 * agent (start.c), copy its records (feed.c), or those of a trace port of the node (port_client.c). All that comes from the node is checked (received.c), as
 * libei's functions that decode do not know where a message ends.
 */
#ifndef HOST_REPLAY_NODE_NODE_H
#define HOST_REPLAY_NODE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracehost_node_request {
    const char *node;          /* NAME@HOST, or NAME for a node of this host */
    const char *cookie;        /* NULL: the content of COOKIE_FILE */
    const char *cookie_file;   /* NULL: ~/.erlang.cookie */
    const unsigned char *wish; /* second argument of tracehost_agent:start/2, in external format */
    size_t wish_size;          /* in bytes */
    bool no_load;              /* the agent is evaluated, not loaded, in the node */
    int64_t for_ns;            /* time of tracing; 0: without limit */
    int64_t port_rate;         /* most events a second by a trace port; 0: without limit */
    int64_t port_bytes;        /* most bytes of them; 0: without limit */
};

/*
 * Traces the node of REQUEST and writes the records to OUT, a pipe. OUT gets whole records only, and
 * the call returns when they are written or OUT has no reader. OUT becomes non-blocking.
 *
 * STATUS gets lines. Before the tracing: `ok` when the node traces, or the reason why it does not, as
 * lines `error: TEXT`, outermost first. Later: the lines `error: TEXT` if the stream does not end in
 * order, as when the node goes down.
 *
 * The tracing ends in order if OUT has no reader any more, after SIGTERM, SIGINT or SIGHUP, or after
 * for_ns: the node then undoes everything, and sends the records that it still has.
 *
 * Returns the exit status: 0 ended in order; 1 failed here (memory), or a signal came before `ok`;
 * 3 the node cannot be traced; 4 records may be lost.
 *
 * Thread: the only one of its process, as it changes the process' signals.
 */
__attribute__((visibility("default"))) int
tracehost_node_serve(const struct tracehost_node_request *request, int out, int status);

/*
 * Writes the names of the modules that the node of REQUEST has loaded to OUT, or, if MODULE is not NULL,
 * its functions as NAME/ARITY, also local ones; none if it is not loaded. Names are in UTF-8, and each
 * ends with a 0. Only the node and the cookie of REQUEST are used. Nothing is loaded into the node.
 *
 * Returns the exit status: 0 done; 1 failed here; 3 the node does not answer. That can take long: the
 * caller ends the process.
 *
 * Thread: any.
 */
__attribute__((visibility("default"))) int
tracehost_node_list(const struct tracehost_node_request *request, const char *module, int out);

#endif

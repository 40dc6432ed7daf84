/*
 * The face of control/: a Unix socket through which other programs control and query a running
 * host. server.h is the server's end; the client's end is below. argument.h has typed words, for
 * commands and for the command line. commands/ implements the commands, and the reaction to changed
 * files.
 *
 * The protocol: lines of JSON in UTF-8. A request has at most TH_CONTROL_LINE bytes with its
 * newline; answers may be longer. The server sends a greeting first. Then each line of a client is
 * a request, and each request gets one line as its answer, in order:
 *
 *     {"tracehost": "0.1.0", "protocol": 1, "program": "run", "pid": 4711}
 *     > {"id": 1, "command": "attach", "arguments": ["count", "--session=calls"]}
 *     {"id": 1, "ok": true, "result": {...}}
 *     > {"id": 2, "command": "detach", "arguments": ["nobody"]}
 *     {"id": 2, "ok": false, "status": 2, "error": ["no tracer is called nobody"]}
 *
 * An answer may also have "warnings", texts about problems that do not stop the command.
 *
 * "id" is any JSON value, and null if the request has none. "arguments" are texts, as on a command
 * line, and may be left out. "error" is the chain of causes, the outermost first; "status" is the
 * exit status that tracehost would have. A line that is no request is answered with an error; its
 * id is the one that was read from the line, else null. control.schema.json describes all this.
 * `protocol` changes when a client that follows the old protocol would be misunderstood.
 *
 * Commands run one at a time, in the server's thread. A command that may take long has a thread of
 * its own: other clients are answered meanwhile, but the next request of the same client waits. A
 * command that has begun goes on to its end if its client disconnects. From a client that does not
 * read its answers no request is read, and the client is disconnected after TH_CONTROL_PATIENCE
 * seconds. If all places are taken, a new client gets the place of the client that has been idle
 * for the longest time.
 */
#ifndef TH_CONTROL_H
#define TH_CONTROL_H

#include "argument.h"
#include "server.h"

#include "host/control/commands/commands.h"
#include "host/control/commands/node_wish.h"
#include "host/control/commands/session_options.h"
#include "host/control/commands/watch.h"

#include <jansson.h>

/* --- The client's end ------------------------------------------------------------------------- */

struct th_control_client;

/* Connects to the host at PATH and reads the greeting.
 * Owner: *GREETING belongs to the client.
 * Errors: TH_USAGE if no host of this user listens, or the protocol differs; TH_FAILED if the host
 * has no room for a client, or ends; TH_MALFORMED if the server is no tracehost. */
enum th_status th_control_connect(const char *path, struct th_control_client **client,
                                  const json_t **greeting);
void th_control_disconnect(struct th_control_client *client);

/* Returns the socket's descriptor; when the host is gone, poll() reports POLLRDHUP. */
int th_control_descriptor(const struct th_control_client *client);

/* Sends a command and waits for its answer, with "ok" true or false.
 * Owner: the caller gets *ANSWER.
 * Errors: TH_FAILED if the host is gone; TH_END if *STOP becomes other than 0 (STOP may be NULL). A
 * signal alone does not end the wait. */
enum th_status th_control_ask(struct th_control_client *client, const char *command, int count,
                              char *const arguments[], const volatile int *stop, json_t **answer);

#endif

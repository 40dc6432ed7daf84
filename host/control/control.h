/*
 * The face of control/: a Unix socket by which others tell a host what to do while it runs, and ask
 * it how it fares. server.h is its one end, the client's stands below; argument.h has the types of
 * words, of commands as well as of the command line; commands/ is what a host does at each command,
 * and as files change.
 *
 * The wire. Lines of JSON, in UTF-8, at most TH_CONTROL_LINE bytes each with their newline. The
 * server begins with a greeting; then each line of a client is a request, each answered by a line,
 * in their order:
 *
 *     {"tracehost": "0.1.0", "protocol": 1, "program": "run", "pid": 4711}
 *     > {"id": 1, "command": "attach", "arguments": ["count", "--session=calls"]}
 *     {"id": 1, "ok": true, "result": {...}}
 *     > {"id": 2, "command": "detach", "arguments": ["nobody"]}
 *     {"id": 2, "ok": false, "status": 2, "error": ["no tracer is called nobody"]}
 *
 * A "warnings" beside these are texts, of what does not stop the command.
 *
 * "id" is any JSON value, and null where a request has none; "arguments" are texts, as on a command
 * line, and may be left out; "error" is the chain of causes, the outermost first, "status" what
 * tracehost would have ended with. A line that is no request is answered with an error and the id
 * null. control.schema.json has all of that; `protocol` becomes another number when a client that
 * keeps to it would be misunderstood.
 *
 * Commands are carried out one at a time, by the server's thread, whoever asks; but those that may
 * take long each in a thread of its own: then others are answered meanwhile, and the same client's
 * next request waits. One that has begun goes on to its end if the client leaves. A client that
 * does not read its answers is not read any more, and after TH_CONTROL_PATIENCE seconds it is let
 * go. If all places are taken, a new client gets that of the one which has awaited no answer for
 * longest.
 */
#ifndef TH_CONTROL_H
#define TH_CONTROL_H

#include "argument.h"
#include "server.h"

#include "host/control/commands/commands.h"
#include "host/control/commands/session_options.h"
#include "host/control/commands/watch.h"

#include <jansson.h>

/* --- The client's end ------------------------------------------------------------------------- */

struct th_control_client;

/* Connects, and reads the greeting, which is the client's own. TH_USAGE if nobody is there, another
 * user is, or it speaks another protocol; TH_MALFORMED if it is no tracehost. */
enum th_status th_control_connect(const char *path, struct th_control_client **client,
                                  const json_t **greeting);
void th_control_disconnect(struct th_control_client *client);

/* Readable at its end, POLLRDHUP, when the host is gone. */
int th_control_descriptor(const struct th_control_client *client);

/* Asks, and waits for the answer, which is the caller's: all of it, whether "ok" or not. TH_FAILED
 * if the host is gone. A signal that comes does not end the wait, but where *STOP is not 0 (NULL:
 * never): TH_END. */
enum th_status th_control_ask(struct th_control_client *client, const char *command, int count,
                              char *const arguments[], const volatile int *stop, json_t **answer);

#endif

/*
 * The face of control/: a Unix socket by which others tell a host what to do while it runs, and ask
 * it how it fares. Both ends are here; what the commands are is the caller's.
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

#include "host/base/base.h"

#include <jansson.h>
#include <sys/types.h>

enum {
    TH_CONTROL_PROTOCOL = 1,
    TH_CONTROL_LINE = 1 << 20,
    TH_CONTROL_CLIENTS = 64, /* at once; if all await answers, more are told so, and let go */
    TH_CONTROL_APART = 64,   /* commands that take long, at once; more are refused */
    TH_CONTROL_PATIENCE = 10
};

struct th_control;

struct th_control_command {
    const char *name;
    const struct th_argument *const *arguments; /* NULL behind them; NULL: there are none */
    const char *missing; /* the error if an argument that is needed is not there */
    const char *help;    /* for people: a sentence without a full stop */
    /* Does it. ARGUMENTS are COUNT texts and NULL behind them, for as long as the call; they may be
     * moved about. TH_OK: *RESULT, if it is set, is the answer's "result", which the
     * server lets go of; else null. Otherwise the thread's chain is the answer. */
    enum th_status (*carry_out)(void *context, int count, char **arguments, json_t **result);
    bool takes_long; /* it is carried out in a thread of its own, beside all others */
    bool unlocked;   /* without setup->lock() */
};

struct th_control_setup {
    const char *path;    /* where the socket is to be */
    const char *program; /* for the greeting */
    const char *version;
    const struct th_control_command *commands;
    size_t command_count;
    void *context;
    /* Called by each thread that carries them out, at its beginning and end. NULL: nothing. */
    void (*begin)(void);
    void (*end)(void);
    /* Around each command that is not `unlocked`. NULL: nothing. */
    void (*lock)(void *context);
    void (*unlock)(void *context);
};

/* The name in COMMANDS, of COUNT, that is most like NAME; NULL if none may have been meant. */
const char *th_control_nearest(const struct th_control_command commands[], size_t count,
                               const char *name);

/* The usage of COMMAND: "SESSION TRACER". Owner: the caller, who frees it with th_free(). And what
 * `help` answers of it; likewise, with json_decref(). */
char *th_control_usage(const struct th_control_command *command);
json_t *th_control_help(const struct th_control_command *command);

/* Stores COMMAND's arguments in INPUT. TH_USAGE: WORDS are others. */
enum th_status th_control_take(const struct th_control_command *command, int count,
                               char *const words[], void *input);

/* TH_USAGE: SETUP has no command NAME. */
enum th_status th_control_unknown(const struct th_control_setup *setup, const char *name);

/*
 * Makes the socket, mode 0600, and begins to serve it, in a thread that takes no signals. SETUP and
 * what it refers to stay until th_control_end(). TH_USAGE, with a chain that tells what to do:
 *   - another process serves it (its pid is told), or PATH is something that is no socket;
 *   - others may write to the folder, and could put a socket of theirs there.
 * A socket that nobody serves any more is replaced, if it belongs to this user.
 */
enum th_status th_control_begin(const struct th_control_setup *setup, struct th_control **control);

/* Carries out what has begun, answers it, lets all clients go, removes the socket if it is still
 * this one. NULL is allowed. Not in a command. */
void th_control_end(struct th_control *control);

/* What the server has seen since it began; zeros for NULL. Any thread. */
struct th_control_counts {
    uint64_t clients, requests;
    uint64_t refused;   /* clients of another user, or above the limit */
    uint64_t malformed; /* lines that were no requests */
    uint64_t dropped;   /* clients that did not read their answers, or made room for others */
};
struct th_control_counts th_control_counts(const struct th_control *control);

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

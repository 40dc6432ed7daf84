/* The server's end of a control socket, and the commands that it carries out. */
#ifndef TH_CONTROL_SERVER_H
#define TH_CONTROL_SERVER_H

#include "host/base/error.h"

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    TH_CONTROL_PROTOCOL = 1,
    TH_CONTROL_LINE = 1 << 20,
    TH_CONTROL_CLIENTS = 64, /* at once; if all await answers, more are told so, and let go */
    TH_CONTROL_APART = 64,   /* commands that take long, at once; more are refused */
    TH_CONTROL_PATIENCE = 10
};

struct th_control;
struct th_tracer_lock;

struct th_control_command {
    const char *name;
    const struct th_argument *const *arguments; /* NULL behind them; NULL: there are none, and a
                                                   request that has some is refused */
    const char *missing; /* the error if an argument that is needed is not there */
    const char *help;    /* for people: a sentence without a full stop */
    /* Does it. ARGUMENTS are COUNT texts and NULL behind them, for as long as the call; they may be
     * moved about. TH_OK: *RESULT, if it is set, is the answer's "result", which the
     * server lets go of; else null. Otherwise the thread's chain is the answer. */
    enum th_status (*carry_out)(void *context, int count, char **arguments, json_t **result);
    bool takes_long; /* it is carried out in a thread of its own, beside all others */
    bool unlocked;   /* without setup->lock */
};

struct th_control_setup {
    const char *path;    /* where the socket is to be */
    const char *program; /* for the greeting */
    const char *version;
    const struct th_control_command *const *commands; /* NULL behind them */
    void *context;
    /* Called by each thread that carries them out, at its beginning and end. NULL: nothing. */
    void (*begin)(void);
    void (*end)(void);
    /* Held while a command that is not `unlocked` is carried out. NULL: nothing. */
    struct th_tracer_lock *lock;
};

/* The command NAME of COMMANDS, with NULL behind them; NULL: there is none. */
const struct th_control_command *th_control_find(const struct th_control_command *const commands[],
                                                 const char *name);

/* The name in COMMANDS that is most like NAME; NULL if none may have been meant. */
const char *th_control_nearest(const struct th_control_command *const commands[], const char *name);

/* The answer of `help` for COMMAND. Owner: the caller, with json_decref(). */
json_t *th_control_help(const struct th_control_command *command);

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

#endif

/* The server's end of a control socket, and the commands that it runs. */
#ifndef TH_CONTROL_SERVER_H
#define TH_CONTROL_SERVER_H

#include "host/base/error.h"

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    TH_CONTROL_PROTOCOL = 1,
    TH_CONTROL_LINE = 1 << 20,
    TH_CONTROL_CLIENTS = 64, /* clients at once; further ones replace idle ones or are refused */
    TH_CONTROL_APART = 64,   /* commands that take long, at once; further ones are refused */
    TH_CONTROL_PATIENCE = 10
};

struct th_control;
struct th_tracer_lock;

struct th_control_command {
    const char *name;
    const struct th_argument *const *arguments; /* NULL-terminated; NULL: none are accepted */
    const char *missing; /* text of the error if a required argument is missing */
    const char *help;    /* for people: a sentence without a full stop */
    /* Runs the command. ARGUMENTS are COUNT texts, NULL-terminated, valid during the call; the
     * array may be reordered. TH_OK: *RESULT becomes the answer's "result" (null if not set); the
     * server drops the reference. Any other status: the thread's chain becomes the answer's
     * "error". */
    enum th_status (*carry_out)(void *context, int count, char **arguments, json_t **result);
    bool takes_long; /* runs in a thread of its own */
    bool unlocked;   /* runs without setup->lock */
};

struct th_control_setup {
    const char *path;    /* of the socket */
    const char *program; /* name in the greeting */
    const char *version;
    const struct th_control_command *const *commands; /* NULL-terminated */
    void *context;
    /* Called by each thread that runs commands, at its start and end. NULL: nothing. */
    void (*begin)(void);
    void (*end)(void);
    /* Held while a command that is not `unlocked` runs. NULL: none. */
    struct th_tracer_lock *lock;
};

/* Finds the command NAME in the NULL-terminated COMMANDS; NULL: there is none. */
const struct th_control_command *th_control_find(const struct th_control_command *const commands[],
                                                 const char *name);

/* Returns the name in COMMANDS that is most similar to NAME; NULL: none is similar. */
const char *th_control_nearest(const struct th_control_command *const commands[], const char *name);

/* Returns the answer of `help` for COMMAND. Owner: the caller, with json_decref(). */
json_t *th_control_help(const struct th_control_command *command);

/*
 * Creates the socket, mode 0600, and serves it, in a thread that takes no signals.
 * Owner: SETUP and the data behind it must stay until th_control_end().
 * Errors: TH_USAGE, with a chain that suggests a remedy, if another process serves the socket (the
 * chain has its pid), if PATH is no socket, or if others may write to the folder and could put
 * their own socket there; TH_FAILED if a resource of the system is missing. A socket file without a
 * server is replaced if it belongs to this user.
 */
enum th_status th_control_begin(const struct th_control_setup *setup, struct th_control **control);

/* Ends the server: waits for commands in progress, answers them, disconnects all clients, and
 * removes the socket file if it is still the one created. CONTROL may be NULL.
 * Thread: not in a command. */
void th_control_end(struct th_control *control);

/* Counts since the start of the server; zeros for a CONTROL of NULL. Thread: any. */
struct th_control_counts {
    uint64_t clients, requests;
    uint64_t refused;   /* clients of another user, or above the limit */
    uint64_t malformed; /* lines that were no requests */
    uint64_t dropped;   /* clients disconnected as they did not read, or to make room */
};
struct th_control_counts th_control_counts(const struct th_control *control);

#endif

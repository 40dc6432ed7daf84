/* The inner header of control/: lines of the protocol, and sockets that only one user can reach. */
#ifndef TH_CONTROL_INTERNAL_H
#define TH_CONTROL_INTERNAL_H

#include "host/base/error.h"

#include <jansson.h>
#include <sys/stat.h>

struct th_control_setup;
struct th_buffer;
struct th_argument;

/* --- The wire --------------------------------------------------------------------------------- */

/* Each appends a line to OUT: the greeting; the answer TEXT to a line that is no request. */
void th_control_wire_greet(const struct th_control_setup *setup, struct th_buffer *out);
void th_control_wire_complain(const char *text, struct th_buffer *out);

/* A request that was parsed. */
struct th_control_wire_request {
    json_t *line; /* root of all other values */
    json_t *id;   /* NULL: none */
    const char *name;
    json_t *arguments;                        /* an array of texts; NULL: none */
    const struct th_control_command *command; /* NULL: unknown command */
};

/* Parses LINE, of SIZE bytes without the newline. Returns false if LINE is no request; then OUT has
 * the answer. */
bool th_control_wire_read(const struct th_control_setup *setup, const char *line, size_t size,
                          struct th_control_wire_request *request, struct th_buffer *out);

/* Runs the request's command, appends the answer to OUT, and frees REQUEST's values.
 * Thread: any. */
void th_control_wire_carry_out(const struct th_control_setup *setup,
                               struct th_control_wire_request *request, struct th_buffer *out);

/* Appends an answer with the thread's chain to OUT, and frees REQUEST's values. */
void th_control_wire_refuse(struct th_control_wire_request *request, struct th_buffer *out);

/* --- Sockets ---------------------------------------------------------------------------------- */

/* Listens at PATH; IDENTITY gets the status of the socket's file.
 * Errors: see th_control_begin(). */
enum th_status th_control_socket_listen(const char *path, int *fd, struct stat *identity);

/* Removes the file at PATH if it is still IDENTITY. */
void th_control_socket_remove(const char *path, const struct stat *identity);

/* Connects to PATH.
 * Errors: TH_USAGE if no host of this user listens; TH_FAILED if no socket can be created. */
enum th_status th_control_socket_connect(const char *path, int *fd);

/* Returns true if the peer's process runs as this user or as root. *PID (may be NULL) gets its
 * pid. */
bool th_control_socket_is_ours(int fd, pid_t *pid);

/* --- From argument.h -------------------------------------------------------------------------- */

/* Returns "--name", "-l" or "VALUE", for messages. Owner: valid until the thread's next call. */
const char *th_control_argument_title(const struct th_argument *argument);

/* --- From server.h ---------------------------------------------------------------------------- */

/* Stores COMMAND's arguments in INPUT. Errors: TH_USAGE if WORDS do not fit. */
enum th_status th_control_take(const struct th_control_command *command, int count,
                               char *const words[], void *input);

/* Raises TH_USAGE: SETUP has no command NAME. */
enum th_status th_control_unknown(const struct th_control_setup *setup, const char *name);

#endif

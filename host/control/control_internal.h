/* Lines of the wire, and sockets that only one user can reach: what the files of control/ share. */
#ifndef TH_CONTROL_INTERNAL_H
#define TH_CONTROL_INTERNAL_H

#include "host/base/error.h"

#include <jansson.h>
#include <sys/stat.h>

struct th_control_setup;
struct th_buffer;
struct th_argument;

/* --- The wire --------------------------------------------------------------------------------- */

/* Each adds a line to OUT: the server's first one; the answer to what is no request; */
void th_control_wire_greet(const struct th_control_setup *setup, struct th_buffer *out);
void th_control_wire_complain(const char *text, struct th_buffer *out);

/* A request that was read: its command is to be carried out. */
struct th_control_wire_request {
    json_t *line; /* what all else is part of */
    json_t *id;   /* NULL: it has none */
    const char *name;
    json_t *arguments;                        /* an array of texts; NULL: there are none */
    const struct th_control_command *command; /* NULL: there is none of that name */
};

/* Reads LINE, of SIZE bytes without the newline. False: it is no request, and OUT has the answer to
 * that. */
bool th_control_wire_read(const struct th_control_setup *setup, const char *line, size_t size,
                          struct th_control_wire_request *request, struct th_buffer *out);

/* Carries it out, adds the answer to OUT, and frees what REQUEST refers to. Any thread. */
void th_control_wire_carry_out(const struct th_control_setup *setup,
                               struct th_control_wire_request *request, struct th_buffer *out);

/* That it is refused, as the thread's chain says; likewise. */
void th_control_wire_refuse(struct th_control_wire_request *request, struct th_buffer *out);

/* --- Sockets ---------------------------------------------------------------------------------- */

/* A socket that listens at PATH; IDENTITY is its file. See th_control_begin() for the errors. */
enum th_status th_control_socket_listen(const char *path, int *fd, struct stat *identity);

/* Removes the file if it is still that one. */
void th_control_socket_remove(const char *path, const struct stat *identity);

/* TH_USAGE: nobody is there, or another user. */
enum th_status th_control_socket_connect(const char *path, int *fd);

/* True if the process at the other end is of this user, or of root. */
bool th_control_socket_is_ours(int fd, pid_t *pid);

/* --- Of argument.h ---------------------------------------------------------------------------- */

/* "--name", "-l" or "VALUE", for messages. Valid until the thread's next call. */
const char *th_control_argument_title(const struct th_argument *argument);

/* --- Of server.h ------------------------------------------------------------------------------ */

/* Stores COMMAND's arguments in INPUT. TH_USAGE: WORDS are others. */
enum th_status th_control_take(const struct th_control_command *command, int count,
                               char *const words[], void *input);

/* TH_USAGE: SETUP has no command NAME. */
enum th_status th_control_unknown(const struct th_control_setup *setup, const char *name);

#endif

/* Unix sockets that only one user can reach. Inner header of control/. */
#ifndef TH_CONTROL_SOCKET_H
#define TH_CONTROL_SOCKET_H

#include "host/base/base.h"

#include <sys/stat.h>
#include <sys/types.h>

/* A socket that listens at PATH; IDENTITY is its file. See th_control_begin() for the errors. */
enum th_status th_control_socket_listen(const char *path, int *fd, struct stat *identity);

/* Removes the file if it is still that one. */
void th_control_socket_remove(const char *path, const struct stat *identity);

/* TH_USAGE: nobody is there, or another user. *PID is who listens. */
enum th_status th_control_socket_connect(const char *path, int *fd, pid_t *pid);

/* True if the process at the other end is of this user, or of root. */
bool th_control_socket_is_ours(int fd, pid_t *pid);

#endif

#include "control_internal.h"

#include "host/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128 };

static enum th_status set_address(const char *path, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof address->sun_path)
        return th_error_raise(TH_USAGE, "a socket's path must have 1 to %zu bytes: '%s' has %zu",
                              sizeof address->sun_path - 1, path, strlen(path));
    strcpy(address->sun_path, path);
    return TH_OK;
}

bool th_control_socket_is_ours(int fd, pid_t *pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    if (pid)
        *pid = peer.pid;
    return peer.uid == geteuid() || peer.uid == 0;
}

/* --- Connecting ------------------------------------------------------------------------------ */

enum th_status th_control_socket_connect(const char *path, int *fd)
{
    struct sockaddr_un address;
    enum th_status status = set_address(path, &address);

    if (status != TH_OK)
        return status;
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return th_error_raise(TH_FAILED, "cannot make a socket: %s", strerror(errno));
    if (connect(*fd, (struct sockaddr *)&address, sizeof address) == 0)
        status = th_control_socket_is_ours(*fd, NULL)
                     ? TH_OK
                     : th_error_raise(TH_USAGE, "%s is served by a program of another user", path);
    else if (errno == ECONNREFUSED)
        status = th_error_raise(TH_USAGE, "no program serves %s any more: its tracehost has ended",
                                path);
    else if (errno == ENOENT)
        status = th_error_raise(
            TH_USAGE,
            "there is no socket %s: start `tracehost run` or `tracehost replay` with --control=%s",
            path, path);
    else
        status = th_error_raise(TH_USAGE, "cannot connect to %s: %s", path, strerror(errno));
    if (status != TH_OK)
        close(*fd);
    return status;
}

/* --- Listening ------------------------------------------------------------------------------- */

/* Removes a socket file at the address that no process serves. The folder is locked: so of two
 * programs that find such a file, one at a time removes it and creates its own. Does not wait: a
 * socket with a full queue is in use. Errors: TH_USAGE if the place is in use. */
static enum th_status clear_place(const struct sockaddr_un *address)
{
    const char *path = address->sun_path;
    struct stat is;
    pid_t pid = 0;
    int fd;
    bool served = true;

    if (lstat(path, &is) != 0)
        return TH_OK; /* if PATH is wrong, bind() reports the error */
    if (!S_ISSOCK(is.st_mode))
        return th_error_raise(TH_USAGE, "%s exists and is not a socket: choose another name", path);
    if (is.st_uid != geteuid())
        return th_error_raise(TH_USAGE, "%s belongs to another user: choose another name", path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
            th_control_socket_is_ours(fd, &pid);
        else
            served = errno != ECONNREFUSED;
        close(fd);
    }
    if (served)
        return th_error_raise(TH_USAGE, "process %d serves %s already: choose another name",
                              (int)pid, path);
    unlink(path);
    return TH_OK;
}

/* Listens in FOLDER, which this function locks. */
static enum th_status listen_in(int folder, const struct sockaddr_un *address, int *fd,
                                struct stat *identity)
{
    const char *path = address->sun_path;
    enum th_status status;
    struct stat is;

    if (fstat(folder, &is) != 0)
        return th_error_raise(TH_USAGE, "cannot examine the folder of %s: %s", path,
                              strerror(errno));
    if (is.st_uid != geteuid() && is.st_uid != 0)
        return th_error_raise(
            TH_USAGE, "the folder of %s belongs to another user: choose a folder of your own",
            path);
    if (is.st_mode & (S_IWGRP | S_IWOTH) && !(is.st_mode & S_ISVTX))
        return th_error_raise(
            TH_USAGE,
            "other users can write to the folder of %s: choose another folder, or use chmod go-w",
            path);
    if (flock(folder, LOCK_EX) != 0)
        return th_error_raise(TH_FAILED, "cannot lock the folder of %s: %s", path, strerror(errno));
    status = clear_place(address);
    if (status != TH_OK)
        return status;
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return th_error_raise(TH_FAILED, "cannot make a socket: %s", strerror(errno));
    /* Linux gives the file the socket's mode, less the umask: the file never has another mode. */
    if (fchmod(*fd, S_IRUSR | S_IWUSR) != 0 ||
        bind(*fd, (const struct sockaddr *)address, sizeof *address) != 0) {
        status = th_error_raise(TH_USAGE, "cannot make %s: %s", path, strerror(errno));
    } else if (lstat(path, identity) != 0 || listen(*fd, BACKLOG) != 0) {
        status = th_error_raise(TH_FAILED, "cannot listen at %s: %s", path, strerror(errno));
        unlink(path);
    }
    if (status != TH_OK)
        close(*fd);
    return status;
}

enum th_status th_control_socket_listen(const char *path, int *fd, struct stat *identity)
{
    struct sockaddr_un address;
    enum th_status status = set_address(path, &address);
    char *copy;
    int folder;

    if (status != TH_OK)
        return status;
    copy = th_strdup(path);
    folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    th_free(copy);
    if (folder < 0)
        return th_error_raise(TH_USAGE, "cannot open the folder of %s: %s", path, strerror(errno));
    status = listen_in(folder, &address, fd, identity);
    close(folder);
    return status;
}

void th_control_socket_remove(const char *path, const struct stat *identity)
{
    struct stat is;

    if (lstat(path, &is) == 0 && is.st_dev == identity->st_dev && is.st_ino == identity->st_ino)
        unlink(path);
}

#include "top_held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Written before there is anything to restore; then only read, but for `copied`, which is of who
 * restores. -1: not in use. */
static int file = -1, was_stdout = -1, was_stderr = -1;
static off_t copied;

static bool is_same_terminal(void)
{
    struct stat one, other;

    return isatty(STDOUT_FILENO) && fstat(STDOUT_FILENO, &one) == 0 &&
           fstat(STDERR_FILENO, &other) == 0 && one.st_rdev == other.st_rdev;
}

static int duplicate(int descriptor)
{
    return fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Without a name, so that nothing is left of it whatever happens. */
static int open_file(void)
{
    FILE *opened = tmpfile();
    int descriptor = opened ? duplicate(fileno(opened)) : -1;

    if (opened)
        fclose(opened);
    if (descriptor >= 0)
        fcntl(descriptor, F_SETFL, O_APPEND); /* whoever writes */
    return descriptor;
}

enum th_status th_top_held_begin(void)
{
    bool both = is_same_terminal();

    fflush(NULL);
    file = open_file();
    was_stderr = duplicate(STDERR_FILENO);
    was_stdout = both ? duplicate(STDOUT_FILENO) : -1;
    copied = 0;
    if (file < 0 || was_stderr < 0 || (both && was_stdout < 0)) {
        enum th_status status = th_error_raise(
            TH_FAILED, "cannot hold back what others print meanwhile: %s", strerror(errno));
        close(file);
        close(was_stderr);
        close(was_stdout);
        return status;
    }
    dup2(file, STDERR_FILENO);
    if (both)
        dup2(file, STDOUT_FILENO);
    return TH_OK;
}

static void write_all(const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(was_stderr, bytes, size);
        if (written < 0 && errno != EINTR)
            return;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
}

static void copy(void)
{
    char bytes[4096];
    ssize_t size;

    while ((size = pread(file, bytes, sizeof bytes, copied)) > 0) {
        write_all(bytes, (size_t)size);
        copied += size;
    }
}

/* What is written while it is copied follows; then nothing comes any more. */
void th_top_held_end(void)
{
    copy();
    dup2(was_stderr, STDERR_FILENO);
    if (was_stdout >= 0)
        dup2(was_stdout, STDOUT_FILENO);
    copy();
    close(was_stderr);
    close(file);
    if (was_stdout >= 0)
        close(was_stdout);
    file = was_stderr = was_stdout = -1;
}

#include "output.h"

#include "memory.h"
#include "shared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- Unfinished files, removed if the program ends early -------------------------------------- */

struct th_unfinished {
    struct th_unfinished *next;
    pid_t owner;
    char name[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct th_unfinished *own_unfinished;
static bool ending; /* files that are registered now would not be removed */

/* Returns the list: it lies where the supervisor, if there is one, finds it. */
static struct th_unfinished **unfinished_files(void)
{
    return th_shared_here ? &th_shared_here->unfinished : &own_unfinished;
}

/* Signal handlers take the lock, too, so the thread that holds the lock blocks all signals. */
static void take_lock(sigset_t *mask)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, mask);
    pthread_mutex_lock(&lock);
}

static void give_lock(const sigset_t *mask)
{
    pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* Also an exit handler. A forked child has the list, but none of the files is its own. */
void th_output_remove_unfinished(void)
{
    sigset_t mask;

    take_lock(&mask);
    ending = true;
    for (const struct th_unfinished *file = *unfinished_files(); file; file = file->next)
        if (file->owner == getpid())
            unlink(file->name);
    give_lock(&mask);
}

void th_output_remove_unfinished_of(const struct th_shared_region *region)
{
    for (const struct th_unfinished *file = region->unfinished; file; file = file->next)
        if (file->owner == region->worker)
            unlink(file->name);
}

bool th_output_begin_file(const char *name)
{
    static bool registered;
    bool removed_in_time;
    size_t size = sizeof(struct th_unfinished) + strlen(name) + 1;
    struct th_unfinished *file = th_shared_try_alloc(size);
    struct th_unfinished **files = unfinished_files();
    sigset_t mask;

    if (!file)
        file = malloc(size);
    if (!file && !th_memory_lasts())
        unlink(name); /* the program ends, and the file is not in the list yet */
    if (!file)
        file = th_alloc(size);
    file->owner = getpid();
    strcpy(file->name, name);
    take_lock(&mask);
    if (!registered)
        registered = atexit(th_output_remove_unfinished) == 0;
    file->next = *files;
    *files = file;
    removed_in_time = registered && !ending;
    give_lock(&mask);
    return removed_in_time;
}

void th_output_end_file(const char *name)
{
    struct th_unfinished **link = unfinished_files(), *file;
    sigset_t mask;

    take_lock(&mask);
    while (*link && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    file = *link;
    if (file)
        *link = file->next;
    give_lock(&mask);
    th_shared_free(file);
}

/* --- Opening, writing, closing ---------------------------------------------------------------- */

/* Sets the permissions of OLD, the file to be replaced; also the owner, if the system allows that.
 * If OLD is NULL, sets the permissions that fopen() gives a new file. */
static bool take_permissions(int descriptor, const struct stat *old)
{
    mode_t mask;

    if (!old) {
        mask = umask(0);
        umask(mask);
        return fchmod(descriptor, 0666 & ~mask) == 0;
    }
    if (fchown(descriptor, old->st_uid, old->st_gid) != 0 && errno != EPERM)
        return false;
    return fchmod(descriptor, old->st_mode & 07777) == 0;
}

static FILE *open_beside(struct th_output *out, const struct stat *old)
{
    FILE *file = NULL;
    int descriptor;

    out->temporary = th_printf("%s.XXXXXX", out->name);
    descriptor = mkstemp(out->temporary);
    if (descriptor >= 0)
        (void)th_output_begin_file(out->temporary);
    if (descriptor >= 0 && take_permissions(descriptor, old))
        file = fdopen(descriptor, "w");
    if (!file && descriptor >= 0) {
        int error = errno;
        close(descriptor);
        unlink(out->temporary);
        errno = error;
    }
    return file;
}

char *th_output_target(const char *name)
{
    char *real = realpath(name, NULL), link[PATH_MAX], *next;
    const char *slash = strrchr(name, '/');
    ssize_t size = -1;

    if (!real && errno == ENOMEM) {
        th_memory_refuse(0);
        errno = ENOMEM;
        return NULL;
    }
    if (!real)
        size = errno == ENOENT ? readlink(name, link, sizeof link - 1) : -1;
    if (size < 0) {
        next = th_strdup(real ? real : name);
        free(real);
        return next;
    }
    link[size] = 0;
    next = th_printf("%.*s%s", *link == '/' || !slash ? 0 : (int)(slash + 1 - name), name, link);
    real = th_output_target(next);
    th_free(next);
    return real;
}

_Thread_local const volatile int *th_output_stop;
bool th_output_goes_on;

/* Polls: a signal may arrive just before a wait would begin. */
int th_output_open_fifo(const char *name, bool waits)
{
    enum { LOOK_UP_NS = 20 * 1000 * 1000 };
    const volatile int *stop = th_output_stop;
    int descriptor;

    while ((descriptor = open(name, O_WRONLY | O_CLOEXEC | O_NONBLOCK)) < 0 && errno == ENXIO &&
           waits && !(stop && __atomic_load_n(stop, __ATOMIC_RELAXED)))
        nanosleep(&(struct timespec){.tv_nsec = LOOK_UP_NS}, NULL);
    if (descriptor >= 0)
        fcntl(descriptor, F_SETFL, O_WRONLY); /* later writes block */
    return descriptor;
}

static FILE *open_output(struct th_output *out, const char *name)
{
    struct stat old;
    int fifo;

    out->name = th_output_target(name);
    if (!out->name)
        return NULL;
    if (stat(name, &old) != 0)
        return open_beside(out, NULL);
    if (S_ISFIFO(old.st_mode))
        return (fifo = th_output_open_fifo(name, true)) < 0 ? NULL : fdopen(fifo, "w");
    if (!S_ISREG(old.st_mode))
        return fopen(name, "w");
    if (faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) != 0)
        return NULL;
    return open_beside(out, &old);
}

static void forget_output(struct th_output *out)
{
    if (out->temporary)
        th_output_end_file(out->temporary);
    th_free(out->name);
    th_free(out->temporary);
    *out = (struct th_output){0};
}

enum th_status th_output_open(struct th_output *out, const char *name)
{
    *out = (struct th_output){0};
    if (!name || strcmp(name, "-") == 0) {
        out->file = stdout;
        return TH_OK;
    }
    out->file = open_output(out, name);
    if (out->file)
        return TH_OK;
    th_error_raise(TH_FAILED, "cannot write %s: %s", name,
                   errno == ENXIO ? "no reader has opened it" : strerror(errno));
    forget_output(out);
    return TH_FAILED;
}

/* Keeps the first error: later errors may follow from it. */
static void note_error(struct th_output *out, int error)
{
    if (!out->error)
        out->error = error;
}

static enum th_status output_status(const struct th_output *out)
{
    if (!out->error)
        return TH_OK;
    return th_error_raise(TH_FAILED, "cannot write %s: %s", out->name ? out->name : "to stdout",
                          strerror(out->error));
}

enum th_status th_output_write(struct th_output *out, const void *data, size_t size)
{
    if (size && fwrite(data, 1, size, out->file) != size)
        note_error(out, errno);
    return output_status(out);
}

enum th_status th_output_flush(struct th_output *out)
{
    if (fflush(out->file) != 0)
        note_error(out, errno);
    return output_status(out);
}

enum th_status th_output_commit(struct th_output *out)
{
    enum th_status status;

    th_output_flush(out);
    if (ferror(out->file))
        note_error(out, EIO); /* a write to stdout elsewhere failed; its errno is lost */
    if (out->name && fclose(out->file) != 0)
        note_error(out, errno);
    if (!out->error && out->temporary && rename(out->temporary, out->name) != 0)
        note_error(out, errno);
    if (out->error && out->temporary)
        unlink(out->temporary);
    status = output_status(out);
    forget_output(out);
    return status;
}

void th_output_abandon(struct th_output *out)
{
    if (out->name)
        fclose(out->file);
    if (out->temporary)
        unlink(out->temporary);
    forget_output(out);
}

int th_output_open_nameless(const char **folder)
{
    const char *given = getenv("TMPDIR"), *place = given && *given ? given : "/tmp";
    char name[4096];
    int fd = open(place, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (folder)
        *folder = place;
    if (fd >= 0 || snprintf(name, sizeof name, "%s/tracehost.XXXXXX", place) >= (int)sizeof name)
        return fd;
    fd = mkostemp(name, O_CLOEXEC); /* for file systems without O_TMPFILE */
    if (fd >= 0)
        unlink(name);
    return fd;
}

static bool write_or_send(int descriptor, bool is_socket, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t written =
            is_socket ? send(descriptor, at, size, MSG_NOSIGNAL) : write(descriptor, at, size);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            at += written;
            size -= (size_t)written;
        }
    }
    return true;
}

bool th_output_write_bytes(int descriptor, const void *bytes, size_t size)
{
    return write_or_send(descriptor, false, bytes, size);
}

bool th_output_send_bytes(int socket, const void *bytes, size_t size)
{
    return write_or_send(socket, true, bytes, size);
}

off_t th_output_copy_file(int from, off_t at, int to)
{
    char bytes[4096];
    ssize_t size;

    while ((size = pread(from, bytes, sizeof bytes, at)) > 0) {
        th_output_write_bytes(to, bytes, (size_t)size);
        at += size;
    }
    return at;
}

bool th_write_text(int descriptor, const char *format, ...)
{
    char text[2001];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size >= (int)sizeof text) {
        va_start(arguments, format);
        size = vdprintf(descriptor, format, arguments);
        va_end(arguments);
        return size >= 0;
    }
    return size >= 0 && th_output_write_bytes(descriptor, text, (size_t)size);
}

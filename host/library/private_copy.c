#include "private_copy.h"

#include "library_internal.h"

#include "host/base/memory.h"
#include "host/base/output.h"
#include "host/library/elf/elf_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/*
 * The folder of this program's private copies.
 *
 * The folder is made with the first copy, and removed with its content when the program exits. The
 * first of these places is taken in which folders can be made and files can be executed: $TMPDIR,
 * /tmp, and last $XDG_RUNTIME_DIR, which is usually small and in memory. The folder is called
 * tracehost-code-XXXXXX and is private to its owner (0700), as its files are opened by name.
 *
 * A host holds a lock on its folder (flock()) as long as it lives. So a folder without a lock
 * belongs to a host that was killed: the next host that makes a folder in the same place removes
 * it. systemd-tmpfiles, too, leaves locked folders alone.
 *
 * A child of fork() makes its own folder when it needs one, and leaves its parent's alone.
 */
#define PREFIX "tracehost-code-"

/* Guards `folder`. No other lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char *path;  /* NULL: no folder */
    int fd;      /* open on the folder, holds the flock() */
    pid_t owner; /* the process that made it; another one after fork() */
} folder;

/* --- Folders of hosts that were killed ------------------------------------------------------- */

static bool lock_folder(int fd, int how)
{
    int result;

    do
        result = flock(fd, how);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

static void remove_content(int fd)
{
    int own = dup(fd); /* closedir() closes it */
    DIR *all = own < 0 ? NULL : fdopendir(own);
    struct dirent *entry;

    if (!all) {
        close(own);
        return;
    }
    rewinddir(all);
    while ((entry = readdir(all)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(fd, entry->d_name, 0);
    closedir(all);
}

static void remove_if_dead(int place, const char *name)
{
    int fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && lock_folder(fd, LOCK_EX | LOCK_NB)) {
        remove_content(fd);
        unlinkat(place, name, AT_REMOVEDIR);
    }
    close(fd);
}

/* --- The folder ------------------------------------------------------------------------------ */

static bool is_at(const char *path, int fd)
{
    struct stat there, open;

    return lstat(path, &there) == 0 && fstat(fd, &open) == 0 && there.st_dev == open.st_dev &&
           there.st_ino == open.st_ino;
}

/* Makes a folder in PLACE and locks it. Until it is locked it looks dead, and another host may
 * remove it: then another name is tried. -1, with errno: there is none. */
static int make_in(const char *place, char **path)
{
    enum { TRIES = 100 };

    for (int i = 0; i < TRIES; i++) {
        int fd;
        *path = th_printf("%s/" PREFIX "XXXXXX", place);
        if (!mkdtemp(*path))
            break;
        fd = open(*path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && lock_folder(fd, LOCK_EX) && is_at(*path, fd))
            return fd;
        if (fd >= 0)
            close(fd);
        rmdir(*path);
        th_free(*path);
        *path = NULL;
    }
    th_free(*path);
    return -1;
}

/* Settles in PLACE. NULL, or the fault of PLACE, a text that the caller frees. */
static char *settle_in(const char *place)
{
    const char *wrong = NULL;
    char *absolute = realpath(place, NULL);
    DIR *all = absolute ? opendir(absolute) : NULL;
    struct statvfs file_system;
    struct dirent *entry;
    char *path;
    int fd;

    if (!absolute)
        return th_printf("%s (%s)", place, strerror(errno));
    while (all && (entry = readdir(all)))
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0)
            remove_if_dead(dirfd(all), entry->d_name);
    if (all)
        closedir(all);
    fd = make_in(absolute, &path);
    if (fd < 0) {
        wrong = strerror(errno);
    } else if (fstatvfs(fd, &file_system) == 0 && (file_system.f_flag & ST_NOEXEC)) {
        wrong = "mounted noexec";
        rmdir(path);
        close(fd);
        th_free(path);
    } else {
        folder.path = path;
        folder.fd = fd;
        folder.owner = getpid();
    }
    free(absolute);
    return wrong ? th_printf("%s (%s)", place, wrong) : NULL;
}

static enum th_status private_copy_settle(void)
{
    const char *const places[] = {getenv("TMPDIR"), "/tmp", getenv("XDG_RUNTIME_DIR")};
    struct th_names refused = {0};
    char *all;

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *wrong = places[i] && *places[i] ? settle_in(places[i]) : NULL;
        if (folder.path)
            break;
        if (wrong)
            th_library_names_take(&refused, wrong);
    }
    if (!folder.path) {
        all = th_library_names_join(&refused, refused.count);
        th_error_raise(TH_FAILED,
                       "cannot make a folder for private copies of libraries in %s; set $TMPDIR to "
                       "a folder that is not mounted noexec",
                       all);
        th_free(all);
    }
    th_library_names_free(&refused);
    return folder.path ? TH_OK : TH_FAILED;
}

/* --- The folder of this program -------------------------------------------------------------- */

/* Forgets the folder, which is the parent's after fork(), or does not exist any more. */
static void forget_folder(void)
{
    close(folder.fd);
    th_free(folder.path);
    folder.path = NULL;
}

static void remove_folder(void)
{
    pthread_mutex_lock(&lock);
    if (folder.path && folder.owner == getpid()) {
        remove_content(folder.fd);
        rmdir(folder.path);
        forget_folder();
    }
    pthread_mutex_unlock(&lock);
}

/* Finds or makes the folder. Owner: the caller frees *PATH, which is absolute. Errors: TH_FAILED if
 * no place is fit for one; the chain lists each with its fault. */
static enum th_status find_folder(char **path)
{
    static bool registered;
    enum th_status status = TH_OK;

    pthread_mutex_lock(&lock);
    if (folder.path && (folder.owner != getpid() || !is_at(folder.path, folder.fd)))
        forget_folder();
    if (!folder.path)
        status = private_copy_settle();
    if (!status && !registered)
        registered = atexit(remove_folder) == 0;
    if (!status)
        *path = th_strdup(folder.path);
    pthread_mutex_unlock(&lock);
    return status;
}

void th_library_copy_remove(const char *copy)
{
    size_t length;

    pthread_mutex_lock(&lock);
    length = folder.path ? strlen(folder.path) : 0;
    if (length > 0 && folder.owner == getpid() && strncmp(copy, folder.path, length) == 0 &&
        copy[length] == '/')
        unlink(copy);
    pthread_mutex_unlock(&lock);
}

enum { BLOCK = 1 << 18 };

/* Counts copies. Relaxed: only uniqueness matters. */
static _Atomic unsigned long generation;

/* --- One moment ------------------------------------------------------------------------------ */

/* Waits until a new change would have a later time than the last one. Ticks are 10 ms at most; a
 * time that is never reached was written by a machine with another clock. */
static void wait_for_next_tick(const struct stat *file)
{
    enum { MOST_WAITS = 20 };
    static const struct timespec millisecond = {.tv_nsec = 1000000};
    const struct timespec *last = &file->st_ctim;
    struct timespec now;

    for (int i = 0; i < MOST_WAITS; i++) {
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
        if (now.tv_sec != last->tv_sec ? now.tv_sec > last->tv_sec : now.tv_nsec > last->tv_nsec)
            return;
        nanosleep(&millisecond, NULL);
    }
}

static enum th_status refuse_changed(void)
{
    return th_error_raise(TH_REFUSED,
                          "the file changed while it was read; try again when it is complete");
}

/* --- The content ----------------------------------------------------------------------------- */

static enum th_status write_all(int to, const void *bytes, size_t size, const char *copy)
{
    if (th_output_write_bytes(to, bytes, size))
        return TH_OK;
    return th_error_raise(TH_FAILED,
                          "cannot write the private copy %s: %s; set $TMPDIR to a folder with more "
                          "space",
                          copy, strerror(errno));
}

/* Copies at most SIZE bytes, as the file may keep growing. */
static enum th_status copy_content(int from, off_t size, int to, const char *copy)
{
    char *block = th_alloc(BLOCK);
    enum th_status status = TH_OK;
    off_t done = 0;

    while (done < size && !status) {
        off_t left = size - done;
        ssize_t got = pread(from, block, left < BLOCK ? (size_t)left : BLOCK, done);
        if (got == 0 || (got < 0 && errno != EINTR))
            status = got ? th_error_raise(TH_REFUSED, "cannot read the file: %s", strerror(errno))
                         : refuse_changed();
        else if (got > 0 && !(status = write_all(to, block, (size_t)got, copy)))
            done += got;
    }
    th_free(block);
    return status;
}

/* Creates COPY and writes SIZE bytes: of the file FROM or, if FROM is below 0, of BYTES. */
static enum th_status write_copy(const char *copy, int from, const void *bytes, size_t size)
{
    enum th_status status;
    int to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

    if (to < 0)
        return th_error_raise(TH_FAILED, "cannot make the private copy %s: %s", copy,
                              strerror(errno));
    status =
        from < 0 ? write_all(to, bytes, size, copy) : copy_content(from, (off_t)size, to, copy);
    if (close(to) != 0 && !status)
        status = th_error_raise(TH_FAILED, "cannot write the private copy %s: %s", copy,
                                strerror(errno));
    return status;
}

enum th_status th_library_copy_write(const char *copy, const void *bytes, size_t size)
{
    return write_copy(copy, -1, bytes, size);
}

static bool is_equal(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static enum th_status copy_unchanged(int from, const struct stat *original, const char *copy)
{
    enum th_status status = write_copy(copy, from, NULL, (size_t)original->st_size);
    struct stat now;

    if (status)
        return status;
    if (fstat(from, &now) == 0 && now.st_size == original->st_size &&
        is_equal(&now.st_mtim, &original->st_mtim) && is_equal(&now.st_ctim, &original->st_ctim))
        return TH_OK;
    return refuse_changed();
}

/* --- The file -------------------------------------------------------------------------------- */

char *th_library_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);

    if (length > 3 && strcmp(name + length - 3, ".so") == 0)
        length -= 3;
    return th_printf("%.*s", (int)length, name);
}

enum th_status th_library_copy_make(const char *path, char **copy, struct stat *original)
{
    enum { LONGEST = 200 }; /* file names have 255 bytes at most */
    char *folder, *stem;
    int from;
    enum th_status status = th_elf_open_file(path, &from, original);

    if (!status) {
        wait_for_next_tick(original);
        status = find_folder(&folder);
    }
    if (!status) {
        stem = th_library_stem(path);
        *copy = th_printf("%s/%.*s.%lu.so", folder, LONGEST, stem,
                          1 + atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed));
        th_free(stem);
        th_free(folder);
        status = copy_unchanged(from, original, *copy);
        if (status) {
            th_library_copy_remove(*copy);
            th_free(*copy);
        }
    }
    if (from >= 0)
        close(from);
    return status;
}

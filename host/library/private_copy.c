#include "private_copy.h"

#include "copy_folder.h"
#include "host/library/elf/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 18 };

/* Counts copies. Relaxed: it only has to give each another number. */
static _Atomic unsigned long generation;

/* --- One moment ------------------------------------------------------------------------------ */

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Until the next change would have another time than the last. Ticks are 10 ms at most; a time that
 * does not come is that of a machine with another clock. */
static void wait_for_next_tick(const struct stat *file)
{
    enum { MOST_WAITS = 20 };
    static const struct timespec millisecond = {.tv_nsec = 1000000};
    struct timespec now;

    for (int i = 0; i < MOST_WAITS; i++) {
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
        if (is_later(&now, &file->st_ctim))
            return;
        nanosleep(&millisecond, NULL);
    }
}

static bool is_equal(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_unchanged(int fd, const struct stat *before)
{
    struct stat now;

    return fstat(fd, &now) == 0 && now.st_size == before->st_size &&
           is_equal(&now.st_mtim, &before->st_mtim) && is_equal(&now.st_ctim, &before->st_ctim);
}

static enum th_status refuse_changed(void)
{
    return th_error_raise(TH_REFUSED, "it changed while it was read; try again when it is written");
}

/* --- The content ----------------------------------------------------------------------------- */

static enum th_status write_all(int to, const char *bytes, size_t size, const char *copy)
{
    while (size > 0) {
        ssize_t written = write(to, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return th_error_raise(TH_FAILED,
                                  "its private copy %s cannot be written: %s; set $TMPDIR to "
                                  "where there is room",
                                  copy, strerror(errno));
        bytes += written;
        size -= (size_t)written;
    }
    return TH_OK;
}

/* Not more than SIZE bytes, as it may grow all the time. */
static enum th_status copy_content(int from, off_t size, int to, const char *copy)
{
    char *block = th_alloc(BLOCK);
    enum th_status status = TH_OK;
    off_t done = 0;

    while (done < size && !status) {
        off_t left = size - done;
        ssize_t got = pread(from, block, left < BLOCK ? (size_t)left : BLOCK, done);
        if (got == 0 || (got < 0 && errno != EINTR))
            status = got ? th_error_raise(TH_REFUSED, "it cannot be read: %s", strerror(errno))
                         : refuse_changed();
        else if (got > 0 && !(status = write_all(to, block, (size_t)got, copy)))
            done += got;
    }
    th_free(block);
    return status;
}

static enum th_status create(const char *copy, int *to)
{
    *to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (*to >= 0)
        return TH_OK;
    return th_error_raise(TH_FAILED, "its private copy %s cannot be made: %s", copy,
                          strerror(errno));
}

/* STATUS is that of what was written. */
static enum th_status finish(int to, const char *copy, enum th_status status)
{
    if (close(to) != 0 && !status)
        status = th_error_raise(TH_FAILED, "its private copy %s cannot be written: %s", copy,
                                strerror(errno));
    return status;
}

enum th_status th_copy_write(const char *copy, const void *bytes, size_t size)
{
    int to;
    enum th_status status = create(copy, &to);

    return status ? status : finish(to, copy, write_all(to, bytes, size, copy));
}

static enum th_status copy_unchanged(int from, const struct stat *original, const char *copy)
{
    int to;
    enum th_status status = create(copy, &to);

    if (status)
        return status;
    status = finish(to, copy, copy_content(from, original->st_size, to, copy));
    return status || is_unchanged(from, original) ? status : refuse_changed();
}

/* --- The file -------------------------------------------------------------------------------- */

/* FOLDER/NAME.GEN.so for /some/where/NAME.so. */
static char *name_copy(const char *folder, const char *path)
{
    enum { LONGEST = 200 }; /* file names have 255 bytes at most */
    unsigned long number = 1 + atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);

    if (length > 3 && strcmp(name + length - 3, ".so") == 0)
        length -= 3;
    return th_printf("%s/%.*s.%lu.so", folder, (int)(length < LONGEST ? length : LONGEST), name,
                     number);
}

static enum th_status copy_file(const char *path, int from, const struct stat *original,
                                char **copy)
{
    enum th_status status;
    char *folder;

    status = th_copy_folder(&folder);
    if (status)
        return status;
    *copy = name_copy(folder, path);
    th_free(folder);
    status = copy_unchanged(from, original, *copy);
    if (status) {
        th_copy_remove(*copy);
        th_free(*copy);
    }
    return status;
}

enum th_status th_copy_make(const char *path, char **copy, struct stat *original)
{
    int from;
    enum th_status status = th_elf_open_file(path, &from, original);

    if (!status) {
        wait_for_next_tick(original);
        status = copy_file(path, from, original, copy);
    }
    if (from >= 0)
        close(from);
    return status;
}

void th_copy_remove(const char *copy)
{
    th_copy_folder_remove(copy);
}

/*
 * A file that a tracer writes, through stdio's `file` and under its lock.
 *
 * There are two kinds. A file of the first kind is written while events come: it can be read
 * meanwhile, contains whole records only, even if the program is killed, and is cut back to its
 * last whole record if writing fails. A file of the second kind is useless until it is complete: it
 * is written to another file in its folder, which is renamed at the end. FIFOs, devices and
 * everything in /dev are always written directly; symbolic links stay, and their targets are
 * written.
 *
 * A file whose name ends in ".gz" is compressed (gzip, RFC 1952). One of the first kind gets a gzip
 * member for the records of each write, so that it is sound whenever it is read; one of the second
 * kind is one member.
 *
 * Before output_file_begin() nothing is written, and an existing file keeps its contents.
 */
#ifndef TRACER_OUTPUT_FILE_H
#define TRACER_OUTPUT_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <erl_nif.h>
#include <nif_module.h>

/* The compressor of a file. */
struct output_gzip {
    z_stream stream;
    bool begun;         /* `stream` has memory */
    bool open;          /* a member has begun, and has not ended */
    off_t size;         /* of the file, up to the end of its last member */
    Bytef bytes[32768]; /* compressed ones, on their way */
};

/* Size of a compressed file's buffer: small gzip members compress worse. */
enum { OUTPUT_PACKED_SIZE = 65536 };

struct output_file {
    struct output_file *next;
    FILE *file;
    int descriptor;           /* -1: not open yet */
    bool whole;               /* second kind: renamed when complete */
    bool regular;             /* can be truncated */
    bool told;                /* the failure was reported; for the end */
    bool continued;           /* the output of a process that died comes first */
    bool share;               /* stands for `path` in a share of a recording: th_share_file() */
    struct output_gzip *gzip; /* NULL: not compressed */
    /* output_file_close() has ended it; stdio's lock. */
    bool closed;
    char *temporary; /* present name of an incomplete file of the second kind */
    /* Relaxed: the threads that write hold stdio's lock, and `begun` was set before; other threads
     * only read `error`. */
    atomic_bool begun;
    atomic_int error; /* errno of the first failure; nothing is written after it */
    /* Offset behind the last whole record. Offsets are those in the uncompressed output. */
    off_t ended;
    char *kept; /* the host's buffer of `file`, which outlives the program; NULL: none */
    /* Bytes written to `file`, but not yet to the descriptor: a record without its end. */
    char *held;
    size_t held_size;
    /* Start of an incomplete record: state of the format that finds the ends of records. */
    unsigned char head[8];
    size_t head_used;
    uint64_t left;
    off_t written, saved; /* `saved`: of a share, bytes that a merge has got */
    char path[];
};

/*
 * Sets file->ended to the end of the last record in SIZE bytes of DATA, which are at offset
 * file->written. A tracer whose records are no lines defines TRACER_RECORDS, the name of its own
 * function.
 */
#ifdef TRACER_RECORDS
static void TRACER_RECORDS(struct output_file *file, const char *data, size_t size);
#else
#define TRACER_RECORDS output_file_lines
static inline void output_file_lines(struct output_file *file, const char *data, size_t size)
{
    const char *end = memrchr(data, '\n', size);

    if (end)
        file->ended = file->written + (end + 1 - data);
}
#endif

/* --- Files that are useless until complete ---------------------------------------------------- */

/* Copies mode and owner of the file that will be replaced; without one, sets the mode of a new
 * file. */
static inline bool output_file_take_after(int descriptor, const char *path)
{
    struct stat old;
    mode_t mask;

    if (stat(path, &old) == 0) {
        if (fchown(descriptor, old.st_uid, old.st_gid) != 0 && errno != EPERM)
            return false;
        return fchmod(descriptor, old.st_mode & 07777) == 0;
    }
    mask = umask(0);
    umask(mask);
    return fchmod(descriptor, 0666 & ~mask) == 0;
}

/* Returns the target of the link PATH, even if it does not exist yet; the caller frees it. NULL,
 * with errno. */
static inline char *output_file_resolve(const char *path)
{
    char *real = realpath(path, NULL), link[PATH_MAX], next[2 * PATH_MAX];
    const char *slash = strrchr(path, '/');
    ssize_t size;

    if (real || errno != ENOENT)
        return real;
    size = readlink(path, link, sizeof link - 1);
    if (size < 0)
        return strdup(path);
    link[size] = 0;
    size = snprintf(next, sizeof next, "%.*s%s",
                    *link == '/' || !slash ? 0 : (int)(slash + 1 - path), path, link);
    if ((size_t)size < sizeof next)
        return output_file_resolve(next);
    errno = ENAMETOOLONG;
    return NULL;
}

/* Sets whether the host removes the temporary file if the program ends. False if the program ends
 * already: stdio flushes last. */
static inline bool output_file_keep_track(const struct output_file *file, int unfinished)
{
    return !TH_HAS(th_file_unfinished) || !file->temporary ||
           th_file_unfinished(file->temporary, unfinished);
}

/* Opens the temporary file. 0 or errno. */
static inline int output_file_open_beside(struct output_file *file)
{
    char *real = output_file_resolve(file->path);
    int error = 0;

    if (!real)
        return errno;
    file->temporary = malloc(strlen(real) + sizeof ".XXXXXX");
    if (file->temporary) {
        strcat(strcpy(file->temporary, real), ".XXXXXX");
        file->descriptor = mkostemp(file->temporary, O_CLOEXEC);
    }
    if (file->descriptor < 0 || !output_file_take_after(file->descriptor, real))
        error = errno ? errno : ENOMEM;
    if (file->descriptor < 0) {
        free(file->temporary);
        file->temporary = NULL;
    }
    free(real);
    if (!output_file_keep_track(file, 1)) {
        unlink(file->temporary);
        error = ECANCELED;
    }
    return error;
}

/* Checks that a file can be created there and replace an existing one. 0 or errno. */
static inline int output_file_check_place(struct output_file *file)
{
    char *real = output_file_resolve(file->path), *name;
    int error = 0;

    if (!real)
        return errno;
    name = strrchr(real, '/');
    name = name ? name + 1 : real;
    if (!*name)
        error = EISDIR; /* as open() */
    else if (file->whole && strlen(name) + sizeof ".XXXXXX" - 1 > NAME_MAX)
        error = ENAMETOOLONG;
    else if (faccessat(AT_FDCWD, real, W_OK, AT_EACCESS) != 0 && errno != ENOENT)
        error = errno;
    else if (faccessat(AT_FDCWD, dirname(real), W_OK | X_OK, AT_EACCESS) != 0)
        error = errno;
    free(real);
    return error;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static inline void output_file_fail(struct output_file *file, int error)
{
    int cut = 0;

    atomic_store_explicit(&file->error, error, memory_order_relaxed);
    if (file->regular && !file->whole)
        cut = ftruncate(file->descriptor, file->gzip ? file->gzip->size : file->ended);
    (void)cut; /* a disk that refuses this was reported already */
}

static inline int output_file_error(const struct output_file *file)
{
    return file ? atomic_load_explicit(&file->error, memory_order_relaxed) : 0;
}

/* Writes SIZE bytes; *DONE is the number written. 0 or errno. */
static inline int output_file_put(const struct output_file *file, const char *data, size_t size,
                                  size_t *done)
{
    *done = 0;
    while (*done < size) {
        ssize_t written = write(file->descriptor, data + *done, size - *done);
        if (written >= 0)
            *done += (size_t)written;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

/* Compresses SIZE bytes, and writes them; HOW: Z_NO_FLUSH, or Z_FINISH to end the member. 0 or
 * errno. */
static inline int output_file_pack(struct output_file *file, const char *data, size_t size, int how)
{
    enum { LEVEL = 1 /* events wait */, GZIP = 16, MEMORY = 8 };
    struct output_gzip *gzip = file->gzip;
    size_t done;
    int error, state;

    if (!gzip->begun && deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, GZIP + MAX_WBITS, MEMORY,
                                     Z_DEFAULT_STRATEGY) != Z_OK)
        return ENOMEM;
    gzip->begun = gzip->open = true;
    do {
        uInt part = size > UINT_MAX ? UINT_MAX : (uInt)size;
        gzip->stream.next_in = (Bytef *)(uintptr_t)data;
        gzip->stream.avail_in = part;
        data += part;
        size -= part;
        do {
            gzip->stream.next_out = gzip->bytes;
            gzip->stream.avail_out = sizeof gzip->bytes;
            state = deflate(&gzip->stream, size > 0 ? Z_NO_FLUSH : how);
            error = output_file_put(file, (const char *)gzip->bytes,
                                    sizeof gzip->bytes - gzip->stream.avail_out, &done);
            if (error)
                return error;
            gzip->size += (off_t)done;
        } while (gzip->stream.avail_out == 0);
    } while (size > 0);
    if (state == Z_STREAM_END) {
        deflateReset(&gzip->stream);
        gzip->open = false;
    }
    return 0;
}

/* Ends what is compressed: a file without any output is a member, too. 0 or errno. */
static inline int output_file_end_pack(struct output_file *file)
{
    if (!file->gzip || (!file->gzip->open && file->gzip->size > 0))
        return 0;
    return output_file_pack(file, NULL, 0, Z_FINISH);
}

static inline void output_file_free_pack(struct output_file *file)
{
    if (file->gzip && file->gzip->begun)
        deflateEnd(&file->gzip->stream);
    free(file->gzip);
    file->gzip = NULL;
}

/* Writes the first SIZE held bytes, which begin with a record. 0 or errno: then `ended` is the end
 * of the last record that was written completely. */
static inline int output_file_put_held(struct output_file *file, size_t size)
{
    const off_t sound = file->gzip ? file->gzip->size : 0;
    size_t done = 0;
    int error = file->gzip ? output_file_pack(file, file->held, size, Z_FINISH)
                           : output_file_put(file, file->held, size, &done);

    if (error && file->gzip)
        file->gzip->size = sound; /* a part of a member is of no use */
    if (error) {
        file->written -= (off_t)file->held_size;
        file->ended = file->written;
        file->head_used = 0;
        file->left = 0;
        TRACER_RECORDS(file, file->held, done);
    }
    file->held_size -= size;
    memmove(file->held, file->held + size, file->held_size);
    return error;
}

/* Writes the records that end in DATA, and holds the rest. 0 or errno. */
static inline int output_file_put_records(struct output_file *file, const char *data, size_t size)
{
    off_t begin = file->written - (off_t)file->held_size; /* offset of the held bytes */
    char *held = realloc(file->held, file->held_size + size);

    if (!held)
        return ENOMEM;
    file->held = held;
    memcpy(held + file->held_size, data, size);
    file->held_size += size;
    TRACER_RECORDS(file, data, size);
    file->written += (off_t)size;
    return file->ended > begin ? output_file_put_held(file, (size_t)(file->ended - begin)) : 0;
}

/* Write function for stdio, which discards bytes that cannot be written. */
static inline ssize_t output_file_write(void *cookie, const char *data, size_t size)
{
    struct output_file *file = cookie;
    size_t done;
    int error = 0;

    if (!atomic_load_explicit(&file->begun, memory_order_relaxed) || file->closed ||
        output_file_error(file))
        return (ssize_t)size;
    if (file->descriptor < 0)
        error = output_file_open_beside(file);
    if (!error && !file->whole)
        error = output_file_put_records(file, data, size);
    else if (!error)
        error = file->gzip ? output_file_pack(file, data, size, Z_NO_FLUSH)
                           : output_file_put(file, data, size, &done);
    if (error)
        output_file_fail(file, error);
    if (file->kept && error != EBADF) /* closed by another library: the host has it open still */
        th_output_buffer_written(file->kept, data, size, file->held_size > 0);
    return (ssize_t)size;
}

/* --- Life of a file --------------------------------------------------------------------------- */

/* FLAGS: O_CREAT or 0. */
static inline int output_file_open_as_is(struct output_file *file, int flags)
{
    struct stat about;

    file->descriptor = open(file->path, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (file->descriptor < 0 || fstat(file->descriptor, &about) != 0)
        return errno;
    file->regular = S_ISREG(about.st_mode);
    return 0;
}

/* Ends FILE, which no other thread uses any more; the caller then frees FILE itself. 0, or errno of
 * the first failure. */
static inline int output_file_end(struct output_file *file)
{
    bool begun = atomic_load_explicit(&file->begun, memory_order_relaxed);
    char *real;
    int error;

    if (file->file)
        fclose(file->file);
    error = output_file_error(file);
    if (file->closed)
        return error;
    if (!error && file->held_size > 0 && (error = output_file_put_held(file, file->held_size)))
        output_file_fail(file, error);
    free(file->held);
    if (begun && !error && file->descriptor < 0)
        error = output_file_open_beside(file);
    if (begun && !error && (error = output_file_end_pack(file)))
        output_file_fail(file, error);
    output_file_free_pack(file);
    if (file->kept)
        th_output_buffer_end(file->kept);
    if (file->descriptor >= 0 && close(file->descriptor) != 0 && !error)
        error = errno;
    if (begun && !error && file->whole) {
        real = output_file_resolve(file->path);
        if (!real || rename(file->temporary, real) != 0)
            error = errno;
        free(real);
    }
    if (error && file->temporary)
        unlink(file->temporary);
    output_file_keep_track(file, 0);
    free(file->temporary);
    return error;
}

/*
 * Writes the rest of FILE, which is of the first kind and has begun, and closes its descriptor; text
 * that comes later is discarded. The memory of FILE stays, less its buffers, some 600 bytes, because
 * other threads may use FILE until the tracer is unloaded. Returns 0, or errno of the first failure.
 * Thread: any that keeps the flushing thread from flushing.
 */
static inline int output_file_close(struct output_file *file)
{
    int error;

    flockfile(file->file);
    if (!file->closed) {
        setvbuf(file->file, NULL, _IONBF, 0); /* flushes, and frees stdio's buffer */
        free(file->held);
        file->held = NULL;
        error = output_file_error(file) ? 0 : output_file_end_pack(file);
        if (error)
            output_file_fail(file, error);
        output_file_free_pack(file);
        if (close(file->descriptor) != 0 && !output_file_error(file))
            atomic_store_explicit(&file->error, errno, memory_order_relaxed);
        file->descriptor = -1;
        file->closed = true;
    }
    error = output_file_error(file);
    funlockfile(file->file);
    return error;
}

static inline bool output_file_is_gzip(const char *path)
{
    size_t length = strlen(path);

    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* Finds out how PATH is written, and opens it if it is there and written directly. 0 or errno. */
static inline int output_file_open_path(struct output_file *file, bool whole)
{
    struct stat about;
    bool there = stat(file->path, &about) == 0;

    file->whole =
        whole && strncmp(file->path, "/dev/", 5) != 0 && (!there || S_ISREG(about.st_mode));
    return there && !file->whole ? output_file_open_as_is(file, 0) : output_file_check_place(file);
}

/* Opens PATH; WHOLE: the second kind. SHARE, if not -1, is a file of the first kind that takes the
 * place of PATH. NULL, with errno, if it cannot be written. */
static inline struct output_file *output_file_open(const char *path, bool whole, int share)
{
    static const cookie_io_functions_t functions = {.write = output_file_write};
    struct output_file *file = calloc(1, sizeof *file + strlen(path) + 1);
    int error;

    if (!file)
        return NULL;
    strcpy(file->path, path);
    file->descriptor = share;
    file->share = file->regular = share >= 0;
    error = file->share ? 0 : output_file_open_path(file, whole);
    if (!error && !file->share && output_file_is_gzip(path)) {
        file->gzip = calloc(1, sizeof *file->gzip);
        error = file->gzip ? 0 : ENOMEM;
    }
    if (!error) {
        file->file = fopencookie(file, "w", functions);
        error = file->file ? 0 : errno;
    }
    if (!error && file->gzip)
        setvbuf(file->file, NULL, _IOFBF, OUTPUT_PACKED_SIZE);
    else if (!error && file->descriptor >= 0 && isatty(file->descriptor))
        setvbuf(file->file, NULL, _IOLBF, 0);
    if (!error)
        return file;
    output_file_end(file);
    free(file);
    errno = error;
    return NULL;
}

/* Gives the file a buffer that outlives the program, if the host has one and the file can be read
 * before it is complete. */
static inline void output_file_use_kept(struct output_file *file)
{
    const size_t size = file->gzip ? OUTPUT_PACKED_SIZE : BUFSIZ;

    if (file->whole || file->descriptor < 0 || !TH_HAS(th_output_buffer))
        return;
    file->kept = th_output_buffer(file->descriptor, size);
    if (file->kept && file->gzip)
        th_output_buffer_gzip(file->kept);
    if (file->kept)
        setvbuf(file->file, file->kept, !file->gzip && isatty(file->descriptor) ? _IOLBF : _IOFBF,
                size);
}

/* Empties a regular file; or goes to the end of what the same tracer wrote in a process that died.
 * 0 or errno. */
static inline int output_file_go_to_begin(struct output_file *file)
{
    file->continued = TH_HAS(th_output_continued) && th_output_continued(file->path);
    if (!file->continued)
        return ftruncate(file->descriptor, 0) == 0 ? 0 : errno;
    file->written = file->ended = lseek(file->descriptor, 0, SEEK_END);
    if (file->gzip)
        file->gzip->size = file->written;
    return file->written >= 0 ? 0 : errno;
}

/* Begins writing: creates or empties a file of the first kind. */
static inline void output_file_begin(struct output_file *file)
{
    int error = 0;

    if (atomic_load_explicit(&file->begun, memory_order_relaxed))
        return;
    if (!file->whole && file->descriptor < 0)
        error = output_file_open_as_is(file, O_CREAT);
    if (!error && file->regular)
        error = output_file_go_to_begin(file);
    if (!error)
        output_file_use_kept(file);
    atomic_store_explicit(&file->error, error, memory_order_relaxed);
    atomic_store_explicit(&file->begun, true, memory_order_relaxed);
}

#endif

/* Operations on open files, and the reading of a whole file. */
#include "file_internal.h"

#include "host/term/atom.h"
#include "host/term/etf_tags.h"
#include "host/term/make.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENOUGH = 1 << 20 /* bytes, for a read whose size may be anything */ };

static int fd_of(const struct th_file_operation *operation)
{
    return atomic_load_explicit(&operation->file->fd, memory_order_relaxed);
}

/* --- Bytes ------------------------------------------------------------------------------------ */

/* Reads from FD until there are SIZE bytes, or no more: from POSITION, or if POSITION is negative
 * from the descriptor's own position. Returns 0, or an errno: the bytes read before are lost
 * then. */
static int read_fully(int fd, unsigned char *to, size_t size, int64_t position, size_t *count)
{
    *count = 0;
    while (*count < size) {
        ssize_t got = position < 0
                          ? read(fd, to + *count, size - *count)
                          : pread(fd, to + *count, size - *count, position + (int64_t)*count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break;
        *count += (size_t)got;
    }
    return 0;
}

static int write_fully(int fd, const unsigned char *from, size_t size, int64_t position)
{
    size_t count = 0;

    do { /* once for no bytes, too: the system may refuse the write */
        ssize_t put = position < 0
                          ? write(fd, from + count, size - count)
                          : pwrite(fd, from + count, size - count, position + (int64_t)count);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        count += (size_t)put;
    } while (count < size);
    return 0;
}

/* Reads once: if a pipe or a terminal has some bytes, the read does not wait for more. */
static ssize_t read_once(int fd, void *to, size_t size)
{
    ssize_t got;

    do
        got = read(fd, to, size);
    while (got < 0 && errno == EINTR);
    return got;
}

/* --- Read-ahead and delayed writes ------------------------------------------------------------ */

static size_t ahead_offset_of(const struct th_file *file)
{
    return atomic_load_explicit(&file->ahead_offset, memory_order_relaxed);
}

static void set_offset(struct th_file *file, size_t offset)
{
    atomic_store_explicit(&file->ahead_offset, offset, memory_order_relaxed);
}

static size_t ahead_limit_of(const struct th_file *file)
{
    return atomic_load_explicit(&file->ahead_limit, memory_order_relaxed);
}

/* If the descriptor has no position, the bytes stay: dropping would lose them. */
void th_file_unread(struct th_file *file)
{
    size_t left = file->ahead.size - ahead_offset_of(file);
    int fd = atomic_load_explicit(&file->fd, memory_order_relaxed);

    if (left > 0 && lseek(fd, -(off_t)left, SEEK_CUR) < 0)
        return;
    file->ahead.size = 0;
    set_offset(file, 0);
}

/* Bytes that could not be written are lost; the next operation that flushes reports the error. */
int th_file_flush(struct th_file *file)
{
    int fd = atomic_load_explicit(&file->fd, memory_order_relaxed);
    int error = file->late.size > 0 ? write_fully(fd, file->late.data, file->late.size, -1) : 0;

    file->late.size = 0;
    return error;
}

int th_file_carry_out_setopt(struct th_file_operation *operation)
{
    struct th_file *file = operation->file;
    int64_t value = operation->given[1];
    int error;

    if (value < 0 || value > INT32_MAX)
        return EINVAL;
    switch (operation->given[0]) {
    case TH_FILE_DELAYED_WRITE:
        error = th_file_flush(file);
        file->late_limit = (size_t)value;
        return error;
    case TH_FILE_READ_AHEAD:
        th_file_unread(file);
        file->reads_ahead = value > 0;
        if (value > 0)
            atomic_store_explicit(&file->ahead_limit, (size_t)value, memory_order_relaxed);
        return 0;
    default:
        return EINVAL;
    }
}

/* --- Opening and closing ---------------------------------------------------------------------- */

static int system_flags(int flags)
{
    bool reads = flags & TH_FILE_FOR_READING;
    bool writes = flags & (TH_FILE_FOR_WRITING | TH_FILE_APPENDS);
    bool cuts = writes && !reads && !(flags & (TH_FILE_APPENDS | TH_FILE_KEEPS));

    return (reads && writes ? O_RDWR
            : writes        ? O_WRONLY
                            : O_RDONLY) |
           (writes ? O_CREAT : 0) | (cuts ? O_TRUNC : 0) |
           (flags & TH_FILE_APPENDS ? O_APPEND : 0) |
           (flags & TH_FILE_IS_NEW ? O_CREAT | O_EXCL : 0) | (flags & TH_FILE_SYNC ? O_SYNC : 0) |
           O_CLOEXEC;
}

int th_file_carry_out_open(struct th_file_operation *operation)
{
    int flags = (int)operation->given[0];
    int fd;

    if (operation->given[0] & ~(int64_t)TH_FILE_FLAGS)
        return EINVAL;
    fd = open(operation->paths[0], system_flags(flags), 0666);
    if (fd < 0)
        return errno;
    atomic_store_explicit(&operation->file->fd, fd, memory_order_relaxed);
    return th_file_gives(operation, operation->file->port);
}

/* The descriptor is gone, even if close() fails. */
int th_file_carry_out_close(struct th_file_operation *operation)
{
    int error = th_file_flush(operation->file);
    int fd = atomic_exchange_explicit(&operation->file->fd, -1, memory_order_relaxed);
    int closed = th_file_outcome(close(fd));

    return error ? error : closed;
}

int th_file_carry_out_fstat(struct th_file_operation *operation)
{
    struct stat info;

    if (fstat(fd_of(operation), &info) != 0)
        return errno;
    return th_file_gives(operation, th_file_info(&operation->env, &info));
}

int th_file_carry_out_lseek(struct th_file_operation *operation)
{
    off_t position = lseek(fd_of(operation), operation->given[0], (int)operation->given[1]);

    if (position < 0)
        return errno;
    return th_file_gives(operation, th_make_int64(&operation->env, position));
}

int th_file_carry_out_truncate(struct th_file_operation *operation)
{
    off_t position = lseek(fd_of(operation), 0, SEEK_CUR);

    return position < 0 ? errno : th_file_outcome(ftruncate(fd_of(operation), position));
}

int th_file_carry_out_fsync(struct th_file_operation *operation)
{
    return th_file_outcome(fsync(fd_of(operation)));
}

int th_file_carry_out_fdatasync(struct th_file_operation *operation)
{
    return th_file_outcome(fdatasync(fd_of(operation)));
}

int th_file_carry_out_fadvise(struct th_file_operation *operation)
{
    return posix_fadvise(fd_of(operation), operation->given[0], operation->given[1],
                         (int)operation->given[2]);
}

/* --- Writing ---------------------------------------------------------------------------------- */

int th_file_carry_out_write(struct th_file_operation *operation)
{
    struct th_file *file = operation->file;
    int error;

    th_file_unread(file);
    if (file->late_limit > 0 && file->late.size + operation->size <= file->late_limit) {
        th_buffer_add(&file->late, operation->data, operation->size);
        return 0;
    }
    error = th_file_flush(file);
    if (error)
        return error;
    return write_fully(fd_of(operation), operation->data, operation->size, -1);
}

int th_file_carry_out_pwritev(struct th_file_operation *operation)
{
    int error = 0;

    for (size_t i = 0; !error && i < operation->piece_count; i++) {
        const struct th_file_piece *piece = &operation->pieces[i];
        error = write_fully(fd_of(operation), operation->data + piece->offset, (size_t)piece->size,
                            piece->position);
    }
    return error;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Reads more behind the bytes that were read ahead. *GOT is 0 at the end of the file. */
static int read_ahead(struct th_file *file, size_t *got)
{
    int fd = atomic_load_explicit(&file->fd, memory_order_relaxed);
    size_t limit = ahead_limit_of(file);
    ssize_t count;

    if (ahead_offset_of(file) > 0) {
        size_t left = file->ahead.size - ahead_offset_of(file);
        memmove(file->ahead.data, file->ahead.data + ahead_offset_of(file), left);
        file->ahead.size = left;
        set_offset(file, 0);
    }
    count = read_once(fd, th_buffer_reserve(&file->ahead, limit), limit);
    if (count < 0)
        return errno;
    file->ahead.size += (size_t)count;
    *got = (size_t)count;
    return 0;
}

/* Gives the next SIZE bytes that were read ahead. */
static int give_ahead(struct th_file_operation *operation, size_t size)
{
    struct th_file *file = operation->file;
    size_t offset = ahead_offset_of(file);

    set_offset(file, offset + size);
    return th_file_gives(operation,
                         th_make_binary(&operation->env, file->ahead.data + offset, size));
}

/* Bounds SIZE by the size of the file behind POSITION, or by ENOUGH if that size is unknown. */
static size_t bounded(int fd, size_t size, int64_t position)
{
    struct stat info;
    off_t from = position < 0 ? lseek(fd, 0, SEEK_CUR) : position;

    if (size <= ENOUGH)
        return size;
    if (from < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return ENOUGH;
    if (info.st_size <= from)
        return ENOUGH; /* such files do not report their size */
    return size < (size_t)(info.st_size - from) ? size : (size_t)(info.st_size - from);
}

/* Gives the bytes of one read(2). */
static int read_through(struct th_file_operation *operation, size_t size)
{
    size_t room = bounded(fd_of(operation), size, -1);
    struct th_binary *binary = th_binary_create(room);
    ssize_t got;
    int error;

    if (!binary)
        return ENOMEM;
    got = read_once(fd_of(operation), binary->data, room);
    error = errno;
    if (got > 0)
        return th_file_gives(operation, th_file_term_of(&operation->env, binary, (size_t)got));
    th_binary_release(binary);
    return got < 0 ? error : th_file_gives_eof(operation);
}

int th_file_carry_out_read(struct th_file_operation *operation)
{
    struct th_file *file = operation->file;
    size_t size = (size_t)operation->given[0];
    size_t left = file->ahead.size - ahead_offset_of(file), got = 0;
    int error;

    if (size == 0)
        return th_file_gives(operation, th_make_binary(&operation->env, "", 0));
    if (left < size && file->reads_ahead && size < ahead_limit_of(file)) {
        error = read_ahead(file, &got);
        if (error)
            return error;
        left += got;
        if (left == 0)
            return th_file_gives_eof(operation);
    } else if (left == 0) {
        return read_through(operation, size);
    } else if (left < size) {
        th_file_unread(file); /* so that one read can take all bytes */
        if (file->ahead.size == 0)
            return read_through(operation, size);
    }
    return give_ahead(operation, size < left ? size : left);
}

int th_file_carry_out_read_line(struct th_file_operation *operation)
{
    struct th_file *file = operation->file;
    size_t looked = 0, got = 1;
    int error = 0;

    while (!error && got > 0) {
        size_t left = file->ahead.size - ahead_offset_of(file);
        const unsigned char *begin = left ? file->ahead.data + ahead_offset_of(file) : NULL;
        const unsigned char *end =
            left > looked ? memchr(begin + looked, '\n', left - looked) : NULL;
        if (end)
            return give_ahead(operation, (size_t)(end - begin) + 1);
        looked = left;
        error = read_ahead(file, &got);
    }
    if (error)
        return error;
    return looked ? give_ahead(operation, looked) : th_file_gives_eof(operation);
}

/* Reads SIZE bytes at POSITION into *TERM; `eof` if there are none. */
static int read_at(struct th_file_operation *operation, int64_t position, size_t size,
                   th_term *term)
{
    size_t room = bounded(fd_of(operation), size, position), count;
    struct th_binary *binary = th_binary_create(room);
    int error;

    if (!binary)
        return ENOMEM;
    error = read_fully(fd_of(operation), binary->data, room, position, &count);
    if (!error && (count > 0 || size == 0)) {
        *term = th_file_term_of(&operation->env, binary, count);
        return 0;
    }
    th_binary_release(binary);
    *term = th_atom("eof");
    return error;
}

int th_file_carry_out_preadv(struct th_file_operation *operation)
{
    int error = 0;
    th_term list = TH_NIL, *terms = th_env_take(&operation->env, operation->piece_count + 1);

    for (size_t i = 0; !error && i < operation->piece_count; i++)
        error = read_at(operation, operation->pieces[i].position, (size_t)operation->pieces[i].size,
                        &terms[i]);
    if (error)
        return error;
    for (size_t i = operation->piece_count; i > 0; i--)
        list = th_make_cons(&operation->env, terms[i - 1], list);
    return th_file_gives(operation, list);
}

/* The header is four bytes of a size and four bytes of a position: those of the data. */
int th_file_carry_out_ipread(struct th_file_operation *operation)
{
    unsigned char header[8];
    uint32_t size, position;
    size_t count = 0;
    th_term data;
    int error = read_fully(fd_of(operation), header, sizeof header, operation->given[0], &count);

    if (error)
        return error;
    size = th_etf_get32(header);
    position = th_etf_get32(header + 4);
    if (count < sizeof header || (int64_t)size > operation->given[1])
        return th_file_gives_eof(operation);
    error = read_at(operation, position, size, &data);
    if (error)
        return error;
    return th_file_gives(operation,
                         th_make_tuple_of(&operation->env, th_make_uint64(&operation->env, size),
                                          th_make_uint64(&operation->env, position), data));
}

/* --- A whole file ----------------------------------------------------------------------------- */

/* Some files, as those of /proc, do not report their size. */
static int read_all(struct th_file_operation *operation, int fd, size_t expected)
{
    struct th_binary *binary = th_binary_create(expected + 1), *larger = binary;
    size_t size = 0, count = 0;
    int error = 0;

    while (larger && !error) {
        binary = larger;
        error = read_fully(fd, binary->data + size, binary->size - size, -1, &count);
        size += count;
        if (!error && size < binary->size)
            return th_file_gives(operation, th_file_term_of(&operation->env, binary, size));
        larger = error ? NULL : th_binary_resize(binary, 2 * binary->size + ENOUGH);
    }
    if (binary)
        th_binary_release(binary);
    return error ? error : ENOMEM;
}

int th_file_carry_out_read_file(struct th_file_operation *operation)
{
    int fd = open(operation->paths[0], O_RDONLY | O_CLOEXEC);
    struct stat info;
    int error;

    if (fd < 0)
        return errno;
    error = fstat(fd, &info) != 0
                ? errno
                : read_all(operation, fd, info.st_size > 0 ? (size_t)info.st_size : 0);
    close(fd);
    return error;
}

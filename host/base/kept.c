#include "kept.h"

#include "shared.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct th_kept {
    size_t size;
    bool torn; /* see th_kept_written() */
    bool gzip; /* see th_kept_gzip() */
    char data[];
};

static struct th_kept *kept_of(const char *buffer)
{
    return (struct th_kept *)(buffer - offsetof(struct th_kept, data));
}

char *th_kept_begin(int descriptor, size_t size)
{
    struct th_kept *kept = th_shared_try_alloc(sizeof *kept + size);
    struct th_kept_message message = {kept};

    if (!kept)
        return NULL;
    kept->size = size;
    memset(kept->data, TH_KEPT_FREE, size);
    if (th_shared_send(&message, sizeof message, descriptor))
        return kept->data;
    th_shared_free(kept);
    return NULL;
}

void th_kept_end(char *buffer)
{
    struct th_kept_message message = {buffer ? kept_of(buffer) : NULL};

    if (!buffer)
        return;
    th_shared_send(&message, sizeof message, -1);
    th_shared_free(kept_of(buffer));
}

void th_kept_written(char *buffer, const char *data, size_t size, bool torn)
{
    struct th_kept *kept = kept_of(buffer);

    kept->torn = torn;
    if (data >= buffer && data < buffer + kept->size)
        memset(buffer + (data - buffer), TH_KEPT_FREE, size);
}

void th_kept_gzip(char *buffer)
{
    kept_of(buffer)->gzip = true;
}

/* Writes SIZE bytes, and notes in BUFFER, unless NULL, which are written. Returns their number, with
 * errno if it is less. */
static size_t write_whole(int descriptor, const char *data, size_t size, char *buffer)
{
    size_t done = 0;

    while (done < size) {
        ssize_t written = write(descriptor, data + done, size - done);
        if (written < 0 && errno != EINTR)
            break;
        if (written > 0 && buffer)
            th_kept_written(buffer, data + done, (size_t)written, false);
        done += written > 0 ? (size_t)written : 0;
    }
    return done;
}

static bool is_free(char byte)
{
    return (unsigned char)byte == TH_KEPT_FREE;
}

/* Writes SIZE bytes as a gzip member. False if it could not be written whole. */
static bool write_gzip(int descriptor, const char *data, size_t size)
{
    enum { GZIP = 16, MEMORY = 8 };
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    bool done;
    size_t most;
    char *member;

    if (deflateInit2(&stream, 1, Z_DEFLATED, GZIP + MAX_WBITS, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    most = deflateBound(&stream, size);
    member = malloc(most);
    stream.next_out = (Bytef *)member;
    stream.avail_out = member ? (uInt)most : 0;
    done = member && deflate(&stream, Z_FINISH) == Z_STREAM_END &&
           write_whole(descriptor, member, stream.total_out, NULL) == stream.total_out;
    free(member);
    deflateEnd(&stream);
    return done;
}

/* Free bytes at the beginning were written before the others. */
size_t th_kept_rescue(const struct th_kept *kept, int descriptor)
{
    size_t begin = 0, end = kept->size;

    while (end > 0 && is_free(kept->data[end - 1]))
        end--;
    while (begin < end && is_free(kept->data[begin]))
        begin++;
    if (kept->torn || begin == end)
        return end - begin;
    if (kept->gzip)
        return write_gzip(descriptor, kept->data + begin, end - begin) ? 0 : end - begin;
    return end - begin - write_whole(descriptor, kept->data + begin, end - begin, NULL);
}

/* --- stdout ----------------------------------------------------------------------------------- */

static char *stdout_buffer;     /* NULL: stdout is the C library's own */
static atomic_bool stdout_used; /* bytes have left the buffer; relaxed: a flag without data */

bool th_kept_stdout_is_used(void)
{
    if (!stdout_buffer)
        return __fbufsize(stdout) > 0; /* the C library makes a buffer at the first use */
    return __fpending(stdout) > 0 || atomic_load_explicit(&stdout_used, memory_order_relaxed);
}

static ssize_t write_stdout(void *cookie, const char *data, size_t size)
{
    size_t done = write_whole(STDOUT_FILENO, data, size, cookie);
    int error = errno;

    atomic_store_explicit(&stdout_used, true, memory_order_relaxed);
    /* stdio drops bytes that could not be written. If a library has closed the descriptor, the
     * supervisor still has its own. */
    if (done == size || error != EBADF)
        th_kept_written(cookie, data, size, false);
    errno = error;
    return (ssize_t)done; /* less than SIZE: stdio notes the error */
}

/* The functions of stdio that ask for the descriptor (fileno(), isatty() of it) get
 * STDOUT_FILENO: the stream has no other destination. */
void th_kept_stdout(void)
{
    static const cookie_io_functions_t functions = {.write = write_stdout};
    bool terminal = isatty(STDOUT_FILENO);
    struct stat about;
    size_t size = BUFSIZ;
    char *buffer;
    FILE *file;

    if (fstat(STDOUT_FILENO, &about) != 0)
        return; /* closed: each write fails, as it would without a buffer */
    if (terminal)
        size = 1024;
    else if (about.st_blksize > 0 && about.st_blksize < BUFSIZ)
        size = (size_t)about.st_blksize;
    buffer = th_kept_begin(STDOUT_FILENO, size);
    file = buffer ? fopencookie(buffer, "w", functions) : NULL;
    if (!file) {
        th_kept_end(buffer);
        return;
    }
    setvbuf(file, buffer, terminal ? _IOLBF : _IOFBF, size);
    file->_fileno = STDOUT_FILENO;
    stdout_buffer = buffer;
    stdout = file;
}

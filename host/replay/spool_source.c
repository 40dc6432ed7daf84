#include "spool_source.h"

#include "replay_internal.h"
#include "unpack.h"

#include "host/base/memory.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum th_status th_replay_spool_source_open(const char *name, const struct th_node_options *node,
                                           struct th_spool_source *source)
{
    struct th_tcp_address address;
    struct th_input input;
    enum th_status status;

    *source = (struct th_spool_source){.fd = -1, .begun = th_replay_is_connection(name)};
    if (th_replay_node_is_name(name))
        return th_replay_node_open(name, node, NULL, &source->feeder, &source->fd);
    if (!th_replay_tcp_is_address(name)) {
        status = th_replay_input_open(&input, name);
        source->fd = input.fd;
        th_free(input.name);
        return status;
    }
    status = th_replay_tcp_parse(name, &address);
    if (status == TH_OK)
        status = th_replay_tcp_connect(&address, NULL, TH_TCP_CONNECT_MS, &source->fd);
    th_replay_tcp_free(&address);
    return status;
}

uint64_t th_replay_spool_source_size(int fd)
{
    unsigned char first[TH_UNPACK_SHOWN];
    struct stat about;
    ssize_t got;

    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return 0;
    got = pread(fd, first, sizeof first, lseek(fd, 0, SEEK_CUR));
    return got == sizeof first && th_replay_unpack_begins(first, (size_t)got)
               ? 0
               : (uint64_t)about.st_size;
}

/* Looks at the first SIZE bytes of SOURCE, in DATA, which has room for TH_UNPACK_SHOWN bytes. Returns
 * SIZE, or the result of another read: begins to decompress if the bytes are those of a compressed stream. */
static ssize_t look_at_source(struct th_spool_source *source, unsigned char *data, ssize_t size)
{
    source->begun = true;
    while (size > 0 && size < TH_UNPACK_SHOWN && th_replay_unpack_begins(data, (size_t)size)) {
        struct pollfd wait = {.fd = source->fd, .events = POLLIN};
        ssize_t got;
        poll(&wait, 1, -1);
        got = read(source->fd, data + size, (size_t)(TH_UNPACK_SHOWN - size));
        if (got == 0)
            break;
        size += got > 0 ? got : 0;
    }
    if (size < TH_UNPACK_SHOWN || !th_replay_unpack_begins(data, (size_t)size))
        return size;
    source->unpack = th_replay_unpack_begin(data, (size_t)size);
    errno = source->unpack ? EAGAIN : ENOMEM;
    return -1;
}

ssize_t th_replay_spool_source_read(struct th_spool_source *source, unsigned char *data,
                                    size_t size)
{
    ssize_t got;

    if (source->unpack)
        return th_replay_unpack_read(source->unpack, source->fd, data, size);
    got = read(source->fd, data, size);
    return got > 0 && !source->begun ? look_at_source(source, data, got) : got;
}

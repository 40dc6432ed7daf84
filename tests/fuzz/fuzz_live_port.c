/*
 * Fuzzes streams of connections, which may begin anywhere: a reader reaches the end; each record is
 * inside of the stream, behind the one before; a stream that begins at a message found in this way
 * begins with that message, without damage.
 */
#include "host/replay/replay.h"
#include "host/trace/trace.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void claim(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Creates one listener for all runs. */
static int listener(char *name, size_t size)
{
    static struct sockaddr_in address = {.sin_family = AF_INET};
    static int fd = -1;
    socklen_t length = sizeof address;

    if (fd < 0) {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        claim(bind(fd, (struct sockaddr *)&address, length) == 0 && listen(fd, 1) == 0 &&
                  getsockname(fd, (struct sockaddr *)&address, &length) == 0,
              "no listener");
    }
    snprintf(name, size, "tcp://127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}

/* Opens a connection that brings DATA and is then closed. The data fit the kernel's buffers. */
static struct th_reader *open_live(const unsigned char *data, size_t size)
{
    struct th_reader *reader;
    char name[64];
    int ours = listener(name, sizeof name);
    int theirs;

    claim(th_replay_reader_open(name, NULL, &reader) == TH_OK, "not opened");
    theirs = accept(ours, NULL, NULL);
    claim(theirs >= 0 && send(theirs, data, size, MSG_NOSIGNAL) == (ssize_t)size, "not sent");
    close(theirs);
    return reader;
}

static void check_again(const unsigned char *data, size_t size, const struct th_event *found)
{
    struct th_reader *reader = open_live(data, size);
    struct th_event event = {0};

    claim(th_replay_reader_next(reader, &event) == TH_OK && event.position == 0, "not found again");
    claim(event.kind == found->kind && event.tag == found->tag, "found as another");
    th_replay_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct th_reader *reader = open_live(data, size);
    struct th_event event = {0};
    uint64_t from = 0;
    bool checked = false;
    enum th_status status;

    while ((status = th_replay_reader_next(reader, &event)) != TH_END) {
        checked |= status == TH_MALFORMED; /* only the message found must look the same */
        if (status != TH_OK || (event.kind == TH_EVENT_DROP && event.dropped == 0))
            continue;
        claim(event.position >= from && event.position < size, "not in its place");
        from = event.position + 1;
        if (!checked && event.kind < TH_EVENT_SEQ_TRACE)
            check_again(data + event.position, size - event.position, &event);
        checked |= event.kind != TH_EVENT_DROP;
    }
    claim(th_replay_reader_next(reader, &event) == TH_END, "goes on behind the end");
    th_replay_reader_close(reader);
    th_error_clear();
    return 0;
}

/* The steps of the feeder, and what all of them need: lines for the user, waiting, queues of bytes. */
#include "node_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* Makes TEXT printable. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

/* Writes all of DATA, unless nobody reads. */
static void write_all_of(int to, const char *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t written = write(to, data + at, size - at);
        if (written < 0 && errno != EINTR)
            return;
        at += written > 0 ? (size_t)written : 0;
    }
}

bool th_node_say(const struct th_node_client *client, const char *format, ...)
{
    char line[1024] = "error: ";
    size_t size = strlen(line);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line + size, sizeof line - size - 1, format, arguments);
    va_end(arguments);
    make_printable(line + size);
    strcat(line, "\n");
    write_all_of(client->status, line, strlen(line));
    return false;
}

void th_node_note_begin(char *record, int *size, const char *key)
{
    *size = TH_NODE_RECORD_HEAD;
    ei_encode_version(record, size);
    ei_encode_tuple_header(record, size, 3);
    ei_encode_atom(record, size, "tracehost");
    ei_encode_atom(record, size, key);
}

void th_node_note_end(struct th_node_client *client, char *record, int size)
{
    th_node_head_write(record, TH_NODE_MESSAGE, (uint32_t)size - TH_NODE_RECORD_HEAD);
    th_node_bytes_add(&client->notes, record, (size_t)size);
}

void th_node_tell(struct th_node_client *client, const char *format, ...)
{
    char text[1000], record[sizeof text + 100];
    va_list arguments;
    int size;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_printable(text);
    th_node_note_begin(record, &size, "notice");
    ei_encode_binary(record, &size, text, (long)strlen(text));
    th_node_note_end(client, record, size);
}

int64_t th_node_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int th_node_wait(const struct th_node_client *client, int fd, short events, int64_t deadline)
{
    struct pollfd polled[] = {{.fd = fd, .events = events},
                              {.fd = client->signals, .events = POLLIN}};

    for (;;) {
        int64_t left = deadline - th_node_now();
        int ready = left <= 0 ? 0 : poll(polled, 2, (int)((left + 999999) / 1000000));
        if (ready < 0 && errno != EINTR)
            return errno;
        if (ready > 0)
            return polled[1].revents ? EINTR : 0;
        if (left <= 0)
            return ETIMEDOUT;
    }
}

void th_node_head_write(void *head, unsigned char op, uint32_t number)
{
    unsigned char *bytes = head;

    bytes[0] = op;
    for (int i = 0; i < 4; i++)
        bytes[1 + i] = (unsigned char)(number >> (24 - 8 * i));
}

uint32_t th_node_head_number(const unsigned char *head)
{
    return (uint32_t)head[1] << 24 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 8 | head[4];
}

bool th_node_bytes_add(struct th_node_bytes *queue, const void *bytes, size_t size)
{
    unsigned char *room = th_node_bytes_room(queue, size);

    if (!room)
        return false;
    memcpy(room, bytes, size);
    queue->size += size;
    return true;
}

unsigned char *th_node_bytes_room(struct th_node_bytes *queue, size_t size)
{
    size_t there = queue->size - queue->taken;

    if (queue->taken > 0 && (there == 0 || queue->taken > queue->capacity / 2)) {
        memmove(queue->bytes, queue->bytes + queue->taken, there);
        queue->taken = 0;
        queue->size = there;
    }
    if (queue->capacity - queue->size < size) {
        size_t capacity = 2 * queue->capacity + size;
        unsigned char *bytes = realloc(queue->bytes, capacity);
        if (!bytes)
            return NULL;
        queue->bytes = bytes;
        queue->capacity = capacity;
    }
    return queue->bytes + queue->size;
}

/* --- The cookie and the name --------------------------------------------------------------------- */

static bool read_cookie_file(struct th_node_client *client, const char *path)
{
    char text[sizeof client->cookie + 2];
    FILE *file = fopen(path, "re");
    size_t size;

    if (!file)
        return th_node_say(client,
                           "cannot read the cookie: %s: %s: give the node's cookie with "
                           "--cookie=COOKIE, or its file with --cookie-file=FILE",
                           path, strerror(errno));
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    if (ferror(file)) {
        th_node_say(client, "cannot read the cookie: %s: %s", path, strerror(errno));
        fclose(file);
        return false;
    }
    fclose(file);
    text[strcspn(text, " \r\n")] = 0;
    if (!text[0] || strlen(text) >= sizeof client->cookie)
        return th_node_say(client, "%s has no cookie: a cookie is one line of 1 to %d bytes", path,
                           EI_MAX_COOKIE_SIZE);
    strcpy(client->cookie, text);
    return true;
}

static bool find_cookie(struct th_node_client *client)
{
    const struct tracehost_node_request *request = client->request;
    const char *home = getenv("HOME");
    const struct passwd *user;
    char path[4096];

    if (request->cookie) {
        if (!request->cookie[0] || strlen(request->cookie) >= sizeof client->cookie)
            return th_node_say(client, "a cookie has 1 to %d bytes", EI_MAX_COOKIE_SIZE);
        strcpy(client->cookie, request->cookie);
        return true;
    }
    if (request->cookie_file)
        return read_cookie_file(client, request->cookie_file);
    if (!home && (user = getpwuid(geteuid())))
        home = user->pw_dir;
    snprintf(path, sizeof path, "%s/.erlang.cookie", home ? home : "");
    return read_cookie_file(client, path);
}

static bool split_name(struct th_node_client *client)
{
    const char *node = client->request->node;
    size_t length = strcspn(node, "@");
    const char *host = node[length] ? node + length + 1 : "localhost";

    if (length == 0 || !host[0] || strchr(host, '@') || strlen(node) >= sizeof client->alive)
        return th_node_say(
            client, "%s is no name of a node: NAME@HOST, or NAME for a node of this host", node);
    memcpy(client->alive, node, length);
    strcpy(client->host, host);
    return true;
}

/* --- The steps ------------------------------------------------------------------------------------- */

/* Makes the signals that end the feeder readable. A write to a pipe without a reader is an error. */
static int take_signals(void)
{
    static const int ENDS[] = {SIGTERM, SIGINT, SIGHUP};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        sigaddset(&set, ENDS[i]);
        signal(ENDS[i], SIG_DFL);
    }
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool th_node_reach(struct th_node_client *client)
{
    return split_name(client) && find_cookie(client) && th_node_find(client) &&
           th_node_connect(client);
}

int tracehost_node_serve(const struct tracehost_node_request *request, int out, int status)
{
    struct th_node_client client = {
        .request = request, .status = status, .out = out, .signals = take_signals(), .socket = -1};
    struct th_node_agent agent;
    struct pollfd ended = {.fd = client.signals, .events = POLLIN};
    int result = TH_NODE_REFUSED;

    if (client.signals < 0 || ei_init() != 0 ||
        fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK) != 0) {
        th_node_say(&client, "cannot begin: %s", strerror(errno));
        result = TH_NODE_FAILED;
    } else if (th_node_reach(&client) && th_node_start(&client, &agent)) {
        result = th_node_feed(&client, &agent);
    } else if (poll(&ended, 1, 0) > 0) {
        result = TH_NODE_FAILED;
    }
    if (client.socket >= 0)
        ei_close_connection(client.socket);
    if (client.signals >= 0)
        close(client.signals);
    free(client.in.bytes);
    free(client.notes.bytes);
    return result;
}

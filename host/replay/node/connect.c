/*
 * The connection: the handshake, under a name that is free in the node.
 *
 * Each name that a node has seen stays there for ever, as an atom and in nodes(known). So the feeder
 * has a small pool of names, and takes the next one if the node answers `alive` (there is a connection
 * under that name) or `nok` (one is being made, or it is the node's own name).
 *
 * libei reports all refusals as EIO. So libei gets its socket functions from here, and these keep the
 * first bytes of the answer, which tell the reason:
 *
 *     00 05 s alive            likewise nok, not_allowed: the status of the node
 *     00 03 s ok, challenge    and then the end: the node does not accept the answer to its challenge,
 *                              which is made of the cookie
 *     15 03                    a TLS alert: the node's distribution is encrypted
 */
#include "node_internal.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NAMES = 8, STATUS_AT = 3, TLS_ALERT = 0x15, TLS_MAJOR = 3, HANDSHAKE_SECONDS = 5 };

static const int64_t SECOND_NS = 1000000000;
static const int64_t WRITE_LIMIT = 5000000000; /* ns */

/* A peer that acknowledges nothing for this time, in ms, is gone. Beats are sent each second. */
static const unsigned UNACKNOWLEDGED_MS = 6000;

/* --- libei's socket functions: the context is the client; they return 0 or an errno --------------- */

/* EINTR would mean: call again. */
static int error_for_ei(int error)
{
    return error == EINTR ? ECANCELED : error;
}

static int ei_makes_socket(void **context, void *client)
{
    struct th_node_client *owner = client;

    owner->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    *context = client;
    return owner->socket < 0 ? errno : 0;
}

static int ei_closes(void *context)
{
    struct th_node_client *client = context;

    close(client->socket);
    client->socket = -1;
    return 0;
}

static int ei_connects(void *context, void *address, int length, unsigned limit_ms)
{
    struct th_node_client *client = context;
    socklen_t of_error = sizeof(int);
    int on = 1, error = 0;

    (void)limit_ms;
    if (connect(client->socket, address, (socklen_t)length) != 0) {
        error = errno == EINPROGRESS
                    ? th_node_wait(client, client->socket, POLLOUT, client->deadline)
                    : errno;
        if (!error && getsockopt(client->socket, SOL_SOCKET, SO_ERROR, &error, &of_error) != 0)
            error = errno;
    }
    setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(client->socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &UNACKNOWLEDGED_MS,
               sizeof UNACKNOWLEDGED_MS);
    client->connect_error = error;
    return error_for_ei(error);
}

int th_node_write(struct th_node_client *client, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    int64_t deadline = th_node_now() + WRITE_LIMIT;
    int error;

    while (size > 0) {
        ssize_t sent = send(client->socket, from, size, MSG_NOSIGNAL);
        if (sent >= 0) {
            from += sent;
            size -= (size_t)sent;
        } else if (errno == EAGAIN) {
            struct pollfd polled = {.fd = client->socket, .events = POLLOUT};
            int64_t left = deadline - th_node_now();
            if (left <= 0)
                return ETIMEDOUT;
            poll(&polled, 1, (int)(left / 1000000) + 1);
        } else if ((error = errno) != EINTR) {
            return error;
        }
    }
    return 0;
}

static int ei_writes(void *context, const char *bytes, ssize_t *size, unsigned limit_ms)
{
    (void)limit_ms;
    return th_node_write(context, bytes, (size_t)*size);
}

static int ei_reads(void *context, char *bytes, ssize_t *size, unsigned limit_ms)
{
    struct th_node_client *client = context;
    struct th_node_heard *heard = &client->heard;
    size_t kept;
    ssize_t got;
    int error;

    (void)limit_ms;
    error = th_node_wait(client, client->socket, POLLIN, client->deadline);
    if (error) {
        heard->timed_out = error == ETIMEDOUT;
        return error_for_ei(error);
    }
    got = recv(client->socket, bytes, (size_t)*size, 0);
    heard->closed = got == 0 || (got < 0 && errno == ECONNRESET);
    if (got < 0)
        return error_for_ei(errno);
    *size = got;
    kept = sizeof heard->bytes - heard->size;
    kept = kept < (size_t)got ? kept : (size_t)got;
    memcpy(heard->bytes + heard->size, bytes, kept);
    heard->size += kept;
    return 0;
}

static int ei_header_size(void *context, int *size)
{
    (void)context;
    *size = 2;
    return 0;
}

static int ei_is_connected(void *context)
{
    (void)context;
    return 0;
}

static int ei_wants_socket(void *context, int *fd)
{
    *fd = ((struct th_node_client *)context)->socket;
    return 0;
}

static ei_socket_callbacks socket_functions = {
    .flags = EI_SCLBK_FLG_FULL_IMPL,
    .socket = ei_makes_socket,
    .close = ei_closes,
    .connect = ei_connects,
    .write = ei_writes,
    .read = ei_reads,
    .handshake_packet_header_size = ei_header_size,
    .connect_handshake_complete = ei_is_connected,
    .get_fd = ei_wants_socket,
};

/* --- The reason of a refusal ----------------------------------------------------------------------- */

/* Returns whether the node's status is TEXT. */
static bool heard_status(const struct th_node_heard *heard, const char *text)
{
    size_t length = strlen(text), told = (size_t)heard->bytes[0] << 8 | heard->bytes[1];

    return heard->size >= STATUS_AT + length && heard->bytes[2] == 's' && told == length + 1 &&
           memcmp(heard->bytes + STATUS_AT, text, length) == 0;
}

static bool say_no_connection(const struct th_node_client *client)
{
    const struct th_node_heard *heard = &client->heard;
    const char *node = client->request->node;
    const char *file = client->request->cookie_file;
    bool given = client->request->cookie != NULL;

    if (heard->size >= 2 && heard->bytes[0] == TLS_ALERT && heard->bytes[1] == TLS_MAJOR)
        return th_node_say(client,
                           "the distribution of %s is encrypted (-proto_dist inet_tls), which "
                           "tracehost does not speak: record in the node, with dbg:trace_port",
                           node);
    if (heard_status(heard, "not_allowed"))
        return th_node_say(client,
                           "%s does not allow connections from here: call net_kernel:allow(['%s']) "
                           "in the node",
                           node, ei_thisnodename(&client->self));
    if (heard_status(heard, "ok") && heard->size > STATUS_AT + 2 && heard->closed)
        return th_node_say(client,
                           "%s refuses the %scookie%s%s: give the node's cookie with "
                           "--cookie=COOKIE, or its file with --cookie-file=FILE",
                           node, given ? "given " : "", given ? "" : " of ",
                           given  ? ""
                           : file ? file
                                  : "~/.erlang.cookie");
    if (client->connect_error == EINTR || client->connect_error == ECANCELED)
        return th_node_say(client, "ended by a signal");
    if (client->connect_error)
        return th_node_say(client, "cannot connect to %s at port %u of %s, which epmd gave: %s",
                           node, client->port, client->host,
                           client->connect_error == ETIMEDOUT ? "no answer within 5 seconds"
                                                              : strerror(client->connect_error));
    if (heard->timed_out)
        return th_node_say(client, "%s does not answer within %d seconds: it is stopped or hangs",
                           node, HANDSHAKE_SECONDS);
    if (heard->size == 0 && heard->closed)
        return th_node_say(client,
                           "%s closed the connection at once: it is going down, or "
                           "it accepts other hosts only",
                           node);
    return th_node_say(client,
                       "port %u of %s, which epmd gave for %s, does not answer as a node does",
                       client->port, client->host, client->alive);
}

/* --- The names -------------------------------------------------------------------------------------- */

/* Tries to connect under the name of NUMBER. Returns whether that succeeded. */
static bool connect_as(struct th_node_client *client, const char *host, unsigned creation,
                       int number)
{
    char alive[32], name[MAXNODELEN + 1];

    snprintf(alive, sizeof alive, "tracehost%d", number);
    snprintf(name, sizeof name, "%s@%s", alive, host);
    client->heard = (struct th_node_heard){0};
    client->connect_error = 0;
    client->deadline = th_node_now() + HANDSHAKE_SECONDS * SECOND_NS;
    return ei_connect_xinit_ussi(&client->self, host, alive, name, NULL, client->cookie, creation,
                                 &socket_functions, sizeof socket_functions, client) == 0 &&
           ei_xconnect_host_port_tmo(&client->self, &client->address.sin_addr, client->port,
                                     HANDSHAKE_SECONDS * 1000) >= 0;
}

bool th_node_connect(struct th_node_client *client)
{
    char host[128] = "localhost";
    unsigned creation = 0;

    gethostname(host, sizeof host - 1);
    /* Messages to an earlier client of the same name are not for this one. */
    if (getrandom(&creation, sizeof creation, 0) != (ssize_t)sizeof creation)
        creation = (unsigned)th_node_now();
    creation |= 4; /* 0 to 3 are the creations of old nodes */
    for (int number = 1; number <= NAMES; number++) {
        if (connect_as(client, host, creation, number))
            return true;
        if (!heard_status(&client->heard, "alive") && !heard_status(&client->heard, "nok"))
            return say_no_connection(client);
    }
    return th_node_say(client,
                       "%s has connections under all names from tracehost1@%s to tracehost%d@%s: "
                       "end one of the commands that trace it",
                       client->request->node, host, NAMES, host);
}

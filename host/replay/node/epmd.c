/*
 * The address of a host, and the port of a node there, which epmd knows.
 *
 * A question to epmd is its length in two bytes, a letter and, for the port of a node (z), the node's
 * name. epmd answers, and closes the connection. ERL_EPMD_PORT is epmd's port, as for Erlang.
 */
#include "node_internal.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EPMD_PORT = 4369, ASKS_PORT = 'z', ASKS_NAMES = 'n', TELLS_PORT = 119 };

static const int64_t EPMD_LIMIT = 5000000000; /* ns */

static unsigned epmd_port(void)
{
    const char *given = getenv("ERL_EPMD_PORT");
    unsigned long port = given ? strtoul(given, NULL, 10) : 0;

    return port > 0 && port <= 0xffff ? (unsigned)port : EPMD_PORT;
}

/* Reads until the peer closes or SIZE bytes are there. */
static int read_answer(const struct th_node_client *client, int fd, int64_t deadline,
                       unsigned char *answer, size_t *size)
{
    size_t there = 0;
    int error = 0;

    while (there < *size && (error = th_node_wait(client, fd, POLLIN, deadline)) == 0) {
        ssize_t got = recv(fd, answer + there, *size - there, 0);
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        there += (size_t)got;
    }
    *size = there;
    return error;
}

int th_node_connect_to_port(const struct th_node_client *client, unsigned port, int64_t deadline,
                            int *fd)
{
    struct sockaddr_in address = client->address;
    socklen_t of_error = sizeof(int);
    int error = 0;

    address.sin_port = htons((uint16_t)port);
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return errno;
    if (connect(*fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        error = errno == EINPROGRESS ? th_node_wait(client, *fd, POLLOUT, deadline) : errno;
        if (!error && getsockopt(*fd, SOL_SOCKET, SO_ERROR, &error, &of_error) != 0)
            error = errno;
    }
    return error;
}

/* Sends QUESTION and reads the answer of at most *SIZE bytes. Returns 0 or an errno. */
static int ask_epmd(const struct th_node_client *client, char question, const char *name,
                    unsigned char *answer, size_t *size)
{
    int64_t deadline = th_node_now() + EPMD_LIMIT;
    unsigned char asked[300];
    size_t length = strlen(name) + 1;
    int fd, error;

    asked[0] = (unsigned char)(length >> 8);
    asked[1] = (unsigned char)length;
    asked[2] = (unsigned char)question;
    memcpy(asked + 3, name, length - 1);
    error = th_node_connect_to_port(client, epmd_port(), deadline, &fd);
    if (!error && send(fd, asked, length + 2, MSG_NOSIGNAL) != (ssize_t)length + 2)
        error = errno;
    if (!error)
        error = read_answer(client, fd, deadline, answer, size);
    if (fd >= 0)
        close(fd);
    return error;
}

/* Returns 0 and the port, 0 if epmd does not know the node; an errno, EPROTO if it is no epmd. */
static int ask_port(struct th_node_client *client)
{
    unsigned char answer[4];
    size_t size = sizeof answer;
    int error = ask_epmd(client, ASKS_PORT, client->alive, answer, &size);

    if (error)
        return error;
    if (size < 2 || answer[0] != TELLS_PORT || (answer[1] == 0 && size < sizeof answer))
        return EPROTO;
    client->port = answer[1] ? 0 : (unsigned short)(answer[2] << 8 | answer[3]);
    return 0;
}

/* Says that epmd does not know the node, and which nodes it knows: after four bytes, each in a line
 * "name NAME at port PORT". */
static bool say_names(const struct th_node_client *client)
{
    unsigned char answer[8192];
    size_t size = sizeof answer - 1, of_names = 0;
    char names[400] = "";
    char *at, *line;

    if (ask_epmd(client, ASKS_NAMES, "", answer, &size) != 0 || size < 4)
        size = 4;
    answer[size] = 0;
    for (at = (char *)answer + 4; (line = strsep(&at, "\n"));) {
        size_t length = strncmp(line, "name ", 5) == 0 ? strcspn(line + 5, " ") : 0;
        if (length > 0 && of_names + length + 8 < sizeof names)
            of_names += (size_t)sprintf(names + of_names, "%s%.*s", of_names ? ", " : "",
                                        (int)length, line + 5);
        else if (length > 0 && names[of_names - 1] != '.')
            of_names += (size_t)sprintf(names + of_names, ", ...");
    }
    if (of_names == 0)
        return th_node_say(client, "epmd of %s knows no node: start the node with -sname %s",
                           client->host, client->alive);
    return th_node_say(client, "epmd of %s knows no node %s, it knows %s", client->host,
                       client->alive, names);
}

static bool say_epmd_error(const struct th_node_client *client, int error)
{
    const char *host = client->host;

    if (error == EINTR)
        return th_node_say(client, "ended by a signal");
    if (error == ECONNREFUSED)
        return th_node_say(client,
                           "no epmd listens at %s:%u: no node that has a name runs there, or "
                           "ERL_EPMD_PORT is another port",
                           host, epmd_port());
    if (error == EPROTO)
        return th_node_say(client,
                           "the answer from %s:%u is not that of an epmd: set ERL_EPMD_PORT to the "
                           "port of epmd",
                           host, epmd_port());
    if (error == ETIMEDOUT)
        return th_node_say(client,
                           "epmd does not answer at %s:%u within 5 seconds: does a firewall block "
                           "the port?",
                           host, epmd_port());
    return th_node_say(client, "cannot ask epmd at %s:%u: %s", host, epmd_port(), strerror(error));
}

bool th_node_find(struct th_node_client *client)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int error = getaddrinfo(client->host, NULL, &hints, &found);

    if (error != 0)
        return th_node_say(client, "the host %s has no IPv4 address here: %s", client->host,
                           error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
    for (const struct addrinfo *to = found; to; to = to->ai_next) {
        memcpy(&client->address, to->ai_addr, sizeof client->address);
        error = ask_port(client);
        if (error == 0 || error == EINTR)
            break;
    }
    freeaddrinfo(found);
    if (error)
        return say_epmd_error(client, error);
    return client->port > 0 || say_names(client);
}

bool th_node_listens(const struct th_node_client *client)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    int fd, error = 0;

    /* A process that ends closes its sockets one after the other. */
    for (int tries = 0; tries < 3 && error != ECONNREFUSED; tries++) {
        if (tries > 0)
            nanosleep(&pause, NULL);
        error = th_node_connect_to_port(client, client->port, th_node_now() + EPMD_LIMIT, &fd);
        if (fd >= 0)
            close(fd);
    }
    return error == 0;
}

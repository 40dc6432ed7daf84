#include "server.h"

#include <linux/sockios.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000 };

struct server {
    const struct server_act *acts;
    size_t count;
    int listener;
    pthread_t thread;
    char *name;
};

/* Ends the program, not the test: cmocka's assertions do not work in this thread. */
static void must(bool done, const char *what)
{
    if (!done)
        th_bug("server: %s failed", what);
}

static void send_all(int client, const struct server_act *act)
{
    size_t piece = act->piece ? act->piece : act->size;

    for (size_t at = 0; at < act->size; at += piece) {
        size_t size = act->size - at < piece ? act->size - at : piece;
        if (send(client, (const char *)act->data + at, size, MSG_NOSIGNAL) != (ssize_t)size)
            return; /* the client has gone */
    }
}

/* Waits until the client has received all, as a reset discards undelivered data. */
static void await_delivery(int client)
{
    int left = 0;

    while (ioctl(client, SIOCOUTQ, &left) == 0 && left > 0)
        usleep(1000);
}

static void play(int client, const struct server_act *act)
{
    static const struct linger at_once = {.l_onoff = 1};
    char byte;

    send_all(client, act);
    if (act->await)
        must(read(client, &byte, 1) <= 0, "waiting for the client to go");
    if (act->reset) {
        await_delivery(client);
        setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    close(client);
}

static void *serve(void *context)
{
    struct server *server = context;

    for (size_t i = 0; i < server->count; i++) {
        struct pollfd wait = {.fd = server->listener, .events = POLLIN};
        int client;
        must(poll(&wait, 1, PATIENCE_MS) == 1, "waiting for a client");
        client = accept(server->listener, NULL, NULL);
        must(client >= 0, "accept()");
        if (i + 1 == server->count)
            close(server->listener);
        play(client, &server->acts[i]);
    }
    return NULL;
}

/* Listens at a free port. */
static void listen_at(struct server *server, const char *host)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    struct addrinfo *address;
    char port[NI_MAXSERV];

    must(getaddrinfo(host, "0", &hints, &address) == 0, "getaddrinfo()");
    server->listener = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(bind(server->listener, address->ai_addr, address->ai_addrlen) == 0, "bind()");
    must(listen(server->listener, 8) == 0, "listen()");
    getsockname(server->listener, (struct sockaddr *)&bound, &size);
    getnameinfo((struct sockaddr *)&bound, size, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    freeaddrinfo(address);
    server->name = th_printf(strchr(host, ':') ? "tcp://[%s]:%s" : "tcp://%s:%s", host, port);
}

struct server *server_start(const char *host, const struct server_act *acts, size_t count)
{
    struct server *server = th_alloc_zero(sizeof *server);

    server->acts = acts;
    server->count = count;
    listen_at(server, host);
    must(pthread_create(&server->thread, NULL, serve, server) == 0, "pthread_create()");
    return server;
}

const char *server_name(const struct server *server)
{
    return server->name;
}

void server_end(struct server *server)
{
    pthread_join(server->thread, NULL);
    th_free(server->name);
    th_free(server);
}

/*
 * A node's trace port as a test plays it: a thread listens on this machine, and does to one client
 * after the other what the acts say. A client that comes when all were played is refused.
 */
#ifndef SERVER_H
#define SERVER_H

#include "host/base/base.h"

struct server_act {
    const void *data; /* is sent, ... */
    size_t size;
    size_t piece; /* ... so many bytes at a time; 0: all at once */
    bool await;   /* then the client must go first, ... */
    bool reset;   /* ... or is told of an error, not of an end */
};

struct server;

/* HOST: "127.0.0.1" or "::1". ACTS stay the caller's. */
struct server *server_start(const char *host, const struct server_act *acts, size_t count);

/* "tcp://127.0.0.1:PORT" */
const char *server_name(const struct server *server);

/* Waits until all acts were played. */
void server_end(struct server *server);

#endif

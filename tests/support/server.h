/*
 * Plays a node's trace port: a thread listens on this machine and serves one client for each act,
 * in order. After the last client was accepted, further ones are refused.
 */
#ifndef SERVER_H
#define SERVER_H

#include "host/base/base.h"

struct server_act {
    const void *data; /* bytes to send */
    size_t size;
    size_t piece; /* bytes at a time; 0: all at once */
    bool await;   /* then wait until the client closes */
    bool reset;   /* end with a reset instead of an orderly end */
};

struct server;

/* Starts a server at HOST, "127.0.0.1" or "::1". The caller keeps ACTS until server_end(). */
struct server *server_start(const char *host, const struct server_act *acts, size_t count);

/* "tcp://127.0.0.1:PORT" or "tcp://[::1]:PORT" */
const char *server_name(const struct server *server);

/* Waits until all acts were played, and frees SERVER. */
void server_end(struct server *server);

#endif

/* Messages that were sent and not received yet, with the spans in which they were sent. */
#ifndef OTLP_MESSAGES_H
#define OTLP_MESSAGES_H

#include <erl_nif.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OTLP_LOCAL __attribute__((visibility("hidden")))

/* Identity of a span. */
struct context {
    uint64_t trace[2];
    uint64_t span; /* 0: none */
};

struct message;

/* A hash table of lists, each in the order of sending, and a list of all messages in that order.
 * Initialised with zeros except `most`. */
struct messages {
    struct message_list {
        struct message *first, *last;
    } * slots;
    size_t used, size, most;
    struct message *oldest, *newest;
    uint64_t sent, matched;
    uint64_t forgotten; /* messages dropped beyond `most` */
    uint64_t unsent;    /* messages received whose sending is unknown */
    uint64_t lost;      /* messages sent without memory */
};

/* Adds a message to a local process; HASH is the hash of its content. */
OTLP_LOCAL void messages_send(struct messages *messages, ERL_NIF_TERM receiver, uint64_t hash,
                              const struct context *sender);

/* Removes the oldest message with that content to RECEIVER; *SENDER is the span in which it was
 * sent, 0 if none. False if there is no such message. */
OTLP_LOCAL bool messages_receive(struct messages *messages, ERL_NIF_TERM receiver, uint64_t hash,
                                 struct context *sender);

OTLP_LOCAL void messages_free(struct messages *messages);

#endif

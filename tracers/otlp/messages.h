/* Messages that were sent and not received yet, and which span each was sent in. */
#ifndef OTLP_MESSAGES_H
#define OTLP_MESSAGES_H

#include <erl_nif.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OTLP_LOCAL __attribute__((visibility("hidden")))

/* What tells a span from all others. */
struct context {
    uint64_t trace[2];
    uint64_t span; /* 0: none */
};

struct message;

/* A hash table of lists, each in the order of sending; and a list of all, in that order too. Starts
 * as all zero but for `most`. */
struct messages {
    struct message_list {
        struct message *first, *last;
    } * slots;
    size_t used, size, most;
    struct message *oldest, *newest;
    uint64_t sent, matched;
    uint64_t forgotten; /* as there were more than `most` */
    uint64_t unsent;    /* received, and not known to be sent */
    uint64_t lost;      /* sent, and there was no memory */
};

/* A message to a local process; HASH is its content's. */
OTLP_LOCAL void messages_send(struct messages *messages, ERL_NIF_TERM receiver, uint64_t hash,
                              const struct context *sender);

/* The oldest message to the RECEIVER of that content is taken out, and *SENDER is the span that it
 * was sent in, 0 if in none. False if there is none. */
OTLP_LOCAL bool messages_receive(struct messages *messages, ERL_NIF_TERM receiver, uint64_t hash,
                                 struct context *sender);

OTLP_LOCAL void messages_free(struct messages *messages);

#endif

/* What is kept of a trace, and what makes spans of it and writes them. All under the lock. */
#ifndef OTLP_OTLP_H
#define OTLP_OTLP_H

#include "../kit/aliases.h"
#include "../kit/escape.h"
#include "../kit/moment.h"
#include "../kit/names.h"
#include "../kit/receivers.h"
#include "../kit/stack.h"
#include "../kit/term.h"
#include "messages.h"

#include <pthread.h>

/* OpenTelemetry's limits for the links and the events of a span. */
enum { LINKS_MOST = 128, EVENTS_MOST = 128 };

/* JSON objects, with commas between them. */
struct items {
    char *text;
    size_t used, size;
    unsigned count;
    uint32_t dropped;
};

struct span {
    struct span *below;
    struct context context;
    uint64_t parent; /* 0: none */
    int64_t began;
    bool consumer; /* what its process received caused it */
    struct items attributes, events, links;
};

/* How the spans end that are about to. */
enum ending {
    END_RETURN,    /* return_from, exception_from */
    END_CALL,      /* a later call tells that they are not on the stack any more */
    END_RETURN_TO, /* return_to */
    END_EXIT,      /* that of the process */
    END_OPEN       /* they do not */
};

/* The event at hand. */
struct event {
    ErlNifEnv *env;
    ERL_NIF_TERM term, opts;
    enum ending ending;
    struct mfa returning; /* whose return or exception it is */
    ERL_NIF_TERM result;  /* of a return_from; 0: none */
    ERL_NIF_TERM class;   /* of an exception, or an exit that is one; 0: none */
    ERL_NIF_TERM reason;
    bool own;    /* of the span that is to end now: this event tells its call's end */
    bool failed; /* likewise, and that is an exception */
};

/* What the output's settings say. */
struct options {
    unsigned args, batch;
    bool open;   /* calls that have not ended are written, too */
    bool follow; /* a message's receiver goes on with the trace of its sender */
    const char *service;
};

struct otlp {
    pthread_mutex_t lock;
    FILE *file;
    struct options options;
    struct line batch; /* the line that is being made */
    unsigned batched;  /* spans in it */
    uint64_t seed, ids;
    bool seeded;
    bool timed, relative; /* an event had a time stamp; one of a clock whose zero is not known */
    unsigned clock;       /* enum moment_clock of the first event that had a time stamp */
    uint64_t others;      /* events by other clocks */
    int64_t latest;       /* nanoseconds since 1970 */
    int64_t start;        /* when a trace begins whose clock's zero is not known */
    struct {
        bool known;
        uint64_t value; /* from that clock to the time since 1970 */
    } shifts[MOMENT_CLOCKS];
    bool told; /* of a call's end or its caller, in any process */
    struct event event;
    struct tracees processes, names;
    struct messages messages;
    struct aliases aliases;
    struct receivers receivers;
    struct repairs repairs;
    uint64_t calls, spans, open, links_dropped, links_unused, events_dropped, untimed, lost;
};

struct process {
    struct tracee tracee;
    struct otlp *otlp;
    int64_t last; /* nanoseconds since 1970; never goes back */
    struct stack stack;
    struct span *span;    /* the one on top */
    struct items links;   /* of the span that will begin next */
    struct context cause; /* whose message or spawning was the first of these */
    bool messaged;        /* it was a message */
};

/* --- spans.c --- */

/* For the stack: a frame whose mark is 1 has the span on top of the process's. */
OTLP_LOCAL void span_begin(void *process, struct frame *frame);
OTLP_LOCAL void span_end(void *process, struct frame *frame);

/* CAUSE, "message" or "spawn", comes from the span SENDER: a link to it. */
OTLP_LOCAL void span_link(struct process *process, const struct context *sender, const char *cause);

/* An event `erlang.send` or `erlang.receive` of the span that is open, if there is one. PEER is who
 * the message went to, 0 for one that was received. */
OTLP_LOCAL void span_message(struct process *process, ERL_NIF_TERM peer);

OTLP_LOCAL void items_free(struct items *items);

/* --- write.c --- */

/* Objects {"key":KEY,"value":...}, and the comma that they need. */
OTLP_LOCAL void add_text(struct line *line, const char *key, const char *text, size_t size);
OTLP_LOCAL void add_integer(struct line *line, const char *key, int64_t number);
OTLP_LOCAL void add_term(struct line *line, const char *key, ERL_NIF_TERM term);

/* As much of the data in TERM as is wanted. */
OTLP_LOCAL void add_data(struct line *line, const struct otlp *otlp, const char *key,
                         ERL_NIF_TERM term);

/* Class and what the reason is called, such as error:badmatch. */
OTLP_LOCAL void add_type(struct line *line, const struct event *event, const char *key);

/* A comma, unless the line is at the beginning of something. */
OTLP_LOCAL void add_comma(struct line *line);

/* FRAME's span, which is the one on top of PROCESS's. */
OTLP_LOCAL void write_span(struct process *process, const struct frame *frame);

/* What is left, and a last line that tells the counts; on stderr, too. */
OTLP_LOCAL void write_end(struct otlp *otlp);

#endif

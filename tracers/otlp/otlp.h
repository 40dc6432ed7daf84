/* Data of a trace, and functions that make and write its spans. Protected by the lock. */
#ifndef OTLP_OTLP_H
#define OTLP_OTLP_H

#include "../kit/aliases.h"
#include "../kit/escape.h"
#include "../kit/moment.h"
#include "../kit/names.h"
#include "../kit/past.h"
#include "../kit/receivers.h"
#include "../kit/stack.h"
#include "../kit/term.h"
#include "messages.h"

#include <pthread.h>

/* OpenTelemetry's limits for links and events of a span. */
enum { LINKS_MOST = 128, EVENTS_MOST = 128 };

/* JSON objects, separated by commas. */
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
    bool consumer; /* caused by a message that its process received */
    struct items attributes, events, links;
};

/* The way in which the current spans end. */
enum ending {
    END_RETURN,    /* return_from, exception_from */
    END_CALL,      /* a later call shows that they have left the stack */
    END_RETURN_TO, /* return_to */
    END_EXIT,      /* exit of the process */
    END_OPEN       /* no end */
};

/* The current event. */
struct event {
    ErlNifEnv *env;
    ERL_NIF_TERM term, opts;
    enum ending ending;
    struct mfa returning; /* function that returns or raises */
    ERL_NIF_TERM result;  /* of a return_from; 0: none */
    ERL_NIF_TERM class;   /* class of an exception, or of an exit by an exception; 0: none */
    ERL_NIF_TERM reason;
    bool own;    /* this event reports the end of the span that ends now */
    bool failed; /* the same, by an exception */
};

/* Settings of the output. */
struct options {
    unsigned args, batch;
    bool open;   /* also writes calls that have not ended */
    bool follow; /* a receiver of a message continues the trace of its sender */
    const char *service;
};

struct otlp {
    pthread_mutex_t lock;
    FILE *file;
    struct options options;
    bool share;        /* a share of a recording: each span has a line, without a batch */
    struct line batch; /* the current line */
    unsigned batched;  /* spans in the line */
    uint64_t seed, ids;
    bool seeded;
    bool timed, relative; /* an event had a time stamp; one of a clock whose zero is unknown */
    unsigned clock;       /* enum moment_clock of the first event with a time stamp */
    uint64_t others;      /* events by other clocks */
    int64_t latest;       /* nanoseconds since 1970 */
    int64_t start;        /* start of a trace whose clock's zero is unknown */
    struct {
        bool known;
        uint64_t value; /* difference of that clock and the time since 1970 */
    } shifts[MOMENT_CLOCKS];
    bool told; /* a call's end or caller was reported, in any process */
    struct event event;
    struct tracees processes, names;
    struct messages messages;
    struct aliases aliases;
    struct receivers receivers;
    struct repairs repairs;
    uint64_t open_at_end, unused_at_end; /* calls and links in the last share */
    uint64_t calls, spans, open, links_dropped, links_unused, events_dropped, untimed, lost;
};

struct process {
    struct tracee tracee;
    struct otlp *otlp;
    int64_t last; /* nanoseconds since 1970; never goes back */
    struct stack stack;
    struct span *span;    /* the top one */
    struct items links;   /* links of the span that will begin next */
    struct context cause; /* sender of the first message or spawning of `links` */
    bool messaged;        /* `cause` is a message */
};

/* --- spans.c --- */

/* For the stack: a frame with mark 1 has the top span of its process. */
OTLP_LOCAL void span_begin(void *process, struct frame *frame);
OTLP_LOCAL void span_end(void *process, struct frame *frame);

/* Adds a link to the span SENDER, for CAUSE, "message" or "spawn". */
OTLP_LOCAL void span_link(struct process *process, const struct context *sender, const char *cause);

/* Adds an event `erlang.send` or `erlang.receive` to the open span, if there is one. PEER is the
 * receiver of the message, 0 for a received one. */
OTLP_LOCAL void span_message(struct process *process, ERL_NIF_TERM peer);

OTLP_LOCAL void items_free(struct items *items);

/* Drops the top span of PROCESS. */
OTLP_LOCAL void span_drop(struct process *process);

/* --- write.c --- */

/* Add an object {"key":KEY,"value":...}, and the comma that it needs. */
OTLP_LOCAL void add_text(struct line *line, const char *key, const char *text, size_t size);
OTLP_LOCAL void add_integer(struct line *line, const char *key, int64_t number);
OTLP_LOCAL void add_term(struct line *line, const char *key, ERL_NIF_TERM term);

/* Adds the data in TERM, to the detail that the settings request. */
OTLP_LOCAL void add_data(struct line *line, const struct otlp *otlp, const char *key,
                         ERL_NIF_TERM term);

/* Adds the class and the name of the reason, such as error:badmatch. */
OTLP_LOCAL void add_type(struct line *line, const struct event *event, const char *key);

/* Adds a comma, unless the line is at the start of an object or array. */
OTLP_LOCAL void add_comma(struct line *line);

/* Writes FRAME's span, the top one of PROCESS. */
OTLP_LOCAL void write_span(struct process *process, const struct frame *frame);

/* Writes a span that a share of a recording has written: SIZE bytes of TEXT. */
OTLP_LOCAL void write_taken(struct otlp *otlp, const char *text, size_t size);

/* Writes the rest, and a last line with the counts; the counts also to stderr. */
OTLP_LOCAL void write_end(struct otlp *otlp);

#endif

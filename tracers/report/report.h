/*
 * Data of a recording, collected from its events and written as a page at its end; README.md
 * describes the contents.
 *
 * One lock, that of the state, protects all data. All data is bounded: amounts beyond a limit are
 * added to the rest, or counted, and the page shows the counts.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "../kit/aliases.h"
#include "../kit/loss.h"
#include "../kit/names.h"
#include "../kit/past.h"
#include "../kit/receivers.h"
#include "../kit/stack.h"
#include "../kit/timing.h"
#include "../kit/tree.h"

#include <pthread.h>
#include <stdio.h>

enum {
    FUNCTIONS_MOST = 20000, /* functions that are kept */
    FUNCTIONS_SHOWN = 5000,
    PROCESSES_MOST = 4096,
    PROCESSES_SHOWN = 2000,
    PAIRS_MOST = 4096, /* pairs of a sending and a receiving process */
    PAIRS_SHOWN = 2000,
    NAMES_MOST = 65536,         /* registered names */
    WAITING_MOST = 4096,        /* unreceived messages of a process */
    WAITING_OF_ALL = 1 << 18,   /* unreceived messages of all processes */
    SLOWEST = 200,              /* calls that are kept */
    REQUESTS = 10,              /* outermost calls whose trees are kept */
    REQUEST_NODES = 200,        /* nodes of such a tree */
    TEXT_MOST = 240,            /* bytes of arguments, results and reasons */
    ARGUMENTS_KEPT = 256,       /* open calls of a process whose arguments are kept: the outermost
                                   ones */
    ARGUMENTS_OF_ALL = 1 << 16, /* the same, of all processes */
    FRAMES_MOST = 1000000,      /* open calls of a process, as in `time` */
    BINS = 600,                 /* bins of the timeline */
    LEVELS = 64,                /* in a bin */
    NARROWEST = 20000           /* least part of the whole that a stack must have: 1 / NARROWEST */
};

struct process;

/* --- time --- */

/* The clock of the recording, in nanoseconds since its first event with a time. */
struct clock {
    bool timed;       /* an event had a time */
    unsigned kind;    /* enum stamp_kind of that event */
    unsigned of;      /* enum moment_clock of that event */
    int64_t base;     /* time of that event by that clock */
    int64_t first;    /* the same, since the recording's first record */
    int64_t system;   /* system time of that event; 0: unknown */
    int64_t now;      /* time of the current event; without a time, that of the latest event */
    int64_t latest;   /* the largest so far */
    uint64_t untimed; /* events without a time */
    uint64_t others;  /* events with a time of another clock, which count as untimed */
    uint64_t early;   /* events before the first one: they count as simultaneous with it */
};

/* Returns the time of an event; TIME_NONE if it has none. */
TRACER_LOCAL int64_t clock_take(struct clock *clock, ErlNifEnv *env, ERL_NIF_TERM opts);

/* --- the timeline --- */

struct bin {
    uint64_t busy; /* nanoseconds */
    uint32_t events;
};

/* Bins of a process, from the first to the last that is not empty. Initialised with {0}. */
struct bins {
    struct bin *bins;
    uint32_t first, count, size;
    uint32_t shift; /* width of a bin: 1 << shift nanoseconds */
};

/* Add an event at NOW; add busy time between FROM and TO, in nanoseconds. Times below 0 count as 0.
 * A bin is 1 << *SHIFT nanoseconds wide; all processes share *SHIFT, which grows until the latest
 * time has a bin. If there is no memory, returns false, and adds nothing. */
TRACER_LOCAL bool bins_event(struct bins *bins, uint32_t *shift, int64_t now);
TRACER_LOCAL bool bins_busy(struct bins *bins, uint32_t *shift, int64_t from, int64_t to);

TRACER_LOCAL void bins_forget_busy(struct bins *bins);
TRACER_LOCAL void bins_widen(struct bins *bins, uint32_t shift);

/* --- messages --- */

struct message {
    struct message *next;
    struct process *from; /* NULL: a process that is not kept */
    ErlNifUInt64 hash;
    int64_t sent; /* or TIME_NONE */
};

/* Messages of a process that it has not received. */
struct mailbox {
    struct message *first, **end;
    unsigned waiting;
};

/* A pair of processes; NULL stands for all processes that are not kept. */
struct pair {
    struct process *from, *to;
    bool there; /* in use; else a free slot */
    uint64_t sent, matched, total;
    struct histogram times;
};

/* Initialised with {0}. */
struct messages {
    struct pair *pairs; /* hash table with open addressing, at most half of it used */
    size_t used, size;
    unsigned waiting;     /* unreceived messages in all mailboxes */
    struct tracees names; /* names that are or were registered */
    struct aliases aliases;
    struct receivers receivers;
    uint64_t forgotten; /* unreceived messages dropped for want of room */
    uint64_t merged;    /* pairs merged into the rest */
    uint64_t nameless;  /* names beyond NAMES_MOST */
};

/* --- slowest calls --- */

/* Calls of a function by the same call, or by calls that are one node themselves, one after the
 * other or among calls that are the same each time. */
struct request_node {
    struct mfa mfa;
    uint32_t parent;
    uint32_t next;   /* next child of the parent, in a ring */
    uint32_t latest; /* child of the latest call; 0: none */
    uint64_t count, took;
    uint64_t untold; /* calls whose duration is unknown */
    uint64_t more;   /* calls below it that have no node */
};

/* The tree of the present outermost call of a process. Node 0 is not used, node 1 is that call. */
struct request {
    struct request_node *nodes;
    uint32_t used, size;
    uint32_t at;   /* node of the running call; 0: none */
    uint64_t open; /* open calls */
    uint64_t out;  /* those without a node, which are the innermost ones */
    bool broken;   /* calls were dropped from the stack */
};

struct slow_call {
    struct count function;
    struct process *process; /* NULL: a process that is not kept */
    int64_t at;
    uint64_t took, own;
    uint64_t order; /* rank in the order in which calls ended */
    bool error;
    char *arguments, *outcome; /* NULL: unknown */
    uint32_t slot; /* slot of the arguments of a call that began before the share; else 0 */
    struct request_node *nodes; /* of an outermost call; else NULL */
    uint32_t nodes_used;
};

/* A heap, the least slow call on top. */
struct slow_calls {
    struct slow_call calls[SLOWEST];
    size_t used;
};

/* Initialised with {0}. */
struct slowest {
    struct slow_calls all, requests; /* at most SLOWEST, at most REQUESTS */
    uint64_t ended;
    /* Arguments of open calls. Slot 0 is not used. Calls that began before a share have an empty
     * text, but the same slots in all shares. */
    char (*slots)[TEXT_MOST];
    uint32_t slots_size, slots_used;
    uint32_t free_slot; /* head of a list linked by the bytes after the empty texts of free slots */
};

/* --- all --- */

struct sums {
    uint64_t events, calls, errors, sent, received, processes, ports;
};

struct report {
    pthread_mutex_t lock;
    struct clock clock;
    uint32_t shift; /* bin width of the timeline */
    struct counts tags;
    int streams;                  /* number that had begun at the latest event */
    struct sums sums, others;     /* of all processes; of those that are not kept */
    struct tracees processes;     /* of struct process */
    struct process *first, **end; /* the same in order of appearance */
    uint64_t serials;
    /* Look-ups of processes without a place in `processes`, since the last attempt to make room: an
     * attempt scans all processes, so many look-ups must pay for one. */
    unsigned newcomers;
    bool scheduling; /* running of processes is traced */
    bool told;       /* an end or a caller was reported, in any process */

    struct calls calls;
    struct figures_table functions;
    uint64_t strays; /* ends of calls whose begin was not seen */
    struct tree stacks;
    uint32_t stacks_saved; /* nodes that the shares before have */
    struct repairs repairs;
    struct losses losses;   /* of the calls of earlier streams */
    struct repairs untimed; /* of earlier streams: ends of calls that were not measured */
    uint64_t unscheduled;   /* calls and returns of processes that were scheduled out */
    struct messages messages;
    struct slowest slowest;
    struct process *at_work; /* process of the current event */
    uint64_t unkept;         /* events of processes beyond PROCESSES_MOST */
    uint64_t lost;           /* events without memory */
    uint64_t starved;        /* the same in all parts of the report, once the page is written */
};

/* A process or port that events name. */
struct process {
    struct tracee tracee;
    struct report *report;
    struct process *next; /* next in order of appearance */
    uint64_t serial;      /* 1, 2, ... in order of appearance */
    uint32_t number;      /* number on the page */
    bool forgotten;       /* being merged into the rest */
    bool port;
    bool ended;
    struct mfa entry;                   /* function 0: unknown; of a port: its driver */
    ERL_NIF_TERM parent;                /* 0: unknown */
    int64_t born, died;                 /* or TIME_NONE */
    int64_t last;                       /* its latest event, or TIME_NONE */
    struct schedule schedule;           /* of its stack */
    int64_t runs_since, collects_since; /* or TIME_NONE */
    struct sums sums;
    uint64_t own, ran, collections, collecting_time; /* nanoseconds, except `collections` */
    char *reason;                                    /* NULL: unknown */
    struct stack stack;
    uint32_t root;      /* in the tree of stacks; 0: no calls */
    unsigned arguments; /* number of its open calls whose arguments are kept */
    struct request request;
    struct bins bins;
    struct mailbox mailbox;
};

/* The current event. */
struct event {
    ErlNifEnv *env;
    struct report *report;
    struct process *process; /* NULL: not kept */
    ERL_NIF_TERM tracee, tag, term, opts;
    ERL_NIF_TERM extra; /* 0: none */
    int64_t now;        /* or TIME_NONE */
};

/* text.c */

/* Prints TERM, at most TEXT_MOST bytes. Returns the length. */
TRACER_LOCAL size_t print_bounded(char *text, ErlNifEnv *env, ERL_NIF_TERM term);

/* Returns the same as allocated text; NULL if there is no memory. */
TRACER_LOCAL char *text_of(ErlNifEnv *env, ERL_NIF_TERM term);

/* processes.c */

/* Returns the process or port of a word that tracee_word() made, and adds the process if necessary;
 * for that, processes that have ended may be freed (processes_forget()). Returns NULL if there are
 * PROCESSES_MOST processes already, or no memory. */
TRACER_LOCAL struct process *process_of(struct report *report, ERL_NIF_TERM word, bool port);

/* Handles the parts of EVENT about the life, running and collections of its process. */
TRACER_LOCAL void life_event(const struct event *event);

/* At the end: a process that runs does so until its latest event. */
TRACER_LOCAL void processes_stop(struct report *report);

/* Begins another stream: no process is in a call, runs or has messages. */
TRACER_LOCAL void processes_begin_stream(struct report *report);

/* Drops the times that the timeline shows if running of processes is not traced. */
TRACER_LOCAL void processes_forget_busy(struct report *report);

/* Keeps the MOST busiest; if the recording goes on, drops only processes that have ended. */
TRACER_LOCAL void processes_forget(struct report *report, size_t most, bool goes_on);
TRACER_LOCAL void processes_free(struct report *report);

/* functions.c */
TRACER_LOCAL void functions_begin(struct report *report);
TRACER_LOCAL void function_event(const struct event *event);
TRACER_LOCAL void function_exit(const struct event *event);

/* Handles an event about a scheduler. */
TRACER_LOCAL void function_running(const struct event *event);

/* Drops the open calls of a stream that ends: their ends remain unknown. */
TRACER_LOCAL void functions_forget_open(struct report *report);

/* stacks.c */

/* Adds the time until NOW to the function on top. */
TRACER_LOCAL void stack_pass_time(struct process *process, int64_t now);
TRACER_LOCAL void process_call(const struct event *event);
TRACER_LOCAL void stack_end(struct process *process);

/* messages.c */
TRACER_LOCAL void send_event(const struct event *event);
TRACER_LOCAL void receive_event(const struct event *event);
TRACER_LOCAL void name_event(const struct event *event, bool registered);
TRACER_LOCAL void mailbox_clear(struct messages *messages, struct mailbox *mailbox);

/* Merges the processes that are marked `forgotten` into the rest. */
TRACER_LOCAL void messages_forget(struct report *report);

/* Keeps the MOST pairs with most messages. */
TRACER_LOCAL void pairs_forget(struct messages *messages, size_t most);

/* Drops all unreceived messages, names and aliases. */
TRACER_LOCAL void messages_clear(struct report *report);
TRACER_LOCAL void messages_free(struct messages *messages);

/* requests.c */

/* Begins a call of PROCESS. Returns its node; 0: it has none, as there is no room. */
TRACER_LOCAL uint32_t request_begin(struct process *process, const struct mfa *mfa);

/* Ends the innermost call, which has NODE. TOOK may be TIME_NONE. True if the outermost call has
 * ended, and its tree is complete. */
TRACER_LOCAL bool request_end(struct process *process, uint32_t node, int64_t took);

/* A call was dropped from the stack: the tree is incomplete. */
TRACER_LOCAL void request_break(struct process *process);

/* Copies the tree to CALL. Without memory CALL has none, and that is counted. */
TRACER_LOCAL void request_copy(const struct request *request, struct slow_call *call);

/* slowest.c */

/* Begins the call's node, and keeps its arguments. Returns a mark for calls_begin(). */
TRACER_LOCAL uint32_t slowest_keep(const struct event *event);
TRACER_LOCAL void slowest_drop(struct slowest *slowest, struct process *process, uint32_t mark);

/* Handles the end of a call by EVENT. */
TRACER_LOCAL void slowest_ended(const struct event *event, const struct ended *ended);
TRACER_LOCAL void slowest_forget(struct slowest *slowest);

/* Drops all kept arguments. */
TRACER_LOCAL void slowest_drop_all(struct slowest *slowest);

/* Sorts, the slowest first. */
TRACER_LOCAL void slowest_sort(struct slow_calls *calls);
TRACER_LOCAL void slowest_free(struct slowest *slowest);

/* page.c: writes the page, and changes REPORT. TITLE may be empty. */
TRACER_LOCAL void write_page(FILE *file, ErlNifEnv *env, struct report *report, const char *title);

#endif

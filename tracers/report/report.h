/*
 * What is kept of a recording while its events come, and written as a page at its end; README.md
 * tells what is in it.
 *
 * All of it is under one lock, that of its state. Everything has a bound: what is beyond is added
 * to the rest, or counted, and the page says how much that is.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "../kit/aliases.h"
#include "../kit/loss.h"
#include "../kit/names.h"
#include "../kit/receivers.h"
#include "../kit/stack.h"
#include "../kit/timing.h"
#include "../kit/tree.h"

#include <pthread.h>
#include <stdio.h>

enum {
    FUNCTIONS_MOST = 20000, /* kept */
    FUNCTIONS_SHOWN = 5000,
    PROCESSES_MOST = 4096,
    PROCESSES_SHOWN = 2000,
    PAIRS_MOST = 4096, /* of processes of which one sends to the other */
    PAIRS_SHOWN = 2000,
    NAMES_MOST = 65536,         /* registered */
    WAITING_MOST = 4096,        /* messages that were sent to a process and not received yet */
    WAITING_OF_ALL = 1 << 18,   /* likewise, to all together */
    SLOWEST = 200,              /* calls */
    TEXT_MOST = 240,            /* bytes of arguments, results and reasons */
    ARGUMENTS_KEPT = 256,       /* of so many open calls of a process, the outermost ones */
    ARGUMENTS_OF_ALL = 1 << 16, /* of so many together */
    FRAMES_MOST = 1000000,      /* open calls of a process, as of `time` */
    BINS = 600,                 /* of the timeline */
    LEVELS = 64,                /* in a bin */
    NARROWEST = 20000           /* parts of the whole, of which a stack must have one */
};

struct process;

/* --- time --- */

/* The recording's, in nanoseconds since its first event that has a time. */
struct clock {
    bool timed;       /* an event had a time */
    unsigned kind;    /* its enum stamp_kind */
    unsigned of;      /* its enum moment_clock */
    int64_t base;     /* its time by that clock */
    int64_t first;    /* the same since the recording's first record */
    int64_t system;   /* its system time; 0: not known */
    int64_t now;      /* of the event at hand; of one without a time, that of the latest */
    int64_t latest;   /* the largest so far */
    uint64_t untimed; /* events without a time */
    uint64_t others;  /* events with a time of another clock, which are taken for such */
    uint64_t early;   /* events before the first one: they count as if they came with it */
};

/* The time of an event that comes; TIME_NONE if it has none. */
TRACER_LOCAL int64_t clock_take(struct clock *clock, ErlNifEnv *env, ERL_NIF_TERM opts);

/* --- the timeline --- */

struct bin {
    uint64_t busy; /* nanoseconds */
    uint32_t events;
};

/* The bins of a process, from the first to the last that has anything. Start it as {0}. */
struct bins {
    struct bin *bins;
    uint32_t first, count, size;
    uint32_t shift; /* a bin is so wide: 1 << shift nanoseconds */
};

/* An event at NOW; busy time between FROM and TO. *SHIFT is that of all, which grows with the
 * recording. False if there is no memory. */
TRACER_LOCAL bool bins_event(struct bins *bins, uint32_t *shift, int64_t now);
TRACER_LOCAL bool bins_busy(struct bins *bins, uint32_t *shift, int64_t from, int64_t to);

TRACER_LOCAL void bins_forget_busy(struct bins *bins);
TRACER_LOCAL void bins_widen(struct bins *bins, uint32_t shift);

/* --- messages --- */

struct message {
    struct message *next;
    struct process *from; /* NULL: it is among the others */
    ErlNifUInt64 hash;
    int64_t sent; /* or TIME_NONE */
};

/* Of those that a process was sent, the ones that it has not received. */
struct mailbox {
    struct message *first, **end;
    unsigned waiting;
};

/* NULL stands for whoever is not among the processes that are kept. */
struct pair {
    struct process *from, *to;
    bool there; /* else the slot is free */
    uint64_t sent, matched, total;
    struct histogram times;
};

/* Start it as {0}. */
struct messages {
    struct pair *pairs; /* hash table with open addressing, at most half of it used */
    size_t used, size;
    unsigned waiting;     /* in all mailboxes */
    struct tracees names; /* that are registered, or were */
    struct aliases aliases;
    struct receivers receivers;
    uint64_t forgotten; /* messages that nobody is waited for any more to receive */
    uint64_t merged;    /* pairs */
    uint64_t nameless;  /* names beyond NAMES_MOST */
};

/* --- slowest calls --- */

struct slow_call {
    struct count function;
    struct process *process; /* NULL: it is among the others */
    int64_t at;
    uint64_t took, own;
    uint64_t order; /* in which calls ended */
    bool error;
    char *arguments, *outcome; /* NULL: not known */
};

/* Start it as {0}. */
struct slowest {
    struct slow_call calls[SLOWEST]; /* a heap, what is least slow on top */
    size_t used;
    uint64_t ended;
    /* Arguments of open calls. 0 is no slot. */
    char (*slots)[TEXT_MOST];
    uint32_t slots_size, slots_used;
    uint32_t free_slot; /* the first of a list, in their first bytes */
};

/* --- all --- */

struct sums {
    uint64_t events, calls, errors, sent, received, processes, ports;
};

struct report {
    pthread_mutex_t lock;
    struct clock clock;
    uint32_t shift; /* the timeline's */
    struct counts tags;
    int streams;                  /* that had begun when the latest event came */
    struct sums sums, others;     /* of all; of those that are not among these: */
    struct tracees processes;     /* of struct process */
    struct process *first, **end; /* the same, in the order in which they came */
    uint64_t serials;
    /* Looks for processes that had no place in `processes`, since it was last tried to make room:
     * each try looks at all that are there, so that many must have come to pay for one. */
    unsigned newcomers;
    bool scheduling; /* it is traced when processes run */
    bool told;       /* of an end or a caller, in any process */

    struct calls calls;
    struct figures_table functions;
    uint64_t strays; /* ends of calls that were not seen to begin */
    struct tree stacks;
    struct repairs repairs;
    uint64_t forgotten;     /* open calls of streams before this one that full stacks let go of */
    struct repairs untimed; /* of those: ends of calls that were not measured */
    uint64_t unscheduled;   /* calls and returns of processes that were not scheduled in */
    struct messages messages;
    struct slowest slowest;
    struct process *at_work; /* of the event at hand */
    uint64_t unkept;         /* events of processes beyond PROCESSES_MOST */
    uint64_t lost;           /* events that there was no memory for */
    uint64_t starved;        /* the same in all parts of the report, once the page is written */
};

/* A process or port that events tell of. */
struct process {
    struct tracee tracee;
    struct report *report;
    struct process *next; /* that came after it */
    uint64_t serial;      /* 1, 2, ... as they came */
    uint32_t number;      /* on the page */
    bool forgotten;       /* it is on its way to the others */
    bool port;
    bool ended;
    bool out;                           /* of the processor */
    struct mfa entry;                   /* function 0: not known; or of a port its driver */
    ERL_NIF_TERM parent;                /* 0: not known */
    int64_t born, died;                 /* or TIME_NONE */
    int64_t last;                       /* its latest event, or TIME_NONE */
    int64_t passed;                     /* until when its stack's time is accounted for */
    int64_t runs_since, collects_since; /* or TIME_NONE */
    struct sums sums;
    uint64_t own, ran, collections, collecting_time; /* nanoseconds, but for `collections` */
    char *reason;                                    /* NULL: not known */
    struct stack stack;
    uint32_t root;      /* in the tree of stacks; 0: it called nothing */
    unsigned arguments; /* how many of its open calls have theirs kept */
    struct bins bins;
    struct mailbox mailbox;
};

/* An event, as it is dealt with. */
struct event {
    ErlNifEnv *env;
    struct report *report;
    struct process *process; /* NULL: it is not kept */
    ERL_NIF_TERM tracee, tag, term, opts;
    ERL_NIF_TERM extra; /* 0: none */
    int64_t now;        /* or TIME_NONE */
};

/* text.c */

/* TERM, as far as TEXT_MOST bytes go. How long it is. */
TRACER_LOCAL size_t print_bounded(char *text, ErlNifEnv *env, ERL_NIF_TERM term);

/* The same, allocated; NULL if there is no memory. */
TRACER_LOCAL char *text_of(ErlNifEnv *env, ERL_NIF_TERM term);

/* processes.c */

/* The process or port of a word that tracee_word() made, begun if it is not there. NULL if it is
 * not to be kept. */
TRACER_LOCAL struct process *process_of(struct report *report, ERL_NIF_TERM word, bool port);

/* What EVENT tells of how its process lives, runs and collects. */
TRACER_LOCAL void life_event(const struct event *event);

/* At the end: whoever runs does so until its latest event. */
TRACER_LOCAL void processes_stop(struct report *report);

/* Another stream begins: nobody is in a call, runs or has messages. */
TRACER_LOCAL void processes_begin_stream(struct report *report);

/* Leaves the MOST busiest; where it goes on, only those that have ended go. */
TRACER_LOCAL void processes_forget(struct report *report, size_t most, bool goes_on);
TRACER_LOCAL void processes_free(struct report *report);

/* functions.c */
TRACER_LOCAL void functions_begin(struct report *report);
TRACER_LOCAL void function_event(const struct event *event);
TRACER_LOCAL void function_exit(const struct event *event);

/* All calls that are open stay so. */
TRACER_LOCAL void functions_forget_open(struct report *report);

/* stacks.c */

/* Time passes until NOW, which counts for who is on top. */
TRACER_LOCAL void stack_pass_time(struct process *process, int64_t now);
TRACER_LOCAL void process_call(const struct event *event);
TRACER_LOCAL void stack_end(struct process *process);

/* messages.c */
TRACER_LOCAL void send_event(const struct event *event);
TRACER_LOCAL void receive_event(const struct event *event);
TRACER_LOCAL void name_event(const struct event *event, bool registered);
TRACER_LOCAL void mailbox_clear(struct messages *messages, struct mailbox *mailbox);

/* Whoever is on the way to the others is one of them. */
TRACER_LOCAL void messages_forget(struct report *report);

/* Leaves the MOST pairs that sent most. */
TRACER_LOCAL void pairs_forget(struct messages *messages, size_t most);

/* All that was sent and not received, all names and aliases. */
TRACER_LOCAL void messages_clear(struct report *report);
TRACER_LOCAL void messages_free(struct messages *messages);

/* slowest.c */

/* A mark for calls_begin(): where the call's arguments are kept; 0: nowhere. */
TRACER_LOCAL uint32_t slowest_keep(const struct event *event);
TRACER_LOCAL void slowest_drop(struct slowest *slowest, struct process *process, uint32_t mark);

/* EVENT has ended a call. */
TRACER_LOCAL void slowest_ended(const struct event *event, const struct ended *ended);
TRACER_LOCAL void slowest_forget(struct slowest *slowest);

/* All arguments that are kept. */
TRACER_LOCAL void slowest_drop_all(struct slowest *slowest);

/* The slowest first. */
TRACER_LOCAL void slowest_sort(struct slowest *slowest);
TRACER_LOCAL void slowest_free(struct slowest *slowest);

/* page.c: writes the page, and changes REPORT. TITLE may be empty. */
TRACER_LOCAL void write_page(FILE *file, ErlNifEnv *env, struct report *report, const char *title);

#endif

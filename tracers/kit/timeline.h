/*
 * Timelines: tracks of processes with calls, collections and messages in the order of their times.
 *
 * A tracer that draws timelines has a struct timeline as the first member of its data, and a struct
 * track_writer, whose functions write what happens. A call's begin and end come as in stack.h; a
 * message that was sent comes back with its number when it is received, if the receiver is known
 * and traced. Messages are told apart by their contents alone: the first of equal ones is received.
 *
 * Times are nanoseconds since the zero of the event's clock (moment.h). Within a process they never
 * go back.
 *
 * Thread: the holder of the timeline's lock.
 */
#ifndef TRACER_TIMELINE_H
#define TRACER_TIMELINE_H

#include "local.h"
#include "moment.h"
#include "names.h"
#include "past.h"
#include "receivers.h"
#include "stack.h"

#include <pthread.h>

enum { TIMELINE_BUFFER = 1 << 17, TIMELINE_NAME = 200, TIMELINE_WAITING = 10000 };

struct message {
    struct message *next;
    ErlNifUInt64 hash;
    unsigned long long id;
    unsigned clock; /* enum moment_clock of the sending */
};

/* Messages to a process that were not received yet: at most TIMELINE_WAITING, the latest. */
struct mailbox {
    struct message *first, **end;
    unsigned waiting;
    bool receives; /* its receives are traced */
    int64_t counted;
};

struct timeline;

struct process {
    struct tracee tracee;
    struct timeline *timeline;
    unsigned tid;
    unsigned clock;         /* enum moment_clock of the latest event */
    int64_t last;           /* INT64_MIN: no event of its own yet */
    const char *collection; /* name of the open slice; NULL: none */
    struct stack stack;
    struct mailbox mailbox;
};

/* Functions that write, at the time process->last. A tracer that handles calls alone needs `begin`
 * and `end`; the others may then be NULL. */
struct track_writer {
    /* The process has its first event, or another name. */
    void (*name)(struct process *process);
    /* The process goes on by another clock; `clock` and `last` are those of the events before.
     * Returns the latest time by the new clock, INT64_MIN: none yet, after which name() follows.
     * NULL: times of all clocks are one sequence. */
    int64_t (*clock)(struct process *process, unsigned clock);
    /* A call begins or ends. `mark` of the frame is 1; if begin() sets it to 0, end() does not follow. */
    void (*begin)(struct process *process, struct frame *frame);
    void (*end)(struct process *process, const struct frame *frame);
    /* process->collection begins or ends. */
    void (*collection)(struct process *process, bool begins);
    void (*heap)(struct process *process, ErlNifUInt64 words);
    /* A message is sent or received. MESSAGE is NULL if its receiver or its sending is unknown.
     * QUEUE is the process whose queue changes, at the time `counted` of its mailbox; NULL: none is
     * drawn. */
    void (*message)(struct process *process, bool received, const struct message *message,
                    struct process *queue);
};

struct timeline {
    pthread_mutex_t lock;
    const struct track_writer *writer;
    FILE *file;
    size_t unflushed;
    bool timed;           /* an event had a time stamp */
    unsigned clock;       /* enum moment_clock of the first event with a time stamp */
    int64_t base, latest; /* nanoseconds; `base` by NODE_CLOCK, `latest` since the zero */
    int64_t by_clock[MOMENT_CLOCKS]; /* `latest` of each clock */
    uint64_t others;                 /* events by another clock than the first one */
    uint64_t untimed;                /* events without a time stamp after one that had one */
    uint64_t crossed; /* lengths of queues not drawn: sent by another clock than the receiver's */
    unsigned tids;
    unsigned long long ids;
    size_t size; /* of a struct process with what the tracer adds */
    struct tracees processes, names;
    struct receivers receivers;
    struct repairs repairs;
    uint64_t undrawn, forgotten, lost;
};

/* Initialises TIMELINE, which is all zero. SIZE is that of the tracer's processes. */
TRACER_LOCAL void timeline_begin(struct timeline *timeline, FILE *file,
                                 const struct track_writer *writer, size_t size);

/* Frees the processes, whose calls and collections end, and all else but TIMELINE itself. */
TRACER_LOCAL void timeline_end(struct timeline *timeline);

/* Frees the processes without the ends of their calls and collections. */
TRACER_LOCAL void timeline_drop(struct timeline *timeline);

/* Returns the process of a tracee (tracee.h), a new one if need be. NULL, and counted, if there is no
 * memory. */
TRACER_LOCAL struct process *timeline_process(struct timeline *timeline, ERL_NIF_TERM tracee);

/* Ends the calls and the collection of PROCESS. */
TRACER_LOCAL void timeline_stop(struct process *process);

/* Advances the process's clock to the time of its event. */
TRACER_LOCAL void timeline_pass(ErlNifEnv *env, struct process *process, ERL_NIF_TERM opts);

/* Handles events of the groups call, send, receive and garbage_collection, `register` and `exit`,
 * with which PROCESS ends. */
TRACER_LOCAL void timeline_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM tag,
                                 ERL_NIF_TERM term, ERL_NIF_TERM opts);

/* Notes a record of SIZE bytes: the file is flushed now and then. */
TRACER_LOCAL void timeline_written(struct timeline *timeline, size_t size);

/* Prints COUNT of WHAT in the name of TRACER, unless COUNT is 0. */
TRACER_LOCAL void timeline_tell(const char *tracer, const char *what, uint64_t count);

/* Prints the counts of repairs, of calls too deep to be drawn, and of forgotten messages. */
TRACER_LOCAL void timeline_tell_all(const char *tracer, const struct timeline *timeline);

#endif

/* Data of a recording, and functions that write its events. Protected by the lock. */
#ifndef CHROME_CHROME_H
#define CHROME_CHROME_H

#include "../kit/escape.h"
#include "../kit/names.h"
#include "../kit/past.h"
#include "../kit/receivers.h"
#include "../kit/stack.h"

#include <pthread.h>

#define CHROME_LOCAL __attribute__((visibility("hidden")))

enum { BUFFER = 1 << 17, NAME_MOST = 200, WAITING_MOST = 10000 };

struct message {
    struct message *next;
    ErlNifUInt64 hash;
    unsigned long long id;
};

/* Messages of a process, or of a name whose owner is unknown. */
struct mailbox {
    struct message *first, **end;
    unsigned waiting;
    bool receives; /* its receives are traced */
    int64_t counted;
};

struct chrome {
    pthread_mutex_t lock;
    FILE *file;
    size_t unflushed;
    bool begun;
    bool timed;           /* an event had a time stamp */
    unsigned clock;       /* enum moment_clock of the first event with a time stamp */
    int64_t base, latest; /* nanoseconds; `base` by NODE_CLOCK, `latest` since the zero */
    uint64_t others;      /* events by another clock than the first one */
    uint64_t untimed;     /* events without a time stamp after one that had one */
    unsigned tids;
    unsigned long long ids;
    struct tracees processes, names;
    struct receivers receivers;
    struct repairs repairs;
    uint64_t undrawn, forgotten, lost;
};

struct process {
    struct tracee tracee;
    struct chrome *chrome;
    unsigned tid;
    int64_t last;
    const char *collection; /* name of the open slice; NULL: none */
    struct stack stack;
    struct mailbox mailbox;
};

CHROME_LOCAL void write_name(struct process *process);

/* Writes the begin, B, or the end, E, of a slice: some viewers pair them by name. */
CHROME_LOCAL void write_slice(struct process *process, char kind, const char *category,
                              const char *name);

/* Writes the begin, s, or the end, f, of an arrow. */
CHROME_LOCAL void write_arrow(struct process *process, const char *kind, unsigned long long id);

/* Writes a label of the whole drawing, which viewers show as the name of what is traced. */
CHROME_LOCAL void write_label(struct chrome *chrome, const char *label);

CHROME_LOCAL void write_counter(struct process *process, const char *name, int64_t time,
                                const char *first, ErlNifUInt64 value);

#endif

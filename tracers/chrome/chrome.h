/* What is kept of a recording, and what writes its events. All under the lock. */
#ifndef CHROME_CHROME_H
#define CHROME_CHROME_H

#include "../kit/escape.h"
#include "../kit/names.h"
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

/* Of a process, or of a name that nobody is known to have. */
struct mailbox {
    struct message *first, **end;
    unsigned waiting;
    bool receives; /* it is traced */
    int64_t counted;
};

struct chrome {
    pthread_mutex_t lock;
    FILE *file;
    size_t unflushed;
    bool begun;
    bool timed;           /* an event had a time stamp */
    unsigned clock;       /* enum moment_clock of the first one that had */
    int64_t base, latest; /* nanoseconds; `base` by NODE_CLOCK, `latest` since the zero */
    uint64_t others;      /* events by other clocks than the first */
    uint64_t untimed;     /* events without a time stamp after one that had */
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
    const char *collection; /* the slice that is open; NULL: none is */
    struct stack stack;
    struct mailbox mailbox;
};

CHROME_LOCAL void write_name(struct process *process);

/* A slice's begin, B, or its end, E: some viewers pair them by name. */
CHROME_LOCAL void write_slice(struct process *process, char kind, const char *category,
                              const char *name);

/* An arrow's begin, s, or its end, f. */
CHROME_LOCAL void write_arrow(struct process *process, const char *kind, unsigned long long id);

/* A label of all that is drawn, where viewers show what it is the trace of. */
CHROME_LOCAL void write_label(struct chrome *chrome, const char *label);

CHROME_LOCAL void write_counter(struct process *process, const char *name, int64_t time,
                                const char *first, ErlNifUInt64 value);

#endif

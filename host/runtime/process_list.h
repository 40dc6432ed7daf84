/* Who there is, for those who ask from outside. Part of the face of runtime/. */
#ifndef TH_PROCESS_LIST_H
#define TH_PROCESS_LIST_H

#include "host/term/term.h"

/* What a process does. */
enum th_process_doing {
    TH_PROCESS_QUEUED,  /* it can run, and waits for a scheduler or a dirty thread */
    TH_PROCESS_RUNNING, /* one runs it */
    TH_PROCESS_WAITING  /* for a message, for a time, or to be told what to do */
};

/*
 * A process as it was seen. Nobody is stopped for that: what it is doing now, `function` and
 * `messages` are of this moment, each by itself; the rest is of the end of its last turn.
 */
struct th_process_seen {
    th_term pid;
    th_term name; /* TH_NONE: it has none */
    enum th_process_doing doing;
    /* "module:function/arity" that the runtime has called, which nested calls are made by, or that
     * has gone on to wait; NULL: none. As long as no library is released. */
    const char *function;
    /* Whose code it is in, serials of instances, 0: nobody's: by FUNCTION, if that is not over; by
     * functions that wait for it, the oldest. */
    uint64_t code, kept;
    uint64_t messages;   /* signals that are on their way included */
    uint64_t reductions; /* since its start */
    uint64_t words;      /* of its heap, in use */
    uint64_t links;
};

/* All processes, in no order; the array is the caller's to free. Any thread. */
size_t th_runtime_list(struct th_process_seen **processes);

#endif

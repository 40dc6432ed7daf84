/*
 * Trees of calls of one state: calls are held until their outermost call ends, and printed.
 *
 * The mark of an open call (../kit/calls.h) is the number of its slot (held.h), or one of enum mark.
 * For the holder of the lock of the settings.
 */
#ifndef TREE_TREES_H
#define TREE_TREES_H

#include "../kit/term.h"
#include "../kit/timing.h"
#include "print.h"

enum { ONLY_BYTES = 1100 /* the longest M:F/A of atoms without quotes, in Latin-1 */ };

struct settings {
    unsigned args, results, fold, depth, held, all;
    ErlNifTime min;
    char only[ONLY_BYTES]; /* "": all */
    pthread_mutex_t lock;
    struct calls calls;
    struct timing_clock clock;
    struct untimed untimed;
    struct forest forest;
    struct tracees processes;     /* of struct process */
    struct process *first, *last; /* the same in order of appearance */
    struct process *at_work;      /* process of the present event */
    struct print print;
    size_t weight;                     /* of all calls in the forest */
    uint64_t calls_all, told;          /* all calls, and ends with an event of their own */
    uint64_t shown;                    /* outermost calls that are shown */
    uint64_t strays;                   /* ends of calls whose begin was not seen */
    uint64_t early;                    /* calls printed while they were open, for want of room */
    uint64_t apart;                    /* calls beside open calls that may have ended */
    uint64_t deeper, shorter, outside; /* calls that are not shown */
};

struct process {
    struct tracee tracee;
    struct process *before, *next;
    uint32_t slot;
    size_t weight; /* of its calls in the forest */
    bool named;    /* its name came with an event */
};

/* The present event. */
struct event {
    ErlNifEnv *env;
    struct settings *settings;
    struct process *process;
    ERL_NIF_TERM outcome; /* a result, or {Class, Reason}; 0: none to show */
    bool thrown;
};

/* Prepares SETTINGS, whose words and numbers are set. FRAMES: number of open calls kept for a process.
 */
TRACER_LOCAL void trees_init(struct settings *settings, unsigned frames);

/* Returns the process of PID, made if necessary. NULL if there is no memory, which is counted. */
TRACER_LOCAL struct process *trees_process(struct settings *settings, ERL_NIF_TERM pid);

/* Frees a process of which nothing is known any more but what the recording says anyway: so any number
 * of processes may come and go. */
TRACER_LOCAL void trees_free_if_idle(struct settings *settings, struct process *process);

/* Begins the call of TERM. Prints what is held if that is too much. */
TRACER_LOCAL void trees_begin_call(const struct event *event, struct timing *timing,
                                   ERL_NIF_TERM term);

/* Handles a return_to TO, after the ends of calls. */
TRACER_LOCAL void trees_returned_to(const struct event *event, const struct mfa *to);

/* Handles the end of a call by OF, a struct event: for struct timing. */
TRACER_LOCAL void trees_call_ended(void *of, const struct ended *ended);

/* Prints what is held, open calls as open. */
TRACER_LOCAL void trees_print_held(struct settings *settings);

TRACER_LOCAL void trees_free(struct settings *settings);

#endif

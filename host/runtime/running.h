/*
 * Processes that run, and the queues that they wait in. Inner header of runtime/.
 *
 * A process is used by one thread at a time: by who called th_run_call(), until that has put it
 * into a queue; by the scheduler thread that took it out, until that has put it into another, or
 * has said under the process' lock that the call is over. So all of it that is not said to be
 * guarded is handed over together with it.
 *
 * Locks, the outer first: a mailbox's (process/), a process', a queue's. No code of a library runs
 * under any of them.
 */
#ifndef TH_RUNNING_H
#define TH_RUNNING_H

#include "runtime.h"

#include <pthread.h>

/* What a process does next: CODE is called on a thread of the type WHERE (ERL_NIF_THR_...). Without
 * CODE its call is over, and what is left to do is done by a normal scheduler. */
struct th_continuation {
    ERL_NIF_TERM (*code)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
    const char *function; /* its name, constant for ever */
    int argc;
    const th_term *argv; /* in the process' environment, as the terms are */
    int where;
};

struct th_process_run {
    struct th_host_process *mailbox;
    th_env *env;                        /* where its terms live; replaced by collecting */
    size_t collect_at;                  /* bytes: collect when there are more; see heap.c */
    const struct th_offheap *collected; /* what ENV held on to when it was collected */
    size_t held;                        /* bytes of binaries that it has come to hold since */
    const struct th_callee *callee;     /* of the call that goes on */
    struct th_continuation next;
    int reductions;                /* left of the turn; below 1: it is used up */
    struct th_process_run *behind; /* in a queue; guarded by its lock */

    /* Who called waits for these. */
    enum th_call_end end;
    th_term outcome; /* in ENV: the result, or the reason */
    th_env *caller_env;
    th_term *caller_result;

    struct th_message *inbox; /* taken out of the mailbox; used by who receives */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool calling; /* a call goes on */
    bool mail;    /* messages have arrived since somebody looked */
};

/* Puts PROCESS at the end of the queue of its next thread type. */
void th_queue_add(struct th_process_run *process);

/* Runs PROCESS for a turn; the calling thread is a scheduler of the type that it is to run on. */
void th_process_turn(struct th_process_run *process);

/* Its call is over: hands the outcome to who waits. */
void th_process_finish(struct th_process_run *process);

/* The heap of a process (heap.c): when a call begins, between two functions, when it is over. */
void th_heap_start(struct th_process_run *process);
void th_heap_collect(struct th_process_run *process);
void th_heap_end(struct th_process_run *process);

#endif

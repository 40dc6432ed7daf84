/*
 * A program that publishes a recording: `tracehost convert - nats://...`, which reads records of a trace port from a
 * pipe.
 *
 * The client of NATS has threads, memory and waits of its own. In a process of its own it can do no harm to the node,
 * and its death ends nothing but the log. All that was written to the pipe is published even if the node
 * is killed: the program then reads to the end of the pipe.
 *
 * The window is the size of the pipe, as the system rounds it. A pipe joins small records in a page, which a socket
 * does not do: of records of 100 bytes a socket takes a seventh of those that a pipe of the same size
 * takes. A record of up to 4096 bytes is written as a whole or not at all. A longer one, if it is not to wait, may be
 * written in part; then its rest is kept, and is the next thing to be written.
 *
 * A shell stands between: a BEAM ignores SIGCHLD, so that waitpid() tells the status of no child. The shell
 * writes the status to stderr, in a line that begins with the byte 1. The program and its shell are a process group, so that
 * signals of a terminal do not reach them.
 *
 * A thread hears what the program says on stderr, shows it on this stderr, and keeps the last message.
 */
#ifndef TRACER_NATS_PUBLISHER_H
#define TRACER_NATS_PUBLISHER_H

#include "../kit/local.h"

#include <erl_tracer.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PUBLISHER_PATH = 4096,  /* bytes of a name */
    PUBLISHER_TEXT = 1024,  /* bytes of a message that is kept */
    PUBLISHER_KILLED = 1000 /* the status of a program without one */
};

struct publisher {
    /* Set before publisher_start(). */
    char program[PUBLISHER_PATH], log[PUBLISHER_PATH];
    bool drops;          /* an event that does not fit is dropped, and counted; else it waits */
    unsigned window;     /* bytes */
    ErlNifTime patience; /* ns that publisher_close() waits without hearing anything */

    /* Written under the lock. */
    pthread_mutex_t lock;
    bool open;                   /* the pipe has not been closed here, nor by the program */
    uint64_t dropped;            /* events that the next drop record counts */
    atomic_ullong events, bytes; /* that were written; read by any thread, relaxed */
    atomic_ullong left_out;      /* events that were not; likewise */
    unsigned char *rest;         /* of a record; NULL: none */
    size_t rest_size, rest_done;

    /* Constant from publisher_start() on. */
    bool runs;          /* the thread was started */
    int records, words; /* the pipe's end; the end of that of stderr */
    int bell;           /* an eventfd, by which the thread is told of the next two */
    pid_t process;
    ErlNifTid thread;
    atomic_bool
        waits; /* there is a rest, or a drop record, to be written when there is room; relaxed */
    atomic_bool closing; /* publisher_close() has begun; relaxed */

    /* Written by the thread, or by publisher_start() that fails; others read them after an acquire load of `ended`. */
    char said[PUBLISHER_TEXT]; /* the last message, its lines joined by ": " */
    int status;
    char failure[PUBLISHER_PATH + 100]; /* why the log is not complete; "": the log is complete */
    atomic_bool ended;                  /* release */
};

/* Finds the program: bin/tracehost in a folder above this library. A folder that everybody can write ends the search,
 * as the library of a host may be a copy in /tmp; the program `tracehost` that runs this is such a program itself. False: not found. */
TRACER_LOCAL bool publisher_find_program(char program[PUBLISHER_PATH]);

/* Publishers that have ended. Relaxed: a count. */
extern TRACER_LOCAL atomic_uint publishers_ended;

/* Starts the program and the thread. On failure the publisher has ended.
 * Thread: the holder of the lock. */
TRACER_LOCAL void publisher_start(struct publisher *publisher);

/* Writes the record of an event: SIZE bytes of DATA; NULL: there is none, the event is lost, and counted.
 * Thread: any. */
TRACER_LOCAL void publisher_add(struct publisher *publisher, const unsigned char *data,
                                uint32_t size);

/* Closes the pipe after all that is to be written, and waits for the end of the program. If it says nothing for the time
 * of `patience`, it is asked to end; after another such time it is killed.
 * Thread: any, once, after publisher_start(). */
TRACER_LOCAL void publisher_close(struct publisher *publisher);

#endif

/*
 * Shared by the tests and the library `events`, which notes the callbacks of resources. The library
 * gets the address of an events_journal as load info: the small integer address / 16. The journal
 * is its private data.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <erl_nif.h>

#include <pthread.h>

/* Resource types: with all callbacks; another such; with a destructor only. */
enum { EVENTS_FULL, EVENTS_OTHER, EVENTS_PLAIN, EVENTS_TYPES };

struct events_journal {
    _Alignas(16) const char *name; /* start of each note, as in "name:stop" */
    int versions;                  /* 1: upgrade() opens its types without `stop` and `down` */
    ErlNifPid told;                /* gets {Callback, Number}, unless it is 0 */

    /* Results, written by the library. */
    ErlNifResourceType *types[EVENTS_TYPES];
    ErlNifResourceFlags tried[EVENTS_TYPES];
    pthread_mutex_t lock; /* guards the fields below: callbacks run on any thread */
    char text[4096];      /* "NAME:CALLBACK NUMBER" of each callback, separated by commas */
};

/* Content of a resource. */
struct events_object {
    int number;
    int closes;            /* `stop` closes the descriptor */
    ErlNifMonitor monitor; /* `down` notes whether its monitor was this one */
};

#endif

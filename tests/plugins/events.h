/*
 * What the tests and the library `events` tell each other: resources whose callbacks are noted.
 *
 * The library gets the address of an events_journal as load info: the small integer address / 16.
 * It is its private data.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <erl_nif.h>

#include <pthread.h>

/* Resource types: with all callbacks; another such; with a destructor only. */
enum { EVENTS_FULL, EVENTS_OTHER, EVENTS_PLAIN, EVENTS_TYPES };

struct events_journal {
    _Alignas(16) const char *name; /* begins each word, as in "name:stop" */
    int versions;                  /* 1: upgrade() has no `stop` and no `down` */
    ErlNifPid told;                /* gets {Callback, Number}, if it is not 0 */

    /* What came of it. */
    ErlNifResourceType *types[EVENTS_TYPES];
    ErlNifResourceFlags tried[EVENTS_TYPES];
    pthread_mutex_t lock; /* guards what follows: callbacks come from any thread */
    char text[4096];      /* "NAME:CALLBACK NUMBER ..." for each, with a comma between them */
};

/* What is in a resource. */
struct events_object {
    int number;
    int closes;            /* `stop` closes the descriptor */
    ErlNifMonitor monitor; /* `down` says whether it was this one */
};

#endif

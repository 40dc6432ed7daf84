/*
 * Shared by a test and the library under test, which gets its address as load info: the small
 * integer address / 16.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <erl_nif.h>

struct journal {
    _Alignas(16) char text[1024]; /* the calls, in order, a word each */

    /* Used by load() and upgrade(). */
    int answer;                   /* their result */
    ErlNifResourceFlags flags;    /* flags for opening the type "thing"; 0: do not open */
    int destructor;               /* the type's destructor writes "gone" */
    ErlNifResourceDtor *counting; /* a destructor of the test instead */

    /* Results. */
    ErlNifResourceType *type;
    ErlNifResourceFlags tried;
    void *old_private_data; /* private data that upgrade() got */
};

#endif

/*
 * What the test and the library under test tell each other. The library gets its address as load
 * info: the small integer address / 16.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <erl_nif.h>

struct journal {
    _Alignas(16) char text[1024]; /* what was called, in order, a word each */

    /* For load() and upgrade(). */
    int answer;                   /* what it returns */
    ErlNifResourceFlags flags;    /* it opens the type "thing" so, if not 0 */
    int destructor;               /* with one that writes "gone" */
    ErlNifResourceDtor *counting; /* or with this one, of the test */

    /* What came of it. */
    ErlNifResourceType *type;
    ErlNifResourceFlags tried;
    void *old_private_data; /* what upgrade() was given */
};

#endif

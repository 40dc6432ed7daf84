/*
 * Table of the live tracees of a tracing: finds a tracee by its id.
 *
 * A tracee begins and ends in the table without a lock, as long as no thread has found it. A thread
 * that finds a tracee has the tracing's lock, and marks the tracee's place. The end of a tracee
 * whose place is marked takes the lock: so a tracee that was found stays until the lock is
 * returned. One atomic exchange of a place decides which of the two, mark or end, comes first.
 *
 * The place follows from the index of the id (process/). A process frees its index before its
 * tracee ends: so a later tracee may take the place of one that has not ended yet, which nobody
 * finds any more, as its process is dead.
 */
#ifndef TH_LIVE_TABLE_H
#define TH_LIVE_TABLE_H

#include "host/term/word.h"

#include <stdatomic.h>
#include <stdbool.h>

struct th_live_tracee;
struct th_live_page;

struct th_live_table {
    /* NULL: the tracing is not shared. A page is made with its first tracee, and stays. Release:
     * the page is zeroed; acquire. */
    struct th_live_page *_Atomic *pages;
};

/* Makes TABLE, of zeros, ready.
 * Order: before other threads use the tracing. */
void th_live_table_begin(struct th_live_table *table);

/* Frees TABLE. Returns false if a tracee is in it. */
bool th_live_table_end(struct th_live_table *table);

/* Adds TRACEE, which is complete.
 * Thread: any, without the lock. */
void th_live_table_add(struct th_live_table *table, struct th_live_tracee *tracee);

/* Removes TRACEE if no thread has found it. Returns false if one may have: then the caller takes
 * the tracing's lock and calls th_live_table_remove_found().
 * Thread: any, without the lock. */
bool th_live_table_remove(struct th_live_table *table, struct th_live_tracee *tracee);

/* Removes TRACEE, which may be removed already. Under the lock. */
void th_live_table_remove_found(struct th_live_table *table, struct th_live_tracee *tracee);

/* Returns the tracee ID; NULL: none. Under the lock, until whose return the tracee stays. */
struct th_live_tracee *th_live_table_find(const struct th_live_table *table, th_term id);

#endif

/*
 * What a process shows of itself to those who list processes. Inner header of runtime/.
 *
 * Each is written by the thread that uses the process, `doing` also by who wakes it; read by any
 * that sees the process, under its mailbox's lock, before which it is not freed. Relaxed: each
 * stands for itself.
 */
#ifndef TH_PROCESS_SHOWN_H
#define TH_PROCESS_SHOWN_H

#include "process_list.h"

#include "host/code/code.h"

#include <stdatomic.h>

struct th_process_shown {
    _Atomic uint32_t doing;       /* enum th_process_doing */
    const char *_Atomic function; /* "module:function/arity"; stays */
    /* Of whose code they are, serials of instances; 0: of none, or nothing: FUNCTION, while it is
     * not over; of those that wait for it the oldest, as of the end of the last turn. */
    _Atomic uint64_t code, kept;
    _Atomic uint64_t inbox; /* messages that were taken out of the mailbox */
    _Atomic uint64_t reductions, words, links;
};

static inline void th_runtime_shown_set(_Atomic uint64_t *shown, uint64_t value)
{
    atomic_store_explicit(shown, value, memory_order_relaxed);
}

/* One thread at a time writes it: no atomic addition. */
static inline void th_runtime_shown_add(_Atomic uint64_t *shown, uint64_t more)
{
    th_runtime_shown_set(shown, atomic_load_explicit(shown, memory_order_relaxed) + more);
}

static inline void th_runtime_shown_doing(struct th_process_shown *shown,
                                          enum th_process_doing doing)
{
    atomic_store_explicit(&shown->doing, (uint32_t)doing, memory_order_relaxed);
}

/* --- Purging (process_list.c) --- */

/* Has the processes killed that are in INSTANCE's code, once they are between two functions. */
void th_runtime_processes_purge(const struct th_instance *instance);

/* Adds to TEXT which processes they are, the first of many: those that are seen to be. */
void th_runtime_processes_show_inside(const struct th_instance *instance, struct th_buffer *text);

#endif

/*
 * The checker examines more than the use of the NIF API in callbacks of tracers, for `tracehost
 * check`.
 *
 * In `enabled`, which must have no side effect and must be quick, except for trace_status:
 *   - each callback runs twice with the same arguments. The answers must be the same, and must be
 *     trace, discard or remove;
 *   - a variable of the library that changes again and again is a finding. A variable that is
 *     written once is none: a library may make an atom at its first call;
 *   - a system call is a finding, except for those that get or give back memory;
 *   - the processor time is measured. The least time of all calls for a tag counts.
 * In all callbacks, a system call by which a thread waits, a process begins, or a property of the
 * whole process changes, is a finding.
 *
 * Callbacks can be kept, and run again in several threads at once.
 */
#ifndef TH_CHECK_CALLBACKS_H
#define TH_CHECK_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

/* Least processor time of a slow `enabled`, in nanoseconds. Sanitizers take their time. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TH_CHECK_SLOW_NS = 500000 };
#else
enum { TH_CHECK_SLOW_NS = 20000 };
#endif

struct th_check_callbacks {
    bool effects;      /* examine `enabled`. Order: only one thread runs code of libraries */
    bool system_calls; /* examine system calls, if the kernel supports that */
    bool keeps;        /* keep the callbacks for th_check_callbacks_run_kept() */
    /* Least processor time of a slow `enabled`, in nanoseconds; 0: not measured. Order: as `effects` */
    int64_t slow_ns;
    /* Called before each callback, with its enum th_tracer_slot and the number of the event's record
     * in the stream, 0 if it has none. NULL: not called. */
    void (*called)(void *context, unsigned slot, uint64_t record);
    void *context;
};

/* Examines callbacks as HOW says, from now on.
 * Order: after th_check_start(), before tracers are attached.
 * Owner: HOW must stay valid until th_check_end(). */
void th_check_callbacks_examine(const struct th_check_callbacks *how);

/* Returns true if system calls can be examined here. */
bool th_check_callbacks_see_system_calls(void);

/* Reports the callbacks that were slow. Order: after the last event. */
void th_check_callbacks_report_slow(void);

/* Lets callbacks that are kept run without the checker from now on: the locks of the checker would order
 * the accesses of threads, and so hide data races. Nothing is examined any more. */
void th_check_callbacks_let_be(void);

/* Runs all callbacks that were kept, in their order, for tracees of thread NUMBER: in a node, one
 * scheduler at a time runs a process.
 * Thread: several at once, each after th_crash_thread_begin() and with a NUMBER of its own, from 0.
 * Order: the tracers are attached still, and no event happens. */
void th_check_callbacks_run_kept(unsigned number);

#endif

/*
 * The guard: names a callback, or another function of a library, that crashes, hangs or ends the
 * program. The supervisor, another process, does so for deaths that leave the guard no time:
 * supervisor.h.
 *
 * A fault (SIGSEGV and the like), an abort, an exit or the end of the thread inside a library's code
 * (callbacks, load(), destructors, functions of processes, ...) ends the program with TH_CRASHED,
 * after a report on stderr: the tracer or library and the function; the session, record number and
 * byte; the frames of the stack, as addresses in files; the event as text, or the output of `tell`
 * of struct th_library_frame. The buffers of stdio are flushed before the end. Under a supervisor
 * this holds for each signal that ends a program by default, but not for a terminal's or a user's.
 * An exit outside of a library's code is reported as that of a library's thread, until
 * th_crash_allow_exit() or th_crash_end(); a fault there is reported if the stack shows code of a
 * library, and else has its usual effect.
 *
 * This holds for the thread that installs the guard and for threads that called
 * th_crash_thread_begin(); in other threads a stack overflow is not reported. Children forked by a
 * library are not guarded, except by th_crash_end_child(); the buffers of stdio are flushed before
 * a fork(), so that no child writes them again.
 *
 * The signal handler makes the report, on a stack of its own, in a process whose heap may be
 * damaged; the report uses more than async-signal-safe functions. So the most reliable parts come
 * first, and each further part is left out if it crashes, too, or takes more than two seconds.
 */
#ifndef TH_CRASH_H
#define TH_CRASH_H

#include "supervisor.h"

#include "host/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Installs the handlers for all threads. th_crash_set_timeout() watches also the other library
 * calls of the calling thread.
 * Order: once, before libraries are loaded. */
void th_crash_install(void);

/* Restores the former handlers, except those that other code has replaced. The guard may be
 * installed again.
 * Thread: the thread that installed the guard.
 * Order: after the libraries are gone; not with a timeout. */
void th_crash_remove(void);

/* Prepares the calling thread for code of libraries: gives the thread a stack for the handlers,
 * lets the watchdog see the thread, and unblocks the signals of both. th_crash_thread_end() undoes
 * the first two.
 * Order: not in the thread of th_crash_install(), which has done the same. Each thread calls
 * th_crash_thread_end() before its end. */
void th_crash_thread_begin(void);
void th_crash_thread_end(void);

/* Sets the word for a library in reports: "tracer" by default.
 * Owner: KIND must stay valid.
 * Order: before there are other threads. */
void th_crash_set_kind(const char *kind);

/* Allows the program to end at any time outside of libraries: the guard cannot distinguish threads
 * of a library from the program's own. Until th_crash_remove(). */
void th_crash_allow_exit(void);

/*
 * Ends the process with TH_CRASHED if it is a child that a library forked: the child has returned
 * to the host without the other threads, and shares the parent's input and output. Writes a line on
 * stderr, and flushes no buffer. Called after calls of library code.
 * Order: after th_crash_install().
 */
void th_crash_end_child(void);

/* Allows the program to end: the libraries are gone. */
void th_crash_end(void);

/*
 * Reports a callback that takes longer than NANOSECONDS as a crash, in any thread that called
 * th_crash_thread_begin(); in the thread of th_crash_install() also load() and other library calls.
 * Functions of processes have no limit. If ENDS is false, the function is named once on stderr and
 * continues; time in which it writes does not count, as the reader may be slow. The thread gets a
 * signal, which interrupts a system call that is not restarted automatically. Starts the watchdog
 * thread, which looks eight times in that span.
 * Order: once, after th_crash_install().
 */
enum th_status th_crash_set_timeout(int64_t nanoseconds, bool ends);

/* Forks a process in which libraries run on, guarded and with a watchdog as here. Returns as fork().
 * Thread: the one of th_crash_install().
 * Order: no library has threads. */
pid_t th_crash_fork(void);

/* Makes reports call FUNCTION first: in a signal handler, or as the program exits, and before a
 * crash that is not reported. FUNCTION makes stderr visible to the user and may use
 * async-signal-safe functions only. NULL: none.
 * Thread: any. */
void th_crash_set_restore(void (*function)(void));

/* How code of a library has ended the process. */
enum th_crash_kind {
    TH_CRASH_NONE, /* or not known */
    TH_CRASH_SIGNAL,
    TH_CRASH_EXIT,      /* exit() */
    TH_CRASH_IMMEDIATE, /* _exit() and the like */
    TH_CRASH_HANG
};

/* Slots of a signature that are no enum th_tracer_slot. */
enum { TH_CRASH_NO_SLOT = -1, TH_CRASH_ANY_SLOT = -2 };

/* The place of a crash. Two crashes are the same if kind, signal, slot and frame are equal. */
struct th_crash_signature {
    _Atomic int kind; /* enum th_crash_kind; written before the names: release, acquire */
    int number;       /* signal, or exit status */
    int slot;         /* enum th_tracer_slot of the callback; TH_CRASH_NO_SLOT: in none;
                         TH_CRASH_ANY_SLOT: not known */
    uint64_t record;  /* number of the record in its stream; 0: in no recorded event */
    uintptr_t frame;  /* of the innermost frame of a library, offset in its file; 0: not known, or a
                         hang, which may be anywhere in a loop */
    char file[64];    /* name of this file, without its folder; empty: not known */
    char tracer[128], session[128]; /* names; empty: none */
    char function[32]; /* of a library, outside of callbacks: "load", "unload"; empty: none */
};

/* Makes the guard write SIGNATURE, in shared memory, before the report of a crash; the frame stays
 * 0.
 * Order: after th_crash_install(). */
void th_crash_set_signature(struct th_crash_signature *signature);

/*
 * Makes the calling process, a child that was forked after th_crash_install(), a guarded process of
 * its own: a trial. The guard writes SIGNATURE in place of a report, flushes nothing, and ends the
 * process. _exit() by a library also counts as a crash here, if the kernel has seccomp.
 * Order: the process has one thread. th_crash_set_timeout() may follow.
 */
void th_crash_begin_trial(struct th_crash_signature *signature);

/* Ends a trial without a crash: no exit handler runs. */
_Noreturn void th_crash_end_trial(void);

/* Sets the name of the file whose records a report counts: *NAME, which may change at any time;
 * NULL: none. */
void th_crash_set_stream(const char *const *name);

#endif

/*
 * Interfaces between the files of crash/: threads that run code of libraries, their stacks, the
 * walk of a crashed stack. Inner header of crash/.
 */
#ifndef TH_CRASH_INTERNAL_H
#define TH_CRASH_INTERNAL_H

#include "crash.h"

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

/* --- Stacks of threads (crash_threads.c) ------------------------------------------------------ */

/* Sent by the watchdog to a thread that hangs; no such timer is set. Threads unblock it, like the
 * signals of crashes. */
enum { TH_CRASH_TIMEOUT_SIGNAL = SIGVTALRM };

/* Sets SIGNALS to the signals of crashes, from SIGSEGV to SIGABRT. */
void th_crash_signals(sigset_t *signals);

/* Returns, in a handler, whether the calling thread's stack has overflowed. */
bool th_crash_stack_is_used_up(int number, const siginfo_t *info);

/* --- The process and its threads (crash_threads.c) ------------------------------------------- */

struct th_crash_thread {
    pthread_t thread;
    pid_t id;
    const struct th_self *self; /* of the thread */
    uint64_t seen;              /* callback count at the last look; written by the watchdog */
    int64_t since;              /* nanoseconds: first look at that count; INT64_MAX: ASK is done */
    struct th_crash_thread *next, **place;
};

/*
 * Looks once at all threads but SPARED. Calls ASK for a thread that has been in one callback for
 * NANOSECONDS, as far as earlier looks show; calls ASK again after the same time unless ASK
 * returned true. For a thread that is EXCUSED the time starts again.
 * Thread: one, the watchdog. Threads begin and end only between two looks.
 */
void th_crash_threads_look(pthread_t spared, int64_t nanoseconds,
                           bool (*excused)(const struct th_crash_thread *thread),
                           bool (*ask)(const struct th_crash_thread *thread));

/* The guarded process, set when the handlers are installed; 0 before. th_crash_is_child(): the
 * calling process is another one. A child of fork() belongs to the code that forked it: the end of
 * the child means nothing for this program. */
extern pid_t th_crash_owner;
bool th_crash_is_child(void);

/* Returns whether THREAD is still in the callback that was seen. */
bool th_crash_thread_is_in(const struct th_crash_thread *thread);

/* --- Walk of a crashed stack (crash_threads.c) ------------------------------------------------ */

/*
 * Writes to the file descriptor OUTPUT a line for each of the innermost frames of libraries on the
 * calling thread's stack, up to the host function that called them: "  at FUNCTION
 * (FILE+0xOFFSET)", and the generation of the code if the module has newer code; then the command
 * that prints the source lines. Reads no debug information, as the program may be damaged. CONTEXT,
 * from the signal handler, is the start of the walk; NULL: no handler runs.
 */
void th_crash_walk(int output, const void *context);

/* Returns the place of the innermost frame of a library, as an offset in its file; 0: there is none.
 * CONTEXT as for th_crash_walk(). */
uintptr_t th_crash_innermost(const void *context);

/* --- Signatures of crashes (crash_trial.c) ----------------------------------------------------- */

/* Writes the signature of a crash, if one is wanted. Ends the process if it is a trial. NUMBER: the
 * signal or exit status. CONTEXT as for th_crash_walk(). */
void th_crash_note(enum th_crash_kind kind, int number, const void *context);

#endif

/*
 * What the files of crash/ share: the threads that run code of libraries, their stacks, where one
 * has crashed. Inner header of crash/.
 */
#ifndef TH_CRASH_INTERNAL_H
#define TH_CRASH_INTERNAL_H

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

/* --- The stacks of threads (crash_threads.c) ------------------------------------------------- */

/* From the watchdog to a thread that hangs; no such timer is set. Threads let it in, as they do the
 * signals of crashes. */
enum { TH_CRASH_TIMEOUT_SIGNAL = SIGVTALRM };

/* Fills in the signals of crashes, from SIGSEGV to SIGABRT. */
void th_crash_signals(sigset_t *signals);

/* In a handler: the calling thread's stack is what was used up. */
bool th_crash_stack_is_used_up(int number, const siginfo_t *info);

/* --- The process and its threads (crash_threads.c) ------------------------------------------- */

struct th_crash_thread {
    pthread_t thread;
    pid_t id;
    const struct th_self *self; /* the thread's */
    uint64_t seen;              /* the watchdog's own, as what follows: its callbacks ... */
    int64_t since;              /* ... and when it was in this one first */
    struct th_crash_thread *next, **place;
};

/*
 * One look at all of them but SPARED: ASK is called for a thread that has been in one callback for
 * NANOSECONDS, as far as former looks can tell; again when that time has passed once more, unless
 * it returned true. The time of a thread that is EXCUSED begins anew. By one thread. Nobody begins
 * or ends meanwhile.
 */
void th_crash_threads_look(pthread_t spared, int64_t nanoseconds,
                           bool (*excused)(const struct th_crash_thread *thread),
                           bool (*ask)(const struct th_crash_thread *thread));

/* The process that is guarded, not its children; set with the handlers. A child of a fork() is
 * whoever's who made it: how it ends says nothing of this program. */
extern pid_t th_crash_owner;
bool th_crash_is_child(void);

/* It is still in the callback that was seen. */
bool th_crash_thread_is_in(const struct th_crash_thread *thread);

/* --- Where a library has crashed (crash_threads.c)------------------------------------------- */

/*
 * Writes to the file OUTPUT a line for each frame of libraries that is on the calling thread's
 * stack, the innermost first: "  at FUNCTION (FILE+0xOFFSET)", and which old code it is, if it is
 * of a module that has other code now; then the command that tells their source lines. Nothing is
 * read of debug information here, as the program may be damaged. CONTEXT is what the signal handler
 * was given, which the walk begins with; NULL: the thread is in none.
 */
void th_crash_walk(int output, const void *context);

#endif

/*
 * Interfaces between the files of crash/: reports, threads that run code of libraries, their
 * stacks, the page that the supervisor reads. Inner header of crash/.
 */
#ifndef TH_CRASH_INTERNAL_H
#define TH_CRASH_INTERNAL_H

#include "crash.h"

#include "host/self/self.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* --- The guarded process (crash.c) ------------------------------------------------------------ */

/* The guarded process, set when the handlers are installed; 0 before. th_crash_is_child(): the
 * calling process is another one. A child of fork() belongs to the code that forked it: the end of
 * the child means nothing for this program. */
extern pid_t th_crash_owner;
bool th_crash_is_child(void);

/* Facts for reports of the guard and of the supervisor. */
struct th_crash_facts {
    const char *kind; /* word for a library; see th_crash_set_kind() */
    const char *const *stream;
};

/* The place of a death by a signal, in a callback for a recorded event. */
struct th_crash_death {
    int number;       /* of the signal; 0: no such death */
    int slot;         /* enum th_tracer_slot of the callback */
    uintptr_t frame;  /* innermost frame of a library, as an offset in FILE; 0: unknown */
    char file[64];    /* name of the frame's file, without its folder, as far as it fits */
    uint64_t byte;    /* position of the record in its stream */
    char stream[256]; /* name of the stream, as far as it fits */
};

/* The worker's notes for the supervisor, in memory that both map (base/shared.h). Written by the
 * worker; the supervisor reads them after the worker's end. */
struct th_crash_page {
    struct th_crash_facts facts;
    volatile sig_atomic_t finished; /* th_crash_finish(): the end is no death */
    volatile int status;            /* the status that was announced */
    volatile sig_atomic_t reported; /* the guard has written the first line of a report */
    volatile sig_atomic_t sent;   /* the guard's last signal, if another process sent it, else 0 */
    volatile sig_atomic_t screen; /* th_crash_set_screen() */
    volatile sig_atomic_t wrote;  /* text of its own was sent to stdout; several workers only */
    volatile sig_atomic_t began;  /* th_crash_continues_file() was called */
    struct th_crash_death death,
        before;                     /* BEFORE: of the worker before this one; the supervisor's */
    volatile sig_atomic_t repeated; /* both have one place: the guard has reported nothing */
    char did[120]; /* "crashed: SIGSEGV, ...": what the guard reports; "": it reports nothing */
};

/* Facts about the calling process: in the page of the supervisor if there is one. */
struct th_crash_facts *th_crash_facts(void);
struct th_crash_page *th_crash_page(void); /* NULL: no supervisor */

/* --- Reports (crash_report.c) ----------------------------------------------------------------- */

/* The library code that a thread runs. */
struct th_crash_scene {
    const char *kind, *name, *function;
};

/* Returns whether the thread of SELF runs code of a library. */
static inline bool th_crash_is_in_library(const struct th_self *self)
{
    return self->attachment || self->library_frame;
}

/* Returns the scene of SELF, which runs code of a library. Reads no stack but the calling
 * thread's. */
struct th_crash_scene th_crash_scene_of(const struct th_self *self,
                                        const struct th_crash_facts *facts);

/* Writes "SIGSEGV, a bad memory access" for the signal NUMBER to TEXT, of SIZE bytes. */
void th_crash_describe_signal(int number, char *text, size_t size);

/* Writes the lines with the session and the position of SELF, as far as they are known. */
void th_crash_write_position(const struct th_self *self, const struct th_crash_facts *facts);

/* Handler of signals that a step may cause. */
void th_crash_leave_step(int number);

/* Runs STEP of a report. Returns false if the step crashed or took more than two seconds: the report
 * goes on without it. Order: after th_crash_begin_report(). */
bool th_crash_try(void (*step)(void *context), void *context);

/* Begins a report in this thread: there is only one. Another thread that begins one waits for the
 * end of the program; a crash of the reporting thread ends its present step. */
void th_crash_begin_report(void);

/* Ends a report that has written nothing: nobody is to blame. */
void th_crash_abandon_report(void);

/* True in all threads once a report has begun. */
bool th_crash_is_reporting(void);

/* Notes for the supervisor what the library DID, and whether the first line of a report was
 * WRITTEN. */
void th_crash_note_report(const char *did, bool written);

/* Notes a death of the calling thread by the signal NUMBER in the page. If the tracer has died at the
 * same place before, ends the process without a report: the supervisor writes one line.
 * Order: after th_crash_begin_report(). CONTEXT as for th_crash_unwind(). */
void th_crash_end_repeated(int number, const void *context);

/* Completes a report of SELF after its first line, and ends the process. CONTEXT, from a signal
 * handler, is where the calling thread's stack begins; NULL: here. */
_Noreturn void th_crash_end_report(const struct th_self *self, const void *context);

/* --- Stacks of threads (crash_threads.c) ------------------------------------------------------ */

/* Sent by the watchdog to a thread that hangs; no such timer is set. Threads unblock it, like the
 * signals of crashes. */
enum { TH_CRASH_TIMEOUT_SIGNAL = SIGVTALRM };

/* Signals that code causes by a fault, or sends to itself as its end. The first TH_CRASH_FAULTS also
 * end a supervisor that causes them. */
enum { TH_CRASH_FAULTS = 7, TH_CRASH_SIGNALS = 8 };
extern const int th_crash_signals[TH_CRASH_SIGNALS]; /* crash.c */

/* Sets SIGNALS to all of them. */
void th_crash_signal_set(sigset_t *signals);

/* Returns, in a handler, whether the calling thread's stack has overflowed. */
bool th_crash_stack_is_used_up(int number, const siginfo_t *info);

/* --- Threads (crash_threads.c) ---------------------------------------------------------------- */

struct th_crash_thread {
    pthread_t thread;
    pid_t id;
    const struct th_self *self; /* of the thread */
    uint64_t seen;              /* callback count at the last look; written by the watchdog */
    int64_t since;              /* nanoseconds: first look at that count; INT64_MAX: ASK is done */
    struct th_crash_thread *next, **place;
};

/* Called in a thread that ends although it is in code of a library: set by crash.c before there are
 * other threads. */
extern void (*th_crash_thread_lost)(const struct th_self *self);

/*
 * Looks once at all threads but SPARED. Calls ASK for a thread that has been in one callback for
 * NANOSECONDS, as far as earlier looks show; calls ASK again after the same time unless ASK
 * returned true. For a thread that is EXCUSED the time starts again.
 * Thread: one, the watchdog. Threads begin and end only between two looks.
 */
void th_crash_threads_look(pthread_t spared, int64_t nanoseconds,
                           bool (*excused)(const struct th_crash_thread *thread),
                           bool (*ask)(const struct th_crash_thread *thread));

/* Forks a process that is guarded as the calling thread is. Returns as fork(). */
pid_t th_crash_threads_fork(void);

/* Returns whether THREAD is still in the callback that was seen. */
bool th_crash_thread_is_in(const struct th_crash_thread *thread);

/* Returns whether the thread ID of PROCESS has ended, also if it is the first one. */
bool th_crash_thread_has_ended(pid_t process, pid_t id);

/* --- Walk of a crashed stack (crash_threads.c) ------------------------------------------------ */

/* Collects the addresses of the calling thread's stack; takes no lock and no memory. CONTEXT, from
 * the signal handler, is the start; NULL: no handler runs. If it crashes, the addresses up to there
 * are kept. */
void th_crash_unwind(void *context);

/* Returns the place of the innermost frame of a library on the calling thread's stack, as an offset
 * in its file; 0: there is none. CONTEXT as for th_crash_unwind(). */
uintptr_t th_crash_innermost(const void *context, const char **file);

/* --- Signatures of crashes (crash_trial.c) ----------------------------------------------------- */

/* Writes the signature of a crash in the thread of SELF, if one is wanted. Ends the process if it is
 * a trial. NUMBER: the signal or exit status. CONTEXT as for th_crash_unwind(). */
void th_crash_note(enum th_crash_kind kind, int number, const struct th_self *self,
                   const void *context);

/* Makes the guard report each signal that would end the program without a word (crash.c). */
void th_crash_handle_further_signals(void);

/* Returns the path of the open library to which the innermost of the collected addresses belongs;
 * NULL: there is none, or host and program are on the way to it. */
const char *th_crash_culprit(void);

/*
 * Writes to the file descriptor OUTPUT a line for each of the innermost collected frames of
 * libraries, up to the host function that called them: "  at FUNCTION (FILE+0xOFFSET)", and the
 * generation of the code if the module has newer code; then the command that prints the source
 * lines. Reads no debug information, as the program may be damaged.
 */
void th_crash_write_frames(int output);

/* The same in short, "  at FILE+0xOFFSET", from the kernel's list of mappings alone: for a program in
 * which the loader's data are damaged. */
void th_crash_write_bare_frames(int output);

#endif

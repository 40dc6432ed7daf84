/*
 * The guard: names a callback, or another function of a library, that crashes, hangs or ends the
 * program.
 *
 * SIGSEGV, SIGBUS, SIGFPE, SIGILL, an abort or an exit inside a library's code (callbacks, load(),
 * destructors, functions that were called, ...) ends the program with TH_CRASHED, after a report on
 * stderr: the tracer or library, the function; then record number and byte, the event as text, or
 * what th_library_call.tell has to say; then the frames of the stack, as addresses in files. What
 * stdio buffers hold is flushed before. Outside of a library's code these signals do what they
 * always do. This holds for the thread that installs the guard and for those that
 * th_crash_thread_begin() was called in; elsewhere, a stack that is used up is not told. Children
 * that a library forks are none of its business, but for th_crash_end_child(); what stdio buffers
 * hold is flushed before a fork(), so that no child writes it again.
 *
 * The report is made in the signal handler, on a stack of its own, in a process whose heap may be
 * damaged; it uses more than async-signal-safe functions allow. So it goes from what is sure to
 * what is useful, and an alarm ends it wherever it stands.
 */
#ifndef TH_CRASH_H
#define TH_CRASH_H

#include "host/base/error.h"

#include <stdint.h>

/* Installs the handlers, for all threads; the calling one is the one whose other calls
 * th_crash_set_timeout() looks at, too. Once, before libraries are loaded. */
void th_crash_install(void);

/* The libraries are gone, and the program goes on: brings back the handlers that were there before,
 * unless others have taken the place of ours. By the thread that installed it, without a timeout;
 * then it may be installed again. */
void th_crash_remove(void);

/* The calling thread is to run code of libraries: gives it a stack for the handlers. Before it
 * ends, th_crash_thread_end() takes it back. Not needed in the thread of th_crash_install(). */
void th_crash_thread_begin(void);
void th_crash_thread_end(void);

/* What a report calls whoever crashed: "tracer", unless this says otherwise. KIND must stay. Before
 * there are other threads. */
void th_crash_set_kind(const char *kind);

/* The program may end at any time, unless it is in a library: a thread of one is not told from its
 * own. Until th_crash_remove(). */
void th_crash_allow_exit(void);

/*
 * Ends the process, with a line on stderr, if it is a child that a library has forked: it came back
 * to the host, but has no other threads, and shares what is read and written with its parent.
 * Nothing is flushed. After th_crash_install(). By who has called a library.
 */
void th_crash_end_child(void);

/* The libraries are gone: the program may end now. */
void th_crash_end(void);

/*
 * A callback that takes longer than NANOSECONDS is reported as a crash is, in any thread that
 * th_crash_thread_begin() was called in; so is load() and the like in the thread of
 * th_crash_install(). Functions that processes call are not meant. Unless it ENDS the program, it
 * is named on stderr, once, and goes on; not while it writes, as who reads may make it wait. A
 * signal has it do so, which ends a system call early that does not begin again by itself. Starts a
 * thread, which looks eight times in that span. Once, after th_crash_install().
 */
enum th_status th_crash_set_timeout(int64_t nanoseconds, bool ends);

/* Calls FUNCTION before the first report, in a signal handler or as the program exits; and before a
 * crash that is not reported. It makes stderr what the user reads, and may use async-signal-safe
 * functions alone. NULL: nothing. Any thread. */
void th_crash_set_restore(void (*function)(void));

/* *NAME names the file whose records the report counts; it may change at any time. NULL: none. */
void th_crash_set_stream(const char *const *name);

#endif

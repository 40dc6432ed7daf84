/*
 * The supervisor: the process that waits while another one, the worker, runs code of libraries.
 *
 *   main
 *     th_crash_supervise("replay")   forks; returns in the worker alone
 *     ... libraries are opened, threads start, events are delivered ...
 *     th_crash_finish(status)        the worker announces its end
 *     exit(status)
 *
 * However the worker ends, its end without th_crash_finish() is a death. The supervisor then names
 * the tracer or library, the callback or function, and the record, unless the guard (crash.h) has
 * done so in the worker; writes out the bytes that were left in buffers (base/kept.h); removes
 * unfinished files; restores the terminal; and exits with TH_CRASHED. If the worker was killed from
 * outside, no library is named, and the supervisor ends by the same signal.
 *
 * The facts about the worker lie in memory that both processes map: struct th_self of each thread,
 * which lies in a page of its own (self/storage.c), names of tracers and libraries, the event that
 * is played. So an event takes no instruction more than without a supervisor.
 *
 * Both processes are in one process group, so that a terminal's signals reach both, and a shell's
 * job control works as for one process. Signals that are sent to the supervisor alone are passed on.
 * The worker dies if the supervisor is killed. There is no supervisor under a debugger, strace or
 * valgrind, nor if a tool has attached to the probes of this process (bpftrace -c): they would follow
 * the supervisor instead of the worker.
 */
#ifndef TH_CRASH_SUPERVISOR_H
#define TH_CRASH_SUPERVISOR_H

#include <signal.h>
#include <stdbool.h>

/*
 * Forks a worker and returns there; the calling process becomes the supervisor and never returns.
 * Returns in the calling process if it is watched, see above, or if the system refuses a process or
 * memory. NAME, such as "tracehost replay", begins the supervisor's messages.
 * Owner: NAME must stay valid.
 * Order: before threads exist, before th_crash_install() and before anything is written to stdout.
 */
void th_crash_supervise(const char *name);

/* True in a worker. */
bool th_crash_is_supervised(void);

/* Announces that the worker ends by itself with STATUS: what follows is no death. Without a
 * supervisor it does nothing. Thread: any; async-signal-safe. */
void th_crash_finish(int status);

/* Returns true if the supervisor passes on a signal that the worker has had already, as it was sent
 * to the process group. Call it once for each signal, with the handler's INFO. */
bool th_crash_is_repeated(int number, const siginfo_t *info);

/* Notes that the worker shows the terminal's alternate screen, or no longer does. */
void th_crash_set_screen(bool shown);

#endif

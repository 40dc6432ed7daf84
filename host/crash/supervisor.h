/*
 * The supervisor: the process that waits while another one, the worker, runs code of libraries.
 *
 *   main
 *     th_crash_supervise("replay", NULL)   forks; returns in the worker alone
 *     ... libraries are opened, threads start, events are delivered ...
 *     th_crash_finish(status)              the worker announces its end
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
#include <stddef.h>
#include <stdint.h>

/*
 * Forks a worker and returns there; the calling process becomes the supervisor and never returns.
 * Returns in the calling process if it is watched, see above, or if the system refuses a process or
 * memory. NAME, such as "tracehost replay", begins the supervisor's messages. ADVICE, if it is not
 * NULL, is the last line of a report that accuses a library.
 * Owner: NAME and ADVICE must stay valid.
 * Order: before threads exist, before th_crash_install() and before anything is written to stdout.
 */
void th_crash_supervise(const char *name, const char *advice);

/*
 * Forks COUNT workers, one for each tracer. Returns in each worker its number, from 0; COUNT in the
 * calling process if there is no supervisor, as above.
 *
 * The workers do the same work, each for its own tracer. stdout and stderr of all workers are merged
 * in the order of one process that does all the work, as far as th_crash_set_place() tells it. The
 * exit status is TH_CRASHED if a worker has died by a library; else that of the first worker, in
 * their order, whose status is not 0.
 * Owner: POLICY must stay valid.
 */
struct th_crash_policy {
    const char *const *tracers; /* a name for each worker */
    bool continues;             /* a worker that dies in a record has a successor: README.md */
    uint64_t max_crashes;       /* limit of the successors of one worker */
    /* NULL, or called in the supervisor before worker number WORKER, which has ended, gets a successor;
     * returns whether the successor can read the streams from their beginning. */
    bool (*again)(size_t worker);
    /* NULL, or called in the supervisor when worker number WORKER has ended without a successor. */
    void (*gone)(size_t worker);
};
size_t th_crash_supervise_several(const char *name, size_t count,
                                  const struct th_crash_policy *policy);

/* --- In one of several workers ---------------------------------------------------------------- */

/*
 * A place is a point in the order of all output. Within a stream it is the number of the record that
 * is played (th_self.played), so that events do nothing for it.
 */
enum { TH_CRASH_NUMBER_BITS = 48 };
#define TH_CRASH_STREAM_END (((uint64_t)1 << TH_CRASH_NUMBER_BITS) - 1)
#define TH_CRASH_RESULTS \
    (UINT64_MAX - 64) /* after all streams; its successors are steps of the end */
static inline uint64_t th_crash_stream_place(size_t stream)
{
    return (uint64_t)(stream + 1) << TH_CRASH_NUMBER_BITS;
}

/* Sets the place: 0 at first; th_crash_stream_place() at the beginning of a stream, counted from 0;
 * that | TH_CRASH_STREAM_END behind its last record; TH_CRASH_RESULTS. th_crash_next_place() adds 1.
 * Without a supervisor they do nothing. Thread: the one that called
 * th_crash_supervise_several(). */
void th_crash_set_place(uint64_t place);
void th_crash_next_place(void);

/* Sets whether the calling thread's text on stderr is common to all workers, so that it is written
 * once. Returns the former value. */
bool th_crash_set_common(bool on);

/* Returns whether a worker before this one has died in a record. */
bool th_crash_is_successor(void);

/* Returns the place up to which records are not delivered, as the state before is lost; 0: none. */
uint64_t th_crash_resumed_after(void);

/* Returns the position, in bytes of its stream, at which the record of that place begins. */
uint64_t th_crash_resumed_byte(void);

/* Returns whether the record NUMBER of the present stream is not delivered: a worker before this one
 * has died in it; or this worker begins behind it, without the earlier state. Order: numbers ascend
 * within a stream. Thread: as th_crash_set_place(). */
bool th_crash_is_left_out(uint64_t number);

/* Returns whether a worker before this one has written to stdout. */
bool th_crash_continues_stdout(void);

/* Notes that the worker begins a file, and returns whether the file continues that of the worker
 * before this one. Thread: any. */
bool th_crash_continues_file(void);

/* --- In a worker ------------------------------------------------------------------------------ */

/* True in a worker. */
bool th_crash_is_supervised(void);

/* Announces that the worker ends by itself with STATUS: what follows is no death. Without a
 * supervisor it does nothing. Thread: any; async-signal-safe. */
void th_crash_finish(int status);

/* Returns true if the supervisor passes on a signal that the worker has had already, as it was sent
 * to the process group. Call it once for each signal, with the handler's INFO. */
bool th_crash_is_repeated(int number, const siginfo_t *info);

/* Leaves the terminal's alternate screen, shows the cursor and wraps lines. */
#define TH_CRASH_LEAVE_SCREEN "\033[?7h\033[?25h\033[?1049l"

/* Notes that the worker shows the terminal's alternate screen, or no longer does: after a death the
 * supervisor leaves it. */
void th_crash_set_screen(bool shown);

/* Notes that FILE holds text for stderr from its beginning on, which the supervisor copies after a
 * death; -1: no longer. Owner: the caller may close FILE; the supervisor has its own descriptor.
 * Thread: any; async-signal-safe. */
void th_crash_set_held(int file);

#endif

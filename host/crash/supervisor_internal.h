/*
 * Interfaces between the files of the supervisor: its workers, their ends, and the merge of their
 * outputs. Inner header of crash/.
 */
#ifndef TH_SUPERVISOR_INTERNAL_H
#define TH_SUPERVISOR_INTERNAL_H

#include "crash_internal.h"
#include "supervisor.h"

#include "host/base/shared.h"

#include <poll.h>
#include <termios.h>

struct th_kept;

/* --- A worker, as the supervisor sees it (worker_state.c) ------------------------------------- */

enum {
    TH_CRASH_OUTPUTS = 256,   /* limit of outputs with a kept buffer */
    TH_CRASH_NAME_BYTES = 32, /* of a process; the kernel cuts names to less */
    TH_CRASH_SUSPECTS = 8     /* limit of threads that a report names */
};

struct th_crash_output {
    const struct th_kept *kept;
    int descriptor;
};

/* The workers before a worker that succeeds them: host/README.md, "A tracer that died plays again". */
struct th_crash_past {
    uint64_t deaths;             /* caused by a library, in records */
    struct th_crash_death death; /* the latest one */
    uint64_t furthest; /* greatest place of a death; 0: none. All text up to there was sent. */
    uint64_t resumed;  /* records up to this place are not delivered; the state before is lost */
    uint64_t resumed_byte; /* of the stream, at which the record of RESUMED begins */
    uint64_t *left_out;    /* places of deaths, ascending: these records are not delivered either */
    size_t left_out_count, left_out_capacity;
    bool state_lost;  /* successors begin behind RESUMED */
    bool has_written; /* text of the tracer was sent to stdout */
    bool has_begun;   /* the tracer's files hold what was delivered up to RESUMED */
};

struct th_crash_worker {
    const char *name;                /* of the command, for messages */
    char title[80];                  /* "tracer 'x': " if there are others, else "" */
    pid_t id;                        /* 0: the worker has ended, and no other follows it */
    int socket;                      /* -1: the worker has closed its end */
    struct th_shared_region *region; /* NULL: the worker has ended */
    uint64_t mark;                   /* that of REGION, unless a library has overwritten it */
    struct th_crash_page *page;
    struct th_crash_output outputs[TH_CRASH_OUTPUTS]; /* in the order in which they began */
    size_t output_count;
    int held; /* file with text for stderr; -1: none */
    struct termios terminal;
    bool has_terminal;
    char comm[TH_CRASH_NAME_BYTES]; /* the process' name, before any library can change it */
    bool stopped;                   /* by a signal */
    bool replaced;                  /* another program is in the worker's place */
    const struct th_self
        *lost_thread;           /* a thread that has ended in code of a library; NULL: none */
    int status;                 /* as of waitpid(), once the worker has ended */
    const struct th_self *main; /* of the first thread; NULL: not known yet */

    /* Threads that were in code of libraries when the worker ended. */
    const struct th_self *suspects[TH_CRASH_SUSPECTS];
    size_t suspect_count;
    uint64_t record; /* number of the record that was played; 0: none */
    size_t lost;     /* bytes of output */

    bool lives; /* at the last look */
    struct th_crash_past past;
    struct th_crash_end {
        bool crashed; /* by a library */
        int status;   /* the exit status */
        int signal;   /* the signal that has ended the worker; 0: none */
    } end;
};

/* Closes the file with text for stderr, and sets it to FILE, or to -1: none. */
void th_crash_set_worker_held(struct th_crash_worker *worker, int file);

/* Takes the messages that WORKER has sent. If another program has replaced the worker, ends it. */
void th_crash_take_messages(struct th_crash_worker *worker);

/* Ends WORKER if it waits for a thread that has ended in code of a library, and notes the thread. */
void th_crash_look_for_lost_thread(struct th_crash_worker *worker);

/* Returns the place at which WORKER is, or was. */
uint64_t th_crash_worker_place(struct th_crash_worker *worker);

/* Returns the position, in bytes of the stream, of the record that WORKER played; 0: unknown.
 * Order: after th_crash_worker_place(). */
uint64_t th_crash_worker_byte(const struct th_crash_worker *worker);

/* Reads the name of the process ID, which may be a zombie, to NAME. */
void th_crash_read_name(pid_t id, char name[TH_CRASH_NAME_BYTES]);

/* In the new process: makes it WORKER. SOCKET leads to the supervisor (worker.c). */
void th_crash_become_worker(const struct th_crash_worker *worker, pid_t supervisor, int socket);

/* --- Its end (worker_end.c) ------------------------------------------------------------------- */

/* Accounts for the end of WORKER, which has happened. After a death: writes what the worker had left,
 * removes its unfinished files, restores the terminal, and reports. Returns how the worker ended. */
struct th_crash_end th_crash_account_for(struct th_crash_worker *worker);

/* Ends the supervisor as END says. */
_Noreturn void th_crash_end_as(const struct th_crash_end *end);

/* --- Places ----------------------------------------------------------------------------------- */

/* Returns the place at which the process of REGION is, or was: that which th_crash_set_place() has
 * set, and within a stream the number of the event that the thread MAIN plays, which may be NULL.
 * Any memory may be damaged: only addresses in REGION are read.
 * Process: the worker or the supervisor. */
uint64_t th_crash_place_of(const struct th_shared_region *region, const struct th_self *main);

/* --- Output that the supervisor merges -------------------------------------------------------- */

/* A worker's output is sent by a pipe in frames: this head, then SIZE bytes. A frame has at most
 * PIPE_BUF bytes, so that it is sent whole or not at all. */
struct th_crash_frame {
    uint64_t place; /* at which the worker wrote the bytes */
    uint32_t size;
    enum { TH_CRASH_STDOUT, TH_CRASH_STDERR, TH_CRASH_COMMON /* see worker_merge.c */ } channel;
};

/* Replaces stdout and stderr of the calling process, a worker, by streams that send frames to PIPE
 * (worker_output.c). Text up to the place WRITTEN is dropped: a worker before this one has sent it.
 * The calling thread is the one that plays events. */
void th_crash_send_output(int pipe, uint64_t written);

/* The merge of the outputs of COUNT workers (worker_merge.c). */
struct th_crash_merge;
struct th_crash_merge *th_crash_merge_begin(size_t count);

/* Makes PIPE, which does not block, the source of worker number WORKER, or of its successor. */
void th_crash_merge_add(struct th_crash_merge *merge, size_t worker, int pipe);

/* Reads what the worker has sent, without a limit, and closes its pipe. LAST: nobody follows it. */
void th_crash_merge_end(struct th_crash_merge *merge, size_t worker, bool last);

/* Reads what the worker has sent, up to a limit. PLACE: its place, read before the call. Returns
 * whether there was anything. */
bool th_crash_merge_read(struct th_crash_merge *merge, size_t worker, uint64_t place);

/* Writes what can be written without a wait. Returns true if frames are left. */
bool th_crash_merge_write(struct th_crash_merge *merge);

/* Adds the descriptors to wait for to POLLED, which has room for one of each worker and one more:
 * the pipes if PIPES, and the descriptor that is written to. Returns their number. */
size_t th_crash_merge_poll(const struct th_crash_merge *merge, bool pipes, struct pollfd *polled);

/* Returns the errno of the first write to stdout that failed, once; 0: none. Nothing is written to
 * stdout after it. */
int th_crash_merge_error(const struct th_crash_merge *merge);

/* Closes the pipes and frees MERGE, in a process that is no supervisor. */
void th_crash_merge_leave(struct th_crash_merge *merge);

#endif

/*
 * The face of file/: operations on files, which a pool of threads carries out, so that no thread
 * with other work waits.
 *
 *   th_file_pool_start(10);
 *   operation = th_file_operation_create(TH_FILE_RENAME);
 *   th_file_set_path(operation, 0, old_name);
 *   th_file_set_path(operation, 1, new_name);
 *   operation->done = post;                      a request; nothing has happened yet
 *   th_file_submit(operation, &by);              a thread of the pool carries it out, calls post()
 *   ... operation->result ...
 *   th_file_settle(operation, &owner);
 *   th_file_operation_drop(operation);
 *
 * Each operation belongs to a port of the host. An open file is a port; processes that have its
 * identifier use the file. The file is closed when the process that opened it ends. An operation by
 * path has a port of its own until the operation is settled.
 *
 * The pool has the number of threads that it was started with. Each thread has a queue of its own,
 * and is created when all earlier threads have work. All operations of a port are carried out by
 * the same thread, in the order of submission. So a file, its read-ahead bytes and its delayed
 * writes need no lock, and a close cannot hit a descriptor that another operation uses. The queue
 * length that the probes report is the length of one thread's queue, as OTP documents it. The
 * price: a slow operation delays operations on other files in its queue. An operation by path goes
 * to the thread with the least work.
 *
 *   1. th_file_submit(), called by a scheduler, looks up the file and numbers the operation:
 *      {thread, tag} identifies it in all probes. Probes: efile_drv__entry, aio_pool__add.
 *   2. The thread of its queue takes the operation. Probe: aio_pool__get.
 *   3. The thread carries the operation out. Probes: efile_drv__int_entry, efile_drv__int_return.
 *   4. The thread calls `done`; if the operation was abandoned meanwhile, the thread settles it.
 *   5. The receiver of `done` calls th_file_settle(). Probe: efile_drv__return.
 *
 * A file that one process closes, or whose owner has ended, is closed for all processes at once.
 * Operations that others have queued for the file fail with EBADF and are not carried out; an
 * operation under way ends before the descriptor is closed.
 */
#ifndef TH_FILE_H
#define TH_FILE_H

#include "operations.h"

#include "host/term/make.h"

/* How a file is opened: the flags in the probes. */
enum {
    TH_FILE_FOR_READING = 1,
    TH_FILE_FOR_WRITING = 2,
    TH_FILE_APPENDS = 4,
    TH_FILE_IS_NEW = 16, /* the file must not exist (EEXIST) */
    TH_FILE_KEEPS = 32,  /* keeps the content, though opened for writing only */
    TH_FILE_SYNC = 64,   /* each write is on the disk when it returns */
    TH_FILE_FLAGS = 1 | 2 | 4 | 16 | 32 | 64
};

/* opt_name of SETOPT; the value is a number of bytes. */
enum {
    TH_FILE_DELAYED_WRITE = 0, /* the most that delayed writes may gather */
    TH_FILE_READ_AHEAD = 1     /* the least that one read takes */
};

/* A piece that PREADV reads or PWRITEV writes. */
struct th_file_piece {
    int64_t position;
    uint64_t size;
    size_t offset; /* PWRITEV: position of its bytes in `data` */
};

/* The files that a process has opened. Zeros at first. */
struct th_file_owner {
    struct th_file *first; /* under the lock of operation.c */
    bool has_opened;       /* a file, at any time; written by the struct's owner */
};

enum th_file_state { TH_FILE_ASKED, TH_FILE_QUEUED, TH_FILE_RUNNING, TH_FILE_DONE };

struct th_file_operation {
    struct th_magic magic;   /* for a term that keeps the operation; of who makes such a term */
    _Atomic unsigned shares; /* reference count: release; the last one acquires */
    enum th_file_command command;

    /* The request; written by its creator before th_file_submit(). */
    th_term port; /* port of the open file; TH_NONE: by path, gets a port of its own */
    char *paths[2];
    int64_t given[4]; /* integers of its row but fd and flags of an open file, in order */
    unsigned char *data;
    size_t size;
    struct th_file_piece *pieces;
    size_t piece_count;
    th_term process; /* the requesting process */
    /* Called by a thread of the pool after the operation was carried out, with the operation's
     * reference. NULL: the thread settles the operation itself. */
    void (*done)(struct th_file_operation *operation);

    /* Written by th_file_submit(). */
    struct th_file *file; /* open file or own port, with a reference; NULL: `port` is no open
                             file */
    int thread, tag;
    char *user_tag;
    int64_t integers[4]; /* the integers of its row */
    unsigned member;     /* number of the pool's thread */
    bool ends_port;      /* settling ends the port, unless an owner gets the opened file */

    /* Under the lock of its queue. */
    struct th_file_operation *next;
    enum th_file_state state;
    bool abandoned;

    /* The outcome; valid from `done` on. */
    int error; /* errno, 0: none */
    th_env env;
    th_term result; /* in ENV */
};

/* --- Requests --------------------------------------------------------------------------------- */

/* Creates an operation with one reference; takes or drops a reference. All functions of this part:
 * any thread. */
struct th_file_operation *th_file_operation_create(enum th_file_command command);
void th_file_operation_keep(struct th_file_operation *operation);
void th_file_operation_drop(struct th_file_operation *operation);

/* Sets path WHICH (0 or 1) from TERM: a binary of any bytes, or a list of binaries and characters,
 * which become UTF-8. th_file_path() returns the path for another use.
 * Owner: the caller of th_file_path() frees its result by th_free().
 * Errors: false, or NULL, if TERM is no such term or has a character 0; the operation is
 * unchanged. */
char *th_file_path(th_term term);
bool th_file_set_path(struct th_file_operation *operation, int which, th_term term);

/* Appends the data to be written, iodata. False if TERM is no iodata. */
bool th_file_set_data(struct th_file_operation *operation, th_term term);

/* Sets the pieces: a list of {Position, Size}, or of {Position, Iodata}; the numbers are not
 * negative. False if TERM is no such list. */
bool th_file_set_pieces(struct th_file_operation *operation, th_term term);

/* --- Carrying out ----------------------------------------------------------------------------- */

struct th_file_submission {
    unsigned thread;      /* number of the scheduler */
    const char *user_tag; /* "": none */
};

/* Passes the operation, with the caller's reference, to the pool. By a scheduler. See the steps
 * above. */
void th_file_submit(struct th_file_operation *operation, const struct th_file_submission *by);

/* Ends an operation that was carried out or cancelled: fires the probe efile_drv__return, and ends
 * the operation's own port (CLOSE: the file's port). If the operation opened a file, OWNER becomes
 * the owner of the file, and the port stays as the file's; if OWNER is NULL, the file is closed in
 * the calling thread, and the port ends.
 * Thread: with OWNER, the one that uses OWNER; else any.
 * Order: once for each operation, before its last reference is dropped. */
void th_file_settle(struct th_file_operation *operation, struct th_file_owner *owner);

/*
 * Cancels OPERATION for its submitter, who no longer waits. A queued operation is removed from the
 * queue, settled with ECANCELED, and its reference dropped; but a queued CLOSE is carried out. An
 * operation under way is settled by the thread that carries it out.
 * Errors: returns false if the operation was carried out: `done` has been called, or will be at
 * once.
 */
bool th_file_abandon(struct th_file_operation *operation);

/* Closes the files of OWNER, which has ended; the pool does the work. By a scheduler, number
 * THREAD. */
void th_file_owner_end(struct th_file_owner *owner, unsigned thread);

/* --- The pool --------------------------------------------------------------------------------- */

/* Starts the pool. THREADS is at least 1.
 * Order: before the first submission. */
void th_file_pool_start(unsigned threads);

/* Carries out the queued operations and ends the threads.
 * Order: after the last submission. */
void th_file_pool_stop(void);

/* The number of operations that were submitted and not settled yet. Any thread. */
size_t th_file_pool_operations(void);

/* Calls EACH for the operation that each thread carries out now, as "file operation RENAME". Any
 * thread. */
void th_file_pool_each_running(void (*each)(void *context, const char *operation), void *context);

/* The number of open files, for tests. Any thread. */
size_t th_file_open_files(void);

#endif

/*
 * The face of file/: operations on files that others carry out, so that nobody waits in a thread
 * that has something else to do.
 *
 *   th_file_pool_start(10);
 *   operation = th_file_operation_create(TH_FILE_RENAME);
 *   th_file_set_path(operation, 0, old_name);
 *   th_file_set_path(operation, 1, new_name);
 *   operation->done = post;                      asked for; nothing has happened
 *   th_file_submit(operation, &by);              a thread of the pool carries it out, calls post()
 *   ... operation->result ...
 *   th_file_settle(operation, &owner);
 *   th_file_operation_drop(operation);
 *
 * Each operation belongs to a port of the host. An open file is one; those who have its identifier
 * use the file. It goes with the process that has opened it. What is asked for by a path has a port
 * of its own until it is settled.
 *
 * The pool is as many threads as it was started with, each with a queue of its own, and made when
 * all others have something to do. All operations of a port are carried out by the same thread, in
 * the order in which they were submitted; so a file, what was read ahead and what is to be written
 * need no lock, and a close cannot hit a descriptor that another operation uses. The length of a
 * queue that the probes report is that of one thread, as OTP documents it. The price: a slow
 * operation holds up those of other files in its queue. An operation by path goes to the thread
 * with the least to do.
 *
 *   1. th_file_submit(), by a scheduler: the file is looked up, and the operation gets its number:
 *      {thread, tag} names it in all probes.            efile_drv__entry, aio_pool__add
 *   2. The thread of its queue takes it.                aio_pool__get
 *   3. It carries it out.                               efile_drv__int_entry, efile_drv__int_return
 *   4. `done` is called by that thread; or, if it was cancelled meanwhile, it is settled there.
 *   5. th_file_settle(), by whoever was told.           efile_drv__return
 *
 * A file that is closed, or whose owner has ended, is closed for all at once: what others have
 * queued for it is answered with EBADF, and not carried out; what is under way ends before the
 * descriptor is closed.
 */
#ifndef TH_FILE_H
#define TH_FILE_H

#include "operations.h"

#include "host/term/env.h"

/* How a file is opened: what the flags of the probes are. */
enum {
    TH_FILE_FOR_READING = 1,
    TH_FILE_FOR_WRITING = 2,
    TH_FILE_APPENDS = 4,
    TH_FILE_IS_NEW = 16, /* else it is EEXIST */
    TH_FILE_KEEPS = 32,  /* what is in it, though it is opened for writing alone */
    TH_FILE_SYNC = 64,   /* each write is on the disk when it is done */
    TH_FILE_FLAGS = 1 | 2 | 4 | 16 | 32 | 64
};

/* opt_name of SETOPT; the value is a number of bytes. */
enum {
    TH_FILE_DELAYED_WRITE = 0, /* that may be gathered before they are written */
    TH_FILE_READ_AHEAD = 1     /* that are read at once, if fewer are asked for */
};

/* A piece of what PREADV reads and PWRITEV writes. */
struct th_file_piece {
    int64_t position;
    uint64_t size;
    size_t offset; /* PWRITEV: where its bytes are in `data` */
};

/* The files that a process has opened. Zeros at first. */
struct th_file_owner {
    struct th_file *first; /* under the lock of operation.c */
    bool has_opened;       /* anything, ever; by who owns this */
};

enum th_file_state { TH_FILE_ASKED, TH_FILE_QUEUED, TH_FILE_RUNNING, TH_FILE_DONE };

struct th_file_operation {
    _Atomic unsigned shares; /* release; the last one acquires */
    enum th_file_command command;

    /* What is asked for; by who makes it, before it is submitted. */
    th_term port; /* the open file's, TH_NONE: it is asked for by path, and gets one of its own */
    char *paths[2];
    int64_t given[4]; /* the integers of its row but fd and flags of an open file, in that order */
    unsigned char *data;
    size_t size;
    struct th_file_piece *pieces;
    size_t piece_count;
    th_term process; /* who asks */
    /* Is handed the operation's share, by a thread of the pool, when it was carried out. NULL: it
     * is settled there. */
    void (*done)(struct th_file_operation *operation);

    /* Set by th_file_submit(). */
    struct th_file *file; /* with a share; NULL: `port` is no open file */
    int thread, tag;
    char *user_tag;
    int64_t integers[4]; /* those of its row */
    unsigned member;     /* of the pool */
    bool ends_port;      /* when it is settled; but not of a file that it has opened */

    /* Under the lock of its queue. */
    struct th_file_operation *next;
    enum th_file_state state;
    bool abandoned;

    /* What came of it; from `done` on. */
    int error; /* errno, 0: none */
    th_env env;
    th_term result; /* in ENV */
};

/* --- Asking ----------------------------------------------------------------------------------- */

/* One share. Any thread, as all of this part. */
struct th_file_operation *th_file_operation_create(enum th_file_command command);
void th_file_operation_keep(struct th_file_operation *operation);
void th_file_operation_drop(struct th_file_operation *operation);

/* A path: a binary, of any bytes; or a list of characters, which become UTF-8, and such binaries.
 * False, and nothing is set, if TERM is none, or has a character 0. th_file_path() is for paths of
 * something else: the caller's to free, NULL where that would be false. */
char *th_file_path(th_term term);
bool th_file_set_path(struct th_file_operation *operation, int which, th_term term);

/* Data to be written: iodata; false if TERM is none. */
bool th_file_set_data(struct th_file_operation *operation, th_term term);

/* The pieces: a list of {Position, Size}, or of {Position, Iodata}, numbers that are not negative.
 * False if TERM is none. */
bool th_file_set_pieces(struct th_file_operation *operation, th_term term);

/* --- Carrying out ----------------------------------------------------------------------------- */

struct th_file_submission {
    unsigned thread;      /* the scheduler's number */
    const char *user_tag; /* "": none */
};

/* The share goes to the pool; see above. By a scheduler. */
void th_file_submit(struct th_file_operation *operation, const struct th_file_submission *by);

/* What was submitted, and whose `done` was called, is over: tells the probe, and ends what the
 * operation alone has used. A file that it has opened becomes OWNER's; NULL: nobody wants it, and
 * it is closed again. Once. */
void th_file_settle(struct th_file_operation *operation, struct th_file_owner *owner);

/*
 * Who has submitted OPERATION does not wait any more. What is queued is taken out of the queue,
 * settled with ECANCELED, and its share dropped (but for CLOSE, which is carried out); what is
 * under way will be settled by the thread that carries it out. False: it was carried out, and
 * `done` has been called, or will be at once.
 */
bool th_file_abandon(struct th_file_operation *operation);

/* OWNER has ended: its files are closed by the pool. By a scheduler, whose number is THREAD. */
void th_file_owner_end(struct th_file_owner *owner, unsigned thread);

/* --- The pool --------------------------------------------------------------------------------- */

/* THREADS: at least 1. Before anything is submitted. */
void th_file_pool_start(unsigned threads);

/* Carries out what is queued, and ends the threads. Nobody submits any more. */
void th_file_pool_stop(void);

/* How many operations were submitted and not settled yet. Any thread. */
size_t th_file_pool_operations(void);

/* Calls EACH for what each thread carries out now, "file operation RENAME". Any thread. */
void th_file_pool_each_running(void (*each)(void *context, const char *operation), void *context);

/* How many open files there are, for tests. Any thread. */
size_t th_file_open_files(void);

#endif

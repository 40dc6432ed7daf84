/*
 * What the files of file/ share: open files, the pool, carrying out. Inner header of file/.
 */
#ifndef TH_FILE_INTERNAL_H
#define TH_FILE_INTERNAL_H

#include "file.h"

#include "host/base/buffer.h"
#include "host/term/env.h"

#include <errno.h>
#include <stdatomic.h>

struct stat;

/* --- Open files, and the ports of operations (operation.c) ------------------------------------ */

struct th_file {
    th_term port;            /* constant */
    unsigned member;         /* of the pool, constant: whose queue its operations go to */
    _Atomic unsigned shares; /* release; the last one acquires */
    _Atomic bool closed; /* for all operations but CLOSE; relaxed: what it is told by comes later */

    /* By the thread of its member, and before that by who opens it. Relaxed: others only show them.
     */
    _Atomic int fd;
    _Atomic int flags;
    _Atomic size_t ahead_offset, ahead_limit;

    /* By the thread of its member. */
    struct th_buffer ahead; /* was read, and is not used from ahead_offset on */
    struct th_buffer late;  /* was given to be written */
    size_t late_limit;
    bool reads_ahead; /* ahead_limit bytes for all reads; else for lines only */

    /* Under the lock of operation.c. */
    struct th_file *next, **place;
};

#define TH_FILE_PORT "efile" /* what their ports are opened for */

/* The open file of PORT, with a share; NULL: there is none. CLOSES: it is closed for all others
 * from now on. */
struct th_file *th_file_find(th_term port, bool closes);
void th_file_drop(struct th_file *file);

/* --- The pool (pool.c) ------------------------------------------------------------------------ */

/* A member that has the least to do. */
unsigned th_file_pool_choose(void);

/* Puts OPERATION, and its share, into the queue of its member. */
void th_file_pool_add(struct th_file_operation *operation);

/* Nobody waits for OPERATION any more. TH_FILE_QUEUED: it was taken out of its queue, and the share
 * is the caller's. TH_FILE_RUNNING: it is, or will be, carried out, and then settled and dropped
 * there. TH_FILE_DONE: it was carried out. */
enum th_file_state th_file_pool_abandon(struct th_file_operation *operation);

/* --- Carrying out, by a thread of the pool (carry_out*.c) ------------------------------------- */

/* What a system call that returned RESULT answers: 0 or an errno. */
static inline int th_file_outcome(int result)
{
    return result < 0 ? errno : 0;
}

/* Each function th_file_carry_out_*() returns 0, and has set `result`, or an errno. A result that
 * is not set is `ok`. th_file_carry_out() has written what was given to be written before, where
 * the operation needs that. */
#define TH_FILE_CARRY_OUT(number, NAME, name, ...) \
    int th_file_carry_out_##name(struct th_file_operation *operation);
TH_FILE_OPERATIONS(TH_FILE_CARRY_OUT)
#undef TH_FILE_CARRY_OUT

/* Sets `error` and `result`: {error, Posix} if there is an error. */
void th_file_carry_out(struct th_file_operation *operation);

/* The result is {ok, TERM}, or `eof`; 0. */
int th_file_gives(struct th_file_operation *operation, th_term term);
int th_file_gives_eof(struct th_file_operation *operation);

/* What is known of a file, as a map. */
th_term th_file_info(th_env *env, const struct stat *info);

/* BINARY, of which SIZE bytes are used, as a term; its share is the term's. */
th_term th_file_term_of(th_env *env, struct th_binary *binary, size_t size);

/* Makes the descriptor stand where the user of FILE thinks that it does: what was read ahead is
 * dropped. And writes what was given to be written. */
void th_file_unread(struct th_file *file);
int th_file_flush(struct th_file *file);

#endif

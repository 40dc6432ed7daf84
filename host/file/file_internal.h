/*
 * Open files, the pool, and carrying out, which the files of file/ share. Inner header of file/.
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
    unsigned member;         /* constant; the member that carries out its operations */
    _Atomic unsigned shares; /* reference count: release; the last one acquires */
    _Atomic bool closed;     /* but for CLOSE; relaxed: visible after CLOSE by the queue's lock */

    /* Written by the thread of its member, before that by the thread that opens it. Relaxed: other
     * threads only show the values. */
    _Atomic int fd;
    _Atomic int flags;
    _Atomic size_t ahead_offset, ahead_limit;

    /* Used by the thread of its member only. */
    struct th_buffer ahead; /* bytes that were read ahead, unused from ahead_offset on */
    struct th_buffer late;  /* bytes that wait to be written */
    size_t late_limit;
    bool reads_ahead; /* ahead_limit bytes at each read; else for lines only */

    /* Under the lock of operation.c. */
    struct th_file *next, **place;
};

#define TH_FILE_PORT "efile" /* the name under which these ports are opened */

/* Returns the open file of PORT with a reference, NULL if there is none. If CLOSES, the file is
 * closed for all other operations from now on. */
struct th_file *th_file_find(th_term port, bool closes);
void th_file_drop(struct th_file *file);

/* --- The pool (pool.c) ------------------------------------------------------------------------ */

/* Chooses the member with the least work. */
unsigned th_file_pool_choose(void);

/* Moves OPERATION, with its reference, to the queue of its member. */
void th_file_pool_add(struct th_file_operation *operation);

/* Abandons OPERATION. TH_FILE_QUEUED: it was removed from its queue, and the caller has the
 * reference. TH_FILE_RUNNING: the member carries it out, then settles and drops it. TH_FILE_DONE:
 * it was carried out. */
enum th_file_state th_file_pool_abandon(struct th_file_operation *operation);

/* --- Carrying out, by a thread of the pool (*_operations.c) ----------------------------------- */

/* The outcome of a system call that returned RESULT: 0 or an errno. */
static inline int th_file_outcome(int result)
{
    return result < 0 ? errno : 0;
}

/* Each function th_file_carry_out_*() sets `result` and returns 0, or returns an errno. A result
 * that is not set is `ok`. For an operation that needs the delayed bytes in the file,
 * th_file_carry_out() has written these bytes before. */
#define TH_FILE_CARRY_OUT(number, NAME, name, ...) \
    int th_file_carry_out_##name(struct th_file_operation *operation);
TH_FILE_OPERATIONS(TH_FILE_CARRY_OUT)
#undef TH_FILE_CARRY_OUT

/* Carries OPERATION out and sets `error` and `result`; the result of an error is {error, Posix}. */
void th_file_carry_out(struct th_file_operation *operation);

/* Sets the result to {ok, TERM}, or to `eof`; returns 0. */
int th_file_gives(struct th_file_operation *operation, th_term term);
int th_file_gives_eof(struct th_file_operation *operation);

/* Information about a file, as a map. */
th_term th_file_info(th_env *env, const struct stat *info);

/* Returns a term of the first SIZE bytes of BINARY.
 * Owner: takes over the caller's reference to BINARY. */
th_term th_file_term_of(th_env *env, struct th_binary *binary, size_t size);

/* th_file_unread() moves the descriptor to the position that users of FILE see, and drops the bytes
 * read ahead; if the descriptor has no position, the bytes stay. th_file_flush() writes the delayed
 * bytes.
 * Errors: th_file_flush() returns 0 or an errno; bytes that could not be written are lost. */
void th_file_unread(struct th_file *file);
int th_file_flush(struct th_file *file);

#endif

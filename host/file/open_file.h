/*
 * Open files, and the ports of operations. Inner header of file/.
 */
#ifndef TH_OPEN_FILE_H
#define TH_OPEN_FILE_H

#include "file.h"

#include "host/base/base.h"

#include <stdatomic.h>

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

    /* Under the lock of open_file.c. */
    struct th_file *next, **place;
};

#define TH_FILE_PORT "efile" /* what their ports are opened for */

/* A port, opened by PROCESS, and its file, with no descriptor yet; one share. */
struct th_file *th_file_begin(th_term process);
void th_file_keep(struct th_file *file);
void th_file_drop(struct th_file *file);

/* The open file of PORT, with a share; NULL: there is none. CLOSES: it is closed for all others
 * from now on. */
struct th_file *th_file_find(th_term port, bool closes);

/* FILE is open, and can be found; takes a share. */
void th_file_list(struct th_file *file, struct th_file_owner *owner);

/* Any of OWNER's, which is closed for all from now on; the share that it was listed with. NULL: it
 * has none. */
struct th_file *th_file_take(struct th_file_owner *owner);

#endif

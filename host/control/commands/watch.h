/*
 * --watch: tracers whose files change while they are at work are replaced; of plugins the new code
 * is loaded.
 *
 *   watch = {.host = host};
 *   th_control_watch_begin(&watch);        the sessions are there
 *   ... events ...
 *   th_control_watch_end(&watch);          before sessions are destroyed, or looked at without the
 *   lock
 *
 * A thread looks at the folders in which they were found, through inotify, and, where a part of a
 * path is a symbolic link, at those that it leads to: a file there that was closed after writing,
 * or moved or linked there, and whose name is that of a tracer or plugin at work, or of a link on
 * the way to it, is finished. It is looked at when no file has become so for a while, so that a
 * burst of writes is one change. A file that is being written is not looked at before it is closed.
 * If a finished one is another than is at work, the tracer is replaced, by that thread:
 * th_trace_tracer_renew(). What came of it is reported to the host; a file that was refused is not
 * tried again before it changes.
 */
#ifndef TH_WATCH_H
#define TH_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct th_control_host;

struct th_control_watch_module {
    char *path;
    bool tried, waits; /* FILE was tried; old code is in use */
    struct stat file;
};

struct th_control_watch {
    struct th_control_host *host; /* its lock is around what is done to sessions */

    /* Its own: the thread's, but for what is said. */
    pthread_t thread;
    bool begun;        /* the beginner's */
    atomic_bool over;  /* relaxed: it is woken after that */
    int news, wake;    /* of inotify; to be written when it is over */
    bool incomplete;   /* a file is not there */
    bool all;          /* what happened to files is not known: all are finished */
    int latest_folder; /* inotify's number of the folder that it got to know last */
    struct th_control_watch_file *finished; /* and not looked at yet */
    size_t finished_count, finished_capacity;
    struct th_control_watch_refusal *refusals; /* by session */
    size_t refusal_count, refusal_capacity;
    struct th_control_watch_module *modules; /* that have current code, by name */
    size_t module_count;
    int64_t due;    /* when all are looked at; INT64_MAX: nothing has happened */
    int64_t latest; /* but then at last */
};

/*
 * The part of --watch that is about plugins: of one whose file has changed the new code is loaded,
 * with a soft purge. If old code of the module is still in use, it is tried again until that is
 * over; what is refused, when the file changes again. By one thread, which th_crash_thread_begin()
 * was called in, without locks.
 */

/* --- Its life --------------------------------------------------------------------------------- */

#endif

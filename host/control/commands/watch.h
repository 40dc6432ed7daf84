/*
 * --watch: tracers whose files change while they are at work are replaced; of plugins the new code
 * is loaded (watch_modules.h).
 *
 *   watch = {.host = host, .tracing = tracing, .lock = &lock};
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

#include "watch_modules.h"

#include <pthread.h>
#include <stdatomic.h>

struct th_control_host;

struct th_control_watch {
    const struct th_control_host *host; /* it is reported to */
    struct th_tracing *tracing;         /* shared */
    /* Around what is done to sessions; others take it while they destroy any, or load libraries. */
    struct th_tracer_lock *lock;
    const char *load_info; /* of plugins, Erlang text; NULL: 0 */

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
    struct th_control_watch_modules modules;
    int64_t due;    /* when all are looked at; INT64_MAX: nothing has happened */
    int64_t latest; /* but then at last */
};

/* Appends the symbolic links on the way to the file PATH, as paths without other links in them but
 * the last part, in their order, and then the path of the file itself. */
void th_control_watch_places(const char *path, struct th_names *places);

/* The last part of PATH. */
const char *th_control_watch_name_in(const char *path);

/* The file PATH is to be looked at: it is finished, or what happened to it is not known. By the
 * watch's own thread. */
bool th_control_watch_is_finished(struct th_control_watch *watch, const char *path);

/* Report to the host what was done; the thread's chain. By the watch's own thread. */
void th_control_watch_report(const struct th_control_watch *watch, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void th_control_watch_report_failure(const struct th_control_watch *watch);

/* TH_FAILED if there is no inotify or no thread for it. With the lock or without. */
enum th_status th_control_watch_begin(struct th_control_watch *watch);

/* There are other sessions than there were, or other tracers: looks where their files are. Nothing,
 * if it has not begun. Any thread, neither while it begins nor while it ends. */
void th_control_watch_look(const struct th_control_watch *watch);

/* Waits for what is being done, without the lock. Nothing, if it has not begun. */
void th_control_watch_end(struct th_control_watch *watch);

#endif

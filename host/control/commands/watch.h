/*
 * --watch: replaces tracers, and loads new code of plugins, when their files change.
 *
 *   watch = {.host = host};
 *   th_control_watch_begin(&watch);        the sessions exist
 *   ... events ...
 *   th_control_watch_end(&watch);          before sessions are destroyed, or read without the lock
 *
 * A thread watches folders with inotify: those of the tracers' and plugins' paths, and, for
 * symbolic links in these paths, those of the link targets. A file is finished if it was closed
 * after writing, moved or linked into such a folder, and has the name of a tracer or plugin in use
 * or of a link on the way to one. A finished file is examined after a quiet period without another
 * finished file, so that a burst of writes is one change. A file that is still open for writing is
 * not examined. If the finished file differs from the one in use, the thread replaces the tracer
 * with th_trace_tracer_renew(). The outcome is reported to the host. A file that was refused is not
 * tried again until the file changes.
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
    bool tried, waits; /* FILE was tried; waits until old code is not used any more */
    struct stat file;
};

struct th_control_watch {
    struct th_control_host *host; /* its lock guards changes of sessions */

    /* Internal: written by the watch's thread, unless stated. */
    pthread_t thread;
    bool begun;        /* written by th_control_watch_begin() and _end() */
    atomic_bool over;  /* relaxed: the thread is woken after the store */
    int news, wake;    /* inotify's descriptor; eventfd that wakes the thread */
    bool incomplete;   /* the list of folders must be read again: a file is missing */
    bool all;          /* events were lost: all files count as finished */
    int latest_folder; /* inotify's number of the newest known folder */
    struct th_control_watch_file *finished; /* and not yet examined */
    size_t finished_count, finished_capacity;
    struct th_control_watch_refusal *refusals; /* by session */
    size_t refusal_count, refusal_capacity;
    struct th_control_watch_module *modules; /* modules with current code, by name */
    size_t module_count;
    int64_t due;    /* time to examine finished files; INT64_MAX: none are finished */
    int64_t latest; /* upper bound for `due` */
};

#endif

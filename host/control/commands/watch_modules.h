/*
 * The part of --watch that is about plugins: of one whose file has changed the new code is loaded,
 * with a soft purge. If old code of the module is still in use, it is tried again until that is
 * over; what is refused, when the file changes again. By one thread, which th_crash_thread_begin()
 * was called in, without locks.
 */
#ifndef TH_WATCH_MODULES_H
#define TH_WATCH_MODULES_H

#include "host/crash/crash.h"
#include "host/runtime/runtime.h"

#include <sys/stat.h>

struct th_control_watch;

struct th_control_watch_modules {
    struct th_control_watch_module {
        char *path;
        bool tried, waits; /* FILE was tried; old code is in use */
        struct stat file;
    } * items; /* one for each module that has current code, by name */
    size_t count;
};

/* Looks which modules there are: others are forgotten. Waits for the permission. */
void th_control_watch_modules_update(struct th_control_watch_modules *modules);
void th_control_watch_modules_free(struct th_control_watch_modules *modules);

/* Loads WATCH's modules whose files are finished and new, and reports what came of it.
 * True: it is to be called again in a while. */
bool th_control_watch_modules_renew(struct th_control_watch *watch);

/* Both are the same file, which was not written to in between. */
bool th_control_watch_is_same(const struct stat *a, const struct stat *b);

/* The file PATH is still FILE. If it is not, what was tried of it counts for nothing: somebody is
 * writing to it, and it will be finished again. */
bool th_control_watch_is_still(const char *path, const struct stat *file);

#endif

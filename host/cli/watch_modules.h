/*
 * The part of --watch that is about plugins: of one whose file has changed the new code is loaded,
 * with a soft purge. If old code of the module is still in use, it is tried again until that is
 * over; what is refused, when the file changes again. By one thread, which th_guard_thread_begin()
 * was called in, without locks.
 */
#ifndef TH_WATCH_MODULES_H
#define TH_WATCH_MODULES_H

#include "host/runtime/runtime.h"

#include <sys/stat.h>

struct th_watch_modules {
    struct th_watch_module {
        char *path;
        bool tried, waits; /* FILE was tried; old code is in use */
        struct stat file;
    } * items; /* one for each module that has current code, by name */
    size_t count;
};

/* Looks which modules there are: others are forgotten. Waits for the permission. */
void th_watch_modules_update(struct th_watch_modules *modules);
void th_watch_modules_free(struct th_watch_modules *modules);

/* A file NAME, in whatever folder, is that of one. */
bool th_watch_modules_have(const struct th_watch_modules *modules, const char *name);

/* Loads what is new, with the load info INFO, Erlang text or NULL, and tells on stderr what came of
 * it, as COMMAND. True: it is to be called again in a while. */
bool th_watch_modules_renew(struct th_watch_modules *modules, const char *command,
                            const char *info);

/* Both are the same file, which was not written to in between. */
bool th_watch_is_same(const struct stat *a, const struct stat *b);

#endif

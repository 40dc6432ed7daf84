/*
 * Loads code: modules are added, replaced and removed while their functions run.
 *
 *   th_code_prepare(library, &prepared[i]);    for each; any number at once
 *   finish = (struct th_finish){.prepared = prepared, .count = count, .info = th_small(0)};
 *   th_code_finish(&finish);                   all of them become callable at one instant
 *   ...
 *   th_code_purge(name, TH_PURGE_SOFT);        frees the replaced code if it has no user
 *
 * A load makes the module's current code old code. Calls that run in old code go on, and their
 * calls of C functions stay in old code; external calls reach the new code. A module has at most
 * one old code: before the module gets other old code, the load purges the older code, if that code
 * has no user any more. So memory is bounded, and patterns find at most two functions of one name.
 *
 * No thread is stopped. Preparing does not wait for other threads. Finishing waits in a queue for
 * the code modification permission, and then for a grace period, or for two if old code is so
 * recent that its users are not known yet. The thread must be allowed to wait
 * (th_code_permission_may_wait()).
 *
 * Source: Erlang/OTP, "Non-Blocking Code Loading", with lists of modules.
 */
#ifndef TH_LOADING_H
#define TH_LOADING_H

#include "host/base/error.h"
#include "host/term/word.h"

struct th_library;
struct th_buffer;

/* --- Loading ---------------------------------------------------------------------------------- */

/* Prepares LIBRARY, which must be open, and returns an instance for th_code_finish().
 * Owner: takes over the caller's reference to LIBRARY.
 * Thread: any. */
struct th_instance *th_code_prepare(struct th_library *library);

/* Frees PREPARED, which was not finished, and releases its library. Thread: one that may wait. */
void th_code_prepared_drop(struct th_instance *prepared);

/* The treatment of processes that are in old code which is to be purged. */
enum th_purge {
    TH_PURGE_SOFT, /* the purge is refused */
    TH_PURGE_HARD  /* the processes are killed */
};

/* The reason of a refusal to change code. */
enum th_code_refusal {
    TH_CODE_FAILED,     /* none of the reasons below */
    TH_CODE_REFUSED,    /* a library was refused, or its code has refused */
    TH_CODE_NOT_PURGED, /* old code that must be purged has users */
    TH_CODE_DUPLICATE,  /* two libraries of the list are the same module */
    TH_CODE_NOT_LOADED  /* the module has no current code */
};

/* The result for a module of the list. */
struct th_finished {
    th_term name;
    uint64_t generation;
    bool upgraded; /* by upgrade(), with the data of its former code; else by load() */
};

struct th_finish {
    struct th_instance *const *prepared;
    size_t count;
    th_term info; /* argument of load() and upgrade() */
    enum th_purge purge;
    unsigned rounds;              /* result: number of grace periods that were waited for */
    enum th_code_refusal refusal; /* result, valid unless TH_OK is returned */
    struct th_finished *finished; /* result on TH_OK: COUNT elements; NULL: not wanted */
};

/*
 * Makes all prepared modules visible at one instant, or none. The steps are ordered by the cost of
 * a refusal: step 2 changes nothing, load() can be undone by unload(), a check changes nothing of
 * the old code, and only an upgrade() has to be handed back. One grace period lies between staging
 * and commit; the libraries' code runs before.
 *
 *  0. Kills the processes that are in old code of step 2, if PURGE is TH_PURGE_HARD.
 *  1. Waits for the permission.
 *  2. Checks the old code of modules with current code, which is to be purged. TH_REFUSED,
 *     TH_CODE_NOT_PURGED, if such code has users. Old code of a deleted module stays, as in a BEAM.
 *  3. Calls load() of the modules that have neither current nor old code. If one refuses,
 *     unload() of those before it is called.
 *  4. Calls th_upgrade_check() of the others, each of which may refuse before any upgrade().
 *  5. Calls upgrade() of the others, in the order of the list. If one refuses, those before it
 *     are handed back, the latest first, by upgrade() of their former libraries. If this upgrade()
 *     refuses, too, neither code of the module is usable: the module is deleted, and the error
 *     chain names it.
 *  6. Stages the functions, waits for a grace period, and commits.
 *
 * Owner: on TH_OK the modules own all of PREPARED; else the caller still does, and may drop or
 * finish them again.
 * Errors: TH_USAGE with TH_CODE_DUPLICATE if two of PREPARED have one name; TH_REFUSED with
 * TH_CODE_NOT_PURGED (step 2) or TH_CODE_REFUSED (steps 3 to 5); any other status of a library's
 * load with TH_CODE_FAILED. After an error the code is unchanged, except for deletions of step 5,
 * and processes that step 0 killed.
 * Thread: one that may wait. The libraries' code runs in this thread, with the permission; changes
 * of breakpoints that this code requests are made afterwards.
 */
enum th_status th_code_finish(struct th_finish *finish);

/* Makes the current code of the module NAME old code.
 * Errors: TH_USAGE, TH_CODE_NOT_LOADED; TH_REFUSED, TH_CODE_NOT_PURGED.
 * Thread: one that may wait. */
enum th_status th_code_delete(th_term name, enum th_purge purge);

/* Removes the old code of NAME. Its library is unloaded and closed after the last resource with a
 * destructor is gone. Sets *HAD, which may be NULL, to whether there was old code.
 * Errors: TH_REFUSED, TH_CODE_NOT_PURGED.
 * Thread: one that may wait. */
enum th_status th_code_purge(th_term name, enum th_purge purge, bool *had);

/* Deletes and purges all modules, the latest first. If a module has users, waits some seconds for
 * them, and then ignores them.
 * Thread: one that may wait.
 * Order: after all processes have ended. */
void th_code_end(void);

/* Returns the library of the current code of the module NAME; NULL: none.
 * Owner: the caller must know that the module is not replaced. */
struct th_library *th_code_module_find(th_term name);

/* Adds the functions of LIBRARY as the module of its name, and loads LIBRARY if it is not loaded;
 * removes them, after waiting some seconds for their users. For tests, and for programs with one
 * library that is never replaced.
 * Owner: the caller keeps its reference to LIBRARY. */
void th_code_module_add(struct th_library *library);
void th_code_module_remove(struct th_library *library);

/* --- The list of modules ---------------------------------------------------------------------- */

struct th_module_code {
    th_term name;
    bool old; /* old code; else current code */
    uint64_t generation;
    char *path, *file;      /* the path that was given, the file that was opened */
    size_t exports, locals; /* number of functions */
    uint64_t users;         /* calls that run and continuations that wait; an upper bound */
    bool outdated;          /* `path` has another file now, or the file was written to */
};

/* Lists the current and then the old code of each module, sorted by name. Returns the count.
 * Owner: the caller frees *LIST with th_code_list_free().
 * Thread: one that may wait. */
size_t th_code_list(struct th_module_code **list);
void th_code_list_free(struct th_module_code *list, size_t count);

/* --- Watchers and hooks ----------------------------------------------------------------------- */

/*
 * The callbacks for functions of modules. The callees of an instance are those of the library's
 * table, in its order, then the local ones. Two callees share an entry if their names, one in UTF-8
 * and one in Latin-1, are the same atom; calls reach the later one.
 *
 * prepare() (optional) runs before begin(), on any thread and on several at once; it must not
 * change state that the permission guards. begin() runs before calls can reach the functions. end()
 * runs when no call can reach the functions and no thread is in their code, and for a prepared
 * instance that is dropped. th_code_module_watch() calls both for loaded modules, too, while calls
 * go on. Both run with the code modification permission, which the caller keeps, in a thread that
 * may wait for a grace period. The watcher writes `known` of the instance and of its callees.
 *
 * A function of the same name may exist in another instance of the module: during begin() in the
 * one that becomes old code, during end() in the one that replaced it; never in more than two.
 */
struct th_module_watcher {
    void (*prepare)(struct th_instance *instance); /* may be NULL */
    void (*begin)(struct th_instance *instance);
    void (*end)(struct th_instance *instance);
};
/* Replaces the watcher; NULL: none.
 * Order: no instance is prepared and not finished.
 * Thread: one that may wait. */
void th_code_module_watch(const struct th_module_watcher *watcher);

/* Hook of the room that has processes: requests the death of all processes that are in INSTANCE.
 * Thread: with the permission; must not wait. */
extern void (*th_code_kill_users)(const struct th_instance *instance);

/* Hook of the same room: adds to TEXT, for people, the processes that are in INSTANCE, as far as
 * they are visible without stopping any.
 * Thread: as th_code_kill_users. */
extern void (*th_code_show_users)(const struct th_instance *instance, struct th_buffer *text);

#endif

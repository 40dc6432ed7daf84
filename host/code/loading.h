/*
 * Loading code: modules come, are replaced and go while their functions run.
 *
 *   th_code_prepare(library, &prepared[i]);    for each; any number at once
 *   finish = (struct th_finish){.prepared = prepared, .count = count, .info = th_small(0)};
 *   th_code_finish(&finish);                   all of them can be called from one instant on
 *   ...
 *   th_code_purge(name, TH_PURGE_SOFT);        what was replaced goes, when nobody is in it
 *
 * What a module had before, its current code, becomes old code: who runs it goes on in it, and
 * calls of C functions stay in it; external calls reach the new. A module has one old code at most:
 * what it had before that must be purged first, which loading does if nobody is in it any more. So
 * memory is bounded by who purges and not by who loads, and at most two functions of one name are
 * there for patterns.
 *
 * No thread is stopped. Preparing and finishing are done by threads that may wait
 * (th_code_permission_may_wait()): finishing takes the code modification permission, for which they
 * queue, and waits for thread progress, once.
 *
 * (Erlang/OTP, "Non-Blocking Code Loading", with lists of modules.)
 */
#ifndef TH_LOADING_H
#define TH_LOADING_H

#include "host/base/error.h"
#include "host/term/word.h"

struct th_library;
struct th_buffer;

/* --- Loading ---------------------------------------------------------------------------------- */

/* Prepares LIBRARY, which must be open: returns an instance that can be finished. Takes over the
 * caller's use of LIBRARY. Any thread. */
struct th_instance *th_code_prepare(struct th_library *library);

/* Frees PREPARED, which was not finished, and releases its library. */
void th_code_prepared_drop(struct th_instance *prepared);

/* If processes are in old code that is to be purged: */
enum th_purge {
    TH_PURGE_SOFT, /* the purge is refused */
    TH_PURGE_HARD  /* they are killed */
};

/* Why code was not changed. */
enum th_code_refusal {
    TH_CODE_FAILED,     /* for none of the reasons below */
    TH_CODE_REFUSED,    /* a library was refused, or has refused */
    TH_CODE_NOT_PURGED, /* somebody is in old code that was to be purged */
    TH_CODE_DUPLICATE,  /* two libraries of the list are one module */
    TH_CODE_NOT_LOADED  /* the module has no current code */
};

/* A module of the list, as it was finished. */
struct th_finished {
    th_term name;
    uint64_t generation;
    bool upgraded; /* by upgrade(), with the data of code that there was; else by load() */
};

struct th_finish {
    struct th_instance *const *prepared;
    size_t count;
    th_term info; /* what load() and upgrade() get */
    enum th_purge purge;
    unsigned rounds;              /* filled in: how often it has waited for thread progress */
    enum th_code_refusal refusal; /* filled in, unless TH_OK is returned */
    struct th_finished *finished; /* filled in on TH_OK: COUNT of them. NULL: nobody asks */
};

/*
 * Makes all visible at one instant, or none. In this order, which is that of what a refusal costs:
 * step 2 changes nothing, load() can be undone by unload(), a check changes nothing of the old
 * code, and only an upgrade() has to be handed back. One grace period lies between staging and
 * commit, and code of libraries runs before that.
 *
 *  1. It takes the permission.
 *  2. Old code of modules with current code is to be purged: TH_REFUSED, TH_CODE_NOT_PURGED, where
 *     somebody is in it. Old code of a deleted module stays, as in a BEAM.
 *  3. load() of those that have no code, neither current nor old. If one refuses, unload() of those
 *     before it.
 *  4. th_upgrade_check() of the others, each of which may refuse: nothing was upgraded yet.
 *  5. upgrade() of these, in the order of the list. If one refuses, those before it are handed
 *     back, the latest first, by the upgrade() of their current libraries. If that refuses, too,
 *     the module has neither code to use: it is deleted, and the error says so.
 *  6. It stages the functions, waits for thread progress, and commits.
 *
 * On TH_OK all of PREPARED are the modules' and gone. Else all are still the caller's, to be
 * dropped or finished once more, and what was there is there as before, but for what 5 says. Two of
 * one name: TH_USAGE, TH_CODE_DUPLICATE. Libraries' code runs in the calling thread, with the
 * permission: what it wants of breakpoints is done afterwards.
 */
enum th_status th_code_finish(struct th_finish *finish);

/* The module NAME has no current code any more; it becomes old. TH_USAGE: it has none,
 * TH_CODE_NOT_LOADED. TH_REFUSED: TH_CODE_NOT_PURGED. */
enum th_status th_code_delete(th_term name, enum th_purge purge);

/* The old code of NAME goes: it is unloaded, once resources of it that have destructors are gone,
 * and closed. *HAD, which may be NULL: it had old code. TH_REFUSED: TH_CODE_NOT_PURGED. */
enum th_status th_code_purge(th_term name, enum th_purge purge, bool *had);

/* Deletes and purges all modules, whoever is in them: for when nobody can be. The latest first. */
void th_code_end(void);

/* The library that is the current code of the module NAME, NULL: none. By who knows that it stays.
 */
struct th_library *th_code_module_find(th_term name);

/* The functions of LIBRARY, which is loaded, become the module's of its name, with no more ado; are
 * taken away, when nobody is in them. The library remains the caller's. For tests, and who has one
 * library for all its life. */
void th_code_module_add(struct th_library *library);
void th_code_module_remove(struct th_library *library);

/* --- What there is ---------------------------------------------------------------------------- */

struct th_module_code {
    th_term name;
    bool old; /* else current */
    uint64_t generation;
    char *path, *file;      /* what was asked for, what was opened */
    size_t exports, locals; /* functions */
    uint64_t users;         /* who are in it: calls that run, continuations that wait */
    bool outdated;          /* another file is at `path` now, or that one was written to */
};

/* Of each module its current code, then its old, by name. The caller frees them with
 * th_code_list_free(). Waits for the permission. */
size_t th_code_list(struct th_module_code **list);
void th_code_list_free(struct th_module_code *list, size_t count);

/* --- Who is told ------------------------------------------------------------------------------ */

/*
 * Who is told of the functions of modules, those that are there now included. First those of the
 * library's table, in its order, then the local ones. An entry may be that of two callees, as a
 * function may stand twice in the table: calls reach the later one.
 *
 * prepare(), which may be left out: before begin(), while nothing of the host's is touched; by any
 * thread, several at once. begin(), before calls can reach them; and end(), when none can any more
 * and no thread is in their code (for NULL, or another watcher, as well), or what was prepared is
 * not to begin: with the code modification permission, which the caller keeps, in a thread that may
 * wait for progress. `known` of INSTANCE and of its callees is the watcher's to write.
 *
 * Functions of the same names may be there already: those of the module's instance that is about to
 * become old code, or, when that ends, of the one which took its place; never more than two.
 */
struct th_module_watcher {
    void (*prepare)(struct th_instance *instance); /* NULL: nothing */
    void (*begin)(struct th_instance *instance);
    void (*end)(struct th_instance *instance);
};
/* While nothing is prepared and not finished. Waits for the permission. */
void th_code_module_watch(const struct th_module_watcher *watcher);

/* Set by the room that has processes: has those that are in INSTANCE killed, in time. With the
 * permission; must not wait. */
extern void (*th_code_kill_users)(const struct th_instance *instance);

/* Likewise: adds to TEXT which processes those in INSTANCE are, as far as they can be seen without
 * stopping any: for people. */
extern void (*th_code_show_users)(const struct th_instance *instance, struct th_buffer *text);

#endif

/*
 * Libraries in use: opens, loads, upgrades and unloads them.
 *
 *   th_library_find(&search, "count", &library);      finds it, examines it, opens it
 *   th_library_check_tracer(library);                 has enabled/3 and trace/5
 *   th_library_load(library, NULL, th_small(0));      calls its load()
 *   ... th_library_slots(library) ...
 *   th_library_release(library);                      calls its unload(), closes it
 *
 * A library is opened once: to open the same file again gives the same instance, with another user,
 * and loading a loaded instance does nothing. So two sessions with one tracer share its private
 * data, as in a BEAM. If another file was put at the same path meanwhile, as linkers do, that file
 * is another library, which is opened from a private copy: both may be open at once. The libraries
 * that they need are in memory once, in the version that was opened first.
 *
 * An instance lives until its last user has released it and its last resource with a destructor is
 * gone. Then the thread that dropped the last share calls unload() and closes the library. The
 * order is OTP's: resources that outlive the users are destroyed before unload(), however late. A
 * library whose code could run after unload() stays in memory (load.c).
 *
 * Opening runs code of the library, its constructors and nif_init(), in the thread that opens it.
 *
 * Thread: any thread opens libraries, also the same file; a thread that opens a file in place waits
 * for another that does. The loader runs one constructor at a time. Code of a library can open
 * libraries, too, but is refused a file that another thread is opening, as that thread may wait for
 * the constructor. Any thread loads: it waits for others that load the same library or upgrade from
 * the same old one. Undoing and handing back: one thread at a time for each library. Any thread
 * keeps and releases.
 */
#ifndef TH_LIBRARY_LOAD_H
#define TH_LIBRARY_LOAD_H

#include "host/base/error.h"
#include "host/base/thread.h"
#include "host/self/self.h"
#include "host/term/env.h"
#include "plugin_api/erl_nif.h"

#include <stdatomic.h>

struct th_buffer;
struct th_past_event;
struct th_search;
struct th_library;

/*
 * Examines and opens the file PATH: its constructors run, then nif_init() if it has one. If the
 * instance in memory for PATH is of another file, or is pinned (load.c), PATH is opened as by
 * th_library_open_replaceable().
 * Owner: the caller becomes a user of *LIBRARY.
 * Errors: TH_REFUSED as th_library_examine() and th_library_entry_read(); also if the open file was
 * written to, if another file is put at PATH meanwhile, or if the instance waits for its last
 * resources.
 */
enum th_status th_library_open(const char *path, struct th_library **library);

/*
 * Opens a private copy of the file PATH, NAME.GEN.so with a GEN that counts up in the program;
 * always a new instance, also of an open file. So versions of one module are open at once, and
 * later changes of PATH do not matter: it may be written to, truncated, replaced or removed. The
 * copy is in a folder of the program, below $TMPDIR, /tmp or $XDG_RUNTIME_DIR (private_copy.c), for
 * debuggers, while the library is open. The folder is removed when the program exits, or by the
 * next host if this one is killed.
 *
 * Messages and th_library_path() name PATH; th_library_file() and dladdr() name the copy. Libraries
 * that it looks for beside itself ($ORIGIN in DT_RUNPATH or DT_RPATH) are found beside PATH, and
 * are in memory once for all copies (private_copy.h). Stripped debug information is looked for
 * beside PATH.
 *
 * Owner: as th_library_open().
 * Errors: TH_REFUSED as th_library_open(), and if PATH changed during the copying; TH_FAILED if
 * there is no place or no room for a copy.
 */
enum th_status th_library_open_copy(const char *path, struct th_library **library);

/*
 * Opens a private copy, for a tracer that may be replaced while it works. If such a copy of the
 * present file is open, the result is its instance, with another user; AGAIN: a new copy is opened
 * all the same, and is the one found later. Owner and Errors: as th_library_open_copy().
 */
enum th_status th_library_open_replaceable(const char *path, bool again,
                                           struct th_library **library);

/* Finds NAME with th_library_search_find() and opens the file with th_library_open(), or with
 * th_library_open_replaceable() if SEARCH requires that. */
enum th_status th_library_find(const struct th_search *search, const char *name,
                               struct th_library **library);

/* TH_REFUSED if the library lacks a callback that a tracer must have. */
enum th_status th_library_check_tracer(const struct th_library *library);

/*
 * Calls load() or, if OLD is not NULL, upgrade() with OLD's private data; both get a fresh
 * environment and INFO. A loaded LIBRARY stays as it is. OLD is a loaded instance of the same
 * module; it keeps its users and threads may be in its code. OLD loses the resource types that
 * LIBRARY takes over, and its private data is as upgrade() leaves it.
 *
 * Errors: TH_REFUSED if load() or upgrade() returned anything but 0, or if OLD is given and LIBRARY
 * has no upgrade() or another name. Then nothing has changed: resource types that were opened are
 * forgotten, OLD keeps its types and its private data; LIBRARY is open, not loaded, and can be
 * loaded again or released.
 */
enum th_status th_library_load(struct th_library *library, struct th_library *old, th_term info);

/*
 * Calls th_upgrade_check() (nif_module.h) of LIBRARY, if its file defines one, with OLD's private
 * data and INFO, before LIBRARY takes over from OLD. Changes nothing; OLD may be in use. LIBRARY is
 * open, OLD is loaded.
 *
 * Errors: TH_REFUSED if the call returned anything but 0; without a call, if LIBRARY is another
 * module or has no upgrade(), so that th_library_load() with OLD would refuse.
 */
enum th_status th_library_upgrade_check(struct th_library *library, struct th_library *old,
                                        th_term info);

/* True if LIBRARY defines save() and merge() (erl_tracer.h). */
bool th_library_can_merge(const struct th_library *library);

/* True if the output of LIBRARY, a tracer, needs more than one event: see th_tracer_gathers in erl_tracer.h. */
bool th_library_gathers(const struct th_library *library);

/* True if LIBRARY uses th_share_file() of nif_module.h: it writes while events come. */
bool th_library_has_share_file(const struct th_library *library);

/* Returns the address of LIBRARY's th_tracer_past (erl_tracer.h); NULL: none. */
unsigned char *th_library_past(const struct th_library *library);

/* True if LIBRARY has th_tracer_past and past_calls(). th_library_past_calls() calls the latter.
 * Thread: as th_library_save(). */
bool th_library_takes_past_calls(const struct th_library *library);
void th_library_past_calls(struct th_library *library, th_term state,
                           const struct th_past_event *events, size_t count);

/* Appends the result of LIBRARY's save() to OUT, as an external term. LIBRARY is loaded, and can
 * merge.
 * Thread: any; no callback of LIBRARY runs.
 * Errors: TH_FAILED if save() returns no term, or one that cannot be written; OUT is unchanged. */
enum th_status th_library_save(struct th_library *library, struct th_buffer *out);

/* Calls LIBRARY's merge() with the term in SIZE bytes at DATA, which th_library_save() of the same
 * library has written. LIBRARY is loaded, and can merge.
 * Thread: as th_library_save().
 * Errors: TH_MALFORMED if DATA holds no term, TH_FAILED if merge() returns anything but 0. */
enum th_status th_library_merge(struct th_library *library, const void *data, size_t size);

/*
 * Undoes th_library_load(LIBRARY, NULL, ...): forgets the resource types, as after a load() that
 * refused (resources that are left get no destructor any more), and calls unload(). LIBRARY is then
 * open, not loaded; it can be loaded again or released.
 *
 * Order: only the caller uses LIBRARY; no code of it runs, except threads that unload() ends, and
 * no other library has taken over from it.
 */
void th_library_undo_load(struct th_library *library);

/*
 * Undoes th_library_load(NEW, OLD, ...), which succeeded: calls OLD's upgrade() with the private
 * data of both. All resource types that NEW took over return to OLD: those that upgrade() opens
 * with ERL_NIF_RT_TAKEOVER get new callbacks, the others their former ones. NEW's own types that
 * upgrade() does not open are forgotten, as by th_library_undo_load(). Then unload() of NEW is
 * called with the private data that is left; NEW is open, not loaded.
 *
 * OLD may be in use, threads may be in its code; the caller is NEW's only user.
 *
 * Errors: TH_REFUSED if OLD has no upgrade(), or if it returned anything but 0. Then types and
 * private data stay NEW's, and both are loaded.
 */
enum th_status th_library_hand_back(struct th_library *old, struct th_library *new_, th_term info);

/* Adds a user. */
void th_library_keep(struct th_library *library);

/* Removes the caller as a user.
 * Order: for the last user, no code of the library runs, except threads that unload() ends. */
void th_library_release(struct th_library *library);

/*
 * Count a thread of enif_thread_create() that will run CODE, and the end of this thread. The first
 * returns the library of CODE, or NULL, for the second.
 * Thread: any.
 */
struct th_library *th_library_thread_begins(uintptr_t code);
void th_library_thread_ends(struct th_library *library);

/* Returns the module's name, an atom: from its entry or, in the plain form, the file's name. */
th_term th_library_name(const struct th_library *library);

/* Returns the module's name without the prefix tracehost_, which modules of tracers that ship have: names such as text are too
 * common for an Erlang node. The name stays for ever. */
const char *th_library_tracer_name(const struct th_library *library);
static inline const char *th_library_path(const struct th_library *library);

/* Returns the path that the loader has opened: the library's, or that of its private copy. */
const char *th_library_file(const struct th_library *library);
const struct th_examination *th_library_examination(const struct th_library *library);
const struct th_entry *th_library_entry(const struct th_library *library);

/* Returns the settings that it declares as a tracer, up to one without a name; NULL if it declares
 * none. They are checked: each has a name and a known type, and TH_SETTING_WORD has words. Thread:
 * any. */
const struct th_tracer_setting *th_library_settings(const struct th_library *library);

/* Returns its callbacks; complete if th_library_check_tracer() returns TH_OK. */
const struct th_slots *th_library_slots(const struct th_library *library);

/* True if a library of this path is open, even if only its resources are left; pinned ones without
 * users do not count.
 * Thread: any. */
bool th_library_is_open(const char *path);

/* Returns remarks, in sentences, that are no reason to refuse it. */
const struct th_names *th_library_remarks(const struct th_library *library);

/* Returns the private data that load() or upgrade() has set, for enif_priv_data(). */
static inline void *th_library_private_data(const struct th_library *library);

/*
 * A call of library code in a thread (th_self.library_frame), for reports of crashes; the thread's
 * signal handler may read it. Calls of tracers' callbacks by trace/ have no such frame.
 */
struct th_library_frame {
    const char *library;                  /* its path */
    const char *function;                 /* "load", "nif_init", "a constructor", "sins:open/1" */
    const struct th_library_frame *outer; /* the enclosing call; NULL: none */
    /* Writes details to the file OUTPUT, the most reliable first, in a program that may be damaged.
     * NULL: no details. */
    void (*tell)(int output, const struct th_library_frame *self);
};

/* Records that the thread runs FUNCTION of LIBRARY, a path, until th_library_end(CALL). TELL may be
 * NULL.
 * Owner: the texts must stay. */
static inline void
th_library_begin_reporting(struct th_library_frame *call, const char *library, const char *function,
                           void (*tell)(int output, const struct th_library_frame *self))
{
    th_thread_count(&th_self.library_calls);
    call->library = library;
    call->function = function;
    call->outer = th_self.library_frame;
    call->tell = tell;
    th_self.library = library;
    th_self.function = function;
    atomic_signal_fence(memory_order_release); /* a handler sees it whole */
    th_self.library_frame = call;
    th_self_changed();
}

static inline void th_library_end(const struct th_library_frame *call)
{
    const struct th_library_frame *outer = call->outer;

    if (__builtin_expect(outer != NULL, 0)) {
        th_self.library = outer->library;
        th_self.function = outer->function;
    }
    th_self.library_frame = outer;
    th_self_changed();
}

/* The head of struct th_library, for calls of a library's code. Written while the library is opened
 * and loaded. */
struct th_library_head {
    const char *path;
    bool delays_halt;   /* see th_library_enter() */
    void *private_data; /* written by load() and upgrade(); see call_upgrade() in load.c */
};

static inline const struct th_library_head *th_library_head(const struct th_library *library)
{
    return (const struct th_library_head *)library;
}

static inline const char *th_library_path(const struct th_library *library)
{
    return th_library_head(library)->path;
}

static inline void *th_library_private_data(const struct th_library *library)
{
    return __atomic_load_n(&th_library_head(library)->private_data, __ATOMIC_RELAXED);
}

/*
 * Options that a library sets in load() or upgrade() with enif_set_option(): a callback when the
 * program ends, a halt that waits for its functions, a callback on each scheduler before unload().
 *
 * A BEAM halts without unloading anything. Here the program's end is both: th_library_halt(), then
 * libraries are released, which calls their unload().
 */

/*
 * Set an option.
 * Errors: false unless ENV is the environment of the running load() or upgrade(), or if the option
 * is set already. Options of a refused library are forgotten.
 */
bool th_library_delay_halt(th_env *env);
bool th_library_set_on_halt(th_env *env, ErlNifOnHaltCallback *callback);
bool th_library_set_on_unload_thread(th_env *env, ErlNifOnUnloadThreadCallback *callback);

/*
 * Begin and end a function of LIBRARY that a scheduler runs, so that th_library_halt() can wait for
 * the function. Cost: a load, unless the library delays the halt.
 * Thread: any.
 */
static inline void th_library_enter(struct th_library *library);
static inline void th_library_leave(struct th_library *library);

/*
 * Calls the on_halt callbacks of the libraries in use, the latest first, then waits until libraries
 * that delay the halt have no running function.
 * Thread: once, by the thread that ends the program, outside of library code.
 */
void th_library_halt(void);

/* Ends the halt, if the program goes on with other libraries. Order: no thread is in a library. */
void th_library_halt_over(void);

/* True from th_library_halt() to th_library_halt_over(): functions that libraries have scheduled do
 * not run any more.
 * Thread: any. */
bool th_library_halting(void);

/*
 * Hook of the room that has schedulers, set before libraries are loaded: calls FUNCTION(ARGUMENT)
 * on each scheduler thread, concurrently, and returns when all have returned. NULL: the thread that
 * unloads a library stands for all schedulers.
 */
extern void (*th_library_on_schedulers)(void (*function)(void *argument), void *argument);

/* --- Inline parts ---------------------------------------------------------------------------- */

void th_library_entered(struct th_library *library);
void th_library_left(struct th_library *library);

static inline void th_library_enter(struct th_library *library)
{
    if (__builtin_expect(th_library_head(library)->delays_halt, 0))
        th_library_entered(library);
}

static inline void th_library_leave(struct th_library *library)
{
    if (__builtin_expect(th_library_head(library)->delays_halt, 0))
        th_library_left(library);
}

#endif

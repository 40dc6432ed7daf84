/*
 * Libraries in use: opened, loaded, upgraded, unloaded.
 *
 *   th_library_find(&search, "count", &library);      looks it up, examines it, opens it
 *   th_library_check_tracer(library);                 has enabled/3 and trace/5
 *   th_library_load(library, NULL, th_small(0));      calls its load()
 *   ... th_library_slots(library) ...
 *   th_library_release(library);                      calls its unload(), closes it
 *
 * One library is opened once: opening the same file again gives the same instance and one user
 * more, and loading it again does nothing. So two sessions with one tracer share its private data,
 * as they do in a BEAM. Another file that was put at the same path meanwhile, as linkers do, is
 * another library, of which a private copy is opened: both may be open at once. What they depend on
 * is in memory once, as it was first.
 *
 * An instance lives until its last user has released it and its last resource with a destructor is
 * gone; unload() is called then, by the thread that let go of the last one, and after it the
 * library is closed. The order is OTP's: resources that outlive their users are destroyed before
 * unload() is called, however late that is. A library whose code could run after that stays in
 * memory (load.c).
 *
 * Opening runs code of the library, its constructors and nif_init(), in the thread that opens it.
 * Any number of threads may open libraries at once, also the same file: who opens it in place waits
 * for who does so already. The loader lets one constructor run at a time. A constructor can open
 * libraries, too; it is refused one that is being opened in place meanwhile, as that waits for it.
 *
 * Any thread may load: it waits for those that load the same library, or from the same old one.
 * Undoing and handing back: one thread at a time for each library. Keeping and releasing may be
 * done by any thread.
 */
#ifndef TH_LIBRARY_LOAD_H
#define TH_LIBRARY_LOAD_H

#include "host/base/error.h"
#include "host/self/self.h"
#include "host/term/env.h"
#include "plugin_api/erl_nif.h"

#include <stdatomic.h>

struct th_search;
struct th_library;

/*
 * Examines and opens the file PATH: its constructors run, then nif_init() if it has one. The
 * caller is a user of the result. If another file that was opened at PATH is in memory, as is one
 * that was not closed (load.c), it is opened as by th_library_open_replaceable(). TH_REFUSED as
 * th_library_examine() and th_library_entry_read(); also if the file is open and was written to
 * since, or if another is put at its path meanwhile.
 */
enum th_status th_library_open(const char *path, struct th_library **library);

/*
 * Likewise, but opens a private copy of the file, NAME.GEN.so with a GEN that counts up in the
 * program; always a new instance, also of a file that is open. So versions of one module are open
 * at once, and whatever happens to PATH from now on does not matter: that it is written to, cut
 * short, replaced or removed. The copy lies in a folder of the program's own, below $TMPDIR, /tmp
 * or $XDG_RUNTIME_DIR (private_copy.c), where debuggers find it as long as the library is open;
 * that folder is removed when the program exits, or by the next host if this one is killed.
 *
 * Messages and th_library_path() name PATH, th_library_file() the copy. What dladdr() tells the
 * library about itself is the copy, too. Libraries that it needs, and looks for beside itself
 * ($ORIGIN in DT_RUNPATH or DT_RPATH), are found beside PATH, and are in memory once for all copies
 * (private_copy.h). Debug information that was stripped from the file is looked for beside PATH.
 *
 * TH_REFUSED as th_library_open(), and if PATH changed while it was copied; TH_FAILED if there is
 * no place for a copy, or no room.
 */
enum th_status th_library_open_copy(const char *path, struct th_library **library);

/*
 * Likewise a private copy, for a tracer that may be replaced while it is at work. If an instance is
 * open that was opened so, of the file as it is now, that is the result, and has one user more;
 * AGAIN: a new one is opened all the same, and found from then on.
 */
enum th_status th_library_open_replaceable(const char *path, bool again,
                                           struct th_library **library);

/* th_library_search_find() and th_library_open(), or th_library_open_replaceable() if SEARCH says
 * so. */
enum th_status th_library_find(const struct th_search *search, const char *name,
                               struct th_library **library);

/* TH_REFUSED if the library lacks a callback that a tracer must have. */
enum th_status th_library_check_tracer(const struct th_library *library);

/*
 * Calls load() or, if OLD is not NULL, upgrade() with OLD's private data. Both get a fresh
 * environment and INFO. OLD is a loaded instance of the same module; it is still in use and keeps
 * its users, threads may be in its code, but resource types that the new one takes over are gone
 * from it, and its private data is what upgrade() has left there.
 *
 * TH_REFUSED if the library has load() or upgrade() and that returned anything but 0, or if OLD is
 * given and the library has no upgrade(). Then nothing has happened: resource types that were
 * opened are forgotten, OLD has its types and its private data. The library remains open, not
 * loaded; it can be loaded again or released.
 */
enum th_status th_library_load(struct th_library *library, struct th_library *old, th_term info);

/*
 * Asks LIBRARY whether it may take over from OLD: calls th_upgrade_check() (nif_module.h) if the
 * file itself defines it, with OLD's private data and INFO. Nothing is changed, OLD may be in use.
 *
 * TH_REFUSED if that returned anything but 0; and, asking nobody, if th_library_load() with OLD
 * could only refuse: it is another module, or has no upgrade(). LIBRARY is open, OLD is loaded.
 */
enum th_status th_library_upgrade_check(struct th_library *library, struct th_library *old,
                                        th_term info);

/*
 * Undoes th_library_load(LIBRARY, NULL, ...): unload() is called, and the resource types are
 * forgotten, as after a load() that refused: resources that are left of them get no destructor any
 * more. The library is open, not loaded; it can be loaded again or released.
 *
 * Only while nobody but the caller uses it: no code of it is running, apart from threads that it
 * will end in unload(), and no other library has taken over from it.
 */
void th_library_undo_load(struct th_library *library);

/*
 * Undoes th_library_load(NEW, OLD, ...), which succeeded: OLD takes over from NEW, by its own
 * upgrade(), which is called with its private data and NEW's. All resource types come back that NEW
 * took over: with new callbacks those that upgrade() opens with ERL_NIF_RT_TAKEOVER, with those
 * that they had the others. Types of NEW's own that upgrade() does not open are forgotten, as by
 * th_library_undo_load(). Then NEW's unload() is called with what is left of its private data, and
 * it is open, not loaded.
 *
 * OLD may be in use, threads may be in its code; of NEW nobody but the caller is a user.
 *
 * TH_REFUSED if OLD has no upgrade(), or if that returned anything but 0. Then types and private
 * data are NEW's as before, and both are loaded.
 */
enum th_status th_library_hand_back(struct th_library *old, struct th_library *new_, th_term info);

/* One more user. */
void th_library_keep(struct th_library *library);

/* The caller does not use the library any more. For the last user: no code of the library may be
 * running, apart from threads that it will end in unload(). */
void th_library_release(struct th_library *library);

/*
 * A thread of enif_thread_create() that runs CODE is about to be made, has ended: the library whose
 * code that is, or NULL, which th_library_thread_ends() takes, too. Any thread.
 */
struct th_library *th_library_thread_begins(uintptr_t code);
void th_library_thread_ends(struct th_library *library);

/* The module's name, an atom: what its entry says, in the plain form the file's name. */
th_term th_library_name(const struct th_library *library);
static inline const char *th_library_path(const struct th_library *library);

/* What the loader has opened: the path, or a private copy of what was there. */
const char *th_library_file(const struct th_library *library);
const struct th_examination *th_library_examination(const struct th_library *library);
const struct th_entry *th_library_entry(const struct th_library *library);

/* The settings that it declares as a tracer, the one behind the last without a name; NULL if it
 * declares none. They have been checked: each has a name and a known type, and one of
 * TH_SETTING_WORD words. Any thread. */
const struct th_tracer_setting *th_library_settings(const struct th_library *library);

/* Its callbacks; all there if th_library_check_tracer() says so. */
const struct th_slots *th_library_slots(const struct th_library *library);

/* True if a library of that path is open, be it that only resources of it are left. Any thread. */
bool th_library_is_open(const char *path);

/* Sentences about what is remarkable but no reason to refuse it. */
const struct th_names *th_library_remarks(const struct th_library *library);

/* What load() or upgrade() left, for enif_priv_data(). */
void *th_library_private_data(const struct th_library *library);

/*
 * Code of a library that a thread runs (th_self.library_frame), for reports of crashes: the
 * thread's signal handler may read it. trace/ calls the callbacks of tracers, which are not seen
 * here.
 */
struct th_library_frame {
    const char *library;                  /* its path */
    const char *function;                 /* "load", "nif_init", "a constructor", "sins:open/1" */
    const struct th_library_frame *outer; /* what goes on when this one returns, or NULL */
    /* Writes lines to the file OUTPUT that tell more of it, from what is sure to what is useful, in
     * a program that may be damaged. NULL: there is no more. */
    void (*tell)(int output, const struct th_library_frame *self);
};

/* Says that the thread runs FUNCTION of LIBRARY, a path, until th_library_end() is given CALL. The
 * texts must stay. TELL may be NULL. */
static inline void
th_library_begin_reporting(struct th_library_frame *call, const char *library, const char *function,
                           void (*tell)(int output, const struct th_library_frame *self))
{
    uint64_t calls = atomic_load_explicit(&th_self.library_calls, memory_order_relaxed);

    atomic_store_explicit(&th_self.library_calls, calls + 1, memory_order_relaxed);
    call->library = library;
    call->function = function;
    call->outer = th_self.library_frame;
    call->tell = tell;
    atomic_signal_fence(memory_order_release); /* a handler sees it whole */
    th_self.library_frame = call;
}

static inline void th_library_end(const struct th_library_frame *call)
{
    th_self.library_frame = call->outer;
}

/* What each call of a library's code needs to know: how a struct th_library begins. Written while
 * it is opened and loaded. */
struct th_library_head {
    const char *path;
    bool delays_halt; /* see th_library_enter() */
};

static inline const struct th_library_head *th_library_head(const struct th_library *library)
{
    return (const struct th_library_head *)library;
}

static inline const char *th_library_path(const struct th_library *library)
{
    return th_library_head(library)->path;
}

/*
 * What a library asks for in load() or upgrade() with enif_set_option(): to be told when the
 * program ends, to have its functions waited for then, to be called by each scheduler before it is
 * unloaded.
 *
 * A BEAM halts without unloading anything. Here the program's end is both: th_library_halt(), and
 * after it libraries are released, which calls their unload().
 */

/*
 * For enif_set_option(). ENV is what load() or upgrade() was given; each can be set once. False if
 * that is not so. What a refused library has set is forgotten.
 */
bool th_library_delay_halt(th_env *env);
bool th_library_set_on_halt(th_env *env, ErlNifOnHaltCallback *callback);
bool th_library_set_on_unload_thread(th_env *env, ErlNifOnUnloadThreadCallback *callback);

/*
 * Around each function of LIBRARY that a scheduler runs, so that a halt can wait for it. Any
 * thread. Costs a load, unless the library delays the halt.
 */
static inline void th_library_enter(struct th_library *library);
static inline void th_library_leave(struct th_library *library);

/*
 * The program ends: calls the on_halt callbacks of the libraries in use, the latest first, and then
 * waits until none that delays the halt has a function running. Once, by the thread that ends the
 * program, which is in no library.
 */
void th_library_halt(void);

/* The program goes on after all, without those libraries: others may be loaded. No thread may be in
 * a library. */
void th_library_halt_over(void);

/* True from when th_library_halt() was called, until that is over: what libraries have scheduled is
 * not run any more. Any thread. */
bool th_library_halting(void);

/*
 * Set by the room that has schedulers, before libraries are loaded: calls FUNCTION(ARGUMENT) once
 * on each scheduler thread, concurrently, and returns when all have returned. NULL: the thread that
 * unloads a library counts as the only one.
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

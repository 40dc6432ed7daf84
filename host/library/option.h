/*
 * What a library asks for in load() or upgrade() with enif_set_option(): to be told when the
 * program ends, to have its functions waited for then, to be called by each scheduler before it is
 * unloaded.
 *
 * A BEAM halts without unloading anything. Here the program's end is both: th_library_halt(), and
 * after it libraries are released, which calls their unload().
 */
#ifndef TH_LIBRARY_OPTION_H
#define TH_LIBRARY_OPTION_H

#include "load.h"

#include "host/term/term.h"
#include "plugin_api/erl_nif.h"

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

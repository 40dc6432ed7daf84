/* What the files of library/ share about libraries in use. Inner header of library/. */
#ifndef TH_LIBRARY_INTERNAL_H
#define TH_LIBRARY_INTERNAL_H

#include "code_map.h"
#include "entry.h"
#include "examine.h"
#include "find.h"
#include "load.h"

#include <stdatomic.h>

struct th_library_lines;
struct th_opened_type;

enum th_library_state {
    TH_LIBRARY_OPEN, /* nif_init() has returned */
    TH_LIBRARY_LOADED
};

struct th_library {
    struct th_library_head head; /* the first member */
    struct th_library *next;     /* in the list of all, guarded by the lock in registry.c */
    size_t users;                /* guarded by the same lock; 0: on its way out, never used again */
    bool retired, warned;        /* guarded by the same lock: it is pinned, and that was said */
    bool replaceable; /* opened as such: th_library_registry_find_file() finds it. Constant */

    /*
     * What keeps the library from being closed: one share for all users together, one for each
     * resource type with callbacks, one for each callback of a resource that is running. See
     * th_library_drop() for the orders.
     */
    _Atomic size_t shares;

    bool busy; /* it is loaded, or upgraded from; guarded by the lock in load.c */

    /* Written by who loads and unloads it, read by who halts (option.c). */
    enum th_library_state _Atomic state;

    /* Written while opening and loading, constant while there is more than one user. */
    void *handle; /* the loader's */
    void *needs;  /* what keeps open what a copy needs (private_copy.h); NULL: nothing */
    th_term name;
    struct th_examination facts;
    struct th_memory memory;
    struct th_code_map code;
    struct th_library_lines *lines; /* NULL: nobody has asked; guarded by the lock in line.c */
    struct th_entry entry;
    struct th_slots slots;
    struct th_names remarks;
    char *pinned; /* why it is not closed when nobody uses it; NULL: it is (load.c) */
    void *private_data;
    /* What load() or upgrade() was given, while it runs. Others may ask meanwhile whether it is
     * theirs: relaxed, as it is not. */
    const th_env *_Atomic loading;
    struct th_library_options {
        ErlNifOnHaltCallback *on_halt;
        ErlNifOnUnloadThreadCallback *on_unload_thread;
    } options;

    /* Threads of enif_thread_create() that run its code now. See registry.c for the orders. */
    _Atomic size_t threads;

    /* Its functions that run, if it delays the halt. See option.c for the orders. */
    _Atomic size_t running;

    /* Resource types, see resource_type.c. */
    struct th_library *predecessor; /* during upgrade(): the old instance */
    struct th_opened_type *opened;  /* during load() or upgrade(): what it opened, latest first */
    struct enif_resource_type_t *types; /* its own; guarded by the lock in resource_type.c */
    struct th_opened_type *taken;       /* what it has from its predecessor, as it was there */
};

/* The name of the file PATH without folder and ".so", which the caller frees. */
char *th_library_stem(const char *path);

/* One share more, by somebody who knows that there is one. */
void th_library_hold(struct th_library *library);

/* One share less; with the last, unload() is called and the library closed and freed. */
void th_library_drop(struct th_library *library);

/* Nobody uses LIBRARY, which is not loaded any more, or was never opened: pins it, or closes what
 * the loader opened, which runs its destructors, removes the files of a copy, and frees it. */
void th_library_retire(struct th_library *library);

/*
 * Fills the empty MAP from what FACTS says is where in MEMORY, where the library lies; appends to
 * REMARKS what is wrong with it. Then without what the table ENTRY has. Its own memory is all that
 * is read, whatever is in it.
 */
void th_library_code_map_read(struct th_code_map *map, const struct th_memory *memory,
                              const struct th_examination *facts, struct th_names *remarks);
void th_library_code_map_yield(struct th_code_map *map, const struct th_entry *entry,
                               struct th_names *remarks);
void th_library_code_map_free(struct th_code_map *map);

/* What th_library_line() has read; NULL is allowed. */
void th_library_lines_free(struct th_library_lines *lines);

/*
 * Checks the table SETTINGS of SIZE bytes that a library declares as a tracer. TH_REFUSED if a
 * pointer in it leads to no memory, if no row of it is the end, or if a row has no name that an
 * atom can be, an unknown type, or the type TH_SETTING_WORD and no words.
 */
enum th_status th_library_declared_check(const struct th_tracer_setting *settings, size_t size);

/* LIBRARY's constructors have run: reads its memory and map, calls whoever watches. */
void th_library_map(struct th_library *library, bool threads_started);

/* The list of all instances that are open, and who uses them. */
void th_library_registry_add(struct th_library *library);
void th_library_registry_remove(struct th_library *library);

/* LIBRARY, which need not be in the list, stays there for ever: it is pinned. */
void th_library_registry_pin(struct th_library *library);

/* One user less: true if it was the last. */
bool th_library_registry_leave(struct th_library *library);

/* All loaded instances that have a user, the latest first, in an array that the caller frees; each
 * has one user more. */
size_t th_library_registry_keep_all(struct th_library ***libraries);

/* The instance whose handle the loader has also given for WANTED, which is not in the list; NULL if
 * there is none. It gets one user more; if it has none any more, it is returned with *IN_USE false.
 */
struct th_library *th_library_registry_find(const struct th_library *wanted, bool *in_use);

/* The path of FACTS is, for the loader, that of an instance which is pinned, or of another file. */
bool th_library_registry_is_taken(const struct th_examination *facts);

/* The latest instance that was opened of FILE as replaceable, and has a user; it gets one more.
 * NULL: there is none. */
struct th_library *th_library_registry_find_file(const struct stat *file);

/* Calls the callback that it has set for that on the scheduler threads, before unload(). */
void th_library_leave_threads(struct th_library *library);

/* True if the calling thread is in its load() or upgrade(). */
bool th_library_is_loading(const struct th_library *library);

/* An environment for one call of LIBRARY's code. */
void th_library_init_env(th_env *env, struct th_library *library);

/* --- Of code_map.h ---------------------------------------------------------------------------- */

/* Of the library that the loader knows by HANDLE, or nothing if it does not say. */
void th_library_memory_of(struct th_memory *memory, void *handle);

/* The part that ADDRESS is in, NULL: none. */
const struct th_memory_part *th_library_memory_part_at(const struct th_memory *memory,
                                                       uintptr_t address);

/*
 * TH_REFUSED unless the SIZE bytes at ADDRESS, or those of TEXT up to its end, can be read in
 * MEMORY, that of the process: NAME says in the error what of a library would be there. TEXT may be
 * NULL. All can be, if the kernel does not list the memory.
 */
enum th_status th_library_memory_check(const struct th_memory *memory, const char *name,
                                       const void *address, size_t size);
enum th_status th_library_memory_check_text(const struct th_memory *memory, const char *name,
                                            const char *text);

/* --- Of entry.h ------------------------------------------------------------------------------- */

/* Fills the slots from ENTRY's functions. Missing generic callbacks leave slots empty. */
void th_library_slots_fill(struct th_slots *slots, const struct th_entry *entry);

/* Appends a sentence for each function that looks like a callback but will never be called: an
 * unknown name, or a known one with another arity. */
void th_library_slots_remarks(const struct th_entry *entry, struct th_names *remarks);

/* --- Of examine.h ----------------------------------------------------------------------------- */

/* Likewise, of COPY, a private copy of the file PATH when it was as ORIGINAL says; both may be
 * NULL: of what is at PATH. Messages name PATH. */
enum th_status th_library_examine_copy(const char *path, const char *copy,
                                       const struct stat *original, struct th_examination *result);

/* True if FILE, of fstat(), is what was examined, and was not written to since. */
bool th_library_examination_is_of(const struct th_examination *e, const struct stat *file);

/* --- Of find.h -------------------------------------------------------------------------------- */

/* How they are called: "tracers", "plugins". */
const char *th_library_search_kind_text(enum th_search_kind kind);

/* --- Of load.h -------------------------------------------------------------------------------- */

static inline void th_library_begin(struct th_library_frame *call, const char *library,
                                    const char *function)
{
    th_library_begin_reporting(call, library, function, NULL);
}

#endif

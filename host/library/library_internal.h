/* Shared by the files of library/: libraries in use. Inner header of library/. */
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
    size_t users;                /* guarded by the same lock; 0: ending, never used again */
    bool retired, warned;        /* guarded by the same lock: pinned; and a warning was logged */
    bool replaceable;            /* found by th_library_registry_find_file(); constant */

    /*
     * Shares, which delay closing: one for all users together, one for each resource type with
     * callbacks, one for each running callback of a resource. Orders: see th_library_drop().
     */
    _Atomic size_t shares;

    bool busy; /* is loaded or upgraded from; guarded by the lock in load.c */

    /* Written by loading and unloading, read by the halt (option.c). */
    enum th_library_state _Atomic state;

    /* Written while opening and loading, constant while there is more than one user. */
    void *handle; /* of the loader */
    void *needs;  /* handle of the carrier of a copy (private_copy.h); NULL: none */
    th_term name;
    struct th_examination facts;
    struct th_memory memory;
    struct th_code_map code;
    struct th_library_lines *lines; /* NULL: not read yet; guarded by the lock in line.c */
    struct th_entry entry;
    struct th_slots slots;
    struct th_names remarks;
    char *pinned; /* reason never to close it (load.c); NULL: none */
    /* Environment of the running load() or upgrade(). Relaxed: other threads only compare it with
     * their own environment, which differs. */
    const th_env *_Atomic loading;
    struct th_library_options {
        ErlNifOnHaltCallback *on_halt;
        ErlNifOnUnloadThreadCallback *on_unload_thread;
    } options;

    /* Number of running threads of enif_thread_create() with its code. Orders: see registry.c. */
    _Atomic size_t threads;

    /* Number of its running functions, if it delays the halt. Orders: see option.c. */
    _Atomic size_t running;

    /* Resource types, see resource_type.c. */
    struct th_library *predecessor;     /* during upgrade(): the old instance */
    struct th_opened_type *opened;      /* during load() or upgrade(): opened types, latest first */
    struct enif_resource_type_t *types; /* its own; guarded by the lock in resource_type.c */
    struct th_opened_type *taken;       /* types of its predecessor, with their former callbacks */
};

/* Returns the name of the file PATH without folder and ".so". Owner: the caller frees it. */
char *th_library_stem(const char *path);

/* Returns the callbacks that LIBRARY lacks as a tracer, as text; NULL: none. */
const char *th_library_missing_callbacks(const struct th_library *library);

/* Takes a share. Order: the caller knows that another share exists. */
void th_library_hold(struct th_library *library);

/* Drops a share. With the last, unload() is called, and the library is closed and freed. */
void th_library_drop(struct th_library *library);

/* Pins LIBRARY, or closes and frees it: its destructors run and the files of a copy are removed.
 * Order: LIBRARY has no user, and is unloaded or was never opened. */
void th_library_retire(struct th_library *library);

/*
 * Fills the empty MAP from the sections that FACTS lists, in MEMORY, the library's own; removes the
 * functions that the table ENTRY has, too. Faults are appended to REMARKS. Nothing outside of
 * MEMORY is read, for any content.
 */
void th_library_code_map_read(struct th_code_map *map, const struct th_memory *memory,
                              const struct th_examination *facts, struct th_names *remarks);
void th_library_code_map_yield(struct th_code_map *map, const struct th_entry *entry,
                               struct th_names *remarks);
void th_library_code_map_free(struct th_code_map *map);

/* Frees the data of th_library_line(); LINES may be NULL. */
void th_library_lines_free(struct th_library_lines *lines);

/*
 * Checks the table SETTINGS of SIZE bytes that a library declares as a tracer.
 * Errors: TH_REFUSED if a pointer in it leads to no memory, if no row is the end, or if a row has a
 * name that no atom can have, an unknown type, or the type TH_SETTING_WORD and no words.
 */
enum th_status th_library_declared_check(const struct th_tracer_setting *settings, size_t size);

/* Reads PROMISE, the library's th_tracer_functions_only.
 * Errors: TH_REFUSED if there is no memory at PROMISE. */
enum th_status th_library_promise_read(const char *promise, bool *promised);

/* Errors: TH_REFUSED if LIBRARY declares a th_tracer_past that cannot be written. */
enum th_status th_library_past_check(const struct th_library *library);

/* Reads the memory and the map of LIBRARY, whose constructors have run, and calls the watcher. */
void th_library_map(struct th_library *library, bool threads_started);

/* The list of all open instances, with their users. */
void th_library_registry_add(struct th_library *library);
void th_library_registry_remove(struct th_library *library);

/* Keeps LIBRARY, which is pinned, in the list permanently; LIBRARY need not be in it before. */
void th_library_registry_pin(struct th_library *library);

/* Removes a user. True: the last one. */
bool th_library_registry_leave(struct th_library *library);

/* Adds a user to all loaded instances that have one, and lists them, the latest first.
 * Owner: the caller frees the array and removes the users. */
size_t th_library_registry_keep_all(struct th_library ***libraries);

/* Finds the instance with the loader's handle of WANTED, which is not in the list; NULL: none. The
 * instance gets another user; if its last user has left, *IN_USE is false and it gets none. */
struct th_library *th_library_registry_find(const struct th_library *wanted, bool *in_use);

/* True if the loader would take the path of FACTS for a pinned instance, or for another file. */
bool th_library_registry_is_taken(const struct th_examination *facts);

/* Finds the latest replaceable instance of FILE that has a user, and adds a user; NULL: none. */
struct th_library *th_library_registry_find_file(const struct stat *file);

/* Calls LIBRARY's on_unload_thread callback on the scheduler threads. Order: before unload(). */
void th_library_leave_threads(struct th_library *library);

/* True if the calling thread is in LIBRARY's load() or upgrade(). */
bool th_library_is_loading(const struct th_library *library);

/* Initialises ENV for one call of LIBRARY's code. */
void th_library_init_env(th_env *env, struct th_library *library);

/* --- Part of code_map.h ----------------------------------------------------------------------- */

/* Lists the memory of the library with the loader's HANDLE; nothing if the loader fails. */
void th_library_memory_of(struct th_memory *memory, void *handle);

/* Finds the part that holds ADDRESS; NULL: none. */
const struct th_memory_part *th_library_memory_part_at(const struct th_memory *memory,
                                                       uintptr_t address);

/*
 * TH_REFUSED unless the SIZE bytes at ADDRESS, or TEXT up to its end, can be read in MEMORY, that
 * of the process. NAME names the data in the error. TEXT may be NULL. TH_OK for any address if the
 * kernel does not list the memory.
 */
enum th_status th_library_memory_check(const struct th_memory *memory, const char *name,
                                       const void *address, size_t size);
enum th_status th_library_memory_check_text(const struct th_memory *memory, const char *name,
                                            const char *text);

/* --- Part of entry.h -------------------------------------------------------------------------- */

/* Fills the slots from ENTRY's functions. Missing generic callbacks leave slots empty. */
void th_library_slots_fill(struct th_slots *slots, const struct th_entry *entry);

/* Appends a sentence for each function that looks like a callback and will never be called: an
 * unknown name, or a known one with another arity. */
void th_library_slots_remarks(const struct th_entry *entry, struct th_names *remarks);

/* --- Part of examine.h ------------------------------------------------------------------------ */

/* Examines COPY, a private copy of the file PATH in the state ORIGINAL; NULL and NULL: PATH itself.
 * Messages name PATH. Else as th_library_examine(). */
enum th_status th_library_examine_copy(const char *path, const char *copy,
                                       const struct stat *original, struct th_examination *result);

/* True if FILE, a result of fstat(), is the examined file, not written to since. */
bool th_library_examination_is_of(const struct th_examination *e, const struct stat *file);

/* --- Part of find.h --------------------------------------------------------------------------- */

/* Returns the name of KIND: "tracers", "plugins". */
const char *th_library_search_kind_text(enum th_search_kind kind);

/* --- Part of load.h --------------------------------------------------------------------------- */

static inline void th_library_begin(struct th_library_frame *call, const char *library,
                                    const char *function)
{
    th_library_begin_reporting(call, library, function, NULL);
}

#endif

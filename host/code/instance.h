/*
 * Instances: the code of one module, as one load brought it. A module has at most one current
 * instance, which external calls reach, and at most one old instance. External calls do not reach
 * the old instance any more, but calls that were in it go on.
 *
 * The users of an instance are the calls that run in it and the continuations that wait in it. They
 * are counted, so that an instance is freed only after its last user has left. As each call counts,
 * each thread that runs functions has a counter of its own; a user may enter on one thread and
 * leave on another.
 */
#ifndef TH_INSTANCE_H
#define TH_INSTANCE_H

#include "export.h"
#include "index.h"

#include "host/base/thread.h"
#include "host/library/debuginfo/line.h"
#include "host/progress/progress.h"
#include "host/self/self.h"
#include "host/term/word.h"
#include "plugin_api/erl_nif.h"

/* --- Modules ---------------------------------------------------------------------------------- */

struct th_instance;
struct th_code_words;

/* A module's name and code. Never moved or freed. */
struct th_module {
    th_term name;                /* an atom */
    struct th_code_word current; /* address of a struct th_instance; 0: none */
    struct th_instance *old;     /* NULL: none; under the code modification permission */
    uint64_t generations;        /* number of loads so far; under the permission */
    struct th_module *next;      /* th_code_modules */
};

/* Returns the module NAME, which is made if there is none. Thread: any. */
struct th_module *th_code_module_get(th_term name);
struct th_module *th_code_module_known(th_term name); /* NULL: no module ever had this name */

/* Thread: in a reader section, with the INDEX read in it; or with the permission. */
static inline struct th_instance *th_code_module_current(const struct th_module *module,
                                                         unsigned index)
{
    return (struct th_instance *)th_code_word(&module->current, index);
}

struct th_instance {
    struct th_library *library; /* loaded, or to be loaded (loading.h) */
    struct th_module *module;
    uint64_t serial;           /* number among all instances of the program, from 1 */
    uint64_t generation;       /* number among the module's loads, from 1; set by the load */
    struct th_callee *callees; /* one for each function that has a name */
    size_t count;
    struct th_code_words *words; /* of its exports (code_internal.h) */
    void *known;         /* data of the watcher (loading.h); NULL before prepare() and begin() */
    ErlNifFunc *locals;  /* names and arities of the local functions, for their callees */
    uintptr_t low, high; /* address range of the code; equal if there is no code */
    struct th_code_start {
        uintptr_t address; /* label, or start in the unwind table */
        const struct th_callee *callee;
    } * starts; /* ascending; if functions share code, the first callee */
    size_t start_count;
    /* All symbols of the file, addresses counted from BASE: also functions that are in no table,
     * such as continuations and handlers of exceptions. Code passes a continuation by its address,
     * so any function may be one; so all symbols are read, once, when the module is prepared. */
    struct th_symbols functions;
    uintptr_t base;
    struct th_later later; /* used when the instance becomes old, and when it is freed */
    _Atomic bool settled;  /* release: a grace period has passed since it became old; acquire */
    unsigned own_slots;    /* slots 1 to OWN_SLOTS belong to a thread each; slot 0 to all others */
    struct th_entered {
        /* One writer each, except slot 0. ENTERED is relaxed. LEFT is release, acquire: a reader
         * that sees a leave sees all that was done inside, and the enter before it. */
        _Alignas(64) _Atomic uint64_t entered;
        _Atomic uint64_t left;
    } by_slot[];
};

/* Returns the serial of CALLEE's instance; 0 if CALLEE has none. */
static inline uint64_t th_code_callee_serial(const struct th_callee *callee)
{
    return callee->instance ? callee->instance->serial : 0;
}

/* True if CALLEE's instance has the serial SERIAL. */
static inline bool th_code_callee_is_of(const struct th_callee *callee, uint64_t serial)
{
    return callee->instance && callee->instance->serial == serial;
}

/* Finds the instance whose code is at ADDRESS; NULL: none. Thread: as th_code_at(). */
const struct th_instance *th_code_instance_at(uintptr_t address);

/*
 * Finds the name of the code at ADDRESS: of a function, or of a handler with which a process goes
 * on after th_call_then() with TH_CATCHES. Any function of the file may be a handler. False if
 * ADDRESS is in no module's code.
 * Owner: the name is valid as long as the instance.
 * Thread: as th_code_at().
 */
struct th_code_place {
    const struct th_instance *instance;
    const char *function; /* a symbol; NULL: the file has none there, as it was stripped */
    uintptr_t inside;     /* offset in bytes, from the symbol or from the library's base */
};
bool th_code_place(uintptr_t address, struct th_code_place *place);

/*
 * Returns the number of calls that run in INSTANCE and of continuations that wait in it. A non-zero
 * result is an upper bound. Zero is exact, and permanent, if no external call can reach INSTANCE
 * and a grace period has passed since: then only code that runs in INSTANCE can enter it again.
 */
uint64_t th_code_instance_users(const struct th_instance *instance);

/* --- Counting --------------------------------------------------------------------------------- */

/*
 * Sets the number of slots, slot 0 included, for instances that are created later. Each thread that
 * runs functions has a slot of its own, from 1 (th_self.code_slot); all other threads share slot 0,
 * which costs them atomic additions.
 * Thread: the room that starts these threads.
 * Order: before modules are prepared.
 */
void th_code_slots(unsigned count);

/*
 * Counts a user of INSTANCE (not NULL) if the thread has its own slot: the inlined part for the
 * fastest paths. Returns the argument for th_code_instance_leave_quickly() on the same thread;
 * NULL: nothing was counted.
 */
static inline struct th_entered *th_code_instance_enter_quickly(struct th_instance *instance)
{
    unsigned slot = th_self.code_slot;
    struct th_entered *own;

    if (__builtin_expect(slot - 1 >= instance->own_slots, 0))
        return NULL;
    own = &instance->by_slot[slot];
    th_thread_count(&own->entered);
    return own;
}

static inline void th_code_instance_leave_quickly(struct th_entered *own)
{
    atomic_store_explicit(&own->left, atomic_load_explicit(&own->left, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* Counts a user that enters, or leaves, INSTANCE (NULL: nothing is counted).
 * Order: enter in the reader section in which INSTANCE was found, or while the thread is in
 * INSTANCE already. */
static inline void th_code_instance_enter(struct th_instance *instance)
{
    if (instance && !th_code_instance_enter_quickly(instance))
        atomic_fetch_add_explicit(&instance->by_slot[0].entered, 1, memory_order_relaxed);
}

static inline void th_code_instance_leave(struct th_instance *instance)
{
    if (__builtin_expect(!instance, 0))
        return;
    if (__builtin_expect(th_self.code_slot - 1 >= instance->own_slots, 0))
        atomic_fetch_add_explicit(&instance->by_slot[0].left, 1, memory_order_release);
    else
        th_code_instance_leave_quickly(&instance->by_slot[th_self.code_slot]);
}

#endif

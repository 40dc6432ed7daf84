/*
 * Instances: the code of one module, as one load has brought it. A module has a current instance,
 * which external calls reach, and perhaps an old one, which they reach no more, but whose code is
 * run by those who were in it already.
 *
 * Whoever runs code of an instance, or keeps a continuation of it, is counted as one who is in it,
 * so that it is known when it may go. Counting is for each thread by itself, as it is done in each
 * call; one may come in on one thread and leave on another.
 */
#ifndef TH_INSTANCE_H
#define TH_INSTANCE_H

#include "export.h"
#include "index.h"

#include "host/library/debuginfo/line.h"
#include "host/progress/progress.h"
#include "host/self/self.h"
#include "host/term/word.h"
#include "plugin_api/erl_nif.h"

/* --- Modules ---------------------------------------------------------------------------------- */

struct th_instance;

/* It stays for ever, at its place. */
struct th_module {
    th_term name;                /* an atom */
    struct th_code_word current; /* a struct th_instance's address, 0: none */
    struct th_instance *old;     /* NULL: none; with the code modification permission */
    uint64_t generations;        /* that were loaded; likewise */
    struct th_module *next;      /* th_code_modules */
};

/* The module NAME, made if there is none. Any thread. */
struct th_module *th_code_module_get(th_term name);
struct th_module *th_code_module_known(th_term name); /* NULL: there never was one */

/* In a read section, with the index that was read in it; or with the permission. */
static inline struct th_instance *th_code_module_current(const struct th_module *module,
                                                         unsigned index)
{
    return (struct th_instance *)th_code_word(&module->current, index);
}

struct th_instance {
    struct th_library *library; /* loaded, or still to be loaded: see loading.h */
    struct th_module *module;
    uint64_t serial;           /* among all that there ever were, from 1 */
    uint64_t generation;       /* of the module's: 1 is the first that was loaded */
    struct th_callee *callees; /* one for each function that has a name */
    size_t count;
    void *known;         /* the watcher's own (loading.h); NULL before prepare() and begin() */
    ErlNifFunc *locals;  /* what the callees of local functions tell */
    uintptr_t low, high; /* from where to where its code is; the same if it has none */
    struct th_code_start {
        uintptr_t address;
        const struct th_callee *callee;
    } * starts; /* ascending; of functions that are one and the same code the first */
    size_t start_count;
    /* What the file names, from BASE on: functions that are in no table, such as continuations, and
     * so the handlers of exceptions. A continuation is given by its address, so any function of the
     * file may be one; the symbols are therefore read once, when the module is prepared. */
    struct th_symbols functions;
    uintptr_t base;
    struct th_later later; /* since it is old, or until it is freed */
    _Atomic bool settled;  /* release: there was progress since it is old; acquire */
    unsigned slots;
    struct th_entered {
        /* Written by one thread, but for those of slot 0. Relaxed, and release: what was done
         * inside, and coming in before it, is seen by who sees that somebody left; acquire. */
        _Alignas(64) _Atomic uint64_t entered;
        _Atomic uint64_t left;
    } by_slot[];
};

/* The serial of CALLEE's instance; 0: it is of none. */
static inline uint64_t th_code_callee_serial(const struct th_callee *callee)
{
    return callee->instance ? callee->instance->serial : 0;
}

/* CALLEE's instance has that serial. */
static inline bool th_code_callee_is_of(const struct th_callee *callee, uint64_t serial)
{
    return callee->instance && callee->instance->serial == serial;
}

/* The instance whose code is at ADDRESS; NULL: none. As th_code_at(). */
const struct th_instance *th_code_instance_at(uintptr_t address);

/*
 * Finds the name of the code at ADDRESS: of a function, or of a handler, by which a process goes on
 * after th_call_then() with TH_CATCHES. Any function of the file may be a handler. False if ADDRESS
 * is no module's code. Thread: as th_code_at(). The name is valid as long as the instance.
 */
struct th_code_place {
    const struct th_instance *instance;
    const char *function; /* a symbol; NULL: the file has none there, as it was stripped */
    uintptr_t inside;     /* from where that begins, or from the library's base */
};
bool th_code_place(uintptr_t address, struct th_code_place *place);

/*
 * The number of calls that run in INSTANCE and of continuations that wait in it. Other than 0, the
 * result is an upper bound. 0 is exact, and permanent, once no external call can reach INSTANCE and
 * a grace period has passed: after that only code that runs in INSTANCE can enter it again.
 */
uint64_t th_code_instance_users(const struct th_instance *instance);

/* --- Counting --------------------------------------------------------------------------------- */

/*
 * Threads that run functions have slots, numbered from 1, each its own; all others share slot 0,
 * which costs them atomic additions. By the room that has threads: how many slots there are, before
 * modules are loaded. th_self.code_slot is the calling thread's.
 */
void th_code_slots(unsigned count);

/*
 * For who counts instructions: somebody comes in to INSTANCE, not NULL, if that takes no call. The
 * answer is for th_code_instance_leave_quickly(), on the same thread; NULL: nothing was done.
 */
static inline struct th_entered *th_code_instance_enter_quickly(struct th_instance *instance)
{
    unsigned slot = th_self.code_slot;
    struct th_entered *own;

    if (__builtin_expect(slot - 1 >= instance->slots - 1, 0))
        return NULL;
    own = &instance->by_slot[slot];
    atomic_store_explicit(&own->entered,
                          atomic_load_explicit(&own->entered, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return own;
}

static inline void th_code_instance_leave_quickly(struct th_entered *own)
{
    atomic_store_explicit(&own->left, atomic_load_explicit(&own->left, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* Somebody comes in: in the read section in which the instance was found, or being in it already;
 * leaves. INSTANCE NULL: a callee of no module. */
static inline void th_code_instance_enter(struct th_instance *instance)
{
    if (instance && !th_code_instance_enter_quickly(instance))
        atomic_fetch_add_explicit(&instance->by_slot[0].entered, 1, memory_order_relaxed);
}

static inline void th_code_instance_leave(struct th_instance *instance)
{
    if (__builtin_expect(!instance, 0))
        return;
    if (__builtin_expect(th_self.code_slot - 1 >= instance->slots - 1, 0))
        atomic_fetch_add_explicit(&instance->by_slot[0].left, 1, memory_order_release);
    else
        th_code_instance_leave_quickly(&instance->by_slot[th_self.code_slot]);
}

#endif

/*
 * Native sites: breakpoints in machine code, for local and external calls alike.
 *
 * A function can have one if it was compiled with -fpatchable-function-entry: the compiler then puts
 * NOPs at its label. One word of them is the entry word: a NOP, or a jump; the body follows. The
 * machine's header (x86_64/native_x86_64.h, arm64/native_arm64.h) has their instructions.
 *
 * The entry word is aligned, so one store switches between the two forms, and a thread that arrives
 * runs one of the two. membarrier() makes the store visible to all threads (SYNC_CORE: a processor
 * may have fetched the old instruction).
 *
 * The jump does not reach all memory, so it leads to a stub near the library. The stub belongs to the
 * entry, as its record does, and jumps to the thunk (native_thunk.h) with the record in a register. The thunk
 * tests one thing: whether any breakpoint of the entry is active. If none is, it jumps to the body,
 * as if there were no site. Else it jumps to the record's handler, whose caller then is the
 * function's caller.
 *
 * The stub is reached by a jump, not by a call, although a return address would identify the entry:
 * nobody would return to that address, so the processor, which predicts returns from calls, would
 * mispredict this return and all outer ones. Nothing is pushed and no return address is written, so
 * debuggers, unwinders, sanitizers and shadow stacks see a normal stack. A handler that needs the
 * function's end calls the body itself.
 */
#ifndef TH_NATIVE_H
#define TH_NATIVE_H

#include "host/base/error.h"
#include "host/breakpoint/generic_bp.h"
#include "host/breakpoint/site.h"

struct th_library;

/* The parameters of a function. */
enum th_native_form {
    TH_NATIVE_TERMS_0, /* (env): TH_FUNCTION(name, 0) */
    TH_NATIVE_TERMS_1, /* (env, term), and so on */
    TH_NATIVE_TERMS_2,
    TH_NATIVE_TERMS_3,
    TH_NATIVE_TERMS_4,
    TH_NATIVE_TERMS_5,
    TH_NATIVE_NIF, /* (env, argc, argv) */
    TH_NATIVE_FORMS
};

/*
 * The record of an entry. Two cache lines: a call that is not traced reads the first one. The
 * memory belongs to the entry while its library is open, even after th_native_drop(), as a thread
 * may be on its way here at any time.
 */
struct th_native {
    /* By generation: the breakpoint's data, if one local breakpoint is all that is active at the
     * entry; NULL: more is active, or nothing; always NULL in programs that are not optimized (see
     * fast_hit.h). Written with `active`, with release, as the breakpoint is complete; read with
     * acquire, in reader sections, for the active generation: like the data, the pointer is final
     * when its generation becomes the active one. */
    _Alignas(64) const struct th_bp_data *_Atomic only[2];
    /* Number of active breakpoints of all sites of the entry, by generation. The thunk reads that
     * of the active generation, relaxed: a hit reads all again. The thunk may have read
     * th_breakpoint_active_index long before; then its call began before the end of the change that
     * it misses. Written when a generation is staged and consolidated, with the permission. */
    _Atomic uint32_t active[2];
    /* Number of active breakpoints, of both generations together, that are not local alone; and the
     * sessions, by bit, that have an active breakpoint in any generation. */
    _Atomic uint64_t others, sessions;
    void *handler; /* for the entry's form, as below; constant while there is a site */
    void *body;    /* behind the entry word */
    union {
        void *owner;            /* data of the creator */
        struct th_native *next; /* native_near.c: the list of free records */
    };
    /* The arity of the only function of the entry, by the creator; below 0: several functions. */
    int arity;
    /* Written by native*.c: */
    const void *thunk; /* the thunk of the form */
    const void *code;  /* label */
    uint64_t jump;     /* the entry word while armed */
    uint32_t armed;    /* number of armed sites; with the permission */
    short protection;  /* of the entry word's memory, PROT_... */
    bool dropped;      /* has no owner, but threads may still arrive; under native.c's lock */
    bool listed;       /* stands in native.c's list of dropped records; likewise */
};

/* Return, as hints that may be stale, whether the entry has other breakpoints than local ones, and
 * the sessions with breakpoints there. A process that none of them traces passes local breakpoints
 * without a reader section. */
static inline uint64_t th_native_others(const struct th_native *native)
{
    return atomic_load_explicit(&native->others, memory_order_relaxed);
}

static inline uint64_t th_native_sessions(const struct th_native *native)
{
    return atomic_load_explicit(&native->sessions, memory_order_relaxed);
}

/*
 * A handler is called in the function's place, with the function's arguments, and must return the
 * result of the body, which has the same type without the last parameter. The last parameter, the
 * record, is in the next register. If the arguments can take all registers, the record is in the
 * first register for floating-point arguments, so that the stack holds only data of the caller.
 *
 *     NIF:     term (*)(env, int argc, const term argv[], struct th_native *)
 *     TERMS_n: term (*)(env, term 1, ... term n, struct th_native *), n at most 4
 *     TERMS_5: term (*)(env, term 1, ... term 5, double), th_native_of(double)
 */
static inline struct th_native *th_native_of(double register_)
{
    union {
        double register_;
        struct th_native *native;
    } both = {register_};

    return both.native;
}

/* The inverse of th_native_of(). */
static inline double th_native_in(struct th_native *native)
{
    union {
        struct th_native *native;
        double register_;
    } both = {native};

    return both.register_;
}

/*
 * Makes the entries of each library that is opened later ready.
 * Order: before libraries are opened and before other threads start.
 * Errors: TH_FAILED if this machine has no native sites (a kernel without membarrier SYNC_CORE); then
 * all functions are refused for this reason.
 *
 * Thread: any, for the other functions of this header; they take locks of native*.c only.
 */
enum th_status th_native_begin(void);

/*
 * Returns the reason why the function CODE of LIBRARY can have no native site, as a sentence with
 * the remedy, such as "it was compiled without room for a breakpoint at its entry: compile with
 * `pkg-config --cflags tracehost-plugin`". NULL: it can.
 * Owner: the text is never freed.
 * Order: while LIBRARY is open.
 */
const char *th_native_refusal(const struct th_library *library, const void *code);

/*
 * Creates the record of CODE, which is not refused and has no record, with a HANDLER of FORM.
 * Errors: NULL with errno, if there is no memory near LIBRARY, or its code cannot be made writable.
 * th_native_find() returns the record of CODE; NULL: none.
 */
struct th_native *th_native_create(const struct th_library *library, void *code,
                                   enum th_native_form form, void *handler, void *owner);
struct th_native *th_native_find(const void *code);

/* Drops NATIVES, none of which has an armed site: th_native_find() returns them no longer. Memory,
 * stub and handler stay valid until the library is closed, as a thread may be on its way there.
 * Order: before the library is closed. */
void th_native_drop_all(struct th_native *const natives[], size_t count);
static inline void th_native_drop(struct th_native *native)
{
    th_native_drop_all(&native, 1);
}

/*
 * The kind of a function with entries. `place` is the owner's struct th_native_place, with the
 * records for this name: one for each instance of its module, as old code runs beside the new; all
 * are armed and counted alike. A site may have no record and be armed. Sites of functions with the
 * same code may share a record: a hit decides which function was called. There are no global
 * breakpoints.
 */
enum { TH_NATIVE_INSTANCES = 2 };
struct th_native_place {
    struct th_native *records[TH_NATIVE_INSTANCES]; /* NULL: none. With the permission. */
};
extern const struct th_site_operations th_native_site_native;

/*
 * Attaches each of NATIVES to the site at its place in SITES, or detaches it. An attached record is
 * counted in both generations, and armed if the site is; a detached one is neither. All entry words
 * are written together.
 * Thread: with the code modification permission.
 * Order: while the code is mapped; there is no grace period, so calls that begin meanwhile may obey
 * the former state.
 */
void th_native_attach(struct th_site *const sites[], struct th_native *const natives[],
                      size_t count);
void th_native_detach(struct th_site *const sites[], struct th_native *const natives[],
                      size_t count);

#endif

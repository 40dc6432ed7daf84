/*
 * Native sites: breakpoints in machine code, x86-64. Local and external calls meet them alike.
 *
 * A function can have one if it was compiled with -fpatchable-function-entry=16,8: the compiler
 * leaves eight bytes of NOPs at its label, its entry word. (So it does with =8 and =16,0. What
 * stands before the label is not touched.)
 *
 *     label     the entry word: one NOP of eight bytes, or `cs jmp rel32` and two that nobody runs
 *     label+8   the body
 *
 * The entry word is aligned, so one store switches between the two forms, and a thread that comes
 * there runs the one or the other; membarrier() has all threads see it (SYNC_CORE: the processor
 * may have fetched the old one). That holds for two single instructions only: NOPs as compilers
 * leave them are made one before other threads can be there. A debugger's breakpoint at the label
 * stays where it is.
 *
 * The jump leads to a stub near the library, as it reaches 2 GB. The stub belongs to the entry, as
 * its record does, and goes on in the thunk (native_thunk.S) with the record in a register. The
 * thunk decides one thing: whether any breakpoint of the entry is active. If none is it goes on in
 * the body, as if nothing had been there. Else it goes on in the record's handler, whose caller
 * then is the function's caller.
 *
 * It is a jump and not a call, whose return address would tell what to go on with, because nobody
 * would ever return to that: the processor, which foresees each return by the calls that it has
 * seen, would be wrong about this one and all further out. Nothing is pushed and no return address
 * is written, so debuggers, unwinders, sanitizers and shadow stacks find nothing strange; what a
 * handler wants to know of the function's end it learns by calling the body itself.
 *
 * From the C ABI, what stands before the body uses what a call may: %rax, %r11, the flags.
 */
#ifndef TH_NATIVE_H
#define TH_NATIVE_H

#include "host/base/error.h"
#include "host/breakpoint/generic_bp.h"
#include "host/breakpoint/site.h"

struct th_library;

/* How a function is called. */
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
 * The record of an entry: its own as long as the library is open, whoever creates and drops it
 * meanwhile, as a thread may come here at any time after it was sent. One cache line.
 */
struct th_native {
    /* The breakpoints, of all the entry's sites, that are active, by generation. The thunk reads
     * that of the active one, relaxed: what it decides by it the hit reads again. It may have read
     * th_breakpoint_active_index long before: then its call began before the change that it misses
     * was done. Written as that generation is staged and consolidated, with the permission. */
    _Alignas(64) _Atomic uint32_t active[2];
    void *handler; /* for the entry's form, as below; constant while there is a site */
    void *body;    /* label + 8 */
    union {
        void *owner;            /* of whoever created it */
        struct th_native *next; /* native_near.c's: of those that are free */
    };
    /* native*.c's: */
    const void *thunk; /* the form's */
    uint64_t jump;     /* the entry word's other form */
    uint32_t armed;    /* sites that are; with the permission */
    short protection;  /* of the memory that the entry word is in, PROT_... */
    bool dropped;      /* nobody has it, but it may still be met; it stands in the list of those
                          that were dropped. Under native.c's lock */
    bool listed;
    /* As `active`: those that are not local alone. */
    _Atomic uint32_t others[2];
};

/* False, as a hint that may be stale, if the entry has no breakpoints but local ones, which a
 * process that is not traced passes: so such a process needs two loads here and no reader section.
 * Read as the thunk reads `active`, after which a handler asks. */
static inline bool th_native_has_others(const struct th_native *native)
{
    return atomic_load_explicit(&native->others[th_breakpoint_generation()],
                                memory_order_relaxed) != 0;
}

/*
 * Handlers are called in the function's place, with its arguments, and must return what the body
 * returns, which has the same type without the last parameter. That one comes in the next register;
 * where the arguments take all, in %xmm0, so that there is nothing on the stack which is not the
 * caller's.
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

/*
 * From now on the entries of each library that is opened are made ready: the NOPs of each become
 * one. To be called before libraries are opened, and before there are other threads. TH_FAILED
 * where this machine has no native sites (another architecture, a kernel without membarrier
 * SYNC_CORE): then all functions are refused, for that reason.
 *
 * The other functions here may be called by any thread; they take a lock, and no other under it
 * that is not their own.
 */
enum th_status th_native_begin(void);

/*
 * Why the function CODE of LIBRARY can have no native site: a sentence that says what is wrong and
 * what would mend it, as "it was compiled without room for a breakpoint at its entry: compile with
 * `pkg-config --cflags tracehost-plugin`". NULL: it can. The text stays. While the library is open.
 */
const char *th_native_refusal(const struct th_library *library, const void *code);

/*
 * The record for CODE, which is not refused, with a HANDLER of that form. One at a time for a
 * function: th_native_find() is the one that it has, NULL if none. NULL if there is no memory near
 * the library, or it cannot be made writable; errno says why.
 */
struct th_native *th_native_create(const struct th_library *library, void *code,
                                   enum th_native_form form, void *handler, void *owner);
struct th_native *th_native_find(const void *code);

/* They have no armed site. Memory, stub and handler stay good for threads that are on their way to
 * them until the library is closed, which it must not be before this has returned. */
void th_native_drop_all(struct th_native *const natives[], size_t count);
static inline void th_native_drop(struct th_native *native)
{
    th_native_drop_all(&native, 1);
}

/*
 * Of a function with entries: `place` is a struct th_native_place of the owner's, with the records
 * that are met in its name: one for each instance of its module, as old code runs on beside the
 * new; all are armed and counted alike. It may have none, and be armed. Several sites may share a
 * record, those of functions with the same code: a hit decides whose it is. It has no global
 * breakpoints.
 */
enum { TH_NATIVE_INSTANCES = 2 };
struct th_native_place {
    struct th_native *records[TH_NATIVE_INSTANCES]; /* NULL: none. With the permission. */
};
extern const struct th_site_operations th_native_site_native;

/*
 * Each of NATIVES becomes a record of the native site at its place in SITES, in which it is not
 * yet: so it is counted, in both generations, and armed if the site is; or is one no more, after it
 * was disarmed. What is written is written at once for all. With the code modification permission,
 * and while the code is mapped; for records whose code nobody runs that would have to obey at once.
 */
void th_native_attach(struct th_site *const sites[], struct th_native *const natives[],
                      size_t count);
void th_native_detach(struct th_site *const sites[], struct th_native *const natives[],
                      size_t count);

#endif

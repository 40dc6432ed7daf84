/*
 * Native sites: breakpoints in machine code, x86-64. Local and external calls meet them alike.
 *
 * A function can have one if it was compiled with -fpatchable-function-entry=16,8: there are eight
 * bytes of NOPs before its label, which nobody runs, and eight at its label, its entry word.
 *
 *     label-8   the address of the entry's record, struct th_native, for life
 *     label     the entry word: one NOP of eight bytes, or `cs cs cs call rel32`, also eight
 *     label+8   the body
 *
 * The entry word is aligned, so one store switches between the two forms, and a thread that comes
 * there runs the one or the other; membarrier() has all threads see it (SYNC_CORE: the processor
 * may have fetched the old one). That holds for two single instructions only: NOPs as compilers
 * leave them are made one before other threads can be there.
 *
 * The call leads to a page near the library, as it reaches 2 GB, and by that to the thunk
 * (native_thunk.S). The thunk takes the call's return address from the stack, which is the body's
 * address, and with it the record, and then decides one thing: whether any breakpoint of the entry
 * is active. If none is it goes on in the body, as if nothing had been there. Else it goes on in
 * the record's handler, whose caller then is the function's caller. No return address is ever
 * written, so debuggers, unwinders and sanitizers find nothing strange; what a handler wants to
 * know of the function's end it learns by calling the body itself.
 *
 * From the C ABI, the thunk uses what a call may: %rax, %r10, %r11, the flags.
 */
#ifndef TH_NATIVE_H
#define TH_NATIVE_H

#include "site.h"

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
 * The record of an entry. Type-stable, as a site is: a thread may read it at any time after it was
 * sent here.
 */
struct th_native {
    /* The breakpoints, of all the entry's sites, that are active, by generation. The thunk reads
     * that of the active one, relaxed: what it decides by it the hit reads again. Written as that
     * generation is staged and consolidated, with the permission. */
    _Alignas(64) _Atomic uint32_t active[2];
    void *handler; /* for the entry's form, as below; constant while there is a site */
    void *body;    /* label + 8 */
    void *owner;   /* of whoever created it */
    /* native.c's: */
    uint64_t *word; /* the entry word */
    uint32_t armed; /* sites that are; with the permission */
    enum th_native_form form;
    uint64_t call; /* the entry word's other form */
    struct th_later later;
};

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
 * function: th_native_find() is the one that it has, NULL if none. By one thread at a time. NULL if
 * there is no memory near the library, or it cannot be made writable; errno says why.
 */
struct th_native *th_native_create(const struct th_library *library, void *code,
                                   enum th_native_form form, void *handler, void *owner);
struct th_native *th_native_find(const void *code);

/* Its sites are dropped, or about to be and not armed. The entry word is a NOP; memory and near
 * page stay until thread progress, the library at least until this has returned. */
void th_native_drop(struct th_native *native);

/* Of a function with an entry: `place` is the record. Several sites may share one, those of
 * functions with the same code: a hit decides whose it is. It has no global breakpoints. */
extern const struct th_site_operations th_site_native;

#endif

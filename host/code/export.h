/*
 * Exports: what can be called from outside, by module, function and arity.
 *
 * An external call reads its export entry, and calls what that holds then. An entry is made when a
 * function of that name is first there, or somebody wants to have its entry before that; it stays
 * for ever, at its place: who has it need not look again. While no loaded module has such a
 * function it holds nothing, and a call raises `undef`.
 *
 * The entry is one word, which holds the callee and whether the call is to be traced first. So a
 * breakpoint costs a call that meets none a few instructions, and code can be loaded, replaced and
 * removed under an entry. The table is a hash table that is read without a lock.
 */
#ifndef TH_EXPORT_H
#define TH_EXPORT_H

#include "index.h"

#include "host/term/atom.h"
#include "plugin_api/erl_nif.h"

#include <stdatomic.h>
#include <stdbool.h>

struct th_instance;

/*
 * What is called. The name is "module:function/arity", for reports; it must stay for ever.
 *
 * A function of a library that only its own C code calls (TH_FUNCTION) is one, too, so that it can
 * be traced and named: with no entry, and a `function` that tells its name and arity but no code of
 * the NIF signature.
 */
struct th_callee {
    struct th_library *library;   /* loaded */
    struct th_instance *instance; /* whose function it is, see instance.h; NULL: of no module's */
    const ErlNifFunc *function;
    const char *name;
    struct th_export *entry; /* that it was made for, NULL: none */
    void *code;              /* where it begins; NULL: not said */
    void *known;             /* the watcher's own (loading.h); written before the entry is armed */
};

static inline bool th_code_callee_is_local(const struct th_callee *callee)
{
    return !callee->function->fptr;
}

/*
 * One word of each code index says what a call has to know: a struct th_callee's address, 0 while
 * it is undefined; TH_EXPORT_USUAL if that is a module's code which runs on any thread, so that a
 * call need not look; and TH_EXPORT_ARMED while calls are to be told to somebody first. The
 * address, and what is usual, changes with the index; who is told at once in the words of all.
 */
enum { TH_EXPORT_ARMED = 1, TH_EXPORT_USUAL = 2 };

enum { TH_EXPORT_ARITY_MAX = 255 };

struct th_export {
    th_term module, function; /* atoms */
    unsigned arity;
    struct th_code_word word;
    void *known; /* the watcher's own (loading.h); written before it is armed */
};

/* The entry, NULL if none was made. Any thread, without a lock. */
static inline struct th_export *th_code_export_find(th_term module, th_term function,
                                                    unsigned arity);

/* The entry, made if there is none, of two atoms and at most TH_EXPORT_ARITY_MAX. Any thread; takes
 * a lock only to make one. An entry takes some 70 bytes, for ever. */
struct th_export *th_code_export_get(th_term module, th_term function, unsigned arity);

/* The atom of the name of a C function, which is UTF-8 or Latin-1; TH_NONE: it is too long. */
th_term th_code_name_atom(const char *name);

/*
 * The word, 0 where there is no entry; and what a call that has read it reaches, NULL: nothing. In
 * a read section (progress/), at the end of which the callee may go, unless it was entered
 * (instance.h).
 */
static inline uintptr_t th_code_export_word(const struct th_export *entry)
{
    return entry ? th_code_word(&entry->word, th_code_index()) : 0;
}

static inline const struct th_callee *th_code_export_reached(uintptr_t word)
{
    return (const struct th_callee *)(word & ~(uintptr_t)(TH_EXPORT_ARMED | TH_EXPORT_USUAL));
}

static inline const struct th_callee *th_code_export_callee(const struct th_export *entry)
{
    return th_code_export_reached(th_code_export_word(entry));
}

/* The word, not armed, by which CALLEE is reached; NULL: nothing is. */
static inline uintptr_t th_code_export_word_of(const struct th_callee *callee)
{
    bool usual = callee && callee->instance && callee->function->flags == 0;

    _Static_assert(_Alignof(struct th_callee) > (TH_EXPORT_ARMED | TH_EXPORT_USUAL),
                   "the bits are not of the address");
    return (uintptr_t)callee | (usual ? TH_EXPORT_USUAL : 0);
}

/* Arms the entry, or disarms it. Whoever has the code modification permission. Release: what is
 * to be found then is there; who reads the word acquires. */
static inline void th_code_export_arm(struct th_export *entry, bool armed)
{
    for (unsigned i = 0; i < TH_CODE_INDICES; i++)
        if (armed)
            atomic_fetch_or_explicit(&entry->word.of[i], TH_EXPORT_ARMED, memory_order_release);
        else
            atomic_fetch_and_explicit(&entry->word.of[i], ~(uintptr_t)TH_EXPORT_ARMED,
                                      memory_order_release);
}

/*
 * The function that begins at ADDRESS, for who has met it on a stack: of those that are one and the
 * same code, the first. NULL: none of a module does. In a read section; the callee stays until old
 * code is purged, which is not while anybody is in it. Any thread, without a lock.
 */
const struct th_callee *th_code_at(uintptr_t address);

/* --- Inline parts ---------------------------------------------------------------------------- */

/* The table: open addressing, read without a lock (export.c). */
struct th_code_exports {
    struct th_code_exports *smaller;     /* that it has replaced; somebody may read it yet */
    size_t mask;                         /* the places, a power of two, less 1; at most half used */
    unsigned shift;                      /* of a hash: its upper bits are the place */
    struct th_export *_Atomic entries[]; /* NULL: free. Release: the entry is complete; acquire. */
};
extern struct th_code_exports
    *_Atomic th_code_exports; /* never NULL; release: it is filled in; acquire */

/*
 * Where to begin to look. What tells three parts apart is in one word: the number of an atom stands
 * above its 6 bits of tag and takes 20, an arity takes 8, and the tags, always the same, may
 * overlap what is beside them. Its upper bits depend on all of them once it is multiplied by the
 * golden ratio (Fibonacci hashing).
 */
enum { TH_EXPORT_WORD_BITS = 64 };
_Static_assert(TH_ATOM_LIMIT <= 1 << 20 && TH_EXPORT_ARITY_MAX < 1 << 8, "they fit");
static inline size_t th_code_export_place(const struct th_code_exports *in, th_term module,
                                          th_term function, unsigned arity)
{
    return (module << 22 ^ function << 2 ^ arity) * 0x9E3779B97F4A7C15u >> in->shift;
}

static inline struct th_export *th_code_export_find(th_term module, th_term function,
                                                    unsigned arity)
{
    const struct th_code_exports *in = atomic_load_explicit(&th_code_exports, memory_order_acquire);
    struct th_export *entry;

    for (size_t i = th_code_export_place(in, module, function, arity);; i = (i + 1) & in->mask) {
        entry = atomic_load_explicit(&in->entries[i], memory_order_acquire);
        if (__builtin_expect(!entry || (entry->function == function && entry->module == module &&
                                        entry->arity == arity),
                             1))
            return entry;
    }
}

#endif

/*
 * Exports: the functions that can be called from outside their module, by name and arity.
 *
 * An external call reads its export entry and calls the entry's present callee. An entry is made
 * when a function of this name is first loaded, or when a caller requests the entry before. An
 * entry is never moved or freed, so a pointer to it may be kept. While no loaded module has such a
 * function, the entry has no callee, and a call raises `undef`.
 *
 * One word of the entry holds the callee and a bit that sends the call through breakpoints first.
 * So an inactive breakpoint costs a call a few instructions, and code can be loaded, replaced and
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
 * The target of a call. The name is "module:function/arity", for reports, and is never freed.
 *
 * A function of a library that only its own C code calls (TH_FUNCTION) is a callee, too, so that it
 * can be traced and named. Such a callee has no entry, and its `function` holds a name and an arity
 * but no code of the NIF signature.
 */
struct th_callee {
    struct th_library *library;   /* loaded */
    struct th_instance *instance; /* the owner, see instance.h; NULL: no module */
    const ErlNifFunc *function;
    const char *name;
    struct th_export *entry; /* the export entry of this name; NULL: none */
    void *code;              /* address of the first instruction; NULL: unknown */
    void *known;             /* the watcher's data (loading.h), written before the entry is armed */
};

static inline bool th_code_callee_is_local(const struct th_callee *callee)
{
    return !callee->function->fptr;
}

/*
 * In each code index one word holds all that a call needs to know: the address of a struct
 * th_callee, 0 while the function is undefined; TH_EXPORT_USUAL for code of a module that runs on
 * any thread, so that a call need not look into the callee; TH_EXPORT_ARMED while the entry has
 * breakpoints. Address and TH_EXPORT_USUAL change with the index; TH_EXPORT_ARMED changes at once
 * in the words of all indices.
 */
enum { TH_EXPORT_ARMED = 1, TH_EXPORT_USUAL = 2 };

enum { TH_EXPORT_ARITY_MAX = 255 };

struct th_export {
    th_term module, function; /* atoms */
    unsigned arity;
    struct th_code_word word;
    void *known; /* the watcher's data (loading.h), written before the entry is armed */
};

/* Finds the entry; NULL if none was made. Thread: any, without a lock. */
static inline struct th_export *th_code_export_find(th_term module, th_term function,
                                                    unsigned arity);

/* Returns the entry of two atoms and an arity of at most TH_EXPORT_ARITY_MAX, which is made if
 * there is none.
 * Owner: nobody frees an entry (some 70 bytes).
 * Thread: any; locks only to make. */
struct th_export *th_code_export_get(th_term module, th_term function, unsigned arity);

/* Makes an atom of the name of a C function, UTF-8 or Latin-1; TH_NONE if the name is too long. */
th_term th_code_name_atom(const char *name);

/*
 * Returns the word of ENTRY, 0 for NULL; the callee that WORD leads to, or NULL.
 * Owner: the callee is valid until the reader section (progress/) ends, or longer if the caller has
 * entered its instance (instance.h).
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

/* Makes the unarmed word that leads to CALLEE; CALLEE NULL: to nothing. */
static inline uintptr_t th_code_export_word_of(const struct th_callee *callee)
{
    bool usual = callee && callee->instance && callee->function->flags == 0;

    _Static_assert(_Alignof(struct th_callee) > (TH_EXPORT_ARMED | TH_EXPORT_USUAL),
                   "the bits are not of the address");
    return (uintptr_t)callee | (usual ? TH_EXPORT_USUAL : 0);
}

/* Arms or disarms ENTRY, in the words of all indices. Release: the data that an armed call reads is
 * written before; readers of the word acquire.
 * Thread: with the code modification permission. */
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
 * Finds the function whose label is ADDRESS, or whose start as an unwinder found it on a stack; NULL:
 * no module has one.
 * If several functions share their code, the first is returned.
 * Owner: the module; the callee is valid until its code is purged, never before the code's last
 * user has left.
 * Thread: any, in a reader section; no lock.
 */
const struct th_callee *th_code_at(uintptr_t address);

/* --- Inline parts ---------------------------------------------------------------------------- */

/* The table: open addressing, read without a lock (export.c). */
struct th_code_exports {
    struct th_code_exports *smaller;     /* predecessor, kept for readers that may still use it */
    size_t mask;                         /* number of places, a power of two, less 1; half used */
    struct th_export *_Atomic entries[]; /* NULL: free. Release: the entry is complete; acquire. */
};
/* Never NULL. Release: the table is filled; acquire. */
extern struct th_code_exports *_Atomic th_code_exports __attribute__((visibility("hidden")));

/*
 * Computes the first place to look at. One word holds the bits that distinguish the three parts: an
 * atom's number stands above its 6 bits of tag and takes 20 bits, an arity takes 8; the tags are
 * always the same and may overlap other bits. The word is multiplied by the golden ratio (Fibonacci
 * hashing). The bits of the product from TH_EXPORT_HASH_SHIFT on are the place: they depend on function
 * and arity, which lie below, and on as many and more bits of the module. A constant shift leaves a
 * register to the caller.
 */
enum { TH_EXPORT_HASH_SHIFT = 32 };
_Static_assert(TH_ATOM_LIMIT <= 1 << 20 && TH_EXPORT_ARITY_MAX < 1 << 8, "they fit");
static inline size_t th_code_export_place(const struct th_code_exports *in, th_term module,
                                          th_term function, unsigned arity)
{
    return (module << 22 ^ function << 2 ^ arity) * 0x9E3779B97F4A7C15u >> TH_EXPORT_HASH_SHIFT &
           in->mask;
}

static inline struct th_export *th_code_export_find(th_term module, th_term function,
                                                    unsigned arity)
{
    const struct th_code_exports *in = atomic_load_explicit(&th_code_exports, memory_order_acquire);
    struct th_export *entry;

    for (size_t i = th_code_export_place(in, module, function, arity);; i = (i + 1) & in->mask) {
        entry = atomic_load_explicit(&in->entries[i], memory_order_acquire);
        if (__builtin_expect(!entry, 0))
            return NULL;
        if (__builtin_expect(
                entry->function == function && entry->module == module && entry->arity == arity, 1))
            return entry;
    }
}

#endif

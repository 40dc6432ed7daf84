/*
 * The code indices: three copies of the words by which running code finds other code. One copy is
 * active.
 *
 * Each thing that can be found (an export, a module) has a word that is replicated for each index.
 * The ranges of addresses, which lead to the handlers of exceptions, are replicated, too (stage.c).
 * Running code reads the active index once and uses this index for all that it looks up, so it
 * never sees half of a load. A load writes the copies of the next index, which nobody reads, and
 * activates the next index with one store.
 *
 * The three indices take turns, so that a load waits for one grace period only: between its writes
 * and the store. After this grace period nobody reads the index that was active before the current
 * one, so the next load may write it. First, the next load repeats in it the changes of the last
 * two loads, and nothing else. With two indices a load would wait twice: before it writes the copy
 * that was active last, and before the commit.
 *
 * Source: Erlang/OTP, "Non-Blocking Code Loading".
 */
#ifndef TH_CODE_INDEX_H
#define TH_CODE_INDEX_H

#include <stdatomic.h>
#include <stdint.h>

enum { TH_CODE_INDICES = 3 };

/* Release: its words are written before; acquire. */
extern _Atomic unsigned th_code_active __attribute__((visibility("hidden")));

/* Returns the active index, which is valid until the reader section (progress/) of the call ends.
 * Acquire, a plain load on x86. Read the index once for a consistent view: all words of one index
 * are of the same loads. A thread that receives a message from new code finds the new code, too.
 * Order: an instance is entered (instance.h) in the reader section in which the index is read. */
static inline unsigned th_code_index(void)
{
    return atomic_load_explicit(&th_code_active, memory_order_acquire);
}

/* The word by which a thing is found, one copy for each index; 0: nothing. Never freed. */
struct th_code_word {
    _Atomic uintptr_t of[TH_CODE_INDICES];
};

/* Acquire: a word is written while its index is inactive, except for the bits of export.h. */
static inline uintptr_t th_code_word(const struct th_code_word *word, unsigned index)
{
    return atomic_load_explicit(&word->of[index], memory_order_acquire);
}

#endif

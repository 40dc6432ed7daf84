/*
 * The code indices: three copies of what running code finds other code by, of which one is active.
 *
 * What is replicated is a word for each thing that can be found (an export, a module), and the
 * ranges of addresses, with which the handlers of exceptions are found (stage.c). Running code
 * reads the active index once, and with it whatever it needs: so it never sees half of a load. Who
 * loads writes the copies of the next index, which nobody reads, and makes that the active one with
 * one store.
 *
 * There are three, used in turn, so that a load waits for thread progress once. Between the writing
 * and the store every thread leaves its read sections; after it, then, nobody reads the index that
 * was active before the last one any more, which is the next to be written. Before that it is
 * brought up to date, by what the last two loads have changed and nothing else. With two copies a
 * load would wait twice: before it writes the copy that was active last, and before the commit.
 *
 * (Erlang/OTP, "Non-Blocking Code Loading".)
 */
#ifndef TH_CODE_INDEX_H
#define TH_CODE_INDEX_H

#include <stdatomic.h>
#include <stdint.h>

enum { TH_CODE_INDICES = 3 };

extern _Atomic unsigned th_code_active; /* release: all of that index is written; acquire */

/* The active index, valid for reading as long as the read section (progress/) in which it is asked
 * for. Acquire, which is a plain load on x86. A view of the code is consistent if it is asked for
 * once: all that is read with it is of the same loads. A thread that receives a message of new code
 * finds the new code, too. The section in which the index is read is the one in which the instance
 * is entered (instance.h). */
static inline unsigned th_code_index(void)
{
    return atomic_load_explicit(&th_code_active, memory_order_acquire);
}

/* What can be found, by index: 0 is nothing. It must stay for ever. */
struct th_code_word {
    _Atomic uintptr_t of[TH_CODE_INDICES];
};

/* Acquire: a word is written while its index is not active, but for the bits of export.h. */
static inline uintptr_t th_code_word(const struct th_code_word *word, unsigned index)
{
    return atomic_load_explicit(&word->of[index], memory_order_acquire);
}

#endif

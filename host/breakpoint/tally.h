/*
 * Tallies: words that each thread counts in on its own, so that hits share no cache line; summed
 * when asked.
 *
 * A tally is a number. Each thread has a word of it, zero at first, in pages that are allocated
 * when it first counts there. A thread that ends leaves its words behind, to be gone on with by
 * one that begins. A word may as well be a pointer to something of that thread's own.
 *
 * Counting takes no atomic operation but plain loads and stores. A breakpoint whose counting begins
 * anew gets another tally, so that calls from before and after are never mixed.
 */
#ifndef TH_TALLY_H
#define TH_TALLY_H

#include <stdatomic.h>
#include <stdint.h>

/* A tally whose words are zero; never 0. With the code modification permission. */
uint32_t th_breakpoint_tally_create(void);

/* Nobody counts or reads there any more. DISPOSE (NULL: nothing) gets each word that is not 0. With
 * the code modification permission, after thread progress. 0 is allowed, and nothing. */
void th_breakpoint_tally_free(uint32_t tally, void (*dispose)(uint64_t word));

/*
 * The calling thread's word; in a read section. Only this thread writes it, with plain (relaxed)
 * stores. A word that is a pointer is published with release.
 */
_Atomic uint64_t *th_breakpoint_tally_word(uint32_t tally);

/* Shows each thread's word that is not 0 (acquire). Any thread; VISIT is called in a read section.
 */
void th_breakpoint_tally_each(uint32_t tally, void (*visit)(uint64_t word, void *context),
                              void *context);

/* What all threads have counted. Exact for what happened before the call. */
uint64_t th_breakpoint_tally_sum(uint32_t tally);

#endif

/* The results of call_time and call_memory, in tallies: each thread's word is a table. */
#ifndef TH_ACCOUNTING_H
#define TH_ACCOUNTING_H

#include "account.h"
#include "generic_bp.h"
#include "hit.h"
#include "breakpoint_info.h"

/* A breakpoint of these KINDS (time, memory) was hit. True if the call is accounted for. */
bool th_breakpoint_account_call(struct th_hit *hit, const struct th_generic_bp *bp,
                                const struct th_bp_data *data, uint32_t kinds);

/* Adds up the results of all threads in two tallies, which may be 0: an item for each process. The
 * caller frees the items; NULL if both tallies are 0. */
struct th_bp_usage *th_breakpoint_account_collect(uint32_t one, uint32_t other, size_t *count);

/* Frees a thread's table: for th_breakpoint_tally_free(). */
void th_breakpoint_account_dispose(uint64_t word);

#endif

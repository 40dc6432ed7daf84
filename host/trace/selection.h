/*
 * Which recorded events sessions can get, as far as that stays the same during a replay: for readers
 * that can pass over the others.
 */
#ifndef TH_SELECTION_H
#define TH_SELECTION_H

#include "host/term/word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_mfa;
struct th_tracing;

struct th_trace_selection {
    struct th_tracing *tracing;
    th_term *tracees; /* pids and ports; 0 of them: all */
    bool *met;        /* by tracee: for the caller, see th_trace_selection_saw() */
    size_t tracee_count, tracee_capacity;
    bool functions; /* ask th_trace_selects_function() for each function of the stream */
    /* Bits of the tags of events that sessions may get beside calls of these functions, their ends, and
     * what changes the world. */
    uint64_t others;
    bool stacks; /* calls that are open matter */
};

/* Fills SELECTION.
 * Owner: th_trace_selection_free() frees what it has.
 * Thread: the replaying one, of a tracing that is not shared, before the first event. */
void th_trace_select(struct th_tracing *tracing, struct th_trace_selection *selection);
void th_trace_selection_free(struct th_trace_selection *selection);

/* Notes that the recording has events of TAGS, and events of the tracees that are `met`, that sessions
 * do not get; ALL_TAGS: also outside of the bounds of time. */
void th_trace_selection_saw(const struct th_trace_selection *selection, uint64_t tags,
                            uint64_t all_tags);

/* Returns whether a session may get calls of FUNCTION, or their ends. CONTEXT is the selection. FUNCTION is
 * called in the stream: if a pattern names it, the pattern has met it from now on. */
bool th_trace_selects_function(void *context, const struct th_mfa *function);

#endif

/*
 * Ends of recorded calls, for readers without a tracing: which calls each record ends, and how deep
 * each call is. The stacks, and the rules for ends, are those of trace/recorded/execution.h.
 *
 *   struct th_call_ends *ends = th_replay_call_ends_begin(&options);
 *   th_replay_call_ends_enter(ends, event, env, &call)     each call;
 *     th_replay_call_ends_want(&call, word)                ... exactly once
 *   th_replay_call_ends_leave(ends, event, &left)          each return_from, exception_from, return_to
 *   th_replay_call_ends_other(ends, event)                 each other event, drops too
 *
 * Memory: 36 bytes an open call, TH_CALL_ENDS_MOST calls of all processes; the oldest calls of a
 * process are forgotten then, and th_recorded_counts() counts them in not_kept.
 */
#ifndef TH_CALL_ENDS_H
#define TH_CALL_ENDS_H

#include "host/base/hash.h"
#include "host/trace/recorded/execution.h"

enum { TH_CALL_ENDS_MOST = 1 << 22, TH_CALL_ENDS_WORD_BITS = 63, TH_CALL_ENDS_OWN_BITS = 1 };

struct th_call_ends_options {
    struct th_execution_options execution; /* all_frames 0: TH_CALL_ENDS_MOST */
    bool recorded_callers;                 /* results of match specifications are callers */
    /* Called for each wanted call that ends, the latest call first, with its WORD. BEGINS: the call
     * has not taken the place of another, so that no more calls of its frame follow. Returns whether
     * a return_to that comes next is for this call: th_call_ends_process.stack.sessions.due. */
    bool (*ended)(void *context, enum th_ending ending, uint64_t word, bool begins);
    void *context;
};

struct th_call_ends_process {
    struct th_recorded_stack stack;
    uint32_t depth;  /* open calls; a call and the tail calls in its place count once */
    bool keeps_ends; /* for the caller: whether its latest end was kept */
};

struct th_call_ends {
    struct th_call_ends_options options;
    struct th_execution execution;
    struct th_table processes; /* struct th_call_ends_process by tracee */
    struct th_call_ends_process *leaving;
    struct th_mfa entered; /* function of the latest call */
};

struct th_call_ends *th_replay_call_ends_begin(const struct th_call_ends_options *options);
void th_replay_call_ends_end(struct th_call_ends *ends);

/* Enters the call EVENT of *PROCESS, whose depth then counts the call. *PROCESS is NULL for tracees
 * of unknown nodes, which are not followed. Terms are decoded into ENV.
 * Errors: TH_MALFORMED if EVENT is damaged. */
enum th_status th_replay_call_ends_enter(struct th_call_ends *ends, struct th_event *event,
                                         th_env *env, struct th_call_ends_process **process);

/* Gives the last call of PROCESS the WORD, not 0, of TH_CALL_ENDS_WORD_BITS bits. */
void th_replay_call_ends_want(struct th_call_ends *ends, struct th_call_ends_process *process,
                              uint64_t word);

/* Returns the word of the call in FRAME, an entry of a stack of these; 0: it has none. */
static inline uint64_t th_replay_call_ends_word(const struct th_frame *frame)
{
    return frame->word >> TH_CALL_ENDS_OWN_BITS;
}

/* Returns the word of the nearest wanted call below the last call of PROCESS; 0: there is none. */
uint64_t th_replay_call_ends_below(const struct th_call_ends_process *process);

/* Ends the calls that EVENT, a return_from, exception_from or return_to, ends. *PROCESS as above.
 * Errors: TH_MALFORMED if EVENT is damaged. */
enum th_status th_replay_call_ends_leave(struct th_call_ends *ends, struct th_event *event,
                                         struct th_call_ends_process **process,
                                         struct th_execution_left *left);

/* Follows spawns, exits and losses. An exit ends all calls of its process. */
void th_replay_call_ends_other(struct th_call_ends *ends, const struct th_event *event);

#endif

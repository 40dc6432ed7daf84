/*
 * Durations of the calls of a stream. A call's duration is known at its end. So a reader that shows
 * the duration with the call reads the stream twice: first it adds all events here, then it asks by
 * the number of the call. A reader that shows calls in the order of their ends follows the calls.
 *
 * A duration is known if call_ends.h shows for certain which record ends the call: a return_from or
 * an exception_from of the call, or a return_to that the call cannot have outlasted.
 *
 * Memory: 8 bytes a call, of followed calls 8 bytes an open call, and that of call_ends.h. Calls that
 * call_ends.h forgets stay open.
 */
#ifndef TH_CALL_DURATIONS_H
#define TH_CALL_DURATIONS_H

#include "host/base/error.h"
#include "host/term/env.h"
#include "host/trace/event.h"

enum th_call_duration {
    TH_DURATION_KNOWN,
    TH_DURATION_OPEN,     /* no record shows the end */
    TH_DURATION_UNSHOWN,  /* some record shows that the call has ended, now or before */
    TH_DURATION_DOUBTFUL, /* the record may be the end of another call */
    TH_DURATION_UNTIMED,  /* the times of call and end cannot be compared */
    TH_DURATION_KINDS
};

struct th_call_durations_counts {
    uint64_t unmatched; /* returns and exceptions whose calls were not recorded, or are forgotten */
    uint64_t forgotten; /* open calls, or calls not followed, as TH_CALL_ENDS_MOST were open */
};

struct th_call_durations;

struct th_call_durations *th_replay_call_durations_begin(void);

struct th_call_durations_follow {
    /* Called with CONTEXT for each call that ends, at the record that ends the call: its PLACE, and NS,
     * the duration if KIND is TH_DURATION_KNOWN. PLACE is free then. */
    void (*ended)(void *context, uint32_t place, enum th_call_duration kind, int64_t ns);
    void *context;
    bool recorded_callers; /* results of match specifications are callers */
};

/* Begins to follow calls. th_replay_call_durations_get() is not available then. */
struct th_call_durations *
th_replay_call_durations_follow(const struct th_call_durations_follow *follow);

/* The latest call that was added. */
struct th_call_followed {
    /* From 1 to TH_CALL_ENDS_MOST, and of no other call that is open. 0: the call is not followed, as
     * its process is unknown, or as so many calls are open. */
    uint32_t place;
    struct th_mfa function;
    uint32_t below; /* place of the open call that made this one, or took its place; 0: none */
    uint32_t depth; /* open calls of the process, this one among them; 0: unknown */
    struct th_caller caller;
};
struct th_call_followed th_replay_call_durations_latest(struct th_call_durations *durations);

/* Adds EVENT, which is sound. Terms are decoded into ENV.
 * Errors: TH_FAILED if the system refuses memory. */
enum th_status th_replay_call_durations_add(struct th_call_durations *durations,
                                            struct th_event *event, th_env *env);

/* Stores the duration of call NUMBER, from 1, in *NS, in nanoseconds, if it is known. A call that was
 * not added is open. */
enum th_call_duration th_replay_call_durations_get(const struct th_call_durations *durations,
                                                   uint64_t number, int64_t *ns);

struct th_call_durations_counts
th_replay_call_durations_counts(const struct th_call_durations *durations);

/* DURATIONS may be NULL. */
void th_replay_call_durations_end(struct th_call_durations *durations);

#endif

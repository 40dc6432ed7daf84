/*
 * Durations of the calls of a stream, by the number of the call. A call's duration is known at its
 * end, so a reader that shows it with the call reads the stream twice: first it adds all events here.
 *
 * A duration is known if call_ends.h shows for certain which record ends the call: a return_from or
 * an exception_from of the call, or a return_to that the call cannot have outlasted.
 *
 * Memory: 8 bytes a call, and that of call_ends.h. Calls that call_ends.h forgets stay open.
 */
#ifndef TH_CALL_DURATIONS_H
#define TH_CALL_DURATIONS_H

#include "host/base/error.h"
#include "host/term/env.h"

#include <stdint.h>

struct th_event;

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
    uint64_t forgotten; /* open calls, as there were more than TH_CALL_ENDS_MOST */
};

struct th_call_durations;

struct th_call_durations *th_replay_call_durations_begin(void);

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

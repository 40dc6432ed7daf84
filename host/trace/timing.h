/*
 * call_time over recorded calls: time is that of the records.
 *
 * Each process has an account for each session that times its calls (breakpoint/account.h), and a
 * stack of the calls that are charged. A call ends when the stack of the execution says so; what
 * was above it then has ended, too.
 */
#ifndef TH_TIMING_H
#define TH_TIMING_H

#include "session.h"
#include "host/breakpoint/breakpoint.h"

/* Start it as {0}. */
struct th_timing {
    struct th_timing_account {
        th_session_id session;
        struct th_account account;
    } * accounts;
    size_t account_count, account_capacity;
    struct th_timing_frame {
        th_session_id session;
        struct th_account_frame frame;
    } * frames;
    size_t frame_count, frame_capacity;
};

/* More calls than this are not kept. */
enum { TH_TIMING_FRAMES = 1000000 };

/* The time and process of EVENT; false if it has no time. */
bool th_trace_timing_read(struct th_event *event, struct th_account_reading *reading);

/* The session's account, made if it is not there. */
struct th_account *th_trace_timing_account(struct th_timing *timing,
                                           const struct th_session *session);

/* A call is charged. Its number is for th_trace_timing_leave(); UINT32_MAX: it is not kept. */
uint32_t th_trace_timing_enter(struct th_timing *timing, const struct th_session *session,
                               const struct th_account_frame *frame);
void th_trace_timing_leave(struct th_timing *timing, struct th_tracing *tracing, uint32_t number,
                           const struct th_account_reading *reading);

/* The process is scheduled out (or ends), or in. */
void th_trace_timing_pause(struct th_timing *timing, struct th_tracing *tracing,
                           const struct th_account_reading *reading);
void th_trace_timing_resume(struct th_timing *timing, const struct th_account_reading *reading);

void th_trace_timing_free(struct th_timing *timing);

#endif

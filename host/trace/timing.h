/*
 * call_time over recorded and live calls.
 *
 * Each process has an account for each session that times its calls (breakpoint/account.h), and a
 * stack of the calls that are charged. For recorded calls time is that of the records, and a call
 * ends when the stack of the execution (recorded/execution.h) has it ended; the calls above it have
 * ended then, too.
 */
#ifndef TH_TIMING_H
#define TH_TIMING_H

#include "session.h"

#include "host/breakpoint/account.h"

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
    size_t oldest;         /* index of the first frame whose call has not been forgotten */
    uint32_t first_number; /* the number of frames[0]; wraps */
};

#endif

/*
 * call_time and call_memory: what calls of a function cost each process.
 *
 * A process is charged to one function at a time: to the one that was called last of those that
 * have such a breakpoint of the session, and has not returned; so a function's figures leave out
 * what others that are traced took. trace/ keeps a struct th_account for each process and session
 * that traces its calls, and a struct th_account_frame with each frame that was entered:
 *
 *   th_breakpoint_hit()   ... hooks->entered(hit, session, &frame)       frame is kept
 *   th_breakpoint_account_return(account, session, &frame, &reading)                the call
 *   returned th_breakpoint_account_pause(), th_breakpoint_account_resume()                         
 *       scheduled out and in
 *
 * All by the thread that runs the process. A function whose breakpoint was removed or paused
 * meanwhile is charged nothing.
 */
#ifndef TH_ACCOUNT_H
#define TH_ACCOUNT_H

#include "breakpoint_session.h"
#include "site.h"

/* Start it as {0}. */
struct th_account {
    struct th_site *time, *memory; /* who is charged; NULL: nobody */
    int64_t now;                   /* when that began */
    uint64_t words;                /* what the process had allocated then */
};

/* Who was charged before. */
struct th_account_frame {
    uint32_t kinds; /* TH_BP_TIME, TH_BP_MEMORY: of which */
    struct th_site *time, *memory;
};

struct th_account_reading {
    uint64_t process; /* its pid; not 0 */
    int64_t now;      /* nanoseconds */
    uint64_t words;   /* that it has allocated since its start */
};

/* The call that FRAME is of has returned, or ended otherwise. */
void th_breakpoint_account_return(struct th_account *account, struct th_bp_session *session,
                                  const struct th_account_frame *frame,
                                  const struct th_account_reading *reading);

/* The process stops running; it runs again. */
void th_breakpoint_account_pause(struct th_account *account, struct th_bp_session *session,
                                 const struct th_account_reading *reading);
void th_breakpoint_account_resume(struct th_account *account,
                                  const struct th_account_reading *reading);

#endif

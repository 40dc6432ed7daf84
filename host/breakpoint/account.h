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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_bp_session;

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

/* What breakpoints a function has, and what they have counted. Any thread. */

/* What call_time or call_memory found of one process. */
struct th_bp_usage {
    uint64_t process; /* its pid */
    uint64_t calls;
    int64_t amount; /* nanoseconds, or words */
};

struct th_bp_info {
    uint32_t kinds;  /* that the breakpoint is of */
    uint32_t active; /* of them, those that are not paused */
    /* Shares; NULL: none. */
    struct th_shared *spec, *meta_spec, *meta_tracer;
    uint64_t calls; /* TH_BP_COUNT */
    /* TH_BP_TIME, TH_BP_MEMORY: of each process, in no order. */
    struct th_bp_usage *time, *memory;
    size_t time_count, memory_count;
};

/* The breakpoint of a function and session as it is after the latest change; false if there is
 * none, then INFO is empty. The caller frees what is in it. */
bool th_breakpoint_info(struct th_site *site, const struct th_bp_session *session,
                        struct th_bp_info *info);

/* The same of a function whose kinds of breakpoints are at two sites, as of one moment: what was
 * counted at both is added up; of what is at both otherwise, that of ONE. Each may be NULL. */
bool th_breakpoint_info_of_two(struct th_site *one, struct th_site *other,
                               const struct th_bp_session *session, struct th_bp_info *info);
void th_breakpoint_info_free(struct th_bp_info *info);

/* How many sessions have a breakpoint there. The caller gets a share of each of the first ROOM. */
size_t th_breakpoint_sessions(struct th_site *site, struct th_bp_session **sessions, size_t room);

#endif

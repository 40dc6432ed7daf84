/*
 * call_time and call_memory: the cost of a function's calls, by process.
 *
 * At any time, a process charges one function of a session: of the functions with such a breakpoint
 * that have not returned, the one that was called last. So the figures of a function do not include
 * the time and memory of other functions with such a breakpoint. trace/ keeps a struct th_account
 * for each process and each session that traces the process' calls, and a struct th_account_frame
 * with each frame that was entered:
 *
 *   th_breakpoint_hit()                calls hooks->entered(hit, session, &frame): keep FRAME
 *   th_breakpoint_account_return(account, session, &frame, &reading)     the call has returned
 *   th_breakpoint_account_pause(), th_breakpoint_account_resume()        scheduled out and in
 *
 * A function whose breakpoint was removed or paused in the meantime is charged nothing.
 * Thread: the one that runs the process.
 */
#ifndef TH_ACCOUNT_H
#define TH_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_bp_session;

/* The running charge of a process. Starts as {0}. */
struct th_account {
    struct th_site *time, *memory; /* the functions that are charged; NULL: none */
    int64_t now;                   /* time of the last reading, nanoseconds */
    uint64_t words;                /* words allocated at the last reading */
};

/* The functions that were charged before a call. */
struct th_account_frame {
    uint32_t kinds; /* accounts that the call changed: TH_BP_TIME, TH_BP_MEMORY */
    struct th_site *time, *memory;
};

struct th_account_reading {
    uint64_t process; /* its pid; not 0 */
    int64_t now;      /* nanoseconds */
    uint64_t words;   /* allocated since the process' start */
};

/* Charges the function of FRAME's call, which has ended, and resumes the charge before it. */
void th_breakpoint_account_return(struct th_account *account, struct th_bp_session *session,
                                  const struct th_account_frame *frame,
                                  const struct th_account_reading *reading);

/* th_breakpoint_account_pause() charges the time and memory up to READING: the process stops
 * running. th_breakpoint_account_resume() charges from READING on: the process runs again. */
void th_breakpoint_account_pause(struct th_account *account, struct th_bp_session *session,
                                 const struct th_account_reading *reading);
void th_breakpoint_account_resume(struct th_account *account,
                                  const struct th_account_reading *reading);

/* Adds CALLS, and for TH_BP_TIME the NS that they took in PROCESS, to the active breakpoint of SITE and
 * SESSION for KIND, TH_BP_COUNT or TH_BP_TIME: calls that another host has counted. Does nothing if
 * there is none.
 * Thread: any. */
void th_breakpoint_account_more(struct th_site *site, const struct th_bp_session *session,
                                uint32_t kind, uint64_t process, uint64_t calls, int64_t ns);

/* --- Information about a function's breakpoints, for any thread ------------------------------- */

/* The sums of call_time or call_memory for one process. */
struct th_bp_usage {
    uint64_t process; /* its pid */
    uint64_t calls;
    int64_t amount; /* nanoseconds (call_time) or words (call_memory) */
};

struct th_bp_info {
    uint32_t kinds;  /* all kinds of the breakpoint */
    uint32_t active; /* kinds that are not paused */
    /* A share of each; NULL: none. */
    struct th_shared *spec, *meta_spec, *meta_tracer;
    uint64_t calls; /* TH_BP_COUNT */
    /* TH_BP_TIME, TH_BP_MEMORY: one element for each process, unordered. */
    struct th_bp_usage *time, *memory;
    size_t time_count, memory_count;
};

/* Reads the breakpoint of SITE and SESSION in the active generation. False: there is none, and INFO
 * is empty.
 * Owner: the caller frees the contents with th_breakpoint_info_free(). */
bool th_breakpoint_info(struct th_site *site, const struct th_bp_session *session,
                        struct th_bp_info *info);

/* Reads the breakpoints of a function with two sites, in one generation. Kinds are united, counters
 * are added up, and of the shared objects that of ONE is taken, or else that of OTHER. ONE or OTHER
 * may be NULL. */
bool th_breakpoint_info_of_two(struct th_site *one, struct th_site *other,
                               const struct th_bp_session *session, struct th_bp_info *info);
void th_breakpoint_info_free(struct th_bp_info *info);

/* Returns the number of sessions with a breakpoint at SITE, and stores the first ROOM in SESSIONS.
 * Owner: the caller drops the share of each stored session. */
size_t th_breakpoint_sessions(struct th_site *site, struct th_bp_session **sessions, size_t room);

#endif

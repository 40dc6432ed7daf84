/* What breakpoints a function has, and what they have counted. Any thread. */
#ifndef TH_BP_INFO_H
#define TH_BP_INFO_H

#include "kind.h"
#include "breakpoint_session.h"
#include "site.h"

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

/* What is wanted of a call's end: a word for each session that wants anything, which is kept where
 * the call's frame is. Of a live call see live.h, of a recorded one execution.h. */
#ifndef TH_RETURN_REQUEST_H
#define TH_RETURN_REQUEST_H

#include "host/match/match.h"
#include "tracing.h"

/* The low bits; the others are the session's id, for WANT_TIME the number of a struct
 * th_timing_frame. */
enum {
    WANT_RETURN = 1,
    WANT_EXCEPTION = 2,
    WANT_META = 4,
    WANT_RETURN_TO = 8,
    WANT_TIME = 16,
    WANT_BITS = 5
};

/* What a match specification asked for. */
static inline uint64_t th_wants_of(const struct th_match_result *result)
{
    return (result->return_trace ? WANT_RETURN : 0) |
           (result->exception_trace ? WANT_RETURN | WANT_EXCEPTION : 0);
}

/* True if the call is told: {message, false} leaves it out, and so does a message that depends on
 * something unknown. */
static inline bool th_wants_message(const struct th_match_result *result)
{
    return result->message != TH_AM(false) && result->message != TH_NONE;
}

/* As in a BEAM, a return_to comes for local calls that are told; other ends for each call that
 * matches. */
static inline uint64_t th_wants_return_to(const struct th_match_result *result, uint32_t kind,
                                          uint32_t flags)
{
    bool wanted = kind == TH_BP_LOCAL && flags & TH_FLAG_RETURN_TO && th_wants_message(result);

    return wanted ? WANT_RETURN_TO : 0;
}

/* What a run of a match specification could not know. */
void th_wants_count_unknown(struct th_session *session, const struct th_match_result *result);

#endif

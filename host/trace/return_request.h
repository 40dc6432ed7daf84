/* Return requests: what is wanted of a call's end. A word for each session that wants anything is
 * kept with the call's frame: of a live call see live.h, of a recorded one execution.h. */
#ifndef TH_RETURN_REQUEST_H
#define TH_RETURN_REQUEST_H

#include "host/match/match.h"
#include "tracing.h"

/* The low bits; the others are the session's id, for TH_REQUEST_TIME the number of a struct
 * th_timing_frame. */
enum {
    TH_REQUEST_RETURN = 1,
    TH_REQUEST_EXCEPTION = 2,
    TH_REQUEST_META = 4,
    TH_REQUEST_RETURN_TO = 8,
    TH_REQUEST_TIME = 16,
    TH_REQUEST_BITS = 5
};

/* False: {message, false} leaves the call out, and so does a message that depends on something
 * unknown. */
static inline bool th_trace_sends(th_term message)
{
    return message != TH_AM(false) && message != TH_NONE;
}

/* The request for a call that matched with RESULT, at a breakpoint of KIND, under FLAGS; META: of a
 * meta breakpoint. As in a BEAM, a return_to comes for local calls that are sent; other ends for
 * each call that matches. */
static inline uint64_t th_trace_return_request_of(const struct th_match_result *result, bool meta,
                                                  uint32_t kind, uint32_t flags)
{
    uint64_t request = (result->return_trace ? TH_REQUEST_RETURN : 0) |
                       (result->exception_trace ? TH_REQUEST_RETURN | TH_REQUEST_EXCEPTION : 0);

    if (meta)
        return request ? request | TH_REQUEST_META : 0;
    if (kind == TH_BP_LOCAL && flags & TH_FLAG_RETURN_TO && th_trace_sends(result->message))
        request |= TH_REQUEST_RETURN_TO;
    return request;
}

#endif

#include "timing.h"

#include "pattern_internal.h"
#include "tracing.h"

bool th_trace_timing_read(struct th_event *event, struct th_account_reading *reading)
{
    bool timed = th_trace_event_time(event) == TH_OK && event->time.kind != TH_TIME_NONE;

    if (!timed)
        th_error_clear(); /* whoever wants a damaged event will meet the damage again */
    *reading = (struct th_account_reading){.process = event->tracee, .now = event->time.ns};
    return timed;
}

struct th_account *th_trace_timing_account(struct th_timing *timing,
                                           const struct th_session *session)
{
    for (size_t i = 0; i < timing->account_count; i++)
        if (timing->accounts[i].session == session->id)
            return &timing->accounts[i].account;
    for (size_t i = 0; i < timing->account_count; i++) /* one of a session that is dead */
        if (!th_trace_session_find(session->tracing, timing->accounts[i].session)) {
            timing->accounts[i] = (struct th_timing_account){.session = session->id};
            return &timing->accounts[i].account;
        }
    TH_ARRAY_GROW(timing->accounts, timing->account_count, timing->account_capacity);
    timing->accounts[timing->account_count] = (struct th_timing_account){.session = session->id};
    return &timing->accounts[timing->account_count++].account;
}

static size_t bytes_of(size_t frames)
{
    return frames * sizeof(struct th_timing_frame);
}

/* False: there is to be no more room. */
static bool make_room(struct th_timing *timing)
{
    enum { FEWEST = 8 };
    size_t had = timing->frame_capacity, capacity = had ? 2 * had : FEWEST;
    struct th_timing_frame *frames;

    if (had == TH_TIMING_FRAMES)
        return false;
    if (capacity > TH_TIMING_FRAMES)
        capacity = TH_TIMING_FRAMES;
    frames = th_long_array_grow(timing->frames, bytes_of(had), bytes_of(capacity),
                                bytes_of(TH_TIMING_FRAMES));
    if (!frames)
        return false;
    timing->frames = frames;
    timing->frame_capacity = capacity;
    return true;
}

uint32_t th_trace_timing_enter(struct th_timing *timing, const struct th_session *session,
                               const struct th_account_frame *frame)
{
    if (timing->frame_count == timing->frame_capacity && !make_room(timing))
        return UINT32_MAX;
    timing->frames[timing->frame_count] = (struct th_timing_frame){session->id, *frame};
    return (uint32_t)timing->frame_count++;
}

void th_trace_timing_leave(struct th_timing *timing, struct th_tracing *tracing, uint32_t number,
                           const struct th_account_reading *reading)
{
    const struct th_timing_frame *left = &timing->frames[number];
    struct th_session *session;

    if (number >= timing->frame_count) /* a call below it has ended */
        return;
    session = th_trace_session_find(tracing, left->session);
    if (session)
        th_breakpoint_account_return(th_trace_timing_account(timing, session),
                                     &session->points->base, &left->frame, reading);
    timing->frame_count = number;
}

void th_trace_timing_pause(struct th_timing *timing, struct th_tracing *tracing,
                           const struct th_account_reading *reading)
{
    for (size_t i = 0; i < timing->account_count; i++) {
        struct th_session *session = th_trace_session_find(tracing, timing->accounts[i].session);
        if (session)
            th_breakpoint_account_pause(&timing->accounts[i].account, &session->points->base,
                                        reading);
    }
}

void th_trace_timing_resume(struct th_timing *timing, const struct th_account_reading *reading)
{
    for (size_t i = 0; i < timing->account_count; i++)
        th_breakpoint_account_resume(&timing->accounts[i].account, reading);
}

void th_trace_timing_free(struct th_timing *timing)
{
    th_free(timing->accounts);
    th_long_array_free(timing->frames, bytes_of(timing->frame_capacity),
                       bytes_of(TH_TIMING_FRAMES));
    *timing = (struct th_timing){0};
}

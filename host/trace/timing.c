/* Charges the time and memory of timed calls to accounts. */
#include "timing.h"

#include "event.h"
#include "pattern_internal.h"
#include "trace_internal.h"
#include "tracing.h"

#include "host/base/buffer.h"
#include "host/base/long_array.h"

#include <string.h>

bool th_trace_timing_read(struct th_event *event, struct th_account_reading *reading)
{
    bool timed = th_trace_event_time(event) == TH_OK && event->time.kind != TH_TIME_NONE;

    if (!timed)
        th_error_clear(); /* raised again when a session wants the event */
    *reading = (struct th_account_reading){.process = event->tracee, .now = event->time.ns};
    return timed;
}

struct th_account *th_trace_timing_account(struct th_timing *timing,
                                           const struct th_session *session)
{
    size_t i;

    for (i = 0; i < timing->account_count; i++)
        if (timing->accounts[i].session == session->id)
            return &timing->accounts[i].account;
    i = 0; /* reuses the account of a dead session, or adds one */
    while (i < timing->account_count &&
           th_trace_session_find(session->tracing, timing->accounts[i].session))
        i++;
    if (i == timing->account_count) {
        TH_ARRAY_GROW(timing->accounts, timing->account_count, timing->account_capacity);
        timing->account_count++;
    }
    timing->accounts[i] = (struct th_timing_account){.session = session->id};
    return &timing->accounts[i].account;
}

static size_t timing_bytes_of(size_t frames)
{
    return frames * sizeof(struct th_timing_frame);
}

uint32_t th_trace_timing_enter(struct th_timing *timing, const struct th_session *session,
                               const struct th_account_frame *frame)
{
    enum { FEWEST = 8 };
    size_t had = timing->frame_capacity, capacity = had ? 2 * had : FEWEST;

    if (timing->frame_count == had && timing->oldest > had / 2) {
        timing->frame_count -= timing->oldest;
        timing->first_number += (uint32_t)timing->oldest;
        memmove(timing->frames, timing->frames + timing->oldest,
                timing_bytes_of(timing->frame_count));
        timing->oldest = 0;
    } else if (timing->frame_count == had) {
        struct th_timing_frame *frames = NULL;
        if (capacity > TH_TIMING_FRAMES)
            capacity = TH_TIMING_FRAMES;
        if (capacity > had)
            frames =
                th_long_array_grow(timing->frames, timing_bytes_of(had), timing_bytes_of(capacity),
                                   timing_bytes_of(TH_TIMING_FRAMES));
        if (!frames)
            return UINT32_MAX;
        timing->frames = frames;
        timing->frame_capacity = capacity;
    }
    timing->frames[timing->frame_count] = (struct th_timing_frame){session->id, *frame};
    return timing->first_number + (uint32_t)timing->frame_count++;
}

static void timing_cut(struct th_timing *timing, size_t count)
{
    timing->frame_count = count;
    if (timing->oldest >= count)
        timing->oldest = timing->frame_count = timing->first_number = 0;
}

void th_trace_timing_leave(struct th_timing *timing, struct th_tracing *tracing, uint32_t number,
                           const struct th_account_reading *reading)
{
    uint32_t index = number - timing->first_number;
    const struct th_timing_frame *left = &timing->frames[index];
    struct th_session *session;

    if (index >= timing->frame_count) /* a call below it has ended */
        return;
    session = th_trace_session_find(tracing, left->session);
    if (session)
        th_breakpoint_account_return(th_trace_timing_account(timing, session),
                                     &session->breakpoints->base, &left->frame, reading);
    timing_cut(timing, index);
}

void th_trace_timing_forget(struct th_timing *timing, uint32_t number)
{
    uint32_t index = number - timing->first_number;
    struct th_timing_frame *frames = timing->frames;

    if (index >= timing->frame_count)
        return;
    for (size_t i = index + 1; i < timing->frame_count && i <= index + timing->account_count; i++)
        if (frames[i].session == frames[index].session) {
            frames[i].frame.time = frames[i].frame.memory = NULL;
            break;
        }
    if (timing->oldest <= index)
        timing->oldest = index + 1;
    timing_cut(timing, timing->frame_count);
}

void th_trace_timing_pause(struct th_timing *timing, struct th_tracing *tracing,
                           const struct th_account_reading *reading)
{
    for (size_t i = 0; i < timing->account_count; i++) {
        struct th_session *session = th_trace_session_find(tracing, timing->accounts[i].session);
        if (session)
            th_breakpoint_account_pause(&timing->accounts[i].account, &session->breakpoints->base,
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
    if (!timing->accounts && !timing->frames) /* nothing was ever charged */
        return;
    th_free(timing->accounts);
    th_long_array_free(timing->frames, timing_bytes_of(timing->frame_capacity),
                       timing_bytes_of(TH_TIMING_FRAMES));
    *timing = (struct th_timing){0};
}

/*
 * Time of a process on and off a scheduler, by its events `in` and `out`.
 *
 * An `out` does not tell whether the process waits, or could go on at once: time off a scheduler is
 * one figure. Time is neither on nor off, but unknown,
 *
 * 1. before the first `in` or `out` of the process;
 * 2. between an `out` and a call or return before the next `in`: that `in` is missing;
 * 3. between two times if an `in` or `out` without a time, or a change of clocks, was between them.
 */
#ifndef TRACER_SCHEDULE_H
#define TRACER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* Time of an event that has none. */
#define TIME_NONE INT64_MIN

/* Nanoseconds; the rest of the time is unknown. */
struct spent {
    uint64_t on, off;
};

enum schedule_state { SCHEDULE_UNKNOWN, SCHEDULE_ON, SCHEDULE_OFF };

/* Initialised with {0}. */
struct schedule {
    enum schedule_state state;
    bool begun;         /* `last` is set */
    bool blind;         /* the time since `last` is unknown */
    int64_t last;       /* time of the latest event */
    struct spent spent; /* up to `last` */
};

/* Handles an event at NOW, which may be TIME_NONE. Returns the nanoseconds since the last event that
 * the process may have been on a scheduler. */
static inline uint64_t schedule_pass(struct schedule *schedule, int64_t now)
{
    uint64_t span = 0;

    if (now == TIME_NONE)
        return 0;
    if (schedule->begun && !schedule->blind && now > schedule->last)
        span = (uint64_t)now - (uint64_t)schedule->last;
    schedule->begun = true;
    schedule->blind = false;
    schedule->last = now;
    if (schedule->state == SCHEDULE_ON)
        schedule->spent.on += span;
    if (schedule->state != SCHEDULE_OFF)
        return span;
    schedule->spent.off += span;
    return 0;
}

/* Handles an `in` or `out` at NOW; returns as schedule_pass(). */
static inline uint64_t schedule_switch(struct schedule *schedule, bool in, int64_t now)
{
    uint64_t span = schedule_pass(schedule, now);

    schedule->blind |= now == TIME_NONE;
    schedule->state = in ? SCHEDULE_ON : SCHEDULE_OFF;
    return span;
}

/* Handles a call or return at NOW, which the process makes on a scheduler; returns as schedule_pass(). */
static inline uint64_t schedule_run(struct schedule *schedule, int64_t now)
{
    if (schedule->state == SCHEDULE_OFF) {
        schedule->blind = true;
        schedule->state = SCHEDULE_ON;
    }
    return schedule_pass(schedule, now);
}

/* Returns what was spent since EARLIER, within TIME nanoseconds. */
static inline struct spent schedule_since(struct spent spent, struct spent earlier, uint64_t time)
{
    spent.on = spent.on > earlier.on ? spent.on - earlier.on : 0;
    spent.off = spent.off > earlier.off ? spent.off - earlier.off : 0;
    if (spent.on > time) /* system time was put back */
        spent.on = time;
    if (spent.off > time - spent.on)
        spent.off = time - spent.on;
    return spent;
}

static inline void schedule_add(struct spent *to, struct spent more)
{
    to->on += more.on;
    to->off += more.off;
}

#endif

/* The clocks of merged streams; merge_clock.h has the idea. */
#include "merge_clock.h"

#include "host/base/error.h"
#include "host/term/compare.h"
#include "host/term/word.h"
#include "host/trace/note.h"

static const int64_t window = 10 * INT64_C(1000000000);

/* --- Readings --------------------------------------------------------------------------------- */

static void add_reading(struct th_clock_readings *readings, int64_t least, int64_t most)
{
    readings->items[readings->count++ % TH_CLOCK_READINGS] = (struct th_clock_reading){least, most};
}

/* Returns the narrowest of the latest readings, of equal ones the least; NULL: there is none. */
static const struct th_clock_reading *best_reading(const struct th_clock_readings *readings)
{
    const struct th_clock_reading *best = NULL;

    for (size_t i = 0; i < TH_CLOCK_READINGS && i < readings->count; i++) {
        const struct th_clock_reading *one = &readings->items[i];
        int64_t wider = best ? (one->most - one->least) - (best->most - best->least) : -1;
        if (wider < 0 || (wider == 0 && one->least < best->least))
            best = one;
    }
    return best;
}

static int64_t middle_of_readings(const struct th_clock_readings *readings)
{
    const struct th_clock_reading *best = best_reading(readings);

    return best ? best->least + (best->most - best->least) / 2 : 0;
}

void th_replay_clock_init(struct th_merge_clock *clock)
{
    const struct th_clock_greatest none = {INT64_MIN, INT64_MIN, INT64_MIN};

    *clock = (struct th_merge_clock){.host = clock, .later = none, .earlier = none};
}

bool th_replay_clock_take(struct th_merge_clock *clock, const struct th_note *note)
{
    int64_t offset, times[4];

    if (th_trace_note_offset(note, &offset)) {
        if (!clock->tripped)
            add_reading(&clock->system, offset, offset);
        return true;
    }
    if (!th_trace_note_round_trip(note, times))
        return false;
    if (!clock->tripped)
        clock->system.count = 0; /* a round trip reads the system clock, not a node's idea of it */
    clock->tripped = true;
    add_reading(&clock->system, times[1] - times[0], times[1] - times[0]);
    add_reading(&clock->host->behind, times[2] - times[1], times[3] - times[1]);
    return true;
}

/* --- Messages --------------------------------------------------------------------------------- */

static void add_number(struct th_clock_greatest *greatest, int64_t number, int64_t time)
{
    if (greatest->since == INT64_MIN || time - greatest->since > window) {
        greatest->before = greatest->now;
        greatest->now = INT64_MIN;
        greatest->since = time;
    }
    greatest->now = number > greatest->now ? number : greatest->now;
}

static int64_t greatest_of(const struct th_clock_greatest *greatest)
{
    return greatest->now > greatest->before ? greatest->now : greatest->before;
}

/* Takes the bound that a message between hosts gives. FIRST is one of them, or the message is of no use.
 * Returns whether there is a bound. */
static bool bound(const struct th_merge_message *message, const struct th_merge_clock *first)
{
    const struct th_merge_meeting *sent = &message->sent, *received = &message->received;

    if (!sent->host || !received->host || sent->host == received->host)
        return false;
    if (sent->host == first->host)
        add_number(&received->host->later, sent->time - received->time, received->time);
    else if (received->host == first->host)
        add_number(&sent->host->earlier, sent->time - received->time, sent->time);
    sent->host->bounds++;
    received->host->bounds++;
    return true;
}

bool th_replay_clock_meet(struct th_merge_clock *clock, struct th_merge_clock *first,
                          struct th_merge_message *messages, const struct th_event *event,
                          int64_t time, th_env *env)
{
    struct th_event copy = *event; /* the event itself is decoded later, into another environment */
    struct th_merge_message *message;
    struct th_merge_meeting *meeting;
    uint64_t hash;

    if (event->kind > TH_EVENT_TRACE_TS ||
        (event->tag != TH_TAG_send && event->tag != TH_TAG_receive))
        return false;
    if (th_trace_event_decode(&copy, env) != TH_OK) {
        th_error_clear();
        return false;
    }
    if (!th_trace_message_has_reference(copy.term))
        return false;
    hash = th_internal_hash(copy.term, 0) | 1;
    message = &messages[hash >> 1 & (TH_CLOCK_MESSAGES - 1)];
    if (message->hash != hash)
        *message = (struct th_merge_message){.hash = hash};
    meeting = event->tag == TH_TAG_send ? &message->sent : &message->received;
    if (meeting->host)
        return false; /* the first receive is after the first send; of others, nothing is known */
    *meeting = (struct th_merge_meeting){clock->host, time};
    return bound(message, first);
}

/* --- Differences ------------------------------------------------------------------------------ */

/* Returns how much the host's system clock is behind that of FIRST's. */
static int64_t behind_first(const struct th_merge_clock *clock, const struct th_merge_clock *first)
{
    int64_t behind =
        middle_of_readings(&clock->host->behind) - middle_of_readings(&first->host->behind);
    int64_t least = greatest_of(&clock->host->later), most = greatest_of(&clock->host->earlier);
    bool read = clock->host->behind.count && first->host->behind.count;

    if (clock->host == first->host)
        return 0;
    if (least != INT64_MIN && most != INT64_MIN && (least > -most || !read))
        return read
                   ? behind
                   : least + (-most - least) / 2; /* contradictions: by drift, or a false message */
    if (least != INT64_MIN && behind < least)
        return least;
    return most != INT64_MIN && behind > -most ? -most : behind;
}

int64_t th_replay_clock_to_system(const struct th_merge_clock *clock, enum th_time_kind kind)
{
    return th_trace_time_clock(kind) == TH_CLOCK_MONOTONIC ? middle_of_readings(&clock->system) : 0;
}

int64_t th_replay_clock_to_common(const struct th_merge_clock *clock,
                                  const struct th_merge_clock *first)
{
    return behind_first(clock, first) + middle_of_readings(&first->host->behind);
}

bool th_replay_clock_is_known(const struct th_merge_clock *clock,
                              const struct th_merge_clock *first, int64_t *behind, int64_t *doubt)
{
    const struct th_clock_reading *own = best_reading(&clock->host->behind);
    const struct th_clock_reading *firsts = best_reading(&first->host->behind);
    int64_t least = greatest_of(&clock->host->later), most = greatest_of(&clock->host->earlier);
    bool bounded = least != INT64_MIN && most != INT64_MIN && least <= -most;

    *behind = behind_first(clock, first);
    *doubt = 0;
    if (clock->host == first->host)
        return true;
    *doubt =
        own && firsts ? (own->most - own->least + firsts->most - firsts->least) / 2 : INT64_MAX;
    if (bounded && (-most - least) / 2 < *doubt)
        *doubt = (-most - least) / 2;
    return *doubt != INT64_MAX;
}

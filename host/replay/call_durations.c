#include "call_durations.h"

#include "call_ends.h"

#include "host/base/buffer.h"
#include "host/trace/event.h"

/*
 * A call's word: its time, packed, while the call is open; then ENDED with the nanoseconds, or with
 * WITHOUT and an enum th_call_duration. The word 0 is that of a call that is not followed. If calls
 * are followed, a free place has the next free place, 0 at the end.
 */
enum { CLOCK_BITS = 2 };
static const int64_t middle = INT64_C(1) << 59; /* nanoseconds, 18 years */
static const uint64_t ENDED = UINT64_C(1) << 63, WITHOUT = UINT64_C(1) << 62;

struct th_call_durations {
    struct th_call_ends *ends;
    struct th_call_durations_follow follow;
    struct th_call_durations_counts counts;
    struct duration_zero {
        bool known;
        int64_t ns;
    } zeros[TH_CLOCKS];
    uint64_t *words; /* of the calls */
    size_t count, capacity;
    size_t free_place;                   /* the first one; 0: none */
    size_t latest;                       /* place of the latest call; 0: none */
    struct th_call_ends_process *caller; /* its process; NULL: unknown */

    /* The current record. */
    uint64_t now;     /* its time, packed */
    bool returned_to; /* it is a return_to */
    uint64_t *told;   /* numbers of the calls that it ends with a value */
    size_t told_count, told_capacity;
};

/* Returns a word that is not 0; its lowest bits are 0 if the event has no usable time. */
static uint64_t pack_time(struct th_call_durations *durations, const struct th_event *event)
{
    const uint64_t none = 1 << CLOCK_BITS;
    struct duration_zero *zero;
    enum th_time_clock clock;
    int64_t since;

    if (event->time.kind == TH_TIME_NONE)
        return none;
    clock = th_trace_time_clock(event->time.kind);
    zero = &durations->zeros[clock];
    if (!zero->known)
        *zero = (struct duration_zero){true, event->time.ns};
    if (__builtin_sub_overflow(event->time.ns, zero->ns, &since) || since <= -middle ||
        since >= middle)
        return none;
    return (uint64_t)(since + middle) << CLOCK_BITS | (clock + 1);
}

/* Returns the nanoseconds from FROM to TO; below 0 if they cannot be compared. */
static int64_t packed_difference(uint64_t from, uint64_t to)
{
    const uint64_t clock = (1 << CLOCK_BITS) - 1;

    if ((from & clock) == 0 || (from & clock) != (to & clock))
        return -1;
    return (int64_t)(to >> CLOCK_BITS) - (int64_t)(from >> CLOCK_BITS);
}

/* Ends call NUMBER at the current record. KIND is TH_DURATION_KNOWN if that is certain. */
static void end_call(struct th_call_durations *durations, uint64_t number,
                     enum th_call_duration kind)
{
    uint64_t *word = &durations->words[number - 1];
    int64_t ns = packed_difference(*word, durations->now);

    if (kind == TH_DURATION_KNOWN && ns < 0)
        kind = TH_DURATION_UNTIMED;
    if (durations->follow.ended) {
        *word = durations->free_place;
        durations->free_place = number;
        durations->follow.ended(durations->follow.context, (uint32_t)number, kind, ns);
        return;
    }
    *word = ENDED | (kind == TH_DURATION_KNOWN ? (uint64_t)ns : WITHOUT | kind);
}

static bool duration_ended(void *context, enum th_ending ending, uint64_t number, bool begins)
{
    struct th_call_durations *durations = context;

    (void)begins;
    if (ending <= TH_ENDED_RAISED) {
        TH_ARRAY_GROW(durations->told, durations->told_count, durations->told_capacity);
        durations->told[durations->told_count++] = number;
    } else if (ending == TH_ENDED_UNTOLD) {
        end_call(durations, number,
                 durations->returned_to ? TH_DURATION_KNOWN : TH_DURATION_UNSHOWN);
    } else {
        end_call(durations, number, TH_DURATION_DOUBTFUL);
    }
    return false;
}

/* Finds the place of a new call, in *NUMBER; 0: there is none. Errors: TH_FAILED without memory. */
static enum th_status new_place(struct th_call_durations *durations, size_t *number)
{
    size_t capacity = durations->capacity ? 2 * durations->capacity : 1024;
    uint64_t *words;

    *number = durations->free_place;
    if (*number) {
        durations->free_place = durations->words[*number - 1];
        durations->words[*number - 1] = 0;
        return TH_OK;
    }
    if (durations->follow.ended && durations->count == TH_CALL_ENDS_MOST)
        return TH_OK;
    if (durations->count == durations->capacity) {
        words = th_may_realloc(durations->words, capacity * sizeof *words);
        if (!words)
            return TH_FAILED;
        durations->words = words;
        durations->capacity = capacity;
    }
    durations->words[durations->count++] = 0;
    *number = durations->count;
    return TH_OK;
}

static enum th_status note_new_call(struct th_call_durations *durations, struct th_event *event,
                                    th_env *env)
{
    enum th_status status;

    durations->latest = 0;
    durations->caller = NULL;
    if (!durations->follow.ended && (status = new_place(durations, &durations->latest)) != TH_OK)
        return status;
    status = th_replay_call_ends_enter(durations->ends, event, env, &durations->caller);
    if (status != TH_OK || !durations->caller)
        return status;
    if (durations->follow.ended && (status = new_place(durations, &durations->latest)) != TH_OK)
        return status;
    durations->counts.forgotten += !durations->latest;
    if (!durations->latest)
        return TH_OK;
    durations->words[durations->latest - 1] = durations->now;
    th_replay_call_ends_want(durations->ends, durations->caller, durations->latest);
    return TH_OK;
}

struct th_call_followed th_replay_call_durations_latest(struct th_call_durations *durations)
{
    struct th_call_followed latest = {.place = (uint32_t)durations->latest,
                                      .function = durations->ends->entered};

    if (!durations->caller)
        return latest;
    latest.depth = durations->caller->depth;
    latest.below = (uint32_t)th_replay_call_ends_below(durations->caller);
    latest.caller = th_recorded_caller(&durations->ends->execution, &durations->caller->stack);
    return latest;
}

static enum th_status note_call_end(struct th_call_durations *durations, struct th_event *event)
{
    struct th_call_ends_process *process;
    struct th_execution_left left;
    enum th_status status;

    durations->returned_to = event->tag == TH_TAG_return_to;
    durations->told_count = 0;
    status = th_replay_call_ends_leave(durations->ends, event, &process, &left);
    durations->counts.unmatched += !durations->returned_to && !left.known;
    for (size_t i = 0; i < durations->told_count; i++)
        end_call(durations, durations->told[i],
                 left.doubted ? TH_DURATION_DOUBTFUL : TH_DURATION_KNOWN);
    durations->returned_to = false;
    return status;
}

enum th_status th_replay_call_durations_add(struct th_call_durations *durations,
                                            struct th_event *event, th_env *env)
{
    if (event->kind > TH_EVENT_TRACE_TS || !th_trace_tag_has_function(event->tag)) {
        th_replay_call_ends_other(durations->ends, event);
        return TH_OK;
    }
    durations->now = pack_time(durations, event);
    return event->tag == TH_TAG_call ? note_new_call(durations, event, env)
                                     : note_call_end(durations, event);
}

enum th_call_duration th_replay_call_durations_get(const struct th_call_durations *durations,
                                                   uint64_t number, int64_t *ns)
{
    uint64_t word = number <= durations->count ? durations->words[number - 1] : 0;

    if (!(word & ENDED))
        return TH_DURATION_OPEN;
    if (word & WITHOUT)
        return (enum th_call_duration)(word & ~(ENDED | WITHOUT));
    *ns = (int64_t)(word & ~ENDED);
    return TH_DURATION_KNOWN;
}

struct th_call_durations_counts
th_replay_call_durations_counts(const struct th_call_durations *durations)
{
    struct th_call_durations_counts counts = durations->counts;

    counts.forgotten += th_recorded_counts(&durations->ends->execution).not_kept;
    return counts;
}

struct th_call_durations *
th_replay_call_durations_follow(const struct th_call_durations_follow *follow)
{
    struct th_call_durations *durations = th_alloc_zero(sizeof *durations);

    durations->follow = *follow;
    durations->ends = th_replay_call_ends_begin(
        &(struct th_call_ends_options){.recorded_callers = follow->recorded_callers,
                                       .ended = duration_ended,
                                       .context = durations});
    return durations;
}

struct th_call_durations *th_replay_call_durations_begin(void)
{
    return th_replay_call_durations_follow(&(struct th_call_durations_follow){.ended = NULL});
}

void th_replay_call_durations_end(struct th_call_durations *durations)
{
    if (!durations)
        return;
    th_replay_call_ends_end(durations->ends);
    th_free(durations->told);
    th_free(durations->words);
    th_free(durations);
}

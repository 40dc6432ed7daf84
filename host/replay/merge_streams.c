/*
 * Merges streams of several nodes: a reader whose events are those of other readers, in the order of time.
 *
 * Each part is read one record ahead, and the earliest of these records comes next. A connection without
 * bytes may still bring an earlier one: it is waited for, until PATIENCE_MS after the time of the event that
 * waits. Events of one node need not be in the order of time; they stay in the order of the node.
 *
 * Times of several nodes are compared as merge_clock.h tells. Events get the time of the clock of one part, the
 * first one whose node is known; its own times stay as they are. Processes and ports of that node are terms of
 * this node; those of other nodes are peers (term/peer.h).
 */
#include "merge_clock.h"
#include "reader.h"
#include "record.h"
#include "replay_internal.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/base/shared.h"
#include "host/term/clock.h"
#include "host/term/make.h"
#include "host/term/peer.h"
#include "host/trace/note.h"

#include <time.h>

enum {
    PATIENCE_MS = 500,
    TURN_MS = 20, /* a wait for one of several parts */
    BOUNDS = 100, /* messages of a host after which its clock is known well enough to begin */
};

struct part {
    struct th_reader *reader;
    struct th_event event;        /* the next record, if `there` and STATUS is TH_OK */
    bool there;                   /* STATUS is the result of the latest th_replay_reader_next() */
    enum th_status status;        /* TH_END: no record follows */
    struct th_error_chain causes; /* of a damage */
    bool placed;                  /* the node is known */
    struct th_merge_clock clock;
    int64_t latest;     /* the latest time so far, by the host's system clock; INT64_MIN: none */
    int64_t correction; /* from that clock to the recording host's */
};

struct th_merge {
    struct part *parts;
    size_t count;
    struct part *first;      /* its node is this node, its clock that of the events; NULL: none */
    struct part *given;      /* the part of the latest event; NULL: none */
    bool dispersed;          /* the nodes are on several hosts */
    bool refused;            /* no event follows, as those of some part cannot be put in order */
    enum th_time_kind scale; /* of the clock of events; TH_TIME_NONE: no event had a time so far */
    int64_t time;            /* the latest one of the events, by the recording host's clock */
    int64_t lead;            /* nanoseconds by which events seemed to come before they happened */
    th_env env;              /* of notes and messages */
    struct th_merge_message messages[TH_CLOCK_MESSAGES];
};

/* Corrects the clocks, after something new is known of them. */
static void correct(struct th_merge *merge)
{
    for (size_t i = 0; i < merge->count && merge->first; i++)
        merge->parts[i].correction =
            th_replay_clock_to_common(&merge->parts[i].clock, &merge->first->clock);
}

/* Returns the time of the next record by the recording host's clock; INT64_MIN: there is none yet. */
static int64_t time_of(const struct part *part)
{
    return part->latest == INT64_MIN ? INT64_MIN : part->latest + part->correction;
}

/* Takes what the part's note tells of clocks. Returns whether it is of no use for others. */
static bool take_note(struct th_merge *merge, struct part *part)
{
    struct th_note note;

    th_env_clear(&merge->env);
    if (!th_trace_note(&part->event, &merge->env, &note) ||
        !th_replay_clock_take(&part->clock, &note))
        return false;
    correct(merge);
    return part != merge->first || note.key != TH_AM(clock);
}

/* --- Parts ------------------------------------------------------------------------------------ */

static const char *name_of(const struct part *part)
{
    return part->reader->name;
}

/* Returns the host's name in the node's; "": none. */
static const char *host_of(const struct part *part)
{
    const struct th_etf_node *node = &part->reader->info.node;
    const char *at = node->node == TH_NONE ? NULL : strchr(th_atom_name(node->node)->text, '@');

    return at ? at + 1 : "";
}

/* Returns ID, a pid or port of this node, as one of NODE, a peer; other terms as they are. */
static th_term of_peer(th_term id, const struct th_etf_node *node)
{
    unsigned peer = th_peer_find(node->node, node->creation);

    if (th_peer_of(id))
        return id;
    return th_is_local_pid(id)    ? id | th_peer_pid_bits(peer)
           : th_is_local_port(id) ? id | th_peer_port_bits(peer)
                                  : id;
}

/* Makes the part's identifiers those of a peer, once its node is known. Errors: TH_USAGE. */
static enum th_status place(struct th_merge *merge, struct part *part)
{
    const struct th_etf_node *node = &part->reader->info.node, *here;

    if (part->placed || node->node == TH_NONE)
        return TH_OK;
    part->placed = true;
    if (!merge->first)
        merge->first = part;
    for (size_t i = 0; i < merge->count; i++) {
        struct part *one = &merge->parts[i];
        if (one->placed && *host_of(part) && strcmp(host_of(one), host_of(part)) == 0)
            part->clock.host = one->clock.host;
    }
    merge->dispersed |= part->clock.host != merge->first->clock.host;
    here = &merge->first->reader->info.node;
    if (node->node == here->node && node->creation == here->creation)
        return TH_OK;
    if (part->reader->format == &th_replay_jsonl_format)
        return th_error_raise(
            TH_USAGE,
            "JSON lines name processes without their node: only the first of several nodes may "
            "have them; `tracehost convert` makes a trace-port file of %s",
            name_of(part));
    if (!th_peer_add(node->node, node->creation))
        return th_error_raise(TH_USAGE,
                              "%s is one node too many: streams of at most %d nodes can be merged",
                              name_of(part), TH_PEERS_MAX + 1);
    th_replay_trace_port_set_here(part->reader, here);
    if (part->there && part->status == TH_OK) /* the record that told the node */
        part->event.tracee = of_peer(part->event.tracee, node);
    return TH_OK;
}

/* Sets the time of the next record. Errors: TH_USAGE if it cannot be compared. */
static enum th_status place_in_time(struct th_merge *merge, struct part *part)
{
    struct th_event *event = &part->event;
    const struct th_event_time *time = &event->time;
    int64_t system;

    if (event->kind > TH_EVENT_SEQ_TRACE)
        return TH_OK;
    if (th_trace_event_time(event) != TH_OK) { /* it is read, and reported, again */
        th_error_clear();
        return TH_OK;
    }
    if (time->kind == TH_TIME_NONE && event->kind == TH_EVENT_SEQ_TRACE)
        return TH_OK;
    if (time->kind == TH_TIME_NONE || time->kind == TH_TIME_CPU)
        return th_error_raise(
            TH_USAGE,
            "%s has %s, which do not put the events of several nodes in order: record with the "
            "flag timestamp",
            name_of(part), time->kind == TH_TIME_CPU ? "CPU times" : "events without a time");
    if (th_trace_time_clock(time->kind) == TH_CLOCK_MONOTONIC && part->clock.system.count == 0)
        return th_error_raise(
            TH_USAGE,
            "%s has monotonic times, and nothing tells the node's clock: record node:NAME@HOST, "
            "or with the flag timestamp",
            name_of(part));
    system = time->ns + th_replay_clock_to_system(&part->clock, time->kind);
    part->latest = system > part->latest ? system : part->latest;
    th_env_clear(&merge->env);
    if (merge->dispersed && th_replay_clock_meet(&part->clock, &merge->first->clock,
                                                 merge->messages, event, system, &merge->env))
        correct(merge);
    return TH_OK;
}

static int64_t system_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Reads the part's next record, which may be for the merge alone. */
static void fetch_record(struct th_merge *merge, struct part *part)
{
    int64_t lead;

    part->status = th_replay_reader_next(part->reader, &part->event);
    part->there = true;
    if (part->status == TH_OK &&
        (place(merge, part) != TH_OK || place_in_time(merge, part) != TH_OK))
        part->status = TH_USAGE;
    if (part->status == TH_OK) {
        part->there = part->event.kind != TH_EVENT_OTHER || !take_note(merge, part);
        if (part->reader->info.live && !__builtin_sub_overflow(time_of(part), system_now(), &lead))
            merge->lead = lead > merge->lead ? lead : merge->lead;
    } else {
        th_error_save(&part->causes);
        th_error_clear();
    }
}

/* Returns whether the next record of PART comes before that of OTHER. What cannot be played comes first; at
 * the same time, a message is sent before it is received. */
static bool is_earlier(const struct part *part, const struct part *other)
{
    int64_t time = time_of(part), other_time = time_of(other);

    if (part->status == TH_USAGE || other->status == TH_USAGE)
        return part->status == TH_USAGE;
    return time < other_time || (time == other_time && other->event.tag == TH_TAG_receive &&
                                 part->event.tag != TH_TAG_receive);
}

/* Returns the part with the earliest record; NULL: none has one. */
static struct part *earliest(const struct th_merge *merge)
{
    struct part *first = NULL;

    for (struct part *part = merge->parts; part < merge->parts + merge->count; part++)
        if (part->there && part->status != TH_END && (!first || is_earlier(part, first)))
            first = part;
    return first;
}

/* Returns how long a part without a record is waited for while FIRST waits; in milliseconds. An event
 * that seems to come from the future shows that its clock is not known well. */
static int patience_for(const struct th_merge *merge, const struct part *first)
{
    int64_t left;

    if (!first)
        return TURN_MS;
    if (__builtin_sub_overflow(time_of(first), system_now() + merge->lead, &left))
        return 0;
    left = left / 1000000 + PATIENCE_MS;
    return left < 0 ? 0 : left > PATIENCE_MS ? PATIENCE_MS : (int)left;
}

/* Reads ahead, and returns the part whose record comes next; NULL: all parts have ended. */
static struct part *choose_part(struct th_merge *merge)
{
    struct part *first;
    bool open;

    do { /* until all parts were waited for while FIRST waits */
        first = earliest(merge);
        open = false;
        for (struct part *part = merge->parts; part < merge->parts + merge->count; part++) {
            bool live = part->reader->info.live;
            while (!part->there && (!live || th_replay_input_await(&part->reader->input,
                                                                   patience_for(merge, first))))
                fetch_record(merge, part);
            open |= !part->there;
        }
    } while (first != earliest(merge) || (!first && open));
    return first;
}

/* --- Events: the part's, with another time ---------------------------------------------------- */

/* Lets EVENT be the part's, for an operation of its source; restore() ends this. */
static struct part *lend(struct th_event *event)
{
    struct part *part = event->reader;

    event->source = part->event.source;
    event->reader = part->event.reader;
    return part;
}

static const struct th_event_source merged_source;

static enum th_status restore(struct th_event *event, struct part *part, enum th_status status)
{
    event->source = &merged_source;
    event->reader = part;
    event->time = part->event.time;
    event->timed = part->event.timed;
    return status;
}

static enum th_status decode_merged(struct th_event *event, th_env *env)
{
    struct part *part = lend(event);

    return restore(event, part, event->source->decode(event, env));
}

static enum th_status brief_of_merged(struct th_event *event, th_env *env)
{
    struct part *part = lend(event);

    return restore(event, part, th_trace_event_brief(event, env));
}

static enum th_status time_of_merged(struct th_event *event)
{
    struct part *part = lend(event); /* it is damaged */

    return restore(event, part, event->source->time(event));
}

static enum th_status function_of_merged(struct th_event *event, struct th_mfa *function)
{
    struct part *part = lend(event);

    return restore(event, part, event->source->function(event, function));
}

static th_term actor_of_merged(struct th_event *event)
{
    struct part *part = lend(event);
    th_term actor = event->source->actor(event);

    restore(event, part, TH_OK);
    return actor;
}

static enum th_status whole_of_merged(struct th_event *event, th_env *env, th_term *tuple)
{
    struct part *part = lend(event);
    bool timed = event->kind <= TH_EVENT_SEQ_TRACE && event->time.kind != TH_TIME_NONE;
    enum th_status status = event->source->whole(event, env, tuple);

    restore(event, part, status);
    if (status == TH_OK && timed && event->decoded)
        *tuple = th_trace_event_to_tuple(event, env);
    return status;
}

static const struct th_event_source merged_source = {
    .decode = decode_merged,
    .brief = brief_of_merged,
    .time = time_of_merged,
    .function = function_of_merged,
    .actor = actor_of_merged,
    .whole = whole_of_merged,
};

/* Converts the time of the part's record to the clock of the events. */
static void convert_time(struct th_merge *merge, struct part *part)
{
    const struct th_merge_clock *first = &merge->first->clock;
    struct th_event_time *time = &part->event.time;
    bool same;

    if (!part->event.timed || time->kind == TH_TIME_NONE || !merge->first)
        return;
    if (merge->scale == TH_TIME_NONE)
        merge->scale = first->system.count ? time->kind : TH_TIME_TIMESTAMP;
    same = th_trace_time_clock(merge->scale) == th_trace_time_clock(time->kind);
    if (part == merge->first && same)
        return;
    time->ns += th_replay_clock_to_system(&part->clock, time->kind) + part->correction -
                th_replay_clock_to_system(first, merge->scale) - merge->first->correction;
    if (!same)
        *time = (struct th_event_time){.kind = merge->scale, .ns = time->ns};
}

/* --- The reader ------------------------------------------------------------------------------- */

static enum th_status next_of_merge(struct th_reader *reader, struct th_event *event)
{
    struct th_merge *merge = reader->merge;
    struct part *part;
    uint64_t number = event->number;

    if (merge->given)
        merge->given->there = false;
    merge->given = NULL;
    part = merge->refused ? NULL : choose_part(merge);
    reader->bytes_before = 0;
    for (size_t i = 0; i < merge->count; i++)
        reader->bytes_before += merge->parts[i].reader->info.bytes;
    if (!part)
        return TH_END;
    if (merge->first)
        reader->info.node = merge->first->reader->info.node;
    merge->refused = part->status == TH_USAGE;
    merge->given = part;
    reader->info.file = part->reader->info.file;
    if (part->status != TH_OK) {
        th_error_restore(&part->causes);
        return part->status;
    }
    reader->info.late += time_of(part) < merge->time;
    merge->time = time_of(part) > merge->time ? time_of(part) : merge->time;
    convert_time(merge, part);
    *event = part->event;
    event->number = number;
    restore(event, part, TH_OK);
    return TH_OK;
}

static const struct th_reader_format merge_format = {
    .name = "merged",
    .next = next_of_merge,
};

/* Returns the names as they stand in messages. Owner: the caller. */
static char *join_names(const char *const *names, size_t count)
{
    struct th_buffer text = {0};
    char *joined;

    for (size_t i = 0; i < count; i++)
        th_buffer_printf(&text, "%s%s",
                         i == 0          ? ""
                         : i + 1 < count ? ", "
                                         : " and ",
                         strcmp(names[i], "-") == 0 ? "stdin" : names[i]);
    joined = th_strdup(th_buffer_text(&text));
    th_buffer_free(&text);
    return joined;
}

static void close_parts(struct th_merge *merge)
{
    for (size_t i = 0; i < merge->count; i++)
        th_replay_reader_close(merge->parts[i].reader);
    merge->count = 0;
}

/* Opens the parts NAMES; what is known of their clocks stays. Errors: as th_replay_reader_merge(). */
static enum th_status open_parts(struct th_merge *merge, const char *const *names, size_t count,
                                 const struct th_reader_options *options)
{
    enum th_status status = TH_OK;

    merge->given = NULL;
    merge->scale = TH_TIME_NONE;
    merge->time = INT64_MIN;
    merge->refused = false;
    for (; merge->count < count && status == TH_OK; merge->count += status == TH_OK) {
        struct part *part = &merge->parts[merge->count];
        part->placed = part->there = false;
        part->latest = INT64_MIN;
        status = th_replay_reader_open(names[merge->count], options, &part->reader);
        if (status == TH_OK && (status = place(merge, part)) != TH_OK)
            th_replay_reader_close(part->reader);
    }
    return status;
}

/* Returns whether the difference of clocks is known for all hosts, or can be learnt as events come only. */
static bool are_clocks_known(const struct th_merge *merge)
{
    for (size_t i = 0; i < merge->count && merge->dispersed; i++) {
        const struct part *part = &merge->parts[i];
        if (part->reader->info.size == 0)
            return true;
        if (!part->clock.host->behind.count && part->clock.host->bounds < BOUNDS)
            return false;
    }
    return true;
}

/* Reads files of several hosts until messages tell the differences of their clocks, and then begins again.
 * A difference of seconds would let one of the files wait until the end of another. Errors: as open_parts(). */
static enum th_status learn_clocks(struct th_reader *reader, const char *const *names, size_t count,
                                   const struct th_reader_options *options)
{
    struct th_merge *merge = reader->merge;
    struct th_event event = {0};
    enum th_status status = are_clocks_known(merge) ? TH_END : TH_OK;

    if (status == TH_END)
        return TH_OK;
    while (status != TH_END && !are_clocks_known(merge)) {
        status = next_of_merge(reader, &event);
        if (status != TH_OK)
            th_error_clear(); /* it is met again */
    }
    memset(merge->messages, 0, sizeof merge->messages);
    close_parts(merge);
    return open_parts(merge, names, count, options);
}

enum th_status th_replay_reader_merge(const char *const *names, size_t count,
                                      const struct th_reader_options *options,
                                      struct th_reader **reader)
{
    struct th_reader *made = th_shared_alloc(sizeof *made);
    struct th_merge *merge = th_alloc_zero(sizeof *merge);
    struct th_reader_options own = *options;
    enum th_status status;

    made->options = *options;
    made->format = &merge_format;
    made->merge = merge;
    made->name = join_names(names, count);
    own.keep = NULL; /* the merge keeps */
    merge->parts = th_alloc_zero(count * sizeof *merge->parts);
    th_env_init(&merge->env, TH_ENV_PLAIN);
    for (size_t i = 0; i < count; i++)
        th_replay_clock_init(&merge->parts[i].clock);
    status = open_parts(merge, names, count, &own);
    if (status == TH_OK)
        status = learn_clocks(made, names, count, &own);
    made->info = (struct th_reader_info){.format = merge_format.name, .nodes = 1};
    made->info.name = made->info.file = made->name;
    for (size_t i = 0; i < merge->count; i++) {
        const struct th_reader_info *info = &merge->parts[i].reader->info;
        made->info.live |= info->live;
        made->info.size += info->size;
        made->info.utf8_atoms |= info->utf8_atoms;
    }
    if (merge->first)
        made->info.node = merge->first->reader->info.node;
    *reader = status == TH_OK ? made : NULL;
    if (status != TH_OK)
        th_replay_reader_close(made);
    return status;
}

bool th_replay_reader_clock(const struct th_reader *reader, size_t number,
                            struct th_part_clock *clock)
{
    const struct th_merge *merge = reader->merge;
    const struct part *part;

    if (!merge || number >= merge->count)
        return false;
    part = &merge->parts[number];
    *clock = (struct th_part_clock){.node = part->reader->info.node.node,
                                    .is_first = part == merge->first};
    if (!merge->first)
        return true;
    clock->shared = part->clock.host == merge->first->clock.host;
    clock->known =
        th_replay_clock_is_known(&part->clock, &merge->first->clock, &clock->behind, &clock->doubt);
    return true;
}

bool th_replay_merge_await(struct th_merge *merge, int milliseconds)
{
    int64_t end = th_clock_real_monotonic() + milliseconds * INT64_C(1000000);
    bool open;

    do {
        open = false;
        for (struct part *part = merge->parts; part < merge->parts + merge->count; part++) {
            bool read = part->there && part != merge->given;
            if (read && part->status == TH_END)
                continue;
            if (read || !part->reader->info.live ||
                th_replay_input_await(&part->reader->input, TURN_MS))
                return true;
            open = true;
        }
    } while (open && th_clock_real_monotonic() < end);
    return !open;
}

bool th_replay_merge_stops(struct th_merge *merge, const volatile int *stop)
{
    bool ends = false;

    for (size_t i = 0; i < merge->count; i++)
        ends |= th_replay_reader_stops(merge->parts[i].reader, stop);
    return ends;
}

void th_replay_merge_free(struct th_merge *merge)
{
    if (!merge)
        return;
    close_parts(merge);
    th_env_release(&merge->env);
    th_free(merge->parts);
    th_free(merge);
}

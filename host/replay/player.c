#include "player.h"

#include "past.h"
#include "reader.h"
#include "replay_internal.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/base/shared.h"
#include "host/process/process.h"
#include "host/self/self.h"
#include "host/trace/note.h"
#include "host/trace/recorded/recordings.h"
#include "host/trace/selection.h"
#include "host/trace/session.h"
#include "host/trace/share.h"

#include <stdint.h>

enum { PROGRESS_RECORDS = 16 };

struct th_player {
    struct th_tracing *tracing;
    struct th_reader *reader;
    const struct th_player_options *options;
    struct th_player_counts *counts;
    struct th_recording *recording; /* counts of this stream, for tracers */
    uint64_t read;                  /* records of this stream */
    uint32_t nodes;                 /* th_reader_info.nodes of the current world */
    bool placed;                    /* the node is known, and is that of the earlier streams */
    bool deserted;                  /* no session is left, or none may see the rest */
    bool bounded;  /* not all events are delivered: from, to, is_left_out or calls is set */
    bool staged;   /* something stands between the reader and the player: past or calls is set */
    bool left_out; /* `filter` leaves out the event */
    struct th_call_filter *filter; /* NULL: all calls are played */
    struct origin {
        bool known;
        int64_t ns;
    } origins[TH_CLOCKS]; /* zeros of relative bounds */
    uint64_t passed;      /* records before the share */
    struct th_past *past; /* for records before the share; NULL: none yet */
    th_env env;           /* terms of the current event that the player needs */
    struct th_event event;
};

/* Adds 1 to COUNT, a count of damaged records or places. */
static void count_damage(struct th_player *player, uint64_t *count)
{
    ++*count;
    th_recorded_streams_count(&player->recording->damaged, 1);
}

/* Counts the current event as damaged, and adds its number to the chain. */
static __attribute__((cold)) enum th_status malformed(struct th_player *player)
{
    count_damage(player, &player->counts->malformed);
    th_error_context("record %llu at byte %llu was skipped",
                     (unsigned long long)player->event.number,
                     (unsigned long long)player->event.position);
    return TH_MALFORMED;
}

/* Sets the clock's zero from its first record. */
static inline void note_time(struct th_player *player, const struct th_event *event)
{
    struct origin *origin;
    int64_t zero;

    if (!event->timed || event->time.kind == TH_TIME_NONE)
        return;
    origin = &player->origins[th_trace_time_clock(event->time.kind)];
    if (__builtin_expect(origin->known, 1))
        return;
    zero = th_recorded_streams_zero(&event->time);
    *origin = (struct origin){true, player->options->part ? zero : event->time.ns};
}

/* Notes that an event at NS is not played. */
static void extend_skipped(struct th_player *player, const struct origin *origin, int64_t ns)
{
    for (int relative = 0; relative < 2; relative++) {
        struct th_time_span *extent = &player->counts->skipped_times[relative];
        int64_t time =
            th_replay_on_scale(&(struct th_time_bound){.relative = relative}, origin->ns, ns);
        if (!extent->known || time < extent->first)
            extent->first = time;
        if (!extent->known || time > extent->last)
            extent->last = time;
        extent->known = true;
    }
}

/* Returns true if the event is between from and to, or has no time. *STATUS becomes TH_MALFORMED if
 * its time is damaged. Inline, as there are two callers. */
static inline __attribute__((always_inline)) bool
is_inside(struct th_player *player, struct th_event *event, enum th_status *status)
{
    const struct th_time_bound *from = &player->options->from;
    const struct th_time_bound *to = &player->options->to;
    const struct origin *origin;
    int64_t ns;

    if (!from->set && !to->set)
        return true;
    *status = th_trace_event_time(event);
    if (*status != TH_OK)
        return true;
    if (event->time.kind == TH_TIME_NONE) {
        player->counts->untimed++;
        return true;
    }
    ns = event->time.ns;
    note_time(player, event);
    origin = &player->origins[th_trace_time_clock(event->time.kind)];
    if (th_replay_is_between(from, to, origin->ns, ns, ns))
        return true;
    extend_skipped(player, origin, ns);
    return false;
}

/* Tags of events that change the world. */
enum {
    WORLD_TAGS = 1 << TH_TAG_register | 1 << TH_TAG_unregister | 1 << TH_TAG_exit |
                 1 << TH_TAG_closed | 1 << TH_TAG_spawn | 1 << TH_TAG_spawned
};

/* Registers and unregisters names, and notes first functions, before the event is delivered. Else a spawn
 * needs no action: an unseen process counts as alive. */
static inline __attribute__((always_inline)) enum th_status world_before(struct th_player *player,
                                                                         struct th_event *event)
{
    bool birth = event->tag == TH_TAG_spawn || event->tag == TH_TAG_spawned;
    enum th_status status;

    if (event->tag == TH_TAG_exit || event->tag == TH_TAG_closed ||
        (birth && !th_trace_note_is_played()))
        return TH_OK;
    status = th_trace_event_decode(event, &player->env);
    if (status != TH_OK)
        return status;
    if (event->tag == TH_TAG_register && th_is_atom(event->term))
        th_process_world_register(event->tracee, event->term);
    else if (event->tag == TH_TAG_unregister && th_is_atom(event->term))
        th_process_world_unregister(event->tracee, event->term);
    else if (birth)
        th_trace_note_birth(event);
    return TH_OK;
}

/* Ends a tracee after its last event was delivered. */
static inline __attribute__((always_inline)) void world_after(struct th_player *player,
                                                              const struct th_event *event)
{
    if (event->tag != TH_TAG_exit && event->tag != TH_TAG_closed)
        return;
    th_process_world_end(event->tracee);
    th_trace_note_death(event->tracee);
    th_trace_ended(player->tracing, event->tracee);
}

static void end_world(struct th_player *player)
{
    player->counts->tracees += th_process_world_counts().seen;
}

/* The node is known from the first record on. */
static void tell_node(struct th_player *player)
{
    player->nodes = th_replay_reader_info(player->reader)->nodes;
    th_process_world_set_node(th_replay_reader_info(player->reader)->node);
}

/* Handles a possible change of the node: the known processes and names may not be those that have
 * the identifiers now. Errors: TH_PARTIAL if the node is known to be another: tracers keep tables
 * by identifiers, so the stream ends here. */
static __attribute__((cold)) enum th_status change_node(struct th_player *player)
{
    const struct th_etf_node before = th_process_world_node();
    const struct th_etf_node *node = &th_replay_reader_info(player->reader)->node;

    if (th_recorded_streams_other_node(&before, node)) {
        player->deserted = true;
        count_damage(player, &player->counts->damages);
        return th_error_raise(TH_PARTIAL,
                              "the stream continues with another %s %s, whose identifiers name "
                              "other processes: the rest is not played",
                              node->node == before.node ? "start of the node" : "node,",
                              th_atom_name(node->node)->text);
    }
    end_world(player);
    th_trace_new_world(player->tracing);
    th_recorded_streams_forget_clocks();
    player->origins[TH_CLOCK_CPU].known = player->origins[TH_CLOCK_MONOTONIC].known = false;
    tell_node(player);
    return TH_OK;
}

static void play_note(struct th_player *player, const struct th_note *note)
{
    const struct th_reader_options *options = &player->reader->options;
    struct th_buffer text = {0};

    th_trace_note_play(player->tracing, note);
    if (th_trace_note_told(note, &text) && options->notice &&
        player->event.position >= player->options->begin_at)
        options->notice(options->context, th_buffer_text(&text));
    th_buffer_free(&text);
}

/* Handles records that are not delivered: drops, notes, and records that are no trace messages. */
static enum th_status play_other(struct th_player *player, struct th_event *event)
{
    struct th_note note;

    if (event->kind == TH_EVENT_OTHER) {
        bool noted = th_trace_note(event, &player->env, &note);
        if (noted)
            play_note(player, &note);
        th_env_clear(&player->env);
        if (noted)
            return TH_OK;
        th_error_raise(TH_MALFORMED, "the record is not a trace message");
        return malformed(player);
    }
    player->counts->drops++;
    player->counts->lost += event->dropped;
    player->counts->gaps += event->dropped == 0;
    th_recorded_streams_count(&player->recording->lost, event->dropped);
    th_recorded_streams_count(&player->recording->gaps, event->dropped == 0);
    th_trace_skip(player->tracing, event);
    if (th_replay_reader_info(player->reader)->nodes != player->nodes)
        return change_node(player);
    return TH_OK;
}

/* Delivers the event to the sessions. */
static inline enum th_status offer_event(struct th_player *player, struct th_event *event)
{
    enum th_status status = TH_OK;

    if (player->options->verify && (status = th_trace_event_decode(event, &player->env)) == TH_OK)
        status = th_trace_event_time(event);
    if (player->options->probes && status == TH_OK)
        status = th_replay_event_probe(event, &player->env);
    if (status == TH_OK)
        status = th_trace(player->tracing, event);
    if (status == TH_END && player->options->stays)
        th_trace_skip(player->tracing, event);
    player->counts->played += status == TH_OK;
    return status;
}

/*
 * Plays the event in the world. An event outside from and to is not delivered, but still changes
 * the world for later events. An event counts once as told, however many callbacks it causes.
 */
static enum th_status play_event(struct th_player *player, struct th_event *event)
{
    uint64_t before = th_self.reported;
    enum th_status status = TH_OK;
    bool inside = true, left_out = false, world;

    if (event->kind > TH_EVENT_SEQ_TRACE)
        return play_other(player, event);
    if (player->bounded) {
        inside = is_inside(player, event, &status);
        left_out = player->left_out ||
                   (player->options->is_left_out && player->options->is_left_out(event->number));
    }
    if (__builtin_expect(status != TH_OK, 0))
        return malformed(player);

    world = 1 << event->tag & WORLD_TAGS && th_is_immediate(event->tracee);
    if (__builtin_expect(world, 0))
        status = world_before(player, event);
    if (inside && !left_out && status == TH_OK) {
        status = offer_event(player, event);
    } else if (status == TH_OK) {
        th_trace_skip(player->tracing, event);
        player->counts->skipped += !inside;
    }
    if (__builtin_expect(world, 0))
        world_after(player, event);

    player->counts->told += th_self.reported != before;
    th_env_clear(&player->env);
    if (__builtin_expect(status == TH_OK, 1))
        return TH_OK;
    if (status != TH_END)
        return malformed(player);
    player->deserted = !player->options->stays;
    return TH_OK;
}

static bool is_reached(const struct th_limit *limit, uint64_t count)
{
    return limit->set && count >= limit->count;
}

/* Handles the first record with a node, mostly before any record is played. */
static __attribute__((cold)) enum th_status place_node(struct th_player *player)
{
    const struct th_etf_node *node = &th_replay_reader_info(player->reader)->node;
    enum th_status status = TH_OK;

    if (node->node == TH_NONE)
        return TH_OK;
    player->placed = true;
    if (player->options->part)
        status = th_recorded_streams_set_node(player->recording, node);
    player->deserted |= status != TH_OK;
    return status;
}

/* Plays known calls before the share. The world and clocks are known from a record before. */
static __attribute__((noinline)) void play_past(struct th_player *player)
{
    struct th_past_event events[TH_PAST_BATCH];
    size_t count;

    if (!player->past)
        player->past = th_replay_past_begin();
    count = player->read ? th_replay_past_read(player->past, player->reader, events) : 0;
    if (count)
        th_trace_share_past(player->tracing, events, count);
    player->read += count;
    player->counts->records += count;
    th_recorded_streams_count(&player->recording->records, count);
}

/* Reads the next record, through the stages that are set. */
static __attribute__((noinline)) enum th_status staged_next(struct th_player *player)
{
    if (player->options->past)
        play_past(player);
    if (!player->filter)
        return th_replay_reader_next(player->reader, &player->event);
    return th_replay_call_filter_next(player->filter, player->reader, &player->event,
                                      &player->left_out);
}

/* Notes a damaged place of the stream: records may be lost, and the calls that are open may have ended. */
static __attribute__((cold)) void pass_loss(struct th_player *player)
{
    struct th_event loss = {.kind = TH_EVENT_DROP};

    th_trace_skip(player->tracing, &loss);
}

static inline enum th_status play_next(struct th_player *player)
{
    enum th_status status;

    if (is_reached(&player->options->max_records, player->read) ||
        is_reached(&player->options->max_events, player->counts->told) || player->deserted)
        return TH_END;
    if (__builtin_expect(player->staged, 0))
        status = staged_next(player);
    else
        status = th_replay_reader_next(player->reader, &player->event);
    if (__builtin_expect(status == TH_OK, 1)) {
        if (__builtin_expect(!player->placed, 0) && place_node(player) != TH_OK)
            return TH_USAGE;
        if (player->read++ == 0)
            tell_node(player);
        player->counts->records++;
        th_recorded_streams_count(&player->recording->records, 1);
        note_time(player, &player->event);
        if (__builtin_expect(player->options->past, 0))
            th_replay_past_learn(player->past, player->reader, &player->event, &player->env);
        return play_event(player, &player->event);
    }
    if (status == TH_MALFORMED) {
        player->read++;
        player->counts->records++;
        th_recorded_streams_count(&player->recording->records, 1);
        count_damage(player, &player->counts->malformed);
    } else if (status != TH_END) {
        count_damage(player, &player->counts->damages);
        if (status == TH_PARTIAL)
            pass_loss(player);
    }
    return status;
}

/* Plays a note before the share, except counts, which the share before adds up. */
static void pass_note(struct th_player *player, struct th_event *event)
{
    struct th_note note;

    if (th_trace_note(event, &player->env, &note) && note.key != TH_AM(counts))
        th_trace_note_play(player->tracing, &note);
    th_env_clear(&player->env);
}

/* Applies the next record before options->begin_at to the world, and to the clocks' zeros. */
static __attribute__((cold)) enum th_status pass_next(struct th_player *player)
{
    struct th_event *event = &player->event;
    enum th_status status = th_replay_reader_pass(player->reader, player->options->begin_at, event);

    if (status != TH_OK)
        return status;
    if (!player->placed)
        status = place_node(player);
    if (player->read++ == 0)
        tell_node(player);
    note_time(player, event);
    if (status == TH_OK && event->kind == TH_EVENT_OTHER)
        pass_note(player, event);
    if (status != TH_OK || event->kind > TH_EVENT_SEQ_TRACE ||
        !(1 << event->tag & WORLD_TAGS && th_is_immediate(event->tracee)))
        return status;
    status = world_before(player, event);
    th_trace_skip(player->tracing, event);
    world_after(player, event);
    th_env_clear(&player->env);
    return status;
}

/* Passes over the records before the share. False: they are damaged. */
static bool pass_over_others(struct th_player *player)
{
    enum th_status status = player->options->begin_at ? TH_OK : TH_END;

    while (status == TH_OK)
        status = pass_next(player);
    if (player->options->begin_at) {
        uint64_t records = th_replay_reader_info(player->reader)->records;
        th_recorded_streams_count(&player->recording->records, records - player->passed);
        player->read = player->passed = records;
    }
    if (status == TH_END)
        return true;
    th_error_clear();
    count_damage(player, &player->counts->damages);
    return false;
}

/* Plays to the end of the reader, or until *STOP is set. Returns false if *STOP is set. */
static bool play_on(struct th_player *player, const volatile int *stop,
                    void (*complain)(void *context), void *context)
{
    const struct th_player_options *options = player->options;
    const struct th_player_counts *counts = player->counts;
    enum th_status status = TH_OK;

    while (!(stop && __atomic_load_n(stop, __ATOMIC_RELAXED) &&
             th_replay_reader_stops(player->reader, stop)) &&
           (status = play_next(player)) != TH_END) {
        if (__builtin_expect(status != TH_OK, 0)) {
            if (complain)
                complain(context);
            th_error_clear();
        }
        if (counts->records % PROGRESS_RECORDS == 0 && options->progress)
            options->progress(context);
    }
    return !(stop && __atomic_load_n(stop, __ATOMIC_RELAXED));
}

void th_replay_play(struct th_tracing *tracing, struct th_reader *reader,
                    const struct th_player_options *options, const volatile int *stop,
                    void (*complain)(void *context), void *context, struct th_player_counts *counts)
{
    struct th_player *player = th_replay_player_begin(tracing, reader, options, counts);
    bool passed = pass_over_others(player);

    while (passed && options->passes_on && options->passes_on(context))
        passed = pass_over_others(player);
    if (passed)
        while (play_on(player, stop, complain, context) && options->has_more &&
               options->has_more(context, player->recording))
            ;
    if (player->filter) { /* *stop ends no record that was read */
        th_replay_call_filter_stop(player->filter);
        play_on(player, NULL, complain, context);
    }
    if (stop && __atomic_load_n(stop, __ATOMIC_RELAXED)) { /* *stop also ends the reader */
        counts->interrupted++;
        th_recorded_streams_count(&player->recording->interrupted, 1);
    }
    th_replay_player_end(player);
}

/* --- One record at a time --------------------------------------------------------------------- */

/* Lets the reader of a packed recording pass over what no session can get. */
static void select_records(struct th_player *player)
{
    const struct th_player_options *options = player->options;
    struct th_reader_selection selection = {.from = options->from, .to = options->to};
    struct th_reader_passed passed;
    struct th_trace_selection wanted;
    bool first = player->counts->records == 0;

    if (!th_replay_reader_info(player->reader)->frames || th_trace_is_shared(player->tracing) ||
        options->stays || options->verify || options->probes || options->max_records.set ||
        options->begin_at || options->is_left_out || player->filter ||
        (!first && options->part && (options->from.relative || options->to.relative)))
        return;
    th_trace_select(player->tracing, &wanted);
    selection.stacks = wanted.stacks;
    selection.tracees = wanted.tracees;
    selection.tracee_count = wanted.tracee_count;
    selection.met = wanted.met;
    selection.is_wanted = wanted.functions ? th_trace_selects_function : NULL;
    selection.others = wanted.others;
    selection.context = &wanted;
    th_replay_reader_select(player->reader, &selection, &passed);
    player->counts->passed_inside += passed.inside;
    th_trace_selection_saw(&wanted, passed.tags, passed.all_tags);
    for (int clock = 0; clock < TH_CLOCKS && (options->from.set || options->to.set); clock++) {
        const struct origin zero = {true, passed.clocks[clock].zero};
        if (!passed.clocks[clock].known)
            continue;
        extend_skipped(player, &zero, passed.clocks[clock].least);
        extend_skipped(player, &zero, passed.clocks[clock].greatest);
    }
    th_trace_selection_free(&wanted);
}

struct th_player *th_replay_player_begin(struct th_tracing *tracing, struct th_reader *reader,
                                         const struct th_player_options *options,
                                         struct th_player_counts *counts)
{
    struct th_player *player = th_shared_alloc(sizeof *player);
    bool filtered = options->calls.least_ns || options->calls.most_deep;

    *player = (struct th_player){
        .tracing = tracing,
        .reader = reader,
        .options = options,
        .counts = counts,
        .bounded = options->from.set || options->to.set || options->is_left_out || filtered,
        .staged = options->past || filtered,
    };
    if (filtered)
        player->filter =
            th_replay_call_filter_begin(&options->calls, &options->max_records, &counts->calls);
    th_trace_new_world(tracing);
    select_records(player);
    player->recording = th_recorded_streams_begin(th_replay_reader_info(reader)->name);
    th_env_init(&player->env, TH_ENV_PLAIN);
    th_self.played = &player->event;
    return player;
}

enum th_status th_replay_player_step(struct th_player *player, struct th_event **event)
{
    if (event)
        *event = &player->event;
    return play_next(player);
}

enum th_status th_replay_player_skim(struct th_player *player, struct th_event **event,
                                     bool *inside)
{
    enum th_status status = th_replay_reader_next(player->reader, &player->event), met;

    *event = &player->event;
    *inside = false;
    if (status != TH_OK)
        return status;
    note_time(player, &player->event);
    *inside = player->event.kind > TH_EVENT_SEQ_TRACE || is_inside(player, &player->event, &met);
    return TH_OK;
}

/* Counts the frames of a packed recording, and the records that were not read. */
static void count_frames(struct th_player *player)
{
    const struct th_reader_info *info = th_replay_reader_info(player->reader);

    player->counts->frames += info->frames;
    player->counts->frames_read += info->frames_read;
    if (info->frames && !player->options->begin_at)
        player->counts->passed += info->records - player->read - info->frame_losses;
}

void th_replay_player_end(struct th_player *player)
{
    if (!player)
        return;
    end_world(player);
    count_frames(player);
    th_replay_past_end(player->past);
    th_replay_call_filter_end(player->filter);
    th_env_release(&player->env);
    th_self.played = NULL;
    th_shared_free(player);
}

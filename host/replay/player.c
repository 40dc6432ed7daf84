#include "player.h"

#include "host/process/process.h"

enum { PROGRESS_RECORDS = 16 };

/* Times of different clocks cannot be compared. */
enum clock { SYSTEM, CPU, MONOTONIC, CLOCKS };

static enum clock clock_of(enum th_time_kind kind)
{
    return kind == TH_TIME_TIMESTAMP ? SYSTEM : kind == TH_TIME_CPU ? CPU : MONOTONIC;
}

struct player {
    struct th_tracing *tracing;
    const struct th_player_options *options;
    struct th_player_counts *counts;
    void (*complain)(void *context);
    void *context;
    bool deserted; /* no session is left */
    struct origin {
        bool known;
        int64_t ns;
    } origins[CLOCKS]; /* the stream's first times */
    th_env env;        /* terms of the event at hand that the player itself wants */
};

static void complain(struct player *player)
{
    if (player->complain)
        player->complain(player->context);
    th_error_clear();
}

/* The content of EVENT is no good: tell which one, and count it. */
static void malformed(struct player *player, const struct th_event *event)
{
    player->counts->malformed++;
    th_error_context("record %llu at byte %llu was skipped", (unsigned long long)event->number,
                     (unsigned long long)event->position);
    complain(player);
}

/* NS as BOUND counts, or as near to it as can be told. */
static int64_t on_scale(const struct th_time_bound *bound, const struct origin *origin, int64_t ns)
{
    int64_t since;

    if (!bound->relative)
        return ns;
    if (!__builtin_sub_overflow(ns, origin->ns, &since))
        return since;
    return ns < 0 ? INT64_MIN : INT64_MAX;
}

/* True if the event lies between from and to. *STATUS is TH_MALFORMED if its time is damaged. */
static bool in_time(struct player *player, struct th_event *event, enum th_status *status)
{
    const struct th_time_bound *from = &player->options->from;
    const struct th_time_bound *to = &player->options->to;
    struct origin *origin;
    int64_t ns;

    if (!from->set && !to->set)
        return true;
    *status = th_event_time(event);
    if (*status != TH_OK || event->time.kind == TH_TIME_NONE)
        return true;
    ns = event->time.ns;
    origin = &player->origins[clock_of(event->time.kind)];
    if (!origin->known)
        *origin = (struct origin){true, ns};
    return (!from->set || on_scale(from, origin, ns) >= from->ns) &&
           (!to->set || on_scale(to, origin, ns) <= to->ns);
}

/* The tags of which the player itself must know more. */
enum {
    WORLD_TAGS =
        1 << TH_TAG_register | 1 << TH_TAG_unregister | 1 << TH_TAG_exit | 1 << TH_TAG_closed
};

/* Who gets a name, or loses it, is known before the event is offered. Who is spawned need not be
 * told: what was never seen is alive. */
static enum th_status world_before(struct player *player, struct th_event *event)
{
    enum th_status status;

    if (event->tag == TH_TAG_exit || event->tag == TH_TAG_closed)
        return TH_OK;
    status = th_event_decode(event, &player->env);
    if (status != TH_OK)
        return status;
    if (event->tag == TH_TAG_register && th_is_atom(event->term))
        th_world_register(event->tracee, event->term);
    else if (event->tag == TH_TAG_unregister && th_is_atom(event->term))
        th_world_unregister(event->term);
    return TH_OK;
}

/* Who ends is still there while its last event is offered. */
static void world_after(struct player *player, const struct th_event *event)
{
    if (event->tag != TH_TAG_exit && event->tag != TH_TAG_closed)
        return;
    th_world_end(event->tracee);
    th_trace_ended(player->tracing, event->tracee);
}

static enum th_status verify(struct player *player, struct th_event *event)
{
    enum th_status status = th_event_decode(event, &player->env);

    return status == TH_OK ? th_event_time(event) : status;
}

static bool changes_world(const struct th_event *event)
{
    return 1 << event->tag & WORLD_TAGS && th_is_immediate(event->tracee);
}

static enum th_status offer(struct player *player, struct th_event *event)
{
    bool world = changes_world(event);
    enum th_status status = TH_OK;

    if (__builtin_expect(world, 0))
        status = world_before(player, event);
    if (player->options->verify && status == TH_OK)
        status = verify(player, event);
    if (status == TH_OK)
        status = th_trace(player->tracing, event);
    if (__builtin_expect(world, 0))
        world_after(player, event);
    return status;
}

/* No session sees the event, but it has happened: who was born, named or has died in it is so for
 * those that follow. */
static enum th_status skip(struct player *player, struct th_event *event)
{
    bool world = changes_world(event);
    enum th_status status = TH_OK;

    if (world)
        status = world_before(player, event);
    if (status == TH_OK)
        th_trace_aside(player->tracing, event);
    if (world)
        world_after(player, event);
    player->counts->skipped += status == TH_OK;
    return status;
}

/* What is no event for the sessions. */
static void play_other(struct player *player, struct th_event *event)
{
    if (event->kind == TH_EVENT_DROP) {
        player->counts->drops++;
        player->counts->lost += event->dropped;
        th_trace_aside(player->tracing, event);
    } else {
        th_error_raise(TH_MALFORMED, "it is no trace message");
        malformed(player, event);
    }
}

static enum th_status play(struct player *player, struct th_event *event)
{
    enum th_status status = TH_OK;

    if (!in_time(player, event, &status))
        return skip(player, event);
    if (status == TH_OK)
        status = offer(player, event);
    if (status == TH_OK)
        player->counts->played++;
    return status;
}

static void play_event(struct player *player, struct th_event *event)
{
    enum th_status status;

    if (event->kind > TH_EVENT_SEQ_TRACE) {
        play_other(player, event);
        return;
    }
    status = play(player, event);
    if (status == TH_END)
        player->deserted = true;
    else if (status != TH_OK)
        malformed(player, event);
    th_env_clear(&player->env);
}

static bool goes_on(const struct player *player, const volatile int *stop, uint64_t read)
{
    uint64_t limit = player->options->max_events;

    return !(stop && *stop) && !(limit && read >= limit) && !player->deserted;
}

static void play_all(struct player *player, struct th_reader *reader, const volatile int *stop)
{
    struct th_player_counts *counts = player->counts;
    struct th_event event = {0};
    uint64_t read = 0;

    while (goes_on(player, stop, read)) {
        switch (th_reader_next(reader, &event)) {
        case TH_OK:
            if (read++ == 0) /* the first record tells it */
                th_world_set_node(th_reader_info(reader)->node);
            counts->records++;
            if (counts->records % PROGRESS_RECORDS == 0 && player->options->progress)
                player->options->progress(player->context);
            play_event(player, &event);
            break;
        case TH_END:
            return;
        case TH_MALFORMED:
            read++;
            counts->records++;
            counts->malformed++;
            complain(player);
            break;
        default:
            counts->damages++;
            complain(player);
        }
    }
}

void th_play(struct th_tracing *tracing, struct th_reader *reader,
             const struct th_player_options *options, const volatile int *stop,
             void (*complain)(void *context), void *context, struct th_player_counts *counts)
{
    struct player player = {
        .tracing = tracing,
        .options = options,
        .counts = counts,
        .complain = complain,
        .context = context,
    };

    th_tracing_new_world(tracing);
    th_env_init(&player.env, TH_ENV_PLAIN);
    play_all(&player, reader, stop);
    th_env_release(&player.env);
}

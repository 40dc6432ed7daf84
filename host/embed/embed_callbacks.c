/* Tracers that are functions of the program: their callbacks get each event as a structure. */
#include "embed_host.h"

#include "host/base/shared.h"
#include "host/library/entry.h"
#include "host/term/clock.h"
#include "host/term/map.h"
#include "host/trace/callback.h"
#include "host/trace/session.h"

struct program_tracer {
    struct th_own_tracer own; /* first member */
    struct th_slots slots;
    struct tracehost_callbacks callbacks;
};

/* Returns the functions whose callback the thread runs. */
static const struct tracehost_callbacks *callbacks_at_hand(void)
{
    return &((const struct program_tracer *)th_trace_callback_own_tracer())->callbacks;
}

/* RECORDED is th_trace_callback_recorded(). */
static struct tracehost_event event_of(ErlNifEnv *env, const ERL_NIF_TERM argv[],
                                       const struct th_event *recorded)
{
    return (struct tracehost_event){
        .size = sizeof(struct tracehost_event),
        .session = th_trace_callback_session_id(),
        .tag = th_atom_name(argv[0])->text,
        .tag_term = argv[0],
        .state = argv[1],
        .tracee = argv[2],
        .env = env,
        .number = recorded ? recorded->number : 0,
    };
}

static ERL_NIF_TERM program_enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const struct tracehost_callbacks *callbacks = callbacks_at_hand();
    struct tracehost_event event;

    (void)argc;
    if (!callbacks->enabled || argv[0] == TH_AM(trace_status))
        return TH_AM(trace);
    event = event_of(env, argv, th_trace_callback_recorded());
    switch (callbacks->enabled(callbacks->context, &event)) {
    case TRACEHOST_ANSWER_TRACE:
        return TH_AM(trace);
    case TRACEHOST_ANSWER_DISCARD:
        return TH_AM(discard);
    default:
        return TH_AM(remove);
    }
}

/* --- trace ------------------------------------------------------------------------------------ */

/* Returns the value of KEY in OPTS, 0 without one. */
static ERL_NIF_TERM option(ERL_NIF_TERM opts, ERL_NIF_TERM key)
{
    const th_term *value = th_map_find(opts, key);

    return value ? *value : TH_NONE;
}

/* Fills in the present time, by the clock that the event's flags request. */
static void stamp(struct tracehost_event *event, ERL_NIF_TERM kind)
{
    if (kind == TH_NONE)
        return;
    if (kind == TH_AM(cpu_timestamp)) {
        event->time_kind = TRACEHOST_TIME_CPU;
        event->time = th_clock_cpu();
        return;
    }
    event->time_kind = kind == TH_AM(timestamp)   ? TRACEHOST_TIME_TIMESTAMP
                       : kind == TH_AM(monotonic) ? TRACEHOST_TIME_MONOTONIC
                                                  : TRACEHOST_TIME_STRICT_MONOTONIC;
    event->time = th_clock_monotonic() + (kind == TH_AM(timestamp) ? th_clock_offset() : 0);
}

static ERL_NIF_TERM program_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const struct tracehost_callbacks *callbacks = callbacks_at_hand();
    struct th_event *recorded = th_trace_callback_recorded();
    struct tracehost_event event = event_of(env, argv, recorded);
    ERL_NIF_TERM opts = argv[4];

    (void)argc;
    event.term = argv[3];
    if (th_map_size(opts) > 0) {
        event.extra = option(opts, TH_AM(extra));
        event.match_spec_result = option(opts, TH_AM(match_spec_result));
        event.scheduler_id = option(opts, TH_AM(scheduler_id));
        if (!recorded)
            stamp(&event, option(opts, TH_AM(timestamp)));
    }
    if (recorded && th_trace_event_time(recorded) == TH_OK) {
        event.time_kind = (enum tracehost_time_kind)recorded->time.kind;
        event.time = recorded->time.ns;
    }
    callbacks->trace(callbacks->context, &event);
    return TH_AM(ok);
}

/* --- Beginning and end ------------------------------------------------------------------------ */

static void release(struct th_own_tracer *own, bool created)
{
    struct program_tracer *tracer = (struct program_tracer *)own;

    if (created && tracer->callbacks.end)
        tracer->callbacks.end(tracer->callbacks.context);
    th_shared_free(tracer);
}

enum th_status th_embed_callbacks_take(const struct tracehost_callbacks *given,
                                       struct th_own_tracer **own)
{
    struct tracehost_callbacks callbacks;
    enum th_status status =
        th_embed_sized_take(&callbacks, sizeof callbacks, given, "tracehost_callbacks")
            ?: th_embed_need(callbacks.trace, "callback `trace`");
    struct program_tracer *tracer;

    if (status != TH_OK)
        return status;
    tracer = th_shared_alloc(sizeof *tracer); /* the supervisor reads the names of slots */
    tracer->callbacks = callbacks;
    tracer->slots.functions_only = callbacks.functions_only;
    for (int slot = 0; slot < TH_SLOTS; slot++) {
        bool traces = th_library_slot_arity(slot) == 5;
        tracer->slots.functions[slot] = traces ? program_trace : program_enabled;
        tracer->slots.filled_by[slot] = traces ? "trace" : "enabled";
    }
    tracer->own = (struct th_own_tracer){.slots = &tracer->slots, .release = release};
    *own = &tracer->own;
    return TH_OK;
}

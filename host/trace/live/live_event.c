/* Events of this host that are no calls, and what all sources of live events have. */
#include "live_hit.h"
#include "host/trace/tracing.h"

struct th_live_tracee *th_live_process_of(const struct th_event *event)
{
    return (struct th_live_tracee *)((char *)event->live - offsetof(struct th_live_tracee, traced));
}

enum th_status th_live_time(struct th_event *event)
{
    event->timed = true; /* there is none: the tracer takes it */
    return TH_OK;
}

th_term th_live_scheduler(const struct th_event *event)
{
    unsigned scheduler = th_live_process_of(event)->scheduler;

    return scheduler ? th_small(scheduler) : TH_NONE;
}

enum th_status th_live_whole(struct th_event *event, th_env *env, th_term *tuple)
{
    enum th_status status = th_trace_event_decode(event, env);

    event->scheduler_id = TH_NONE;
    if (status == TH_OK)
        *tuple = th_trace_event_to_tuple(event, env);
    return status;
}

th_term th_live_actor(struct th_event *event)
{
    return event->live->id;
}

void th_live_event_of(struct th_event *event, enum th_tracer_tag tag,
                      struct th_live_tracee *process, const struct th_event_source *source,
                      const void *reader)
{
    th_trace_event_begin(event, TH_EVENT_TRACE);
    event->tag = tag;
    event->tracee = process->id;
    event->number = event->position = 0;
    event->source = source;
    event->reader = (void *)reader;
    event->live = &process->traced;
}

static enum th_status decode(struct th_event *event, th_env *env)
{
    struct th_live_event *self = (struct th_live_event *)event;

    if (self->build)
        self->build(self, env);
    if (event->kind != TH_EVENT_SEQ_TRACE)
        event->scheduler_id = th_live_scheduler(event);
    event->decoded = true;
    return TH_OK;
}

static enum th_status function(struct th_event *event, struct th_mfa *found)
{
    (void)found;
    return th_error_raise(TH_MALFORMED, "a %s has no function",
                          th_atom_name(th_trace_tag_atom(event->tag))->text);
}

static const struct th_event_source source = {decode, th_live_time, function, th_live_actor,
                                              th_live_whole};

static void init(struct th_live_event *self, struct th_live_tracee *process,
                 enum th_event_kind kind)
{
    th_trace_event_begin(&self->event, kind);
    self->event.number = self->event.position = 0;
    self->event.source = &source;
    self->event.reader = NULL;
    self->event.live = &process->traced;
    self->sender = TH_NONE;
    self->build = NULL;
    self->context = NULL;
}

void th_live_event_init(struct th_live_event *event, struct th_live_tracee *process,
                        enum th_tracer_tag tag)
{
    if (tag >= TH_TAG_call && tag <= TH_TAG_exception_from)
        th_bug("a live %s is told by th_live_call() and its kin",
               th_atom_name(th_trace_tag_atom(tag))->text);
    init(event, process, TH_EVENT_TRACE);
    event->event.tag = tag;
    event->event.tracee = process->id;
}

void th_live_event_init_seq(struct th_live_event *event, struct th_live_tracee *process)
{
    init(event, process, TH_EVENT_SEQ_TRACE);
    event->event.tag = TH_TAG_seq_trace;
}

/* Who is scheduled in is asked for by all who trace it, with whatever flag. */
bool th_live_is_wanted(const struct th_live_tracee *process, enum th_tracer_tag tag)
{
    const struct th_tracing *tracing = process->traced.tracing;
    uint32_t flag;

    if (atomic_load_explicit(&tracing->attached, memory_order_relaxed) == 0)
        return false;
    flag = th_trace_tag_flag(tag, th_trace_tag_group(tag, process->id));
    return (tag == TH_TAG_in && !th_is_port(process->id)) ||
           flag & atomic_load_explicit(&tracing->wanted, memory_order_relaxed);
}

enum th_status th_live_trace(struct th_live_event *event)
{
    return th_trace(event->event.live->tracing, &event->event);
}

/* Open spans: a stack for each process, like the calls that they represent. */
#include "otlp.h"

/* A bijection that changes every bit between neighbours: splitmix64's. */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

/* Returns an id that is unique in this output and most likely unique elsewhere. Ids depend only on
 * the time of the first call: so a recording that is replayed again gets the same ids. */
static uint64_t new_id(struct otlp *otlp)
{
    uint64_t id = 0;

    if (!otlp->seeded)
        otlp->seed = mixed((uint64_t)enif_monotonic_time(ERL_NIF_NSEC) +
                           (uint64_t)enif_time_offset(ERL_NIF_NSEC));
    otlp->seeded = true;
    while (!id)
        id = mixed(otlp->seed + ++otlp->ids);
    return id;
}

/* --- Lists of objects --- */

/* Adds the LINE's object, and discards the line. Drops the object beyond MOST, and if there is no
 * memory. */
static void items_add(struct items *items, struct line *line, unsigned most)
{
    size_t size = items->used + line->used + 1;
    char *text = items->text;

    if (items->count < most && size > items->size) {
        size = 2 * size;
        text = realloc(items->text, size);
        if (text) {
            items->text = text;
            items->size = size;
        }
    }
    if (items->count >= most || !text || line->short_of_memory) {
        items->dropped++;
    } else {
        if (items->count++)
            items->text[items->used++] = ',';
        memcpy(items->text + items->used, line->text, line->used);
        items->used += line->used;
    }
    line_drop(line);
}

void items_free(struct items *items)
{
    free(items->text);
}

/* --- Beginnings of spans --- */

static void add_arguments(struct process *process, struct span *span)
{
    struct otlp *otlp = process->otlp;
    struct event *event = &otlp->event;
    const ERL_NIF_TERM *elements;
    struct line line;
    int size;

    if (otlp->options.args == ARGS_NONE ||
        !enif_get_tuple(event->env, event->term, &size, &elements) || size != 3 ||
        !enif_is_list(event->env, elements[2]))
        return;
    line_start(&line);
    add_data(&line, otlp, "erlang.arguments", elements[2]);
    items_add(&span->attributes, &line, UINT32_MAX);
}

static void add_scheduler(struct process *process, struct span *span)
{
    struct event *event = &process->otlp->event;
    ErlNifSInt64 number;
    ERL_NIF_TERM value;
    struct line line;

    if (!enif_get_map_value(event->env, event->opts, TH_TRACER_ATOM(event->env, scheduler_id),
                            &value) ||
        !enif_get_int64(event->env, value, &number))
        return;
    line_start(&line);
    add_integer(&line, "erlang.scheduler_id", number);
    items_add(&span->attributes, &line, UINT32_MAX);
}

/* A call without an enclosing call begins a trace, or continues the trace of its cause. */
static void begin_trace(struct process *process, struct span *span)
{
    struct otlp *otlp = process->otlp;

    if (otlp->options.follow && process->cause.span) {
        span->context.trace[0] = process->cause.trace[0];
        span->context.trace[1] = process->cause.trace[1];
        span->parent = process->cause.span;
        span->consumer = process->messaged;
        return;
    }
    span->context.trace[0] = mixed(~otlp->seed + span->context.span);
    span->context.trace[1] = mixed(span->context.span);
}

void span_begin(void *of, struct frame *frame)
{
    struct process *process = of;
    struct span *span = calloc(1, sizeof *span);

    if (!span) {
        process->otlp->lost++;
        return;
    }
    frame->mark = 1;
    span->context.span = new_id(process->otlp);
    span->began = process->last;
    span->below = process->span;
    if (span->below) {
        memcpy(span->context.trace, span->below->context.trace, sizeof span->context.trace);
        span->parent = span->below->context.span;
    } else {
        begin_trace(process, span);
    }
    span->links = process->links;
    process->links = (struct items){0};
    process->cause.span = 0;
    process->span = span;
    add_arguments(process, span);
    add_scheduler(process, span);
}

/* --- Links and events --- */

void span_link(struct process *process, const struct context *sender, const char *cause)
{
    struct items *links = process->span ? &process->span->links : &process->links;
    struct line line;

    if (!sender->span)
        return;
    if (!process->span && !process->cause.span) {
        process->cause = *sender;
        process->messaged = strcmp(cause, "message") == 0;
    }
    line_start(&line);
    line_add(&line, "{\"traceId\":\"%016llx%016llx\",\"spanId\":\"%016llx\",\"attributes\":[",
             (unsigned long long)sender->trace[0], (unsigned long long)sender->trace[1],
             (unsigned long long)sender->span);
    add_text(&line, "erlang.cause", cause, strlen(cause));
    line_add(&line, "]}");
    items_add(links, &line, LINKS_MOST);
}

static void begin_event(struct line *line, const struct process *process, const char *name)
{
    line_start(line);
    line_add(line, "{\"timeUnixNano\":\"%lld\",\"name\":\"%s\",\"attributes\":[",
             (long long)process->last, name);
}

void span_message(struct process *process, ERL_NIF_TERM peer)
{
    struct otlp *otlp = process->otlp;
    struct line line;

    if (!process->span)
        return;
    begin_event(&line, process, peer ? "erlang.send" : "erlang.receive");
    if (peer)
        add_term(&line, "erlang.receiver", peer);
    add_data(&line, otlp, "erlang.message", otlp->event.term);
    line_add(&line, "]}");
    items_add(&process->span->events, &line, EVENTS_MOST);
}

/* --- Ends of spans --- */

static void add_exception(struct process *process)
{
    struct otlp *otlp = process->otlp;
    struct line line;

    begin_event(&line, process, "exception");
    add_type(&line, &otlp->event, "exception.type");
    add_data(&line, otlp, "exception.message", otlp->event.reason);
    line_add(&line, "]}");
    items_add(&process->span->events, &line, UINT32_MAX);
}

void span_drop(struct process *process)
{
    struct span *span = process->span;

    process->span = span->below;
    items_free(&span->attributes);
    items_free(&span->events);
    items_free(&span->links);
    free(span);
}

/* Without records of ends, nothing shows that a call is inside of another one, either. */
void span_end(void *of, struct frame *frame)
{
    struct process *process = of;
    struct otlp *otlp = process->otlp;
    struct event *event = &otlp->event;

    if (!frame->mark)
        return;
    event->own = event->ending == END_RETURN && mfa_same(&frame->mfa, &event->returning);
    event->failed = event->class && (event->own || event->ending == END_EXIT);
    otlp->open += event->ending == END_OPEN || !otlp->told;
    if ((event->ending == END_OPEN && !otlp->options.open) || !otlp->told) {
        otlp->links_unused += process->span->links.count + process->span->links.dropped;
    } else {
        if (event->failed)
            add_exception(process);
        otlp->links_dropped += process->span->links.dropped;
        otlp->events_dropped += process->span->events.dropped;
        write_span(process, frame);
    }
    span_drop(process);
}

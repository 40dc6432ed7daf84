/* Writes spans as OTLP/JSON: one TracesData in each line. */
#include "otlp.h"

#include <tracehost.h>

#define TEXT_OF(NUMBER) #NUMBER
#define VERSION_OF(MAJOR, MINOR, PATCH) TEXT_OF(MAJOR) "." TEXT_OF(MINOR) "." TEXT_OF(PATCH)
#define VERSION \
    VERSION_OF(TRACEHOST_VERSION_MAJOR, TRACEHOST_VERSION_MINOR, TRACEHOST_VERSION_PATCH)

/* Version of the semantic conventions that define the attributes' names. */
#define SCHEMA "https://opentelemetry.io/schemas/1.33.0"

enum { INTERNAL = 1, CONSUMER = 5 }; /* SpanKind */
enum { ERROR = 2 };                  /* StatusCode */

/* A collector's file receiver cuts lines at 1 MiB. The end of the line is shorter than the
 * difference. */
enum { LINE_MOST = (1 << 20) - 1000 };

/* --- Attributes --- */

static void add(struct line *line, const char *text)
{
    line_add_bytes(line, text, strlen(text));
}

void add_comma(struct line *line)
{
    if (line->used && line->text[line->used - 1] != '[')
        add(line, ",");
}

void add_text(struct line *line, const char *key, const char *text, size_t size)
{
    add_comma(line);
    add(line, "{\"key\":\"");
    add(line, key);
    add(line, "\",\"value\":{\"stringValue\":\"");
    line_add_json(line, text, size, SIZE_MAX);
    add(line, "\"}}");
}

void add_integer(struct line *line, const char *key, int64_t number)
{
    add_comma(line);
    line_add(line, "{\"key\":\"%s\",\"value\":{\"intValue\":\"%lld\"}}", key, (long long)number);
}

/* Adds TEXT, which was printed for the attribute KEY. */
static void add_printed(struct line *line, const char *key, struct line *text)
{
    add_text(line, key, text->text, text->used);
    line->short_of_memory |= text->short_of_memory;
    line_drop(text);
}

void add_term(struct line *line, const char *key, ERL_NIF_TERM term)
{
    struct line text;

    line_start(&text);
    line_add(&text, "%#T", term);
    add_printed(line, key, &text);
}

void add_data(struct line *line, const struct otlp *otlp, const char *key, ERL_NIF_TERM term)
{
    struct line text;

    if (otlp->options.args == ARGS_NONE)
        return;
    line_start(&text);
    term_print(&text, otlp->event.env, term, otlp->options.args);
    add_printed(line, key, &text);
}

void add_type(struct line *line, const struct event *event, const char *key)
{
    struct line text;

    line_start(&text);
    term_print_type(&text, event->env, event->class, event->reason);
    add_printed(line, key, &text);
}

/* --- Lines --- */

static void begin_line(struct otlp *otlp)
{
    struct line *line = &otlp->batch;

    line->used = 0;
    add(line, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    add_text(line, "service.name", otlp->options.service, strlen(otlp->options.service));
    add_text(line, "telemetry.sdk.language", "erlang", strlen("erlang"));
    add_text(line, "telemetry.sdk.name", "tracehost", strlen("tracehost"));
    add_text(line, "telemetry.sdk.version", VERSION, strlen(VERSION));
    add(line, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"tracehost\",\"version\":\"" VERSION "\"");
}

static void end_line(struct otlp *otlp)
{
    add(&otlp->batch, "],\"schemaUrl\":\"" SCHEMA "\"}],\"schemaUrl\":\"" SCHEMA "\"}]}\n");
    if (otlp->batch.short_of_memory)
        otlp->lost += otlp->batched;
    else
        line_write(otlp->batch.text, otlp->batch.used, otlp->file);
    otlp->spans += otlp->batch.short_of_memory ? 0 : otlp->batched;
    fflush(otlp->file);
    otlp->batch.short_of_memory = 0;
    otlp->batched = 0;
}

void write_taken(struct otlp *otlp, const char *text, size_t size)
{
    if (otlp->batched && otlp->batch.used + size > LINE_MOST)
        end_line(otlp);
    if (!otlp->batched++) {
        begin_line(otlp);
        add(&otlp->batch, "},\"spans\":[");
    }
    add_comma(&otlp->batch);
    line_add_bytes(&otlp->batch, text, size);
    if (otlp->batched >= otlp->options.batch)
        end_line(otlp);
}

static void add_to_batch(struct otlp *otlp, struct line *line)
{
    if (line->short_of_memory) {
        otlp->lost++;
    } else if (otlp->share) {
        fwrite(line->text, 1, line->used, otlp->file);
        fputc('\n', otlp->file);
    } else {
        write_taken(otlp, line->text, line->used);
    }
}

/* --- A span --- */

static void add_items(struct line *line, const char *name, const struct items *items)
{
    if (items->count) {
        line_add(line, ",\"%s\":[", name);
        line_add_bytes(line, items->text, items->used);
        add(line, "]");
    }
    if (items->dropped)
        line_add(line, ",\"dropped%c%sCount\":%u", *name - 'a' + 'A', name + 1, items->dropped);
}

static void add_ids(struct line *line, const struct span *span)
{
    line_add(line, "{\"traceId\":\"%016llx%016llx\",\"spanId\":\"%016llx\"",
             (unsigned long long)span->context.trace[0], (unsigned long long)span->context.trace[1],
             (unsigned long long)span->context.span);
    if (span->parent)
        line_add(line, ",\"parentSpanId\":\"%016llx\"", (unsigned long long)span->parent);
}

static void add_name(struct line *line, const struct mfa *mfa)
{
    struct line text;

    line_start(&text);
    line_add_function(&text, mfa->module, mfa->function, mfa->arity);
    add(line, ",\"name\":\"");
    line_add_json(line, text.text, text.used, SIZE_MAX);
    add(line, "\"");
    line_drop(&text);
}

static void add_function(struct line *line, const struct mfa *mfa)
{
    struct line text;

    line_start(&text);
    line_add(&text, "%#T:%#T", mfa->module, mfa->function);
    add_printed(line, "code.function.name", &text);
}

static void add_first_call(struct line *line, const struct mfa *first)
{
    struct line text;

    line_start(&text);
    line_add(&text, "%#T:%#T/%u", first->module, first->function, first->arity);
    add_printed(line, "erlang.initial_call", &text);
}

/* Adds the way in which the span ended, unless by a return or an exception of its own. */
static void add_ending(struct line *line, const struct event *event)
{
    static const char *const names[] = {[END_RETURN] = "caller",
                                        [END_CALL] = "call",
                                        [END_RETURN_TO] = "return_to",
                                        [END_EXIT] = "exit",
                                        [END_OPEN] = "open"};
    const char *name = names[event->ending];

    if (!event->own)
        add_text(line, "tracehost.end", name, strlen(name));
}

static void add_attributes(struct line *line, struct process *process, const struct frame *frame)
{
    struct otlp *otlp = process->otlp;
    struct event *event = &otlp->event;
    const struct items *more = &process->span->attributes;

    add(line, ",\"attributes\":[");
    add_function(line, &frame->mfa);
    add_term(line, "erlang.pid", process->tracee.term);
    if (process->tracee.name)
        add_term(line, "erlang.registered_name", process->tracee.name);
    else if (process->tracee.first.module)
        add_first_call(line, &process->tracee.first);
    if (more->count) {
        add_comma(line);
        line_add_bytes(line, more->text, more->used);
    }
    if (event->own && event->result)
        add_data(line, otlp, "erlang.result", event->result);
    if (event->failed)
        add_type(line, event, "error.type");
    add_ending(line, event);
    add(line, "]");
    if (more->dropped)
        line_add(line, ",\"droppedAttributesCount\":%u", more->dropped);
}

/* The message is the reason if data is shown, else the type. */
static void add_status(struct line *line, const struct otlp *otlp)
{
    struct line text;

    line_start(&text);
    if (otlp->options.args == ARGS_NONE)
        term_print_type(&text, otlp->event.env, otlp->event.class, otlp->event.reason);
    else
        term_print(&text, otlp->event.env, otlp->event.reason, otlp->options.args);
    add(line, ",\"status\":{\"message\":\"");
    line_add_json(line, text.text, text.used, SIZE_MAX);
    line_add(line, "\",\"code\":%d}", ERROR);
    line->short_of_memory |= text.short_of_memory;
    line_drop(&text);
}

void write_span(struct process *process, const struct frame *frame)
{
    struct otlp *otlp = process->otlp;
    struct span *span = process->span;
    struct line line;

    if (past_is_played())
        return;
    line_start(&line);
    add_ids(&line, span);
    add_name(&line, &frame->mfa);
    line_add(&line, ",\"kind\":%d,\"startTimeUnixNano\":\"%lld\",\"endTimeUnixNano\":\"%lld\"",
             span->consumer ? CONSUMER : INTERNAL, (long long)span->began,
             (long long)process->last);
    add_attributes(&line, process, frame);
    add_items(&line, "events", &span->events);
    add_items(&line, "links", &span->links);
    if (otlp->event.failed)
        add_status(&line, otlp);
    add(&line, "}");
    add_to_batch(otlp, &line);
    line_drop(&line);
}

/* --- The end --- */

static void tell(struct otlp *otlp, const char *key, const char *what, uint64_t count)
{
    if (!count)
        return;
    add_integer(&otlp->batch, key, (int64_t)count);
    fprintf(stderr, "otlp: %s: %llu\n", what, (unsigned long long)count);
}

static void tell_all(struct otlp *otlp)
{
    const struct messages *messages = &otlp->messages;
    const struct repairs *repairs = &otlp->repairs;
    uint64_t lost = otlp->lost + messages->lost;

    tell(otlp, "tracehost.calls.open",
         otlp->options.open ? "calls whose end is unknown"
                            : "calls whose end is unknown, which have no spans",
         otlp->open);
    tell(otlp, "tracehost.calls.too_deep", "calls too deep to follow, which have no spans",
         repairs->beyond);
    tell(otlp, "tracehost.calls.cut", "calls ended by the return of a caller", repairs->cut);
    tell(otlp, "tracehost.returns.unknown", "returns of unknown calls", repairs->uncalled);
    if (repairs->doubtful)
        add_integer(&otlp->batch, "tracehost.returns.doubtful", (int64_t)repairs->doubtful);
    stack_tell_doubts("otlp", repairs);
    tell(otlp, "tracehost.links.dropped", "links dropped, as their span has the maximum number",
         otlp->links_dropped);
    tell(otlp, "tracehost.links.unused", "links without a span", otlp->links_unused);
    tell(otlp, "tracehost.events.dropped", "events dropped, as their span has the maximum number",
         otlp->events_dropped);
    tell(otlp, "tracehost.messages.unreceived", "messages sent whose receipt is unknown",
         messages->sent - messages->matched - messages->forgotten);
    tell(otlp, "tracehost.messages.unsent", "messages received whose sending is unknown",
         messages->unsent);
    tell(otlp, "tracehost.messages.forgotten",
         "messages without a link, forgotten before their receipt, as too many were waiting",
         messages->forgotten);
    tell(otlp, "tracehost.untimed",
         "events without a time stamp, which got the time of their arrival", otlp->untimed);
    tell(otlp, "tracehost.clocks",
         "events with another clock than the first, at an unknown distance from the others",
         otlp->others);
    if (lost)
        add_integer(&otlp->batch, "tracehost.lost", (int64_t)lost); /* output.h reports it */
}

void write_end(struct otlp *otlp)
{
    if (otlp->batched)
        end_line(otlp);
    begin_line(otlp);
    add(&otlp->batch, ",\"attributes\":[");
    add_integer(&otlp->batch, "tracehost.spans", (int64_t)otlp->spans);
    if (otlp->calls && !otlp->told)
        fputs("otlp: the events contain no ends of calls; record them by a match specification "
              "with {return_trace} or {exception_trace}, as --return or --exception of -p do\n",
              stderr);
    if (otlp->relative && otlp->spans)
        fputs("otlp: the clock of the recording is not system time: the first record is placed at "
              "1970-01-01, or at start=SECONDS after that\n",
              stderr);
    tell_all(otlp);
    add(&otlp->batch, "]},\"spans\":[");
    end_line(otlp);
    line_drop(&otlp->batch);
}

/*
 * otlp: calls as spans of OpenTelemetry, in OTLP/JSON lines.
 *
 * Each call whose end is known is a span, a child of the enclosing call of its process; ../stack.h
 * describes tail calls and ends without an event. A call without an enclosing call begins a trace.
 * A message links the span in which it is received, or the next one of its process, to the span in
 * which it was sent; spawning likewise. A span is written when it ends.
 *
 * State: see ../output.h; and
 *
 *     service     the resource's service.name; without it $OTEL_SERVICE_NAME or unknown_service:erl
 *     args        detail of arguments, results, messages and reasons, as in text; none without it
 *     batch       number of spans in a line; 512 without it
 *     traces      calls: each trace belongs to one process, as without it; messages: the effects of
 *                 a message or spawning continue the trace of its sender
 *     messages    number of unreceived messages that are kept; 100000 without it
 *     open        drop: calls that have not ended when the trace does are not written, as without
 *                 it; write: they are, as if they ended with the last event of their process
 *     start       time of the start of a recording whose clock is not system time, in seconds since
 *                 1970
 *
 * One lock for each state protects all its data.
 */
#define TRACER_DECLARES                                                                    \
    {"args", TH_SETTING_WORD, TERM_ARGS, "none",                                           \
     "how much is shown of arguments, results, messages and reasons"},                     \
        {"batch", TH_SETTING_NUMBER, NULL, "512", "how many spans a line has"},            \
        {"messages", TH_SETTING_NUMBER, NULL, "100000",                                    \
         "how many messages that were not received yet are remembered, to be links"},      \
        {"open", TH_SETTING_WORD, "drop write", "drop",                                    \
         "whether calls that have not ended have spans"},                                  \
        {"service", TH_SETTING_TEXT, NULL, NULL,                                           \
         "the name of the service; $OTEL_SERVICE_NAME or unknown_service:erl without it"}, \
        {"start", TH_SETTING_NUMBER, NULL, "0",                                            \
         "start of a recording without the time of its start, in seconds since 1970"},     \
        {"traces", TH_SETTING_WORD, "calls messages", "calls",                             \
         "a trace is of one process, or follows messages and spawning"},
#include "../kit/term.h"
#include "../kit/share.h"
#include "../kit/tracee.h"
#include "otlp.h"

unsigned char th_tracer_past = 20;

/* --- State --- */

/* Returns a copy. */
static const char *service_of(const struct output *output)
{
    const char *given = getenv("OTEL_SERVICE_NAME");
    char text[256] = "";

    if (output->state)
        output_setting(output->env, output->state, "service", text, sizeof text);
    if (*text)
        given = text;
    return strdup(given && *given ? given : "unknown_service:erl");
}

static struct otlp *new_otlp(const struct output *output)
{
    struct otlp *otlp = calloc(1, sizeof *otlp);
    const char *service = otlp ? service_of(output) : NULL;
    ErlNifEnv *env = output->env;
    ERL_NIF_TERM state = output->state;

    if (!service) {
        free(otlp);
        return NULL;
    }
    pthread_mutex_init(&otlp->lock, NULL);
    otlp->file = output->file;
    otlp->share = output->to && output->to->share;
    otlp->options.service = service;
    otlp->options.args = output_choice(env, state, "args");
    otlp->options.batch = output_number(env, state, "batch");
    otlp->options.follow = output_choice(env, state, "traces");
    otlp->options.open = output_choice(env, state, "open");
    otlp->messages.most = output_number(env, state, "messages");
    otlp->start = (int64_t)output_number(env, state, "start") * 1000000000;
    line_start(&otlp->batch);
    return otlp;
}

/* Returns the data of a state, made at its first event. NULL if there is no memory. */
static struct otlp *otlp_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);
    struct otlp *otlp;

    if (!output)
        return NULL;
    pthread_mutex_lock(&outputs.lock);
    if (!output->kept)
        output->kept = new_otlp(output);
    otlp = output->kept;
    pthread_mutex_unlock(&outputs.lock);
    if (!otlp)
        output_lose();
    return otlp;
}

/* --- Times --- */

/* Returns nanoseconds since 1970. The kind of time stamp is the clock of a record's time. If its
 * system time is unknown, the clock's zero (see ../moment.h) is at the start, or, if events by another
 * clock came before, its first event is at the latest of their times. */
static int64_t stamped_time(struct otlp *otlp, const struct moment *moment)
{
    if (moment_has_date(moment))
        return enif_monotonic_time(ERL_NIF_NSEC) + enif_time_offset(ERL_NIF_NSEC);
    otlp->relative = true;
    if (!otlp->shifts[moment->clock].known) {
        otlp->shifts[moment->clock].value =
            otlp->latest ? (uint64_t)otlp->latest - (uint64_t)moment->time : (uint64_t)otlp->start;
        otlp->shifts[moment->clock].known = true;
    }
    return (int64_t)((uint64_t)moment->time + otlp->shifts[moment->clock].value);
}

/* Events without a request for a time stamp happen now; if other events have time stamps, possibly
 * of another clock, they happen at the latest of these. */
static int64_t time_of(ErlNifEnv *env, struct otlp *otlp, ERL_NIF_TERM opts)
{
    struct moment moment = moment_take(env, opts, ERL_NIF_NSEC);
    int64_t now;

    if (moment.stamped) {
        now = stamped_time(otlp, &moment);
        if (!otlp->timed)
            otlp->clock = moment.clock;
        otlp->timed = true;
        otlp->others += moment.clock != otlp->clock;
    } else {
        otlp->untimed++;
        if (otlp->timed)
            return otlp->latest;
        now = enif_monotonic_time(ERL_NIF_NSEC) + enif_time_offset(ERL_NIF_NSEC);
    }
    otlp->latest = now > otlp->latest ? now : otlp->latest;
    return now;
}

/* --- Processes --- */

static struct process *process_of(struct otlp *otlp, ERL_NIF_TERM tracee)
{
    struct process *process = tracees_find(&otlp->processes, tracee);

    if (process)
        return process;
    process = tracees_add(&otlp->processes, tracee, sizeof *process);
    if (!process) {
        otlp->lost++;
        return NULL;
    }
    process->otlp = otlp;
    process->stack = (struct stack){
        .repairs = &otlp->repairs, .entered = span_begin, .left = span_end, .of = process};
    return process;
}

static void free_process(struct process *process, enum ending ending)
{
    process->otlp->event.ending = ending;
    stack_cut(&process->stack, 0);
    stack_free(&process->stack);
    process->otlp->links_unused += process->links.count + process->links.dropped;
    items_free(&process->links);
    tracees_remove(&process->otlp->processes, &process->tracee);
    free(process);
}

/* --- Events --- */

static ErlNifUInt64 hash_of(ERL_NIF_TERM message)
{
    return enif_hash(ERL_NIF_INTERNAL_HASH, message, 0);
}

/* Returns the local process that gets a message; 0 if there is none, or its name or alias is
 * unknown. */
static ERL_NIF_TERM receiver_of(ErlNifEnv *env, struct otlp *otlp, ERL_NIF_TERM to)
{
    ErlNifPid pid;

    if (names_are_key(env, to))
        return names_find(&otlp->names, to);
    if (enif_is_ref(env, to))
        return aliases_owner(&otlp->aliases, to);
    return enif_get_local_pid(env, to, &pid) ? to : 0;
}

static void send_event(struct process *process, bool received)
{
    static const struct context none;
    struct otlp *otlp = process->otlp;
    struct event *event = &otlp->event;
    ErlNifUInt64 hash = hash_of(event->term);
    ERL_NIF_TERM to, receiver;

    if (!enif_get_map_value(event->env, event->opts, TH_TRACER_ATOM(event->env, extra), &to))
        return;
    span_message(process, to);
    aliases_note(event->env, &otlp->aliases, process->tracee.term, event->term);
    to = receivers_name(event->env, process->tracee.term, to);
    receiver = received ? receiver_of(event->env, otlp, to) : 0;
    if (received)
        receivers_sent(&otlp->receivers, hash,
                       receiver &&
                               (!names_are_key(event->env, to) || names_are_told(&otlp->names, to))
                           ? receiver
                           : to);
    if (receiver)
        messages_send(&otlp->messages, receiver, hash,
                      process->span ? &process->span->context : &none);
    else
        otlp->messages.sent++;
}

static void receive_event(struct process *process)
{
    struct otlp *otlp = process->otlp;
    ErlNifUInt64 hash = hash_of(otlp->event.term);
    ERL_NIF_TERM pid = process->tracee.term, name;
    struct context sender;

    span_message(process, 0);
    name = receivers_received(otlp->event.env, &otlp->receivers, hash, pid);
    if (name)
        names_guess(&otlp->names, name, pid, SIZE_MAX);
    if (messages_receive(&otlp->messages, pid, hash, &sender))
        span_link(process, &sender, "message");
}

/* Reads class and reason of {Class, Reason}. */
static void read_exception(struct event *event, ERL_NIF_TERM extra)
{
    const ERL_NIF_TERM *elements;
    int size;

    if (!enif_get_tuple(event->env, extra, &size, &elements) || size != 2)
        return;
    event->class = elements[0];
    event->reason = elements[1];
}

static void return_event(struct process *process, const struct mfa *mfa, bool thrown)
{
    struct event *event = &process->otlp->event;
    ERL_NIF_TERM extra;

    event->ending = END_RETURN;
    event->returning = *mfa;
    if (enif_get_map_value(event->env, event->opts, TH_TRACER_ATOM(event->env, extra), &extra)) {
        if (thrown)
            read_exception(event, extra);
        else
            event->result = extra;
    }
    stack_return(&process->stack, mfa);
}

static void call_event(struct process *process, ERL_NIF_TERM tag)
{
    struct otlp *otlp = process->otlp;
    struct event *event = &otlp->event;
    struct mfa mfa, caller = {0};
    ERL_NIF_TERM result;

    if (!mfa_read(event->env, event->term, &mfa))
        return;
    if (tag == TH_TRACER_ATOM(event->env, call)) {
        event->ending = END_CALL;
        if (enif_get_map_value(event->env, event->opts,
                               TH_TRACER_ATOM(event->env, match_spec_result), &result) &&
            !mfa_read(event->env, result, &caller))
            caller = (struct mfa){0};
        otlp->calls++;
        otlp->told |= caller.module != 0;
        stack_call(&process->stack, &mfa, &caller);
        return;
    }
    otlp->told = true;
    if (tag == TH_TRACER_ATOM(event->env, return_to)) {
        event->ending = END_RETURN_TO;
        stack_return_to(&process->stack, &mfa);
    } else {
        return_event(process, &mfa, tag == TH_TRACER_ATOM(event->env, exception_from));
    }
}

static void register_event(struct process *process, ERL_NIF_TERM term)
{
    struct otlp *otlp = process->otlp;

    otlp->lost += !names_give(&otlp->names, names_key(term, process->tracee.term),
                              process->tracee.term, SIZE_MAX);
    process->tracee.name = term;
}

static void spawn_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM term)
{
    ErlNifPid pid;
    struct process *child = process->span && enif_get_local_pid(env, term, &pid)
                                ? process_of(process->otlp, term)
                                : NULL;

    if (child)
        span_link(child, &process->span->context, "spawn");
}

/* Returns whether a process ends regularly: other reasons are an exception's, or another process's.
 */
static bool is_ordinary(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    const ERL_NIF_TERM *elements;
    int size;

    if (enif_get_tuple(env, reason, &size, &elements) && size == 2)
        reason = elements[0];
    else if (reason == TH_TRACER_ATOM(env, normal))
        return true;
    return reason == TH_TRACER_ATOM(env, shutdown);
}

static void exit_event(struct process *process)
{
    struct event *event = &process->otlp->event;

    if (!is_ordinary(event->env, event->term)) {
        event->class = TH_TRACER_ATOM(event->env, exit);
        event->reason = event->term;
    }
    free_process(process, END_EXIT);
}

static void take_event(struct process *process, ERL_NIF_TERM tag)
{
    ErlNifEnv *env = process->otlp->event.env;
    ERL_NIF_TERM term = process->otlp->event.term;

    if (tag == TH_TRACER_ATOM(env, send))
        send_event(process, true);
    else if (tag == TH_TRACER_ATOM(env, send_to_non_existing_process))
        send_event(process, false);
    else if (tag == TH_TRACER_ATOM(env, receive))
        receive_event(process);
    else if (tag == TH_TRACER_ATOM(env, register) && enif_is_atom(env, term))
        register_event(process, term);
    else if (tag == TH_TRACER_ATOM(env, spawn))
        spawn_event(env, process, term);
    else if (tag == TH_TRACER_ATOM(env, exit))
        exit_event(process);
    else
        call_event(process, tag);
}

static void trace_event(ErlNifEnv *env, ERL_NIF_TERM state, ERL_NIF_TERM tracee, ERL_NIF_TERM tag,
                        ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
    struct otlp *otlp = otlp_of(env, state);
    struct process *process;
    int64_t now;

    if (!otlp)
        return;
    pthread_mutex_lock(&otlp->lock);
    process = process_of(otlp, tracee_word(env, tracee));
    if (process) {
        now = time_of(env, otlp, opts);
        process->last = now > process->last ? now : process->last;
        otlp->event = (struct event){.env = env, .term = term, .opts = opts};
        take_event(process, tag);
    }
    pthread_mutex_unlock(&otlp->lock);
}

TH_TRACER_ENABLED(generic)
{
    ERL_NIF_TERM answer = output_enabled(env, tag, state, TH_TRACER_ATOM(env, discard));

    if (output_begins(env, tag, state))
        otlp_of(env, state);
    return answer;
}

TH_TRACER_ENABLED(procs)
{
    return tag == TH_TRACER_ATOM(env, register) || tag == TH_TRACER_ATOM(env, spawn) ||
                   tag == TH_TRACER_ATOM(env, exit)
               ? TH_TRACER_ATOM(env, trace)
               : TH_TRACER_ATOM(env, discard);
}

#define TRACED(GROUP)                                     \
    TH_TRACER_TRACE(GROUP)                                \
    {                                                     \
        trace_event(env, state, tracee, tag, term, opts); \
    }
#define WANTED(GROUP)                      \
    TH_TRACER_ENABLED(GROUP)               \
    {                                      \
        return TH_TRACER_ATOM(env, trace); \
    }                                      \
    TRACED(GROUP)

WANTED(call)
WANTED(send)
WANTED(receive)
TRACED(procs)

/* Mandatory; the generic `enabled` discards these events. */
TH_TRACER_TRACE(generic)
{
}

/* --- Shares --- */

enum { NUMBERS = 14 };

static void numbers_of(struct otlp *otlp, uint64_t *numbers[NUMBERS])
{
    struct messages *messages = &otlp->messages;
    uint64_t *const all[NUMBERS] = {
        &otlp->calls,          &otlp->open,           &otlp->links_dropped, &otlp->links_unused,
        &otlp->events_dropped, &otlp->untimed,        &otlp->others,        &otlp->lost,
        &messages->sent,       &messages->matched,    &messages->unsent,    &messages->forgotten,
        &messages->lost,       &otlp->repairs.beyond,
    };

    memcpy(numbers, all, sizeof all);
}

/* Counts what stays open if this share is the last one: *OPEN calls, and *UNUSED links. */
static void count_open(const struct otlp *otlp, uint64_t *open, uint64_t *unused)
{
    for (size_t slot = 0; slot < otlp->processes.size; slot++)
        for (const struct tracee *tracee = otlp->processes.slots[slot]; tracee;
             tracee = tracee->next) {
            const struct process *process = (const struct process *)tracee;
            *unused += process->links.count + process->links.dropped;
            for (const struct span *span = process->span; span; span = span->below) {
                *unused += span->links.count + span->links.dropped;
                ++*open;
            }
        }
}

/* {File, Numbers, Repairs, Told, Relative, Open, Unused}. Spans of calls that have not ended are
 * written at the end of the recording, and are known in the last share alone. */
static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    struct otlp *otlp = output->kept;
    ERL_NIF_TERM file = share_save_file(env, output);
    uint64_t *numbers[NUMBERS], open = 0, unused = 0;

    if (!file || !otlp || otlp->options.open || otlp->lost || otlp->messages.lost)
        return 0;
    numbers_of(otlp, numbers);
    count_open(otlp, &open, &unused);
    return enif_make_tuple7(env, file,
                            past_save_numbers(env, NUMBERS, (const uint64_t *const *)numbers),
                            past_save_repairs(env, &otlp->repairs), enif_make_int(env, otlp->told),
                            enif_make_int(env, otlp->relative), enif_make_uint64(env, open),
                            enif_make_uint64(env, unused));
}

/* Drops the processes with their spans, which a later share has ended. */
static void drop_processes(struct otlp *otlp)
{
    struct process *process;
    size_t slot = 0;

    while ((process = tracees_any(&otlp->processes, &slot))) {
        process->stack.left = NULL;
        while (process->span)
            span_drop(process);
        free_process(process, END_OPEN);
    }
}

/* Writes the spans, a line each, of a share's file. */
static bool take_spans(ErlNifEnv *env, struct otlp *otlp, ERL_NIF_TERM saved)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t size;
    FILE *file;
    bool read;

    if (!share_open_file(env, saved, &file) || !file)
        return false;
    while ((size = getline(&text, &room, file)) > 0)
        write_taken(otlp, text, (size_t)size - 1);
    read = !ferror(file);
    free(text);
    fclose(file);
    return read;
}

static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved)
{
    struct otlp *otlp = otlp_of(env, output->state ? output->state : enif_make_list(env, 0));
    uint64_t *numbers[NUMBERS];
    const ERL_NIF_TERM *elements;
    ErlNifUInt64 open, unused;
    int size, told, relative;

    if (!otlp || !enif_get_tuple(env, saved, &size, &elements) || size != 7 ||
        !enif_get_int(env, elements[3], &told) || !enif_get_int(env, elements[4], &relative) ||
        !enif_get_uint64(env, elements[5], &open) || !enif_get_uint64(env, elements[6], &unused) ||
        !take_spans(env, otlp, elements[0]))
        return false;
    drop_processes(otlp);
    numbers_of(otlp, numbers);
    otlp->told = told;
    otlp->relative = relative;
    if (!past_take_numbers(env, elements[1], NUMBERS, numbers) ||
        !past_take_repairs(env, elements[2], &otlp->repairs))
        return false;
    otlp->open_at_end = open;
    otlp->unused_at_end = unused;
    return true;
}

TH_TRACER_SAVE()
{
    return share_save(env, save_output);
}

TH_TRACER_MERGE()
{
    return share_merge(env, saved, merge_output);
}

/* --- The end --- */

static void finish(ErlNifEnv *env, struct otlp *otlp)
{
    struct process *process;
    size_t slot = 0;

    while ((process = tracees_any(&otlp->processes, &slot)))
        free_process(process, END_OPEN);
    otlp->open += otlp->open_at_end;
    otlp->links_unused += otlp->unused_at_end;
    names_free(&otlp->names);
    write_end(otlp);
    output_report_lost(env, "events", otlp->lost + otlp->messages.lost);
    messages_free(&otlp->messages);
    free(otlp->processes.slots);
    free((char *)otlp->options.service);
    free(otlp);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next)
        if (output->kept)
            finish(env, output->kept);
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"enabled_call", 3, enabled_call, 0},
                                 {"trace_call", 5, trace_call, 0},
                                 {"enabled_send", 3, enabled_send, 0},
                                 {"trace_send", 5, trace_send, 0},
                                 {"enabled_receive", 3, enabled_receive, 0},
                                 {"trace_receive", 5, trace_receive, 0},
                                 {"enabled_procs", 3, enabled_procs, 0},
                                 {"trace_procs", 5, trace_procs, 0}};
ERL_NIF_INIT(tracehost_otlp, callbacks, NULL, NULL, NULL, unload)

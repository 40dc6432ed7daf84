/*
 * perfetto: a recording as a trace of Perfetto, in packets with track events.
 *
 * Each node is a process, and each Erlang process and port a thread of it, with a slice for each
 * call (see ../kit/stack.h) and each collection, and an instant for each other event; a flow leads
 * from each message sent to its receipt. Tracks below a thread show when it runs, the words of its
 * heap and the messages that were sent to it and not received yet.
 *
 * The file is written while events come, in whole packets, so that it can be cut off after any of
 * them. A process that goes on by another clock gets other tracks: the open slices end there, as
 * the times of two clocks cannot be compared.
 *
 * State: see ../kit/output.h; and
 *
 *     args        detail of arguments, results, messages and reasons, as in text; none without it
 *
 * One lock for each state protects all its data.
 */
#define TRACER_DECLARES                          \
    {"args", TH_SETTING_WORD, TERM_ARGS, "none", \
     "how much is shown of arguments, results, messages and reasons"},
#define TRACER_RECORDS find_packets
#include "../kit/term.h"
#include "../kit/share.h"
#include "../kit/tracee.h"
#include "perfetto.h"

#include <time.h>

unsigned char th_tracer_past = 72;

/* A packet is a byte, its size as a varint, and so many bytes. */
static void find_packets(struct output_file *file, const char *data, size_t size)
{
    const char *begin = data, *end = data + size;

    for (;;) {
        uint64_t rest = (uint64_t)(end - data);
        uint64_t skipped = file->left < rest ? file->left : rest;
        data += skipped;
        file->left -= skipped;
        if (file->left)
            return;
        if (file->head_used > 1 && !(file->head[file->head_used - 1] & 0x80)) {
            file->head_used = 0;
            file->ended = file->written + (data - begin);
        }
        if (data == end)
            return;
        file->head[file->head_used++] = (unsigned char)*data++;
        if (file->head_used > 1 && !(file->head[file->head_used - 1] & 0x80))
            for (size_t i = 1; i < file->head_used; i++)
                file->left |= (uint64_t)(file->head[i] & 0x7F) << 7 * (i - 1);
    }
}

/* --- Annotations --- */

static struct perfetto *perfetto_of(const struct process *process)
{
    return (struct perfetto *)process->timeline;
}

static struct tracks *tracks_of(struct process *process)
{
    return &((struct lane *)process)->by_clock[process->clock];
}

/* Adds TERM, a name or a pid, which is no data. */
static void annotate_term(struct line *annotations, enum annotation name, ERL_NIF_TERM term)
{
    struct line text;

    line_start(&text);
    line_add(&text, "%#T", term);
    annotate(annotations, name, &text);
}

/* Adds TERM, data, to the detail that the settings request. */
static void annotate_data(struct line *annotations, const struct perfetto *perfetto,
                          enum annotation name, ERL_NIF_TERM term)
{
    struct line text;

    if (perfetto->args == ARGS_NONE)
        return;
    line_start(&text);
    term_print(&text, perfetto->event.env, term, perfetto->args);
    annotate(annotations, name, &text);
}

/* Adds the function and the arguments of {M, F, Args}; the function alone of {M, F, Arity}. */
static void annotate_call(struct line *annotations, const struct perfetto *perfetto,
                          ERL_NIF_TERM term)
{
    ErlNifEnv *env = perfetto->event.env;
    const ERL_NIF_TERM *elements;
    struct line text;
    struct mfa mfa;
    int size;

    if (!mfa_read(env, term, &mfa) || !mfa.function || !enif_get_tuple(env, term, &size, &elements))
        return;
    line_start(&text);
    line_add_function(&text, mfa.module, mfa.function, mfa.arity);
    annotate(annotations, ANNOTATION_FUNCTION, &text);
    if (enif_is_list(env, elements[2]))
        annotate_data(annotations, perfetto, ANNOTATION_ARGUMENTS, elements[2]);
}

/* Adds the type and the reason of {Class, Reason}. */
static void annotate_exception(struct line *annotations, const struct perfetto *perfetto,
                               ERL_NIF_TERM class, ERL_NIF_TERM reason)
{
    struct line text;

    line_start(&text);
    term_print_type(&text, perfetto->event.env, class, reason);
    annotate(annotations, ANNOTATION_TYPE, &text);
    annotate_data(annotations, perfetto, ANNOTATION_REASON, reason);
}

static void annotate_raised(struct line *annotations, const struct perfetto *perfetto)
{
    ErlNifEnv *env = perfetto->event.env;
    const ERL_NIF_TERM *elements;
    ERL_NIF_TERM extra;
    int size;

    if (enif_get_map_value(env, perfetto->event.opts, TH_TRACER_ATOM(env, extra), &extra) &&
        enif_get_tuple(env, extra, &size, &elements) && size == 2)
        annotate_exception(annotations, perfetto, elements[0], elements[1]);
}

static void annotate_scheduler(struct line *annotations, const struct perfetto *perfetto)
{
    ErlNifEnv *env = perfetto->event.env;
    ErlNifUInt64 number;
    ERL_NIF_TERM value;

    if (enif_get_map_value(env, perfetto->event.opts, TH_TRACER_ATOM(env, scheduler_id), &value) &&
        enif_get_uint64(env, value, &number))
        annotate_number(annotations, ANNOTATION_SCHEDULER, number);
}

/* --- Tracks --- */

static void draw(struct process *process, struct track_event event, struct line *annotations)
{
    if (!event.track)
        event.track = tracks_of(process)->calls;
    event.annotations = annotations;
    write_event(process, process->last, &event);
    if (annotations)
        line_drop(annotations);
}

static void begin_call(struct process *process, struct frame *frame)
{
    struct perfetto *perfetto = perfetto_of(process);
    const ERL_NIF_TERM *elements;
    struct line annotations;
    int size;

    line_start(&annotations);
    if (!past_is_played() &&
        enif_get_tuple(perfetto->event.env, perfetto->event.term, &size, &elements) && size == 3 &&
        enif_is_list(perfetto->event.env, elements[2]))
        annotate_data(&annotations, perfetto, ANNOTATION_ARGUMENTS, elements[2]);
    draw(process, (struct track_event){SLICE_BEGIN, CATEGORY_CALL, .key = frame->mfa},
         &annotations);
}

/* The event that reports the end of this call has its result or its exception. */
static void end_call(struct process *process, const struct frame *frame)
{
    struct perfetto *perfetto = perfetto_of(process);
    ErlNifEnv *env = perfetto->event.env;
    bool thrown = perfetto->event.tag == TH_TRACER_ATOM(env, exception_from);
    struct line annotations;
    ERL_NIF_TERM result;
    struct mfa mfa;

    line_start(&annotations);
    if (!past_is_played() && (thrown || perfetto->event.tag == TH_TRACER_ATOM(env, return_from)) &&
        mfa_read(env, perfetto->event.term, &mfa) && mfa_same(&mfa, &frame->mfa)) {
        if (thrown)
            annotate_raised(&annotations, perfetto);
        else if (enif_get_map_value(env, perfetto->event.opts, TH_TRACER_ATOM(env, extra), &result))
            annotate_data(&annotations, perfetto, ANNOTATION_RESULT, result);
    }
    draw(process, (struct track_event){.type = SLICE_END}, &annotations);
}

static void draw_collection(struct process *process, bool begins)
{
    ErlNifEnv *env = perfetto_of(process)->event.env;

    if (!begins)
        draw(process, (struct track_event){.type = SLICE_END}, NULL);
    else
        draw(process,
             (struct track_event){SLICE_BEGIN, CATEGORY_GC,
                                  .key.function = enif_make_atom(env, process->collection),
                                  .text = process->collection},
             NULL);
}

static void draw_heap(struct process *process, ErlNifUInt64 words)
{
    unsigned track = write_child_track(process, &tracks_of(process)->heap, "heap", true);

    draw(process, (struct track_event){.type = COUNTER, .track = track, .value = words}, NULL);
}

static void draw_message(struct process *process, bool received, const struct message *message,
                         struct process *queue)
{
    struct perfetto *perfetto = perfetto_of(process);
    ErlNifEnv *env = perfetto->event.env;
    bool linked = message && message->clock == process->clock;
    struct track_event event = {INSTANT, CATEGORY_MESSAGE, .arrives = received};
    struct line annotations;
    ERL_NIF_TERM to;

    line_start(&annotations);
    event.key.function = perfetto->event.tag;
    event.text = received ? "receive" : "send";
    event.flow = linked ? message->id : 0;
    perfetto->unlinked += message && !linked;
    if (!past_is_played()) {
        if (!received &&
            enif_get_map_value(env, perfetto->event.opts, TH_TRACER_ATOM(env, extra), &to))
            annotate_term(&annotations, ANNOTATION_TO, to);
        annotate_data(&annotations, perfetto, ANNOTATION_MESSAGE, perfetto->event.term);
    }
    draw(process, event, &annotations);
    if (queue) {
        event = (struct track_event){.type = COUNTER, .value = queue->mailbox.waiting};
        event.track = write_child_track(queue, &tracks_of(queue)->queue, "queue", true);
        write_event(queue, queue->mailbox.counted, &event);
    }
}

/* Ends what is open by the clock of the events before: the time by the new clock is unknown there. */
static int64_t change_clock(struct process *process, unsigned clock)
{
    struct perfetto *perfetto = perfetto_of(process);
    struct lane *lane = (struct lane *)process;

    for (size_t i = process->stack.used; i > 0; i--) {
        struct frame *frame = &process->stack.frames[i - 1];
        if (frame->gone || !frame->mark)
            continue;
        draw(process, (struct track_event){.type = SLICE_END}, NULL);
        frame->mark = 0;
        perfetto->cut++;
    }
    if (process->collection)
        draw_collection(process, false);
    if (lane->runs)
        draw(process, (struct track_event){.type = SLICE_END, .track = tracks_of(process)->running},
             NULL);
    perfetto->cut += (process->collection != NULL) + lane->runs;
    process->collection = NULL;
    lane->runs = false;
    tracks_of(process)->last = process->last;
    return lane->by_clock[clock].calls ? lane->by_clock[clock].last : INT64_MIN;
}

static const struct track_writer writer = {.name = write_calls_track,
                                           .clock = change_clock,
                                           .begin = begin_call,
                                           .end = end_call,
                                           .collection = draw_collection,
                                           .heap = draw_heap,
                                           .message = draw_message};

/* --- Events --- */

/* Returns the data of this state, made when the tracer is attached. NULL if there is no memory. */
static struct perfetto *perfetto_of_state(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);
    struct perfetto *perfetto;
    struct timespec now;

    if (!output)
        return NULL;
    pthread_mutex_lock(&outputs.lock);
    perfetto = output->kept;
    if (!perfetto && (perfetto = calloc(1, sizeof *perfetto))) {
        timeline_begin(&perfetto->timeline, output->file, &writer, sizeof(struct lane));
        perfetto->args = output_choice(output->env, output->state, "args");
        perfetto->sequence = 1;
        /* On stdout the tracer may play all records again, with the same numbers. */
        if (output->to && output_is_continued(output)) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            perfetto->first = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
            perfetto->sequence = (uint32_t)perfetto->first | 2;
        }
        if (output->to)
            setvbuf(output->file, NULL, _IOFBF, TIMELINE_BUFFER);
        output->kept = perfetto;
    }
    pthread_mutex_unlock(&outputs.lock);
    if (!perfetto)
        output_lose();
    return perfetto;
}

/* Draws the instant of an event of a process or port, named by its tag. */
static void draw_instant(struct process *process, enum category category, const char *name)
{
    struct perfetto *perfetto = perfetto_of(process);
    ErlNifEnv *env = perfetto->event.env;
    ERL_NIF_TERM tag = perfetto->event.tag, term = perfetto->event.term, extra;
    struct line annotations;

    line_start(&annotations);
    if (past_is_played())
        ;
    else if (tag == TH_TRACER_ATOM(env, exception_from))
        annotate_raised(&annotations, perfetto);
    else if (tag == TH_TRACER_ATOM(env, exit) || tag == TH_TRACER_ATOM(env, closed))
        annotate_exception(&annotations, perfetto, TH_TRACER_ATOM(env, exit), term);
    else if (tag == TH_TRACER_ATOM(env, register) || tag == TH_TRACER_ATOM(env, unregister))
        annotate_term(&annotations, ANNOTATION_NAME, term);
    else
        annotate_term(&annotations, ANNOTATION_OTHER, term);
    if (!past_is_played() &&
        enif_get_map_value(env, perfetto->event.opts, TH_TRACER_ATOM(env, extra), &extra)) {
        if (tag == TH_TRACER_ATOM(env, open))
            annotate_data(&annotations, perfetto, ANNOTATION_DRIVER, extra);
        else if (tag == TH_TRACER_ATOM(env, spawn) || tag == TH_TRACER_ATOM(env, spawned))
            annotate_call(&annotations, perfetto, extra);
    }
    draw(process, (struct track_event){INSTANT, category, .key.function = tag, .text = name},
         &annotations);
}

/* A process that runs when it exits ends with its next `out`. */
static void exit_event(ErlNifEnv *env, struct lane *lane)
{
    if (lane->runs)
        timeline_stop(&lane->process);
    else
        timeline_event(env, &lane->process, TH_TRACER_ATOM(env, exit), 0, 0);
}

static void process_event(ErlNifEnv *env, struct lane *lane, ERL_NIF_TERM tag, ERL_NIF_TERM term)
{
    char name[64];

    if (!enif_get_atom(env, tag, name, sizeof name, ERL_NIF_LATIN1))
        return;
    draw_instant(&lane->process, CATEGORY_PROCESS, name);
    if (tag == TH_TRACER_ATOM(env, exit) || tag == TH_TRACER_ATOM(env, closed)) {
        lane->exited = true;
        exit_event(env, lane);
    } else if (tag == TH_TRACER_ATOM(env, register)) {
        timeline_event(env, &lane->process, tag, term, 0);
    }
}

static void running_event(ErlNifEnv *env, struct lane *lane, ERL_NIF_TERM tag, ERL_NIF_TERM term)
{
    struct process *process = &lane->process;
    struct perfetto *perfetto = perfetto_of(process);
    bool in = tag == TH_TRACER_ATOM(env, in) || tag == TH_TRACER_ATOM(env, in_exiting);
    struct track_event event = {.type = in ? SLICE_BEGIN : SLICE_END};
    struct line annotations;

    if (lane->runs == in) {
        perfetto->unpaired++;
        return;
    }
    event.track = write_child_track(process, &tracks_of(process)->running, "running", false);
    line_start(&annotations);
    if (in) {
        event.category = CATEGORY_SCHEDULING;
        event.key.function = TH_TRACER_ATOM(env, in);
        event.text = "running";
        if (!past_is_played()) {
            annotate_call(&annotations, perfetto, term);
            annotate_scheduler(&annotations, perfetto);
        }
    }
    draw(process, event, &annotations);
    lane->runs = in;
    if (lane->exited)
        exit_event(env, lane);
}

enum group { OF_CALLS, OF_PROCESSES, OF_RUNNING };

static void trace_event(ErlNifEnv *env, ERL_NIF_TERM state, ERL_NIF_TERM tracee, ERL_NIF_TERM tag,
                        ERL_NIF_TERM term, ERL_NIF_TERM opts, enum group group)
{
    struct perfetto *perfetto = perfetto_of_state(env, state);
    struct process *process;

    if (!perfetto)
        return;
    pthread_mutex_lock(&perfetto->timeline.lock);
    perfetto->event.env = env;
    perfetto->event.tag = tag;
    perfetto->event.term = term;
    perfetto->event.opts = opts;
    process = timeline_process(&perfetto->timeline, tracee_word(env, tracee));
    if (process) {
        timeline_pass(env, process, opts);
        if (tag == TH_TRACER_ATOM(env, exception_from))
            draw_instant(process, CATEGORY_EXCEPTION, "exception");
        if (group == OF_PROCESSES)
            process_event(env, (struct lane *)process, tag, term);
        else if (group == OF_RUNNING)
            running_event(env, (struct lane *)process, tag, term);
        else
            timeline_event(env, process, tag, term, opts);
    }
    pthread_mutex_unlock(&perfetto->timeline.lock);
}

TH_TRACER_ENABLED(generic)
{
    ERL_NIF_TERM answer = output_enabled(env, tag, state, TH_TRACER_ATOM(env, discard));

    if (output_begins(env, tag, state))
        perfetto_of_state(env, state);
    return answer;
}

#define WANTED(GROUP, KIND)                                     \
    TH_TRACER_ENABLED(GROUP)                                    \
    {                                                           \
        return TH_TRACER_ATOM(env, trace);                      \
    }                                                           \
    TH_TRACER_TRACE(GROUP)                                      \
    {                                                           \
        trace_event(env, state, tracee, tag, term, opts, KIND); \
    }

WANTED(call, OF_CALLS)
WANTED(send, OF_CALLS)
WANTED(receive, OF_CALLS)
WANTED(garbage_collection, OF_CALLS)
WANTED(procs, OF_PROCESSES)
WANTED(ports, OF_PROCESSES)
WANTED(running_procs, OF_RUNNING)
WANTED(running_ports, OF_RUNNING)

/* Mandatory; the generic `enabled` discards these events. */
TH_TRACER_TRACE(generic)
{
}

/* --- Shares --- */

enum { NUMBERS = 12 };

static void numbers_of(struct perfetto *perfetto, uint64_t *numbers[NUMBERS])
{
    struct timeline *timeline = &perfetto->timeline;
    uint64_t *const all[NUMBERS] = {&timeline->others,    &timeline->untimed, &timeline->undrawn,
                                    &timeline->forgotten, &timeline->lost,    &timeline->crossed,
                                    &perfetto->far,       &perfetto->cut,     &perfetto->unlinked,
                                    &perfetto->unpaired,  &perfetto->open,    &perfetto->nodes};

    memcpy(numbers, all, sizeof all);
}

/* Counts the slices that are open at the end of the recording. */
static void count_open(struct perfetto *perfetto)
{
    const struct tracees *processes = &perfetto->timeline.processes;

    for (size_t slot = 0; slot < processes->size; slot++)
        for (const struct tracee *tracee = processes->slots[slot]; tracee; tracee = tracee->next) {
            const struct lane *lane = (const struct lane *)tracee;
            const struct stack *stack = &lane->process.stack;
            for (size_t i = 0; i < stack->used; i++)
                perfetto->open += !stack->frames[i].gone && stack->frames[i].mark;
            perfetto->open += lane->runs + (lane->process.collection != NULL);
        }
}

/* {File, Numbers, Repairs}. */
static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    struct perfetto *perfetto = output->kept;
    ERL_NIF_TERM file = share_save_file(env, output), numbers_list;
    uint64_t *numbers[NUMBERS];

    if (!file || !perfetto || perfetto->timeline.lost)
        return 0;
    numbers_of(perfetto, numbers);
    perfetto->open = 0;
    count_open(perfetto);
    numbers_list = past_save_numbers(env, NUMBERS, (const uint64_t *const *)numbers);
    perfetto->open = 0;
    return enif_make_tuple3(env, file, numbers_list,
                            past_save_repairs(env, &perfetto->timeline.repairs));
}

static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved)
{
    struct perfetto *perfetto =
        perfetto_of_state(env, output->state ? output->state : enif_make_list(env, 0));
    const ERL_NIF_TERM *elements;
    uint64_t *numbers[NUMBERS];
    int size;

    if (!perfetto || !enif_get_tuple(env, saved, &size, &elements) || size != 3 ||
        !share_merge_file(env, output, elements[0]))
        return false;
    timeline_drop(&perfetto->timeline);
    numbers_of(perfetto, numbers);
    return past_take_numbers(env, elements[1], NUMBERS, numbers) &&
           past_take_repairs(env, elements[2], &perfetto->timeline.repairs);
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

static void finish(ErlNifEnv *env, struct perfetto *perfetto)
{
    struct timeline *timeline = &perfetto->timeline;

    count_open(perfetto);
    if (timeline->repairs.doubtful)
        write_labels(perfetto, "doubtful: " STACK_DOUBTFUL);
    timeline_drop(timeline);
    timeline_end(timeline);
    timeline_tell_all("perfetto", timeline);
    timeline_tell("perfetto", "slices without an end", perfetto->open);
    timeline_tell("perfetto", "changes between running and waiting that repeat the one before",
                  perfetto->unpaired);
    timeline_tell("perfetto", "slices ended as their process goes on by another clock",
                  perfetto->cut);
    timeline_tell("perfetto", "messages without a flow, received by another clock than sent",
                  perfetto->unlinked);
    timeline_tell("perfetto", "lengths of queues not drawn, known by another clock alone",
                  timeline->crossed);
    timeline_tell("perfetto",
                  "events with another clock than the first, drawn relative to that clock's first "
                  "record",
                  timeline->others);
    timeline_tell("perfetto", "events without a time stamp, drawn at the latest known time",
                  timeline->untimed);
    timeline_tell("perfetto", "times out of the range of the format", perfetto->far);
    output_report_lost(env, "events", timeline->lost);
    counts_clear(&perfetto->names);
    free(perfetto);
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
                                 {"trace_procs", 5, trace_procs, 0},
                                 {"enabled_ports", 3, enabled_ports, 0},
                                 {"trace_ports", 5, trace_ports, 0},
                                 {"enabled_running_procs", 3, enabled_running_procs, 0},
                                 {"trace_running_procs", 5, trace_running_procs, 0},
                                 {"enabled_running_ports", 3, enabled_running_ports, 0},
                                 {"trace_running_ports", 5, trace_running_ports, 0},
                                 {"enabled_garbage_collection", 3, enabled_garbage_collection, 0},
                                 {"trace_garbage_collection", 5, trace_garbage_collection, 0}};
ERL_NIF_INIT(tracehost_perfetto, callbacks, NULL, NULL, NULL, unload)

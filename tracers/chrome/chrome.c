/*
 * chrome: a recording as Chrome trace events, for Perfetto and chrome://tracing.
 *
 * Each process has a track, with a slice for each call (see ../stack.h) and each collection; an
 * arrow leads from each message sent to its receipt; counters show heaps, in words, and messages
 * that were sent to a process and not received yet. Times are microseconds since the recording's
 * first record, with three decimals, so that no nanosecond is lost; within a track they never go
 * back.
 *
 * The file is written while events come, in whole lines, each of which begins with the comma after
 * the previous one: the format does not need its closing bracket, so the file can be cut off after
 * any line.
 *
 * State: see ../output.h. One lock for each state protects all its data.
 */
#include "../kit/share.h"
#include "../kit/tracee.h"
#include "chrome.h"

unsigned char th_tracer_past = 12;

/* --- Tracks --- */

static void write_call(struct process *process, char kind, const struct frame *frame)
{
    struct line name;

    if (past_is_played()) {
        chrome_of_process(process)->begun = true;
        return;
    }
    line_start(&name);
    line_add_function(&name, frame->mfa.module, frame->mfa.function, frame->mfa.arity);
    write_slice(process, kind, "call", name.text);
    line_drop(&name);
}

static void begin_call(struct process *process, struct frame *frame)
{
    write_call(process, 'B', frame);
}

static void end_call(struct process *process, const struct frame *frame)
{
    write_call(process, 'E', frame);
}

static void draw_collection(struct process *process, bool begins)
{
    write_slice(process, begins ? 'B' : 'E', "gc", process->collection);
}

static void draw_heap(struct process *process, ErlNifUInt64 words)
{
    write_counter(process, "heap", process->last, "words", words);
}

static void draw_message(struct process *process, bool received, const struct message *message,
                         struct process *queue)
{
    const char *name = received ? "receive" : "send";

    write_slice(process, 'B', "message", name);
    if (message)
        write_arrow(process, received ? "f" : "s", message->id);
    if (queue)
        write_counter(queue, "queue", queue->mailbox.counted, "messages", queue->mailbox.waiting);
    write_slice(process, 'E', "message", name);
}

static const struct track_writer writer = {.name = write_name,
                                           .begin = begin_call,
                                           .end = end_call,
                                           .collection = draw_collection,
                                           .heap = draw_heap,
                                           .message = draw_message};

/* --- Events --- */

/* Returns the data of this state, made when the tracer is attached. NULL if there is no memory. */
static struct chrome *chrome_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);
    struct chrome *chrome;

    if (!output)
        return NULL;
    pthread_mutex_lock(&outputs.lock);
    chrome = output->kept;
    if (!chrome && (chrome = calloc(1, sizeof *chrome))) {
        timeline_begin(&chrome->timeline, output->file, &writer, sizeof(struct process));
        chrome->begun = output_is_continued(output);
        if (output->to)
            setvbuf(output->file, NULL, _IOFBF, TIMELINE_BUFFER);
        output->kept = chrome;
    }
    pthread_mutex_unlock(&outputs.lock);
    if (!chrome)
        output_lose();
    return chrome;
}

static void trace_event(ErlNifEnv *env, ERL_NIF_TERM state, ERL_NIF_TERM tracee, ERL_NIF_TERM tag,
                        ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
    struct chrome *chrome = chrome_of(env, state);
    struct process *process;

    if (!chrome)
        return;
    pthread_mutex_lock(&chrome->timeline.lock);
    process = timeline_process(&chrome->timeline, tracee_word(env, tracee));
    if (process) {
        timeline_pass(env, process, opts);
        timeline_event(env, process, tag, term, opts);
    }
    pthread_mutex_unlock(&chrome->timeline.lock);
}

TH_TRACER_ENABLED(generic)
{
    ERL_NIF_TERM answer = output_enabled(env, tag, state, TH_TRACER_ATOM(env, discard));

    if (output_begins(env, tag, state))
        chrome_of(env, state);
    return answer;
}

TH_TRACER_ENABLED(procs)
{
    return tag == TH_TRACER_ATOM(env, register) || tag == TH_TRACER_ATOM(env, exit)
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
WANTED(garbage_collection)
TRACED(procs)

/* Mandatory; the generic `enabled` discards these events. */
TH_TRACER_TRACE(generic)
{
}

/* --- shares --- */

enum { NONE, MINOR, MAJOR }; /* open collection of a process */

/* {Pid, Tid, Last, Collection, Functions}: the drawn functions, the lowest first. */
static ERL_NIF_TERM save_process(ErlNifEnv *env, const struct process *process)
{
    ERL_NIF_TERM functions = enif_make_list(env, 0);
    int collection = !process->collection                           ? NONE
                     : strcmp(process->collection, "gc minor") == 0 ? MINOR
                                                                    : MAJOR;

    for (size_t i = process->stack.used; i > 0; i--) {
        const struct frame *frame = &process->stack.frames[i - 1];
        if (!frame->gone && frame->mark)
            functions = enif_make_list_cell(env, past_save_mfa(env, &frame->mfa), functions);
    }
    return enif_make_tuple5(env, process->tracee.term, enif_make_uint(env, process->tid),
                            enif_make_int64(env, process->last), enif_make_int(env, collection),
                            functions);
}

/* The last process first: each goes to the front of its slot when it is taken over. */
static ERL_NIF_TERM save_processes(ErlNifEnv *env, const struct tracees *processes)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);

    for (size_t slot = 0; slot < processes->size; slot++)
        for (const struct tracee *tracee = processes->slots[slot]; tracee; tracee = tracee->next)
            list =
                enif_make_list_cell(env, save_process(env, (const struct process *)tracee), list);
    return list;
}

enum { NUMBERS = 5 };

static void numbers_of(struct chrome *chrome, uint64_t *numbers[NUMBERS])
{
    struct timeline *timeline = &chrome->timeline;
    uint64_t *const all[NUMBERS] = {&timeline->others, &timeline->untimed, &timeline->undrawn,
                                    &timeline->forgotten, &timeline->lost};

    memcpy(numbers, all, sizeof all);
}

static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    struct chrome *chrome = output->kept;
    ERL_NIF_TERM file = share_save_file(env, output);
    uint64_t *numbers[NUMBERS];

    if (!file || !chrome || chrome->timeline.lost)
        return 0;
    numbers_of(chrome, numbers);
    return enif_make_tuple6(env, file, enif_make_int(env, chrome->begun),
                            past_save_numbers(env, NUMBERS, (const uint64_t *const *)numbers),
                            past_save_repairs(env, &chrome->timeline.repairs),
                            enif_make_uint64(env, chrome->timeline.processes.size),
                            save_processes(env, &chrome->timeline.processes));
}

static bool take_process(ErlNifEnv *env, struct chrome *chrome, ERL_NIF_TERM saved)
{
    static const char *const collections[] = {[MINOR] = "gc minor", [MAJOR] = "gc major"};
    const ERL_NIF_TERM *elements;
    struct process *process;
    ErlNifSInt64 last;
    ERL_NIF_TERM functions, head;
    int size, collection;
    struct mfa mfa;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != 5 ||
        !(process = timeline_process(&chrome->timeline, elements[0])) ||
        !enif_get_uint(env, elements[1], &process->tid) ||
        !enif_get_int64(env, elements[2], &last) || !enif_get_int(env, elements[3], &collection))
        return false;
    process->last = last;
    process->collection = collections[collection];
    functions = elements[4];
    process->stack.entered = NULL;
    while (enif_get_list_cell(env, functions, &head, &functions)) {
        if (!past_take_mfa(env, head, &mfa))
            return false;
        stack_call(&process->stack, &mfa, &(struct mfa){0});
        process->stack.frames[process->stack.used - 1].mark = 1;
    }
    return true;
}

/* Replaces the processes, without drawing the ends of their calls. */
static bool take_processes(ErlNifEnv *env, struct chrome *chrome, uint64_t size, ERL_NIF_TERM list)
{
    struct tracees *processes = &chrome->timeline.processes;
    ERL_NIF_TERM head;

    timeline_drop(&chrome->timeline);
    *processes =
        (struct tracees){.slots = calloc(size + !size, sizeof(struct tracee *)), .size = size};
    while (processes->slots && enif_get_list_cell(env, list, &head, &list))
        if (!take_process(env, chrome, head))
            return false;
    return processes->slots;
}

static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved)
{
    struct chrome *chrome = chrome_of(env, output->state ? output->state : enif_make_list(env, 0));
    const ERL_NIF_TERM *elements;
    uint64_t *numbers[NUMBERS];
    ErlNifUInt64 slots;
    int size, begun;

    if (!chrome || !enif_get_tuple(env, saved, &size, &elements) || size != 6 ||
        !enif_get_int(env, elements[1], &begun) || !enif_get_uint64(env, elements[4], &slots) ||
        !share_merge_file(env, output, elements[0]))
        return false;
    numbers_of(chrome, numbers);
    chrome->begun = begun;
    return past_take_numbers(env, elements[2], NUMBERS, numbers) &&
           past_take_repairs(env, elements[3], &chrome->timeline.repairs) &&
           take_processes(env, chrome, slots, elements[5]);
}

TH_TRACER_SAVE()
{
    return share_save(env, save_output);
}

TH_TRACER_MERGE()
{
    return share_merge(env, saved, merge_output);
}

/* --- the end --- */

static void finish(ErlNifEnv *env, struct chrome *chrome)
{
    struct timeline *timeline = &chrome->timeline;

    timeline_end(timeline);
    if (timeline->repairs.doubtful)
        write_label(chrome, "doubtful: " STACK_DOUBTFUL);
    fputs(chrome->begun ? "]\n" : "[]\n", timeline->file);
    timeline_tell_all("chrome", timeline);
    timeline_tell("chrome",
                  "events with another clock than the first, drawn relative to that clock's first "
                  "record",
                  timeline->others);
    timeline_tell("chrome", "events without a time stamp, drawn at the latest known time",
                  timeline->untimed);
    output_report_lost(env, "events", timeline->lost);
    free(chrome);
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
                                 {"enabled_garbage_collection", 3, enabled_garbage_collection, 0},
                                 {"trace_garbage_collection", 5, trace_garbage_collection, 0}};
ERL_NIF_INIT(tracehost_chrome, callbacks, NULL, NULL, NULL, unload)

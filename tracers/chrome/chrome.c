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
#include "../kit/moment.h"
#include "../kit/share.h"
#include "../kit/tracee.h"
#include "chrome.h"

unsigned char th_tracer_past = 12;

/* TIME is never before an earlier one; the sender's clock may be behind. */
static void write_waiting(struct process *process, int64_t time)
{
    struct mailbox *mailbox = &process->mailbox;

    if (!mailbox->receives)
        return;
    mailbox->counted = time > mailbox->counted ? time : mailbox->counted;
    write_counter(process, "queue", mailbox->counted, "messages", mailbox->waiting);
}

/* --- processes --- */

static void write_call(struct process *process, char kind, const struct mfa *mfa)
{
    struct line name;

    if (past_is_played()) {
        process->chrome->begun = true;
        return;
    }
    line_start(&name);
    line_add_function(&name, mfa->module, mfa->function, mfa->arity);
    write_slice(process, kind, "call", name.text);
    line_drop(&name);
}

static void entered(void *of, struct frame *frame)
{
    struct process *process = of;

    frame->mark = process->stack.shown <= STACK_DRAWN;
    process->chrome->undrawn += !frame->mark;
    if (frame->mark)
        write_call(process, 'B', &frame->mfa);
}

static void left(void *of, struct frame *frame)
{
    if (frame->mark)
        write_call(of, 'E', &frame->mfa);
}

static struct process *process_of(struct chrome *chrome, ERL_NIF_TERM tracee)
{
    struct process *process = tracees_find(&chrome->processes, tracee);

    if (process)
        return process;
    process = tracees_add(&chrome->processes, tracee, sizeof *process);
    if (!process) {
        chrome->lost++;
        return NULL;
    }
    process->chrome = chrome;
    process->tid = ++chrome->tids;
    process->last = process->mailbox.counted = INT64_MIN;
    process->mailbox.end = &process->mailbox.first;
    process->stack = (struct stack){
        .repairs = &chrome->repairs, .entered = entered, .left = left, .of = process};
    return process;
}

/* Returns the time since the zero of the event's clock, see ../moment.h. If some events have time
 * stamps, an event without one gets the time of the latest of them: the tracer's own clock may be
 * another one. */
static int64_t time_of(ErlNifEnv *env, struct chrome *chrome, ERL_NIF_TERM opts)
{
    struct moment moment = moment_take(env, opts, ERL_NIF_NSEC);
    int64_t now = moment.time;

    if (moment.stamped && !chrome->timed) {
        chrome->timed = true;
        chrome->clock = moment.clock;
        chrome->base = now - chrome->latest;
    } else if (!moment.stamped && chrome->timed) {
        chrome->untimed++;
        return chrome->latest;
    }
    chrome->others += chrome->timed && moment.clock != chrome->clock;
    if (moment.clock == NODE_CLOCK)
        now = moment_between(chrome->base, now);
    chrome->latest = now > chrome->latest ? now : chrome->latest;
    return now;
}

/* Advances the process's clock, which never goes back. */
static void pass_time(ErlNifEnv *env, struct process *process, ERL_NIF_TERM opts)
{
    int64_t now = time_of(env, process->chrome, opts);

    if (process->last == INT64_MIN) /* until now it has only received messages */
        write_name(process);
    process->last = now > process->last ? now : process->last;
}

static void stop_collecting(struct process *process)
{
    if (process->collection)
        write_slice(process, 'E', "gc", process->collection);
    process->collection = NULL;
}

static void take_first(struct mailbox *mailbox, struct message **at)
{
    struct message *message = *at;

    *at = message->next;
    if (!message->next)
        mailbox->end = at;
    mailbox->waiting--;
    free(message);
}

static void free_process(struct process *process)
{
    stop_collecting(process);
    stack_cut(&process->stack, 0);
    stack_free(&process->stack);
    while (process->mailbox.first)
        take_first(&process->mailbox, &process->mailbox.first);
    tracees_remove(&process->chrome->processes, &process->tracee);
    free(process);
}

/* --- events --- */

static ErlNifUInt64 hash_of(ERL_NIF_TERM message)
{
    return enif_hash(ERL_NIF_INTERNAL_HASH, message, 0);
}

/* Returns the process that gets a message; NULL if it is not local, or its name is unknown. */
static struct process *receiver_of(ErlNifEnv *env, struct chrome *chrome, ERL_NIF_TERM to)
{
    ErlNifPid pid;

    if (names_are_key(env, to))
        return tracees_find(&chrome->processes, names_find(&chrome->names, to));
    return enif_get_local_pid(env, to, &pid) ? process_of(chrome, pid.pid) : NULL;
}

static void send_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM message,
                       ERL_NIF_TERM opts)
{
    struct chrome *chrome = process->chrome;
    ErlNifUInt64 hash = hash_of(message);
    struct process *receiver = NULL;
    struct message *sent;
    struct mailbox *mailbox;
    ERL_NIF_TERM to;

    write_slice(process, 'B', "message", "send");
    if (enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &to)) {
        to = receivers_name(env, process->tracee.term, to);
        receiver = receiver_of(env, chrome, to);
        receivers_sent(&chrome->receivers, hash,
                       names_are_told(&chrome->names, to) && receiver ? receiver->tracee.term : to);
    }
    sent = receiver ? malloc(sizeof *sent) : NULL;
    if (sent) {
        mailbox = &receiver->mailbox;
        if (mailbox->waiting == WAITING_MOST) {
            take_first(mailbox, &mailbox->first);
            chrome->forgotten++;
        }
        *sent = (struct message){NULL, hash, ++chrome->ids};
        *mailbox->end = sent;
        mailbox->end = &sent->next;
        mailbox->waiting++;
        write_arrow(process, "s", sent->id);
        write_waiting(receiver, process->last);
    }
    write_slice(process, 'E', "message", "send");
}

/* Receives the first message with that content that was sent to the process. */
static void receive_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM message)
{
    struct mailbox *mailbox = &process->mailbox;
    struct message **at = &mailbox->first;
    ErlNifUInt64 hash = hash_of(message);
    ERL_NIF_TERM pid = process->tracee.term, name;

    name = receivers_received(env, &process->chrome->receivers, hash, pid);
    if (name)
        names_guess(&process->chrome->names, name, pid, SIZE_MAX);
    mailbox->receives = true;
    write_slice(process, 'B', "message", "receive");
    while (*at && (*at)->hash != hash)
        at = &(*at)->next;
    if (*at) {
        write_arrow(process, "f", (*at)->id);
        take_first(mailbox, at);
        write_waiting(process, process->last);
    }
    write_slice(process, 'E', "message", "receive");
}

static void call_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM tag, ERL_NIF_TERM term,
                       ERL_NIF_TERM opts)
{
    struct mfa mfa;

    if (!mfa_read(env, term, &mfa))
        return;
    stop_collecting(process);
    stack_event(env, &process->stack, tag, &mfa, opts);
}

/* Returns an entry of SIZES, in words; 0 if there is none. */
static ErlNifUInt64 size_of(ErlNifEnv *env, ERL_NIF_TERM sizes, ERL_NIF_TERM key)
{
    const ERL_NIF_TERM *pair;
    ErlNifUInt64 value = 0;
    ERL_NIF_TERM element;
    int size;

    while (enif_get_list_cell(env, sizes, &element, &sizes))
        if (enif_get_tuple(env, element, &size, &pair) && size == 2 && pair[0] == key)
            enif_get_uint64(env, pair[1], &value);
    return value;
}

static void collection_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM tag,
                             ERL_NIF_TERM sizes)
{
    stop_collecting(process);
    if (tag == TH_TRACER_ATOM(env, gc_minor_start) || tag == TH_TRACER_ATOM(env, gc_major_start)) {
        process->collection = tag == TH_TRACER_ATOM(env, gc_minor_start) ? "gc minor" : "gc major";
        write_slice(process, 'B', "gc", process->collection);
    }
    write_counter(process, "heap", process->last, "words",
                  size_of(env, sizes, TH_TRACER_ATOM(env, heap_size)) +
                      size_of(env, sizes, TH_TRACER_ATOM(env, old_heap_size)));
}

static void register_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM term)
{
    if (!enif_is_atom(env, term))
        return;
    names_give(&process->chrome->names, names_key(term, process->tracee.term), process->tracee.term,
               SIZE_MAX);
    process->tracee.name = term;
    write_name(process);
}

static void event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM tag, ERL_NIF_TERM term,
                  ERL_NIF_TERM opts)
{
    if (tag == TH_TRACER_ATOM(env, send) ||
        tag == TH_TRACER_ATOM(env, send_to_non_existing_process))
        send_event(env, process, term, opts);
    else if (tag == TH_TRACER_ATOM(env, receive))
        receive_event(env, process, term);
    else if (tag == TH_TRACER_ATOM(env, register))
        register_event(env, process, term);
    else if (tag == TH_TRACER_ATOM(env, exit))
        free_process(process);
    else if (enif_is_list(env, term))
        collection_event(env, process, tag, term);
    else
        call_event(env, process, tag, term, opts);
}

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
        pthread_mutex_init(&chrome->lock, NULL);
        chrome->file = output->file;
        chrome->begun = output_is_continued(output);
        chrome->base = enif_monotonic_time(ERL_NIF_NSEC);
        if (output->to)
            setvbuf(chrome->file, NULL, _IOFBF, BUFFER);
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
    pthread_mutex_lock(&chrome->lock);
    process = process_of(chrome, tracee_word(env, tracee));
    if (process) {
        pass_time(env, process, opts);
        event(env, process, tag, term, opts);
    }
    pthread_mutex_unlock(&chrome->lock);
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
    uint64_t *const all[NUMBERS] = {&chrome->others, &chrome->untimed, &chrome->undrawn,
                                    &chrome->forgotten, &chrome->lost};

    memcpy(numbers, all, sizeof all);
}

static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    struct chrome *chrome = output->kept;
    ERL_NIF_TERM file = share_save_file(env, output);
    uint64_t *numbers[NUMBERS];

    if (!file || !chrome || chrome->lost)
        return 0;
    numbers_of(chrome, numbers);
    return enif_make_tuple6(env, file, enif_make_int(env, chrome->begun),
                            past_save_numbers(env, NUMBERS, (const uint64_t *const *)numbers),
                            past_save_repairs(env, &chrome->repairs),
                            enif_make_uint64(env, chrome->processes.size),
                            save_processes(env, &chrome->processes));
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
        !(process = process_of(chrome, elements[0])) ||
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
    struct tracees *processes = &chrome->processes;
    struct process *process;
    ERL_NIF_TERM head;
    size_t slot = 0;

    while ((process = tracees_any(processes, &slot))) {
        process->collection = NULL;
        process->stack.used = 0;
        free_process(process);
    }
    free(processes->slots);
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
           past_take_repairs(env, elements[3], &chrome->repairs) &&
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

static void tell(const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "chrome: %s: %llu\n", what, (unsigned long long)count);
}

static void finish(ErlNifEnv *env, struct chrome *chrome)
{
    struct process *process;
    size_t slot = 0;

    while ((process = tracees_any(&chrome->processes, &slot)))
        free_process(process);
    names_free(&chrome->names);
    if (chrome->repairs.doubtful)
        write_label(chrome, "doubtful: " STACK_DOUBTFUL);
    fputs(chrome->begun ? "]\n" : "[]\n", chrome->file);
    tell("calls ended by the return of a caller", chrome->repairs.cut);
    tell("returns of unknown calls", chrome->repairs.uncalled);
    stack_tell_doubts("chrome", &chrome->repairs);
    tell("calls too deep to be drawn", chrome->undrawn + chrome->repairs.beyond);
    tell("messages without an arrow, forgotten before their receipt, as too many were waiting",
         chrome->forgotten);
    tell("events with another clock than the first, drawn relative to that clock's first record",
         chrome->others);
    tell("events without a time stamp, drawn at the latest known time", chrome->untimed);
    output_report_lost(env, "events", chrome->lost);
    free(chrome->processes.slots);
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
ERL_NIF_INIT(chrome, callbacks, NULL, NULL, NULL, unload)

#include "timeline.h"

static void call_begin(void *of, struct frame *frame)
{
    struct process *process = of;

    frame->mark = process->stack.shown <= STACK_DRAWN;
    process->timeline->undrawn += !frame->mark;
    if (frame->mark)
        process->timeline->writer->begin(process, frame);
}

static void call_end(void *of, struct frame *frame)
{
    struct process *process = of;

    if (frame->mark)
        process->timeline->writer->end(process, frame);
}

void timeline_begin(struct timeline *timeline, FILE *file, const struct track_writer *writer,
                    size_t size)
{
    pthread_mutex_init(&timeline->lock, NULL);
    timeline->file = file;
    timeline->writer = writer;
    timeline->size = size;
    timeline->base = enif_monotonic_time(ERL_NIF_NSEC);
}

struct process *timeline_process(struct timeline *timeline, ERL_NIF_TERM tracee)
{
    struct process *process = tracees_find(&timeline->processes, tracee);

    if (process)
        return process;
    process = tracees_add(&timeline->processes, tracee, timeline->size);
    if (!process) {
        timeline->lost++;
        return NULL;
    }
    process->timeline = timeline;
    process->tid = ++timeline->tids;
    process->last = process->mailbox.counted = INT64_MIN;
    process->mailbox.end = &process->mailbox.first;
    process->stack = (struct stack){
        .repairs = &timeline->repairs, .entered = call_begin, .left = call_end, .of = process};
    return process;
}

/* --- Times --- */

/* Returns the time since the zero of the event's clock. If some events have time stamps, an event
 * without one gets the time of the latest of them: the tracer's own clock may be another one. */
static int64_t time_of(ErlNifEnv *env, struct process *process, ERL_NIF_TERM opts, unsigned *clock)
{
    struct timeline *timeline = process->timeline;
    struct moment moment = moment_take(env, opts, ERL_NIF_NSEC);
    int64_t now = moment.time;

    *clock = moment.clock;
    if (moment.stamped && !timeline->timed) {
        timeline->timed = true;
        timeline->clock = moment.clock;
        timeline->base = now - timeline->latest;
    } else if (!moment.stamped && timeline->timed) {
        timeline->untimed++;
        *clock = process->last == INT64_MIN ? timeline->clock : process->clock;
        return timeline->writer->clock ? timeline->by_clock[*clock] : timeline->latest;
    }
    timeline->others += timeline->timed && moment.clock != timeline->clock;
    if (moment.clock == NODE_CLOCK)
        now = moment_between(timeline->base, now);
    timeline->latest = now > timeline->latest ? now : timeline->latest;
    if (now > timeline->by_clock[*clock])
        timeline->by_clock[*clock] = now;
    return now;
}

void timeline_pass(ErlNifEnv *env, struct process *process, ERL_NIF_TERM opts)
{
    const struct track_writer *writer = process->timeline->writer;
    unsigned clock;
    int64_t now = time_of(env, process, opts, &clock);

    if (writer->clock && process->last != INT64_MIN && clock != process->clock)
        process->last = process->mailbox.counted = writer->clock(process, clock);
    process->clock = clock;
    /* Until now the process has only received messages, or had another clock. */
    if (process->last == INT64_MIN && writer->name)
        writer->name(process);
    process->last = now > process->last ? now : process->last;
}

/* --- The end of a process --- */

static void stop_collecting(struct process *process)
{
    if (process->collection)
        process->timeline->writer->collection(process, false);
    process->collection = NULL;
}

/* Removes the message at AT; the caller frees it. */
static struct message *take_message(struct mailbox *mailbox, struct message **at)
{
    struct message *message = *at;

    *at = message->next;
    if (!message->next)
        mailbox->end = at;
    mailbox->waiting--;
    return message;
}

void timeline_stop(struct process *process)
{
    stop_collecting(process);
    stack_cut(&process->stack, 0);
}

static void free_process(struct process *process)
{
    timeline_stop(process);
    stack_free(&process->stack);
    while (process->mailbox.first)
        free(take_message(&process->mailbox, &process->mailbox.first));
    tracees_remove(&process->timeline->processes, &process->tracee);
    free(process);
}

static void free_processes(struct timeline *timeline)
{
    struct process *process;
    size_t slot = 0;

    while ((process = tracees_any(&timeline->processes, &slot)))
        free_process(process);
    free(timeline->processes.slots);
    timeline->processes = (struct tracees){0};
}

void timeline_drop(struct timeline *timeline)
{
    for (size_t slot = 0; slot < timeline->processes.size; slot++)
        for (struct tracee *tracee = timeline->processes.slots[slot]; tracee;
             tracee = tracee->next) {
            struct process *process = (struct process *)tracee;
            process->collection = NULL;
            process->stack.used = 0;
        }
    free_processes(timeline);
}

void timeline_end(struct timeline *timeline)
{
    free_processes(timeline);
    names_free(&timeline->names);
}

/* --- Messages --- */

static ErlNifUInt64 hash_of(ERL_NIF_TERM message)
{
    return enif_hash(ERL_NIF_INTERNAL_HASH, message, 0);
}

/* Returns the process that gets a message; NULL if it is not local, or its name is unknown. */
static struct process *receiver_of(ErlNifEnv *env, struct timeline *timeline, ERL_NIF_TERM to)
{
    ErlNifPid pid;

    if (names_are_key(env, to))
        return tracees_find(&timeline->processes, names_find(&timeline->names, to));
    return enif_get_local_pid(env, to, &pid) ? timeline_process(timeline, pid.pid) : NULL;
}

/* Returns RECEIVER if PROCESS changes its queue, and the queue is drawn. The time is never before an
 * earlier one; the sender's clock may be behind. */
static struct process *queue_at(const struct process *process, struct process *receiver)
{
    struct mailbox *mailbox = &receiver->mailbox;

    if (!mailbox->receives)
        return NULL;
    if (process->timeline->writer->clock && receiver->clock != process->clock) {
        process->timeline->crossed++;
        return NULL;
    }
    mailbox->counted = process->last > mailbox->counted ? process->last : mailbox->counted;
    return receiver;
}

/* Returns the message that PROCESS has sent to RECEIVER. NULL, and counted, if there is no memory. */
static struct message *add_message(const struct process *process, struct process *receiver,
                                   ErlNifUInt64 hash)
{
    struct timeline *timeline = process->timeline;
    struct mailbox *mailbox = &receiver->mailbox;
    struct message *sent = malloc(sizeof *sent);

    if (!sent) {
        loss_add();
        return NULL;
    }
    if (mailbox->waiting == TIMELINE_WAITING) {
        free(take_message(mailbox, &mailbox->first));
        timeline->forgotten++;
    }
    *sent = (struct message){NULL, hash, ++timeline->ids, process->clock};
    *mailbox->end = sent;
    mailbox->end = &sent->next;
    mailbox->waiting++;
    return sent;
}

static void send_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM message,
                       ERL_NIF_TERM opts)
{
    struct timeline *timeline = process->timeline;
    ErlNifUInt64 hash = hash_of(message);
    struct process *receiver = NULL;
    struct message *sent;
    ERL_NIF_TERM to;

    if (enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &to)) {
        to = receivers_name(env, process->tracee.term, to);
        receiver = receiver_of(env, timeline, to);
        receivers_sent(&timeline->receivers, hash,
                       names_are_told(&timeline->names, to) && receiver ? receiver->tracee.term
                                                                        : to);
    }
    sent = receiver ? add_message(process, receiver, hash) : NULL;
    timeline->writer->message(process, false, sent, sent ? queue_at(process, receiver) : NULL);
}

/* Receives the first message with that content that was sent to the process. */
static void receive_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM message)
{
    struct timeline *timeline = process->timeline;
    struct mailbox *mailbox = &process->mailbox;
    struct message **at = &mailbox->first, *received;
    ErlNifUInt64 hash = hash_of(message);
    ERL_NIF_TERM pid = process->tracee.term, name;

    name = receivers_received(env, &timeline->receivers, hash, pid);
    if (name)
        names_guess(&timeline->names, name, pid, SIZE_MAX);
    mailbox->receives = true;
    while (*at && (*at)->hash != hash)
        at = &(*at)->next;
    received = *at ? take_message(mailbox, at) : NULL;
    timeline->writer->message(process, true, received,
                              received ? queue_at(process, process) : NULL);
    free(received);
}

/* --- Other events --- */

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
    const struct track_writer *writer = process->timeline->writer;

    stop_collecting(process);
    if (tag == TH_TRACER_ATOM(env, gc_minor_start) || tag == TH_TRACER_ATOM(env, gc_major_start)) {
        process->collection = tag == TH_TRACER_ATOM(env, gc_minor_start) ? "gc minor" : "gc major";
        writer->collection(process, true);
    }
    writer->heap(process, size_of(env, sizes, TH_TRACER_ATOM(env, heap_size)) +
                              size_of(env, sizes, TH_TRACER_ATOM(env, old_heap_size)));
}

static void register_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM term)
{
    if (!enif_is_atom(env, term))
        return;
    names_give(&process->timeline->names, names_key(term, process->tracee.term),
               process->tracee.term, SIZE_MAX);
    process->tracee.name = term;
    if (process->timeline->writer->name)
        process->timeline->writer->name(process);
}

void timeline_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM tag, ERL_NIF_TERM term,
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
    else if (process->timeline->writer->heap && enif_is_list(env, term))
        collection_event(env, process, tag, term);
    else
        call_event(env, process, tag, term, opts);
}

/* --- The file --- */

void timeline_written(struct timeline *timeline, size_t size)
{
    timeline->unflushed += size;
    if (timeline->unflushed < TIMELINE_BUFFER / 2)
        return;
    fflush(timeline->file);
    timeline->unflushed = 0;
}

void timeline_tell(const char *tracer, const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "%s: %s: %llu\n", tracer, what, (unsigned long long)count);
}

void timeline_tell_all(const char *tracer, const struct timeline *timeline)
{
    const struct repairs *repairs = &timeline->repairs;

    timeline_tell(tracer, "calls ended by the return of a caller", repairs->cut);
    timeline_tell(tracer, "returns of unknown calls", repairs->uncalled);
    stack_tell_doubts(tracer, repairs);
    timeline_tell(tracer, "calls too deep to be drawn", timeline->undrawn + repairs->beyond);
    timeline_tell(tracer,
                  "messages without an arrow, forgotten before their receipt, as too many were "
                  "waiting",
                  timeline->forgotten);
}

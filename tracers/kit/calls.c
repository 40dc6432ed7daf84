#include "calls.h"

#include "tracees.h"

#include <string.h>

void calls_init(struct calls *calls, size_t frames_max)
{
    memset(calls, 0, sizeof *calls);
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&calls->shards[i].lock, NULL);
        calls->shards[i].calls = calls;
        calls->shards[i].frames_max = frames_max > 2 ? frames_max : 2;
    }
}

static void free_processes(struct process_calls *process)
{
    while (process) {
        struct process_calls *next = process->next;
        free(process->frames);
        free(process->open.slots);
        free(process);
        process = next;
    }
}

void calls_free(struct calls *calls)
{
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &calls->shards[i];
        for (size_t j = 0; j < shard->size; j++)
            free_processes(shard->buckets[j]);
        free_processes(shard->unused);
        free(shard->buckets);
        pthread_mutex_destroy(&shard->lock);
    }
}

struct shard *calls_shard(struct calls *calls, ERL_NIF_TERM process)
{
    return &calls->shards[tracees_hash(process) >> 58];
}

struct shard *calls_enter(struct calls *calls, ERL_NIF_TERM process)
{
    struct shard *shard = calls_shard(calls, process);

    pthread_mutex_lock(&shard->lock);
    return shard;
}

void calls_leave(struct shard *shard)
{
    pthread_mutex_unlock(&shard->lock);
}

/* --- The processes of a shard --- */

static struct process_calls **bucket(const struct shard *shard, ERL_NIF_TERM process)
{
    return &shard->buckets[(tracees_hash(process) >> 32) & (shard->size - 1)];
}

struct process_calls *calls_of(struct shard *shard, ERL_NIF_TERM word)
{
    struct process_calls *process = shard->latest;

    if (process && process->word == word)
        return process;
    process = shard->size ? *bucket(shard, word) : NULL;
    while (process && process->word != word)
        process = process->next;
    shard->latest = process;
    return process;
}

/* Doubles the buckets. Without memory they stay as they are. */
static void grow(struct shard *shard)
{
    struct shard old = *shard;
    size_t size = old.size ? 2 * old.size : 16;
    struct process_calls **buckets = calloc(size, sizeof(struct process_calls *));

    if (!buckets)
        return;
    shard->buckets = buckets;
    shard->size = size;
    for (size_t i = 0; i < old.size; i++)
        for (struct process_calls *process = old.buckets[i], *next; process; process = next) {
            next = process->next;
            process->next = *bucket(shard, process->word);
            *bucket(shard, process->word) = process;
        }
    free(old.buckets);
}

/* Adds a process with an empty stack. NULL if there is no memory. */
static struct process_calls *add(struct shard *shard, ERL_NIF_TERM word)
{
    struct process_calls *process = shard->unused;

    if (shard->processes >= shard->size)
        grow(shard);
    if (!shard->size)
        return NULL;
    if (process)
        shard->unused = process->next;
    else
        process = calloc(1, sizeof *process);
    if (!process)
        return NULL;
    process->word = word;
    process->returned = false;
    process->schedule = (struct schedule){0};
    process->next = *bucket(shard, word);
    *bucket(shard, word) = process;
    shard->processes++;
    return process;
}

/* Removes a process without open calls: so any number of processes may come and go. */
static void drop(struct shard *shard, struct process_calls *process)
{
    struct process_calls **link = bucket(shard, process->word);

    while (*link != process)
        link = &(*link)->next;
    shard->latest = NULL;
    *link = process->next;
    process->next = shard->unused;
    shard->unused = process;
    shard->processes--;
}

/* Removes a process without open calls, unless it is known whether it is on a scheduler. */
static void drop_if_idle(struct shard *shard, struct process_calls *process)
{
    bool scheduled = process->schedule.state != SCHEDULE_UNKNOWN;

    if (process->used || (scheduled && shard->processes <= SCHEDULED_MOST))
        return;
    shard->unwatched += scheduled;
    drop(shard, process);
}

/* --- Stacks --- */

static struct count function_of(const struct mfa *mfa)
{
    return (struct count){.module = mfa->module, .function = mfa->function, .arity = mfa->arity};
}

static struct count *open_calls(const struct process_calls *process, const struct count *function)
{
    struct count *place = process->open.size ? counts_place(&process->open, function) : NULL;

    return place && place->function && place->events ? place : NULL;
}

static void forget_older_half(struct shard *shard, struct process_calls *process)
{
    size_t half = process->used / 2;

    for (size_t i = 0; i < half; i++) {
        process->open.slots[process->frames[i].open].events--;
        process->alone -= process->frames[i].doubted;
        if (shard->calls->forgets)
            shard->calls->forgets(shard->calls->of, &process->frames[i]);
    }
    memmove(process->frames, process->frames + half,
            (process->used - half) * sizeof(struct open_call));
    process->used -= half;
    process->doubted -= half < process->doubted ? half : process->doubted;
    shard->forgotten += half;
}

/* False if there is no memory. */
static bool make_room(struct shard *shard, struct process_calls *process)
{
    size_t size = process->size ? 2 * process->size : 16;
    struct open_call *frames;

    if (process->used >= shard->frames_max)
        forget_older_half(shard, process);
    if (process->used < process->size)
        return true;
    frames = realloc(process->frames, size * sizeof *frames);
    if (!frames)
        return false;
    process->frames = frames;
    process->size = size;
    return true;
}

/* Adds FUNCTION to the functions with open calls. NULL if there is no memory. */
static __attribute__((noinline)) struct count *add_open(struct process_calls *process,
                                                        const struct count *function)
{
    size_t size = process->open.size;
    uint64_t lost = process->open.lost;
    struct count one = *function;

    one.events = 1; /* for `lost` */
    counts_insert(&process->open, &one);
    for (size_t i = 0; i < process->used && process->open.size != size; i++) {
        one = function_of(&process->frames[i].mfa);
        process->frames[i].open =
            (uint32_t)(counts_place(&process->open, &one) - process->open.slots);
    }
    if (process->open.lost != lost)
        return NULL;
    counts_place(&process->open, function)->events = 0;
    return counts_place(&process->open, function);
}

/* False if there is no memory. */
static bool push(struct shard *shard, struct process_calls *process, const struct count *function,
                 const struct mfa *caller, int64_t now, uint32_t mark)
{
    struct count *open;

    if (!make_room(shard, process))
        return false;
    open = process->open.size ? counts_place(&process->open, function) : NULL;
    if ((!open || !open->function) && !(open = add_open(process, function)))
        return false;
    open->events++;
    process->frames[process->used++] =
        (struct open_call){.mfa = {function->module, function->function, function->arity},
                           .caller = *caller,
                           .mark = mark,
                           .open = (uint32_t)(open - process->open.slots),
                           .began = now,
                           .before = process->schedule.spent};
    return true;
}

/* Returns whether the call with index I is doubted. */
static bool calls_are_doubted(const struct process_calls *process, size_t i)
{
    return i < process->doubted || process->frames[i].doubted;
}

/* Doubts call I. True if it was not doubted. */
static bool doubt_one(struct process_calls *process, size_t i)
{
    bool more = !calls_are_doubted(process, i);

    process->alone += more;
    process->frames[i].doubted |= more;
    return more;
}

/* CALLER, which runs, makes a call: calls above its own call have ended before, except by tail
 * calls. */
static void doubt_above(struct process_calls *process, const struct mfa *caller)
{
    struct count function = function_of(caller);
    size_t i = process->used;

    if (!i || mfa_same(&process->frames[i - 1].mfa, caller) || !open_calls(process, &function))
        return;
    for (; !mfa_same(&process->frames[i - 1].mfa, caller) &&
           !mfa_same(&process->frames[i - 1].caller, caller);
         i--)
        doubt_one(process, i - 1);
}

bool calls_begin(struct shard *shard, ERL_NIF_TERM word, const struct count *function,
                 const struct mfa *caller, int64_t now, uint32_t mark)
{
    struct process_calls *process = calls_of(shard, word);

    if (!process)
        process = add(shard, word);
    if (process && caller->module)
        doubt_above(process, caller);
    if (process) {
        process->returned = false;
        schedule_run(&process->schedule, now);
    }
    if (process && push(shard, process, function, caller, now, mark))
        return true;
    shard->lost++;
    return false;
}

/* Pops a call. NOW is the end of the innermost call; TIME_NONE, and not TOLD, if no event reported
 * it. */
static void pop(struct process_calls *process, int64_t now, bool told, struct ended *ended)
{
    struct open_call *frame = &process->frames[--process->used];
    struct count *open = &process->open.slots[frame->open];

    open->events--;
    process->alone -= frame->doubted;
    if (process->doubted > process->used)
        process->doubted = process->used;
    ended->frame = *frame;
    ended->told = told;
    ended->outermost = open->events == 0;
    ended->took = TIME_NONE;
    ended->spent = (struct spent){0};
    if (now != TIME_NONE && frame->began != TIME_NONE)
        ended->took = now > frame->began ? now - frame->began : 0; /* system time may jump back */
    if (ended->took != TIME_NONE)
        ended->spent =
            schedule_since(process->schedule.spent, frame->before, (uint64_t)ended->took);
    if (!process->used)
        return;
    frame[-1].callees += ended->took == TIME_NONE ? frame->callees : (uint64_t)ended->took;
    schedule_add(&frame[-1].by_them, ended->took == TIME_NONE ? frame->by_them : ended->spent);
}

bool calls_end(struct shard *shard, ERL_NIF_TERM word, const struct count *function, int64_t now,
               struct ended *ended)
{
    struct process_calls *process = calls_of(shard, word);
    struct mfa mfa = {function->module, function->function, function->arity};
    bool told;

    if (!process)
        return false;
    process->returned = true;
    schedule_run(&process->schedule, now);
    if (!open_calls(process, function))
        return false;
    told = mfa_same(&process->frames[process->used - 1].mfa, &mfa);
    pop(process, told ? now : TIME_NONE, told, ended);
    drop_if_idle(shard, process);
    return true;
}

/* --- return_to: rules in calls.h --- */

/* Doubts the lowest COUNT calls. True if one of them was not doubted. */
static bool doubt_lowest(struct process_calls *process, size_t count)
{
    bool more = count > process->doubted;

    if (more)
        process->doubted = count;
    return more;
}

/* Returns the index plus 1 of the nearest call of TO below number END; 0: none. */
static size_t nearest_call(const struct process_calls *process, size_t end, const struct mfa *to)
{
    while (end > 0 && !mfa_same(&process->frames[end - 1].mfa, to))
        end--;
    return end;
}

/* Returns the index plus 1 of the nearest call whose caller is TO; 0: none. */
static size_t nearest_called(const struct process_calls *process, const struct mfa *to)
{
    size_t end = process->used;

    while (end > 0 && !mfa_same(&process->frames[end - 1].caller, to))
        end--;
    return end;
}

/* Doubts call I, to which control returns, if control may return to another call of its function
 * instead: that call has then made tail calls up to call I, which have ended. OPEN: number of open
 * calls of the function, up to the top. */
static bool doubt_target(struct process_calls *process, size_t i, uint64_t open)
{
    const struct open_call *frame = &process->frames[i];
    const struct open_call *top = &process->frames[process->used - 1];
    bool other = frame->caller.module && mfa_same(&frame->caller, &frame->mfa), more = false;
    size_t below;

    if (!frame->caller.module) {
        open -= top != frame && mfa_same(&top->mfa, &frame->mfa);
        other = open > 1;
    }
    below = other ? nearest_call(process, i, &frame->mfa) : 0;
    for (size_t j = below ? below : i; other && j <= i; j++)
        more |= doubt_one(process, j);
    return more;
}

/* Rules 3 and 4: returns how many calls stay. */
static size_t left_by_untraced(struct process_calls *process, const struct mfa *to, bool *doubtful)
{
    bool callers = process->frames[process->used - 1].caller.module;
    size_t called = callers ? nearest_called(process, to) : 0;
    size_t left = called ? called - 1 : process->used - !callers;

    if (!called)
        *doubtful = doubt_lowest(process, left);
    else
        for (size_t i = left; i > 0 && mfa_same(&process->frames[i - 1].caller, to); i--) {
            if (!doubt_one(process, i - 1))
                break;
            *doubtful = true;
        }
    return left;
}

static size_t left_by(struct process_calls *process, const struct mfa *to, bool *doubtful)
{
    struct count function = function_of(to);
    const struct count *open = open_calls(process, &function);
    size_t end = process->used - !process->returned;
    size_t called = open ? nearest_call(process, end, to) : 0;

    if (called) {
        *doubtful = doubt_target(process, called - 1, open->events);
        return called;
    }
    if (!to->function)
        return 0;
    if (!process->returned)
        return left_by_untraced(process, to, doubtful);
    doubt_lowest(process, process->used);
    return process->used;
}

size_t calls_return_to(struct shard *shard, ERL_NIF_TERM word, const struct mfa *to)
{
    struct process_calls *process = calls_of(shard, word);
    bool doubtful = false;
    size_t left;

    if (!process || !process->used)
        return 0;
    if (process->used == 1 && !process->returned) { /* no other call can have ended */
        process->doubted = process->alone = 0;
        process->frames[0].doubted = false;
    }
    left = left_by(process, to, &doubtful);
    for (size_t i = left; i < process->used; i++)
        if (process->frames[i].caller.module && !mfa_same(&process->frames[i].caller, to))
            doubtful |= doubt_one(process, i);
    if (doubtful && !process->returned && !shard->doubtful++)
        shard->doubted = *to;
    process->returned = false;
    if (process->doubted + process->alone > DOUBTED_MOST) {
        doubt_lowest(process, left);
        left = 0;
    }
    return left;
}

bool calls_end_above(struct shard *shard, ERL_NIF_TERM word, size_t left, int64_t now,
                     struct ended *ended)
{
    struct process_calls *process = calls_of(shard, word);
    bool told;

    if (process)
        schedule_run(&process->schedule, now);
    if (!process || process->used <= left)
        return false;
    told = !calls_are_doubted(process, process->used - 1);
    pop(process, told ? now : TIME_NONE, told, ended);
    drop_if_idle(shard, process);
    return true;
}

bool calls_exit(struct shard *shard, ERL_NIF_TERM word, struct ended *ended)
{
    struct process_calls *process = calls_of(shard, word);
    bool open = process && process->used;

    if (open)
        pop(process, TIME_NONE, false, ended);
    else if (process)
        drop(shard, process);
    return open;
}

void calls_schedule(struct shard *shard, ERL_NIF_TERM word, bool in, bool exited, int64_t now)
{
    struct process_calls *process = calls_of(shard, word);

    if (!process && !exited)
        process = add(shard, word);
    if (!process) {
        shard->lost += !exited;
        return;
    }
    schedule_switch(&process->schedule, in, now);
    if (exited)
        process->schedule.state = SCHEDULE_UNKNOWN;
    drop_if_idle(shard, process);
}

bool calls_past(struct shard *shard, const struct th_past_event *event, int64_t now)
{
    const struct th_past_call *call = event->call;
    const struct count function = {
        .module = call->module, .function = call->function, .arity = call->arity};
    const struct mfa to = {call->module, call->function, call->arity};
    const struct mfa caller = {call->caller_module, call->caller_function, call->caller_arity};
    struct ended ended = {.told = false};
    size_t left;

    switch (call->tag) {
    case TH_TAG_call:
        calls_begin(shard, event->tracee, &function, &caller, now, 0);
        return true;
    case TH_TAG_return_to:
        left = calls_return_to(shard, event->tracee, &to);
        while (calls_end_above(shard, event->tracee, left, now, &ended))
            ;
        return true;
    default:
        while (!ended.told && calls_end(shard, event->tracee, &function, now, &ended))
            ;
        return ended.told;
    }
}

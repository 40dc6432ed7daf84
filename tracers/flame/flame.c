/*
 * flame: time by stack.
 *
 * The time between two events of a process is the own time of the function that was running; see
 * ../stack.h for the way to know this function. Time during which the process is scheduled out
 * counts for no function, if scheduling is traced; nor does time during which none of its traced
 * functions runs.
 *
 * State: see ../output.h, and the settings below. The file appears when the tracer is unloaded. One
 * lock for each state protects all its data.
 */
#define TRACER_DECLARES                                                                            \
    {"format", TH_SETTING_WORD, "folded svg", "folded",                                            \
     "folded lines, or a flame graph for browsers"},                                               \
        {"by", TH_SETTING_WORD, "time calls", "time", "what the width of a frame is"},             \
        {"recursion", TH_SETTING_WORD, "each one", "each",                                         \
         "one: calls of a function inside its own calls, directly or not, are part of its frame"}, \
        {"depth", TH_SETTING_NUMBER, NULL, "0",                                                    \
         "how many calls deep stacks are, 0 for all; deeper ones count for their callers"},        \
        {"order", TH_SETTING_WORD, "flame icicle", "flame",                                        \
         "whether callers of the picture are at the bottom or at the top"},                        \
        {"hue", TH_SETTING_WORD, "module own", "module",                                           \
         "what the colours of the picture show first: modules, or own time"},
#define TRACER_WHOLE
#include "../kit/labels.h"
#include "../kit/moment.h"
#include "../kit/output.h"
#include "../kit/past.h"
#include "../kit/schedule.h"
#include "../kit/share.h"
#include "../kit/tracee.h"
#include "../kit/tracees.h"
#include "flame.h"

unsigned char th_tracer_past = 25;

struct flame {
    pthread_mutex_t lock;
    struct tracees processes;
    struct tracees labels; /* of all processes, ended ones included */
    struct tree tree;
    struct repairs repairs;
    uint64_t unscheduled; /* events of processes that were not scheduled in */
    uint64_t untimed;     /* events without a request for a time stamp */
    uint64_t changes;     /* events by another clock than the previous event of their process */
    uint64_t lost;        /* events of processes without memory */
    bool told;            /* an end or a caller was reported, in any process */
};

struct process {
    struct tracee tracee;
    struct flame *flame;
    struct stack stack;
    uint32_t root;
    struct schedule schedule;
    enum moment_clock clock; /* of the latest event */
};

/* Makes the time between two clocks unknown. */
static void check_clock(struct process *process, const struct moment *now)
{
    bool changed = process->schedule.begun && now->clock != process->clock;

    process->flame->changes += changed;
    process->schedule.blind |= changed;
    process->clock = now->clock;
}

/* Adds the time since the last event to the own time of the function on top. */
static void pass_time(struct process *process, const struct moment *now)
{
    const struct frame *top = past_is_played() ? NULL : stack_top(&process->stack);
    uint64_t span;

    check_clock(process, now);
    span = schedule_pass(&process->schedule, now->time);
    if (top)
        process->flame->tree.nodes[top->mark].own += span;
}

static void entered(void *of, struct frame *frame)
{
    struct process *process = of;

    if (!past_is_played())
        tree_enter(&process->flame->tree, process->root, &process->stack, frame);
}

static void doubted(void *of, const struct frame *frame)
{
    struct process *process = of;

    if (!past_is_played())
        process->flame->tree.nodes[frame->mark].doubtful = true;
}

static struct process *add_process(struct flame *flame, ERL_NIF_TERM pid)
{
    struct process *process = tracees_add(&flame->processes, pid, sizeof *process);

    if (process)
        process->root = tree_child(&flame->tree, 0, &(struct mfa){pid, 0, 0});
    if (process && process->root && process->tracee.name)
        flame->tree.nodes[process->root].mfa.function = process->tracee.name;
    if (!process || !process->root) {
        flame->lost++;
        if (process)
            tracees_remove(&flame->processes, &process->tracee);
        free(process);
        return NULL;
    }
    labels_note(&flame->labels, pid);
    process->flame = flame;
    process->stack.repairs = &flame->repairs;
    process->stack.entered = entered;
    process->stack.doubted = doubted;
    process->stack.of = process;
    return process;
}

static void free_process(struct process *process)
{
    struct flame *flame = process->flame;

    flame->told |= process->stack.told;
    stack_free(&process->stack);
    tracees_remove(&flame->processes, &process->tracee);
    free(process);
}

/* Returns the data of OUTPUT, made at its first event. NULL if there is no memory. */
static struct flame *kept_flame(struct output *output)
{
    struct flame *flame;

    pthread_mutex_lock(&outputs.lock);
    flame = output->kept;
    if (!flame && (flame = calloc(1, sizeof *flame))) {
        pthread_mutex_init(&flame->lock, NULL);
        output->kept = flame;
    }
    pthread_mutex_unlock(&outputs.lock);
    if (!flame)
        output_lose();
    return flame;
}

static struct flame *flame_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);

    return output ? kept_flame(output) : NULL;
}

/* A process that calls is scheduled in. */
static void schedule_in(struct process *process, const struct moment *now)
{
    if (process->schedule.state != SCHEDULE_OFF)
        return;
    process->flame->unscheduled++;
    check_clock(process, now);
    schedule_run(&process->schedule, now->time);
}

static void call_event(ErlNifEnv *env, struct process *process, ERL_NIF_TERM tag,
                       const struct mfa *mfa, ERL_NIF_TERM opts)
{
    struct moment now = moment_take(env, opts, ERL_NIF_NSEC);

    schedule_in(process, &now);
    pass_time(process, &now);
    stack_event(env, &process->stack, tag, mfa, opts);
}

TH_TRACER_ENABLED(generic)
{
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, discard));
}

TH_TRACER_ENABLED(call)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_ENABLED(running_procs)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_ENABLED(procs)
{
    return tag == TH_TRACER_ATOM(env, register) || tag == TH_TRACER_ATOM(env, exit)
               ? TH_TRACER_ATOM(env, trace)
               : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(call)
{
    struct flame *flame = flame_of(env, state);
    struct process *process;
    struct mfa mfa;
    ERL_NIF_TERM kind;

    if (!flame || !mfa_read(env, term, &mfa))
        return;
    tracee = tracee_word(env, tracee);
    pthread_mutex_lock(&flame->lock);
    process = tracees_find(&flame->processes, tracee);
    if (!process)
        process = add_process(flame, tracee);
    flame->untimed += !enif_get_map_value(env, opts, TH_TRACER_ATOM(env, timestamp), &kind);
    if (process)
        call_event(env, process, tag, &mfa, opts);
    pthread_mutex_unlock(&flame->lock);
}

TH_TRACER_TRACE(running_procs)
{
    struct flame *flame = flame_of(env, state);
    bool in = tag == TH_TRACER_ATOM(env, in) || tag == TH_TRACER_ATOM(env, in_exiting);
    struct process *process;
    struct moment now;

    if (!flame)
        return;
    pthread_mutex_lock(&flame->lock);
    process = tracees_find(&flame->processes, tracee_word(env, tracee));
    if (process) {
        now = moment_take(env, opts, ERL_NIF_NSEC);
        pass_time(process, &now);
        schedule_switch(&process->schedule, in, now.time);
    }
    pthread_mutex_unlock(&flame->lock);
}

TH_TRACER_TRACE(procs)
{
    struct flame *flame = flame_of(env, state);
    struct process *process;
    struct moment now;

    if (!flame)
        return;
    tracee = tracee_word(env, tracee);
    pthread_mutex_lock(&flame->lock);
    process = tracees_find(&flame->processes, tracee);
    if (tag == TH_TRACER_ATOM(env, register)) {
        if (enif_is_atom(env, term) && (process || (process = add_process(flame, tracee))))
            flame->tree.nodes[process->root].mfa.function = term;
    } else if (process) {
        now = moment_take(env, opts, ERL_NIF_NSEC);
        pass_time(process, &now);
        free_process(process);
    }
    pthread_mutex_unlock(&flame->lock);
}

/* Mandatory; the generic `enabled` discards these events. */
TH_TRACER_TRACE(generic)
{
}

/* --- Shares --- */

/* The time of a process passes once for successive events by one clock: no time of the past is counted. */
TH_TRACER_PAST_CALLS()
{
    struct flame *flame = flame_of(env, state);
    struct process *process = NULL;

    if (!flame)
        return;
    pthread_mutex_lock(&flame->lock);
    for (size_t i = 0; i < count; i++) {
        const struct th_past_event *event = &events[i];
        ERL_NIF_TERM tracee = event->tracee;
        if (!process || process->tracee.term != tracee)
            process = tracees_find(&flame->processes, tracee);
        if (!process && !(process = add_process(flame, tracee)))
            continue;
        stack_past(&process->stack, event->call);
        if (i + 1 == count || event[1].tracee != tracee ||
            event[1].call->timestamp != event->call->timestamp) {
            const struct moment now = moment_of_past(env, event);
            schedule_in(process, &now);
            pass_time(process, &now);
        }
    }
    pthread_mutex_unlock(&flame->lock);
}

enum { NUMBERS = 4 };

static void numbers_of(struct flame *flame, uint64_t *numbers[NUMBERS])
{
    numbers[0] = &flame->unscheduled;
    numbers[1] = &flame->untimed;
    numbers[2] = &flame->changes;
    numbers[3] = &flame->lost;
}

/* Ends the past: from now on there are stacks in the tree, too. */
static void mark_stacks(struct flame *flame)
{
    for (size_t i = 0; i < flame->processes.size; i++)
        for (struct tracee *tracee = flame->processes.slots[i]; tracee; tracee = tracee->next) {
            struct process *process = (struct process *)tracee;
            tree_mark(&flame->tree, process->root, &process->stack);
        }
}

/* {Tree, Numbers, Repairs, Told, Labels}: the tree of the share, the others from the beginning of the
 * recording; {} without events. */
static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    struct flame *flame = output->kept;
    uint64_t *numbers[NUMBERS];
    struct process *process;
    ERL_NIF_TERM tree;
    size_t slot = 0;

    if (!flame)
        return enif_make_tuple(env, 0);
    if (past_is_played()) {
        mark_stacks(flame);
        return enif_make_tuple(env, 0);
    }
    while ((process = tracees_any(&flame->processes, &slot)))
        free_process(process);
    tree = tree_save(env, &flame->tree);
    numbers_of(flame, numbers);
    return tree
               ? enif_make_tuple5(env, tree,
                                  past_save_numbers(env, NUMBERS, (const uint64_t *const *)numbers),
                                  past_save_repairs(env, &flame->repairs),
                                  enif_make_int(env, flame->told), labels_save(env, &flame->labels))
               : 0;
}

static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved)
{
    const ERL_NIF_TERM *elements;
    uint64_t *numbers[NUMBERS];
    struct flame *flame;
    int size, told;

    if (!enif_get_tuple(env, saved, &size, &elements))
        return false;
    if (size == 0)
        return true;
    flame = kept_flame(output);
    if (!flame || size != 5 || !tree_take(env, &flame->tree, elements[0]) ||
        !enif_get_int(env, elements[3], &told))
        return false;
    flame->told |= told;
    numbers_of(flame, numbers);
    return past_take_numbers(env, elements[1], NUMBERS, numbers) &&
           past_take_repairs(env, elements[2], &flame->repairs) &&
           labels_take(env, &flame->labels, elements[4]);
}

TH_TRACER_SAVE()
{
    return share_save(env, save_output);
}

TH_TRACER_MERGE()
{
    return share_merge(env, saved, merge_output);
}

/* --- the picture --- */

enum { FORMAT_FOLDED, FORMAT_SVG };
enum { BY_TIME, BY_CALLS };

static unsigned choice(const struct output *output, const char *key)
{
    return output_choice(output->env, output->state, key);
}

static void tell(const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "flame: %s: %llu\n", what, (unsigned long long)count);
}

static void tell_all(const struct flame *flame, bool calls)
{
    tell("calls ended by the return of a caller", flame->repairs.cut);
    tell("returns of unknown calls", flame->repairs.uncalled);
    stack_tell_doubts("flame", &flame->repairs);
    tell("calls too deep to follow", flame->repairs.beyond);
    tell("calls and returns of processes that were not scheduled in", flame->unscheduled);
    tell("calls counted for their callers, as there are too many stacks", flame->tree.lost);
    tell("times between events of different clocks, not counted", calls ? 0 : flame->changes);
    if (!calls)
        tell("events without a time stamp, which got the time of their arrival", flame->untimed);
}

static void draw(ErlNifEnv *env, struct output *output)
{
    static struct flame none;
    struct flame *flame = output->kept ? output->kept : &none;
    struct drawing drawing = {.env = env,
                              .file = output->file,
                              .tree = &flame->tree,
                              .labels = &flame->labels,
                              .calls = choice(output, "by") == BY_CALLS,
                              .icicle = choice(output, "order"),
                              .by_own = choice(output, "hue"),
                              .one = choice(output, "recursion"),
                              .doubtful = flame->repairs.doubtful,
                              .untimed = flame->untimed};
    struct process *process;
    size_t slot = 0;

    while ((process = tracees_any(&flame->processes, &slot)))
        free_process(process);
    if (!flame->told && flame->tree.used)
        fputs("flame: the events contain no ends of calls: each call lasts until the next one\n",
              stderr);
    drawing.told = flame->told;
    tree_settle(&flame->tree, flame->told);
    fold_tree(&flame->tree, drawing.one, output_number(output->env, output->state, "depth"));
    if (!(choice(output, "format") == FORMAT_FOLDED ? draw_folded(&drawing) : draw_svg(&drawing)))
        output_abandon(env, output);
    tell_all(flame, drawing.calls);
    output_report_lost(env, "events", flame->lost + flame->tree.starved);
    tree_free(&flame->tree);
    labels_free(&flame->labels);
    free(flame->processes.slots);
    free(output->kept);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next)
        draw(env, output);
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"enabled_call", 3, enabled_call, 0},
                                 {"trace_call", 5, trace_call, 0},
                                 {"enabled_procs", 3, enabled_procs, 0},
                                 {"trace_procs", 5, trace_procs, 0},
                                 {"enabled_running_procs", 3, enabled_running_procs, 0},
                                 {"trace_running_procs", 5, trace_running_procs, 0}};
ERL_NIF_INIT(tracehost_flame, callbacks, NULL, NULL, NULL, unload)

#include "call_ends.h"

#include "host/base/memory.h"

/* A word on a stack is the user's, and a bit of this module. */
enum { BEGINS_FRAME = 1 };
enum { THE_SESSION = 1 }; /* of struct th_stack_sessions */

struct th_call_ends *th_replay_call_ends_begin(const struct th_call_ends_options *options)
{
    struct th_call_ends *ends = th_alloc_zero(sizeof *ends);

    ends->options = *options;
    ends->options.execution.each_matters = true;
    if (!ends->options.execution.all_frames)
        ends->options.execution.all_frames = TH_CALL_ENDS_MOST;
    th_recorded_start(&ends->execution, &ends->options.execution);
    return ends;
}

void th_replay_call_ends_end(struct th_call_ends *ends)
{
    size_t position = 0;
    struct th_slot *slot;

    if (!ends)
        return;
    while ((slot = th_hash_table_next(&ends->processes, &position))) {
        struct th_call_ends_process *process = slot->value;
        th_recorded_forget(&ends->execution, &process->stack);
        th_free(process);
    }
    th_hash_table_free(&ends->processes);
    th_free(ends);
}

/* Returns the process of EVENT; NULL if it has no word of its own. */
static struct th_call_ends_process *call_ends_process(struct th_call_ends *ends,
                                                      const struct th_event *event)
{
    struct th_call_ends_process *process;

    if (event->tracee == TH_NONE || !th_is_immediate(event->tracee))
        return NULL;
    process = th_hash_table_get(&ends->processes, event->tracee);
    if (!process) {
        process = th_alloc_zero(sizeof *process);
        process->stack.gaps = ends->execution.gaps;
        process->keeps_ends = true;
        th_hash_table_set(&ends->processes, event->tracee, process);
    }
    if (process->stack.gaps != ends->execution.gaps)
        process->depth = 0;
    return process;
}

static struct th_caller call_ends_caller(const struct th_call_ends *ends,
                                         const struct th_event *event)
{
    if (event->callers_told)
        return th_recorded_first_caller(event->callers);
    return th_recorded_caller_of_result(ends->options.recorded_callers ? event->match_spec_result
                                                                       : TH_NONE);
}

/* Returns whether the last call of PROCESS has not taken the place of another. */
static bool begins_frame(const struct th_call_ends_process *process)
{
    return th_recorded_frames_top(&process->stack.frames)->link != TH_FRAME_TAIL;
}

enum th_status th_replay_call_ends_enter(struct th_call_ends *ends, struct th_event *event,
                                         th_env *env, struct th_call_ends_process **process)
{
    struct th_recorded_call call = {.tail = event->tail};
    enum th_status status = event->source->function(event, &call.function);

    if (status == TH_OK && (event->callers_told || ends->options.recorded_callers))
        status = th_trace_event_decode(event, env);
    if (status != TH_OK)
        return status;
    ends->entered = call.function;
    *process = call_ends_process(ends, event);
    if (!*process)
        return TH_OK;
    call.recorded = call_ends_caller(ends, event);
    th_recorded_enter(&ends->execution, &(*process)->stack, &call);
    (*process)->depth += begins_frame(*process);
    return TH_OK;
}

void th_replay_call_ends_want(struct th_call_ends *ends, struct th_call_ends_process *process,
                              uint64_t word)
{
    th_recorded_want(&ends->execution, &process->stack,
                     word << TH_CALL_ENDS_OWN_BITS | (begins_frame(process) ? BEGINS_FRAME : 0),
                     THE_SESSION);
}

uint64_t th_replay_call_ends_below(const struct th_call_ends_process *process)
{
    const struct th_frames *frames = &process->stack.frames;
    uint64_t word = 0;

    for (uint32_t i = frames->count; i > 1 && !word; i--)
        word = th_replay_call_ends_word(th_recorded_frames_at(frames, i - 2));
    return word;
}

static uint64_t call_ends_ended(void *context, enum th_ending ending, const struct th_mfa *function,
                                uint64_t word)
{
    struct th_call_ends *ends = context;

    (void)function;
    if (word & BEGINS_FRAME && ends->leaving->depth)
        ends->leaving->depth--;
    return ends->options.ended(ends->options.context, ending, word >> TH_CALL_ENDS_OWN_BITS,
                               word & BEGINS_FRAME)
               ? THE_SESSION
               : 0;
}

enum th_status th_replay_call_ends_leave(struct th_call_ends *ends, struct th_event *event,
                                         struct th_call_ends_process **process,
                                         struct th_execution_left *left)
{
    struct th_execution_end end = {.tag = event->tag, .ended = call_ends_ended, .context = ends};

    *left = (struct th_execution_left){.known = false};
    if (!th_recorded_end_function(event, &end.function))
        return TH_MALFORMED;
    *process = ends->leaving = call_ends_process(ends, event);
    if (!*process)
        return TH_OK;
    *left = th_recorded_leave(&ends->execution, &(*process)->stack, &end);
    if ((*process)->stack.frames.count == 0)
        (*process)->depth = 0;
    return TH_OK;
}

/* Ends all calls of PROCESS, and forgets it. */
static void end_process(struct th_call_ends *ends, struct th_call_ends_process *process,
                        th_term tracee)
{
    const struct th_execution_end end = {.tag = TH_TAG_return_to,
                                         .function = {.kind = TH_CALLER_UNDEFINED},
                                         .ended = call_ends_ended,
                                         .context = ends};
    const bool alone = ends->execution.alone; /* the recording has no such return_to */

    ends->leaving = process;
    while (process->stack.frames.count > 0)
        th_recorded_leave(&ends->execution, &process->stack, &end);
    ends->execution.alone = alone;
    th_recorded_forget(&ends->execution, &process->stack);
    th_hash_table_remove(&ends->processes, tracee);
    th_free(process);
}

void th_replay_call_ends_other(struct th_call_ends *ends, const struct th_event *event)
{
    struct th_call_ends_process *process;

    if (event->kind == TH_EVENT_DROP)
        th_recorded_gap(&ends->execution);
    if (event->kind > TH_EVENT_TRACE_TS ||
        (event->tag != TH_TAG_spawned && event->tag != TH_TAG_exit))
        return;
    process = call_ends_process(ends, event);
    if (process && event->tag == TH_TAG_exit) {
        end_process(ends, process, event->tracee);
    } else if (process) {
        th_recorded_spawned(&ends->execution, &process->stack);
        process->depth = 0;
    }
}

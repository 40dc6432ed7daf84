#include "retraced.h"

#include "assertions.h"
#include "stream.h"

#include "host/base/base.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <stddef.h>
#include <string.h>

struct process {
    struct th_recorded_stack stack;
    bool owed;            /* a traced call has ended; its return_to is still due */
    bool raising;         /* an exception is being passed on */
    struct th_caller now; /* while an exception is passed on: the function that would catch it */
};

struct retrace {
    const struct retracing *what;
    struct th_execution execution;
    struct th_table processes;
    th_env env; /* the event's environment */
    struct th_event *event;
    struct process *process;
    bool ended; /* this event has ended a traced call */
};

static struct th_buffer text;

static void put_function(const struct th_mfa *function)
{
    th_text_print(&text, function->module);
    th_buffer_add_byte(&text, ':');
    th_text_print(&text, function->function);
    th_buffer_printf(&text, "/%u", function->arity);
}

static void put_caller(const struct th_caller *caller)
{
    if (caller->kind == TH_CALLER_FUNCTION)
        put_function(&caller->function);
    else
        th_buffer_add_text(&text, caller->kind == TH_CALLER_UNDEFINED ? "undefined" : "unknown");
}

static void put_call(const struct th_mfa *function, const struct th_caller *caller)
{
    th_buffer_add_text(&text, "call ");
    put_function(function);
    th_buffer_add_text(&text, " <- ");
    put_caller(caller);
    th_buffer_add_byte(&text, '\n');
}

static void put_end(const char *tag, const struct th_mfa *function, th_term extra)
{
    th_buffer_printf(&text, "%s ", tag);
    put_function(function);
    th_buffer_add_byte(&text, ' ');
    th_text_print(&text, extra);
    th_buffer_add_byte(&text, '\n');
}

static void put_return_to(const struct th_caller *to)
{
    th_buffer_add_text(&text, "return_to ");
    put_caller(to);
    th_buffer_add_byte(&text, '\n');
}

/* --- Tracing again ---------------------------------------------------------------------------- */

static bool matches(const struct retrace *r, const struct th_mfa *function)
{
    const struct retracing *what = r->what;

    return (!what->module || strcmp(th_atom_name(function->module)->text, what->module) == 0) &&
           (!what->external_only || r->event->external == TH_YES);
}

static void enter(struct retrace *r, const struct th_mfa *function)
{
    struct th_recorded_stack *stack = &r->process->stack;
    struct th_recorded_call call = {.function = *function, .tail = r->event->tail};
    struct th_caller caller;

    if (r->what->recorded_callers)
        call.recorded = th_recorded_caller_of_result(r->event->match_spec_result);
    th_recorded_enter(&r->execution, stack, &call);
    if (!matches(r, function))
        return;
    caller = th_recorded_caller(&r->execution, stack);
    put_call(function, &caller);
    if (r->what->returns || r->what->exceptions || r->what->return_to)
        th_recorded_want(&r->execution, stack, 1, 0);
}

static uint64_t note_end(void *context, enum th_ending ending, const struct th_mfa *function,
                         uint64_t word)
{
    struct retrace *r = context;

    assert_int_equal(word, 1);
    r->ended = true;
    if (ending == TH_ENDED_RETURNED && (r->what->returns || r->what->exceptions))
        put_end("return_from", function, r->event->extra);
    else if (ending == TH_ENDED_RAISED && r->what->exceptions)
        put_end("exception_from", function, r->event->extra);
    return 0;
}

/* Writes the return_to that is due, as no exception is passed on any more and NOW is known. */
static void pay(struct retrace *r, const struct th_caller *now)
{
    if (r->process->owed && now->kind != TH_CALLER_UNKNOWN && r->what->return_to)
        put_return_to(now);
    r->process->owed &= now->kind == TH_CALLER_UNKNOWN;
    r->process->raising = false;
}

static void leave(struct retrace *r, const struct th_mfa *function)
{
    struct process *process = r->process;
    struct th_execution_end end = {.tag = r->event->tag, .ended = note_end, .context = r};
    struct th_caller now;

    end.function.kind = function ? TH_CALLER_FUNCTION : TH_CALLER_UNDEFINED;
    if (function)
        end.function.function = *function;
    r->ended = false;
    now = th_recorded_leave(&r->execution, &process->stack, &end).to;
    process->owed |= r->ended;
    process->raising = end.tag == TH_TAG_exception_from;
    process->now = now;
    if (!process->raising)
        pay(r, &now);
}

static struct process *process_of(struct retrace *r, th_term tracee)
{
    struct process *process = th_hash_table_get(&r->processes, tracee);

    if (!process) {
        process = th_alloc_zero(sizeof *process);
        th_hash_table_set(&r->processes, tracee, process);
    }
    return process;
}

static void retrace_event(struct retrace *r)
{
    enum th_tracer_tag tag = r->event->tag;
    struct th_mfa function;
    bool known;

    if (r->event->kind == TH_EVENT_DROP)
        th_recorded_gap(&r->execution);
    if (r->event->kind > TH_EVENT_TRACE_TS)
        return;
    assert_int_equal(th_trace_event_decode(r->event, &r->env), TH_OK);
    r->process = process_of(r, r->event->tracee);
    if (tag == TH_TAG_spawned)
        th_recorded_spawned(&r->execution, &r->process->stack);
    if (tag == TH_TAG_exit)
        th_recorded_forget(&r->execution, &r->process->stack);
    if (tag < TH_TAG_call || tag > TH_TAG_exception_from)
        return;
    if (r->process->raising && tag != TH_TAG_exception_from && tag != TH_TAG_return_to)
        pay(r, &r->process->now);
    known = th_trace_event_function_from_term(r->event->term, &function);
    if (tag == TH_TAG_call)
        enter(r, &function);
    else
        leave(r, known ? &function : NULL);
}

static void retrace_all(struct retrace *r, struct th_reader *reader)
{
    struct th_event event = {0};
    enum th_status status;

    r->event = &event;
    th_env_init(&r->env, TH_ENV_PLAIN);
    while ((status = th_replay_reader_next(reader, &event)) == TH_OK) {
        retrace_event(r);
        th_env_clear(&r->env);
    }
    if (status != TH_END)
        fail_msg("%s", stream_causes());
    th_env_release(&r->env);
    th_replay_reader_close(reader);
}

static const char *retrace(struct th_reader *reader, const struct retracing *what,
                           struct th_execution_counts *counts)
{
    struct retrace r = {.what = what};
    struct th_slot *slot;
    size_t position = 0;

    text.size = 0;
    th_recorded_start(&r.execution, &what->options);
    retrace_all(&r, reader);
    while ((slot = th_hash_table_next(&r.processes, &position))) {
        th_recorded_forget(&r.execution, &((struct process *)slot->value)->stack);
        th_free(slot->value);
    }
    th_hash_table_free(&r.processes);
    if (counts)
        *counts = th_recorded_counts(&r.execution);
    return th_buffer_text(&text);
}

static struct th_reader *open_file(const char *file)
{
    struct th_reader *reader;

    if (th_replay_reader_open(file, NULL, &reader) != TH_OK)
        fail_msg("%s", stream_causes());
    return reader;
}

const char *retraced(const char *file, const struct retracing *retracing,
                     struct th_execution_counts *counts)
{
    return retrace(open_file(file), retracing, counts);
}

const char *retraced_bytes(const char *bytes, const struct retracing *retracing,
                           struct th_execution_counts *counts)
{
    struct th_reader *reader;

    assert_int_equal(stream_open(bytes, strlen(bytes), NULL, &reader), TH_OK);
    return retrace(reader, retracing, counts);
}

/* --- As recorded ------------------------------------------------------------------------------ */

static void put_recorded(const struct th_event *event)
{
    struct th_caller caller = th_recorded_caller_of_result(event->match_spec_result);
    struct th_mfa function;

    if (event->tag < TH_TAG_call || event->tag > TH_TAG_exception_from)
        return;
    if (!th_trace_event_function_from_term(event->term, &function))
        put_return_to(&(struct th_caller){.kind = TH_CALLER_UNDEFINED});
    else if (event->tag == TH_TAG_call)
        put_call(&function, &caller);
    else if (event->tag == TH_TAG_return_to)
        put_return_to(&(struct th_caller){TH_CALLER_FUNCTION, function});
    else
        put_end(th_atom_name(th_trace_tag_atom(event->tag))->text, &function, event->extra);
}

const char *retraced_not(const char *file)
{
    struct th_reader *reader = open_file(file);
    struct th_event event = {0};
    th_env env;

    text.size = 0;
    th_env_init(&env, TH_ENV_PLAIN);
    while (th_replay_reader_next(reader, &event) == TH_OK) {
        if (event.kind <= TH_EVENT_TRACE_TS) {
            assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
            put_recorded(&event);
        }
        th_env_clear(&env);
    }
    th_env_release(&env);
    th_replay_reader_close(reader);
    return th_buffer_text(&text);
}

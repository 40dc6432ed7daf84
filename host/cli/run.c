/*
 * tracehost run: runs functions of libraries under trace.
 *
 * The first process evaluates the expressions; its calls, spawns and messages are traced. The
 * process exists when the sessions begin, but is idle until then: so it counts as existing, and all
 * other processes as new.
 *
 * The run ends with the first process, as `erl -eval` with halt() does. Its exit is traced, and so
 * are the signals that its links carry. Then tracing stops, and all other processes are killed. So
 * the output of a tracer does not end with the exits of bystanders, in a random order. After
 * --duration, and after a signal, the first process is killed in the same way.
 *
 * Results are printed at the end, when the tracers have written their data.
 */
#include "call_arguments.h"
#include "call_session.h"
#include "interrupt.h"
#include "probe_lines.h"
#include "subcommand.h"
#include "trace_summary.h"

#include "host/cli/options/trace_options.h"
#include "host/cli/options/usage.h"
#include "host/cli/top/top.h"
#include "host/control/commands/commands.h"
#include "host/library/load.h"
#include "host/library/name_list.h"
#include "host/library/resource/resource.h"
#include "host/probe/probe.h"
#include "host/term/clock.h"
#include "host/term/make.h"
#include "host/trace/live/live.h"

#include <jansson.h>

#define NOT_KEPT "calls whose return was not delivered, as too many calls were open (--max-frames)"
#define LEFT "calls whose return was not delivered, as longjmp() left them"
#define NO_CALLS "local calls skipped, as the library has no function of their arity"

struct run {
    struct th_trace_options trace;
    struct th_call_arguments arguments;
    unsigned schedulers; /* 0: number of processors */
    unsigned async;      /* threads for file operations; 0: the runtime's default */
    int64_t duration;    /* nanoseconds; below 0: no limit */
    size_t open_calls;   /* limit of open calls of a process; 0: the runtime's default */
    bool fail_on_loss;
    bool probes; /* some probes are selected for printing (probe_lines.h) */

    /* State and results of the run. */
    struct th_tracing *tracing;
    struct th_call_work work;
    struct th_call_session session;
    struct th_buffer values;    /* text for stdout */
    struct th_buffer exception; /* text for stderr */
    bool raised;
    struct th_control_host control;
};

/* --- Options ---------------------------------------------------------------------------------- */

static enum th_status take_probe(const struct th_argument *argument, const char *value, void *input)
{
    const char *names[TH_PROBE_COUNT_OF_ALL];
    char *question;

    (void)argument;
    if (th_cli_probe_lines_add(value) > 0) {
        ((struct run *)input)->probes = true;
        return TH_OK;
    }
    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        names[i] = th_probe_probes[i].name;
    question = th_library_suggest_question(value, names, TH_PROBE_COUNT_OF_ALL);
    th_error_raise(TH_USAGE, "--probe: there is no probe '%s'%s", value, question);
    th_free(question);
    return TH_USAGE;
}

static enum th_status run_take_frames(const struct th_argument *argument, const char *value,
                                      void *input)
{
    struct run *run = input;
    int64_t frames;
    enum th_status status = th_control_argument_number(argument, value, &frames);

    if (status == TH_OK && frames < 1)
        return th_error_raise(TH_USAGE, "--max-frames must be at least 1, not '%s'", value);
    if (status == TH_OK)
        run->open_calls = (size_t)frames;
    return status;
}

static enum th_status run_check(void *input)
{
    const struct run *run = input;

    if (run->arguments.libraries.count == 0)
        return th_error_raise(TH_USAGE, "argument LIBRARY is missing");
    if (run->arguments.text_count == 0)
        return th_error_raise(TH_USAGE, "argument EXPRESSION is missing");
    return TH_OK;
}

static const struct th_argument arguments[] = {
    TH_OPTION("duration", "T", TIME, LIMITS, "Stop after T if the expressions take longer",
              .most = INT64_MAX, TH_INTO(struct run, duration)),
    TH_OPTION("schedulers", "N", NUMBER, LIMITS,
              "Run on N schedulers (default: one for each processor)", .least = 1,
              .most = TH_CALL_MOST_THREADS, TH_INTO(struct run, schedulers)),
    TH_OPTION("async-threads", "N", NUMBER, LIMITS,
              "Run file operations on at most N threads (default: 10)", .how = TH_ARGUMENT_RARE,
              .least = 1, .most = TH_CALL_MOST_THREADS, TH_INTO(struct run, async)),
    TH_OPTION("probe", "PATTERN", PROBE, OTHER, "Print hits of USDT probes such as efile_drv__*",
              .take = take_probe),
    TH_OPTION("fail-on-loss", NULL, FLAG, LIMITS,
              "Exit with 4 if calls or events could not be delivered",
              TH_INTO(struct run, fail_on_loss)),
    TH_OPTION("max-frames", "N", NUMBER, LIMITS,
              "For -p, keep at most N calls of a process that have not returned (default: 1000000)",
              .how = TH_ARGUMENT_RARE, .take = run_take_frames),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments, .check = run_check},
    {.items = th_cli_call_argument_table, .offset = offsetof(struct run, arguments)},
    {.items = th_control_session_arguments, .offset = offsetof(struct run, trace.sessions)},
    {.items = th_options_trace_arguments,
     .offset = offsetof(struct run, trace),
     .check = th_options_trace_options_check},
    {.items = th_cli_supervisor_arguments},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Runs functions of NIF libraries under trace.\n"
              "LIBRARY is a NIF library (NAME or ./PATH.so); EXPRESSION calls its functions.",
    .after = TH_CALL_ARGUMENTS_HELP
    " One process evaluates the expressions, as `tracehost call` does; the first exception ends "
    "the process, and with the process the run ends.\n\n" TH_TRACE_HELP "\n\n"
    "-p also applies to functions that are loaded later. Without --kind each function gets a local "
    "breakpoint if its code has room for one, otherwise a global one. The PATTERN of --probe, "
    "which "
    "is repeatable, is a shell pattern; `tracehost probes` lists the probes.\n\n"
    "T is a time: 1.5 or 1.5s, 250ms, 10us, 3ns, 2min.\n\n"
    "Values are printed on stdout after the output of tracers. An exception is printed on stderr, "
    "and the exit status is 1.",
    .examples = "  tracehost run -p fib:fib/1 --return fib 'fib:fib(2)'\n"
                "  tracehost run -t count json 'json:encode([1,2])'",
    .words = "LIBRARY... EXPRESSION...",
    .live = true,
    .flags = true,
};

/* --- The first process ------------------------------------------------------------------------ */

/* Returns false if evaluation must stop. */
static bool evaluate_form(struct run *run, const struct th_program *program, size_t i)
{
    struct th_evaluation *e = &run->session.evaluation;
    th_term value = th_shell_evaluate_form(e, program, program->forms[i]);

    if (atomic_load_explicit(&run->work.stopped, memory_order_relaxed))
        e->stopped = true; /* a `catch` may have hidden the stop: the value is not valid */
    if (e->stopped)
        return false;
    run->raised = value == TH_NONE;
    if (run->raised)
        return false;
    th_cli_call_show_value(value, e->out);
    th_shell_collect(e);
    return true;
}

/* For fopencookie(). A memory stream of stdio would drop data if memory is short. */
static ssize_t add_to_buffer(void *buffer, const char *data, size_t size)
{
    th_buffer_add(buffer, data, size);
    return (ssize_t)size;
}

static void run_evaluate(struct run *run, const struct th_program programs[], size_t count)
{
    FILE *out = fopencookie(&run->values, "w", (cookie_io_functions_t){.write = add_to_buffer});
    bool goes_on = true;

    if (!out)
        th_give_up("out of memory");
    setvbuf(out, NULL, _IONBF, 0); /* run_give_up() prints the values so far */
    run->session.evaluation.out = out;
    for (size_t k = 0; goes_on && k < count; k++)
        for (size_t i = 0; goes_on && i < programs[k].count; i++)
            goes_on = evaluate_form(run, &programs[k], i);
    fclose(out);
}

/* Returns the exit reason of a process that evaluates nothing else. */
static th_term end_reason(struct run *run)
{
    struct th_evaluation *e = &run->session.evaluation;
    th_term reason = e->exception.reason;

    if (!run->raised)
        return TH_AM(normal);
    if (e->exception.class == TH_CLASS_EXIT)
        return reason;
    if (e->exception.class == TH_CLASS_THROW)
        reason = th_make_tuple_of(&e->heap, th_atom("nocatch"), reason);
    return th_make_tuple_of(&e->heap, reason, th_shell_stack(e));
}

/* Called by the limit's thread. */
static void run_stop(void *context)
{
    struct run *run = context;
    bool mine;

    atomic_store_explicit(&run->work.stopped, true, memory_order_relaxed);
    mine = th_control_host_lock_soon(&run->control);
    th_top_end();
    th_control_sessions_rest(run->tracing);
    if (mine)
        th_control_host_unlock(&run->control);
    th_runtime_run_kill(run->session.process);
}

static void tell_stop(const struct run *run)
{
    if (th_cli_interrupt_came()) /* a wait may have ended by the signal before the limit's thread
                                    has seen it */
        fprintf(stderr, "tracehost run: received %s\n", th_cli_interrupt_name());
    else if (atomic_load_explicit(&run->work.stopped, memory_order_relaxed))
        fprintf(stderr, "tracehost run: stopped after %g s (--duration)\n",
                (double)run->duration / 1e9);
}

/* Called by the limit's thread: a function hangs, and the main thread may be waiting for it. Prints
 * all available results; tracers write their data when their sessions end. */
static void run_give_up(void *context)
{
    struct run *run = context;
    bool mine = th_control_host_lock_soon(&run->control) && th_progress_settle_soon();

    th_control_sessions_rest(run->tracing);
    th_cli_trace_results(run->tracing, run->trace.json, false);
    while (mine && th_trace_sessions(run->tracing) > 0)
        th_trace_session_destroy(th_trace_session(run->tracing, 0));
    if (mine)
        th_progress_settle();
    if (run->values.size > 0)
        fwrite(run->values.data, 1, run->values.size, stdout);
    fflush(NULL);
    tell_stop(run);
    if (!mine || atomic_load_explicit(&run->control.lock.away, memory_order_relaxed) > 0)
        fprintf(stderr, "tracehost run: a command or the replacement of a tracer has not ended; "
                        "the program ends without it\n");
}

/* --- Under control ---------------------------------------------------------------------------- */

static void run_tell_status(void *context, json_t *status)
{
    struct th_runtime_setup threads = th_runtime_threads();

    (void)context;
    json_object_update_new(status, json_pack("{s:i, s:I}", "schedulers", (int)threads.schedulers,
                                             "processes", (json_int_t)th_runtime_processes()));
    json_object_update_new(json_object_get(status, "lost"),
                           json_pack("{s:I, s:I, s:I}", "calls_not_kept",
                                     (json_int_t)th_runtime_calls_not_kept(), "calls_left",
                                     (json_int_t)th_runtime_calls_left(), "no_calls",
                                     (json_int_t)th_runtime_no_calls()));
}

static json_t *run_list_processes(void *context)
{
    static const char *const doing[] = {[TH_PROCESS_QUEUED] = "queued",
                                        [TH_PROCESS_RUNNING] = "running",
                                        [TH_PROCESS_WAITING] = "waiting"};
    struct th_process_seen *processes;
    size_t count = th_runtime_list(&processes);
    json_t *list = json_array();

    (void)context;
    for (size_t i = 0; i < count; i++) {
        const struct th_process_seen *seen = &processes[i];
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:s, s:s?, s:I, s:I, s:I, s:I}", "pid",
                            th_control_term(seen->pid), "name",
                            seen->name == TH_NONE ? json_null() : th_control_term(seen->name),
                            "doing", doing[seen->doing], "function", seen->function, "messages",
                            (json_int_t)seen->messages, "reductions", (json_int_t)seen->reductions,
                            "words", (json_int_t)seen->words, "links", (json_int_t)seen->links));
    }
    th_free(processes);
    return list;
}

/* --- The run ---------------------------------------------------------------------------------- */

static void run_tell(const struct run *run, double seconds)
{
    const struct {
        uint64_t count;
        const char *what;
    } losses[] = {{th_runtime_calls_not_kept(), NOT_KEPT},
                  {th_runtime_calls_left(), LEFT},
                  {th_runtime_no_calls(), NO_CALLS}};
    unsigned schedulers = th_runtime_threads().schedulers;
    bool stats = run->trace.stats;

    th_cli_trace_results(run->tracing, run->trace.json, false);
    th_cli_command_flush();
    tell_stop(run);
    th_cli_trace_waiting("run", run->tracing);
    if (!run->probes) /* otherwise the user watches the probes */
        th_control_session_options_report_unmatched(&run->trace.sessions, run->tracing);
    if (stats)
        fprintf(stderr, "ran for %.3f s on %u scheduler%s\n", seconds, schedulers,
                th_log_plural(schedulers));
    else
        th_cli_trace_summary("run", run->tracing);
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        if (stats)
            th_cli_trace_stats_row(losses[i].count, losses[i].what);
        else
            th_cli_trace_report("run", losses[i].what, losses[i].count);
    if (stats)
        th_cli_trace_summary(NULL, run->tracing);
}

static enum th_status run_traced(void *context, const struct th_program programs[], size_t count)
{
    struct run *run = context;
    struct th_run_limit limit = {
        .command = "run",
        .duration = run->duration,
        .stop = run_stop,
        .grace = run->arguments.grace,
        .give_up = run_give_up,
        .context = run,
    };
    struct th_live_counts counts;
    enum th_status status;
    int64_t began;

    run->work = (struct th_call_work){.rounds = 1, .sessions = 1};
    th_cli_call_session_start(&run->session, &run->work, 1);
    th_cli_state_expressions_begin(th_runtime_run_pid(run->session.process));
    run->control = (struct th_control_host){
        .program = "run",
        .tracing = run->tracing,
        .load_info = run->arguments.info,
        .tell = run_tell_status,
        .processes = run_list_processes,
        .context = run,
    };
    status = th_options_trace_options_begin(&run->trace, &run->control);
    if (status == TH_OK) {
        th_trace_go(run->tracing);
        status = th_cli_run_limit_begin(&limit);
    }
    if (status != TH_OK) {
        th_top_end(); /* the error must be shown on the restored terminal */
        th_cli_command_fail("run");
        th_control_host_end(&run->control);
        th_control_sessions_rest(run->tracing); /* the run has not begun: its exit must not be an
                                                   event */
        th_cli_call_session_end(&run->session);
        return status;
    }

    /* The first process, from its first call to its end. */
    began = th_clock_real_monotonic();
    run_evaluate(run, programs, count);
    if (!th_cli_run_limit_pass(&limit))
        run->raised = false;
    th_control_host_end(&run->control);
    th_top_end();
    if (run->raised)
        th_shell_print_exception(&run->session.evaluation, &run->exception);
    th_runtime_run_exit(run->session.process, end_reason(run));

    /* All other processes. */
    th_control_host_lock(&run->control); /* run_give_up(), which ends the sessions, may run later */
    th_control_sessions_rest(run->tracing);
    th_control_host_unlock(&run->control);
    th_library_halt(); /* running functions may wait for the halt */
    th_runtime_kill_all();
    th_cli_run_limit_end(&limit);

    run_tell(run, (double)(th_clock_real_monotonic() - began) / 1e9);
    th_shell_end(&run->session.evaluation);
    counts = th_live_counts(run->tracing);
    if (run->raised)
        return TH_FAILED;
    return run->fail_on_loss &&
                   (counts.suppressed || counts.strangers || th_runtime_calls_not_kept() ||
                    th_runtime_calls_left() || th_runtime_no_calls())
               ? TH_PARTIAL
               : TH_OK;
}

static void run_end(void *context)
{
    struct run *run = context;

    th_cli_interrupt_explain("run");
    th_trace_free(run->tracing); /* tracers write their last data, ... */
    th_resource_reap();          /* ... and resources that were their states end */
    th_cli_probe_lines_end();
}

int th_cli_command_run(int argc, char **argv)
{
    struct run run = {.duration = -1, .arguments.grace = TH_CALL_GRACE};
    struct th_call_host host = {.command = "run",
                                .arguments = &run.arguments,
                                .folders = &run.trace.folders,
                                .evaluate = run_traced,
                                .end = run_end,
                                .context = &run};
    enum th_status status;

    th_options_trace_options_init(&run.trace, true);
    th_cli_command_parse(&usage, argc, argv, &run);
    th_cli_command_supervise("run", NULL);
    run.tracing = th_trace_create();
    th_trace_share(run.tracing);
    th_trace_replay_nothing(run.tracing);
    if (run.probes)
        th_cli_probe_lines_begin();
    host.copies = run.trace.control || run.trace.watch;
    host.setup = (struct th_runtime_setup){.schedulers = run.schedulers,
                                           .async = run.async,
                                           .open_calls = run.open_calls,
                                           .tracing = run.tracing};
    status = th_cli_call_host_run(&host);
    if (run.values.size > 0)
        fwrite(run.values.data, 1, run.values.size, stdout);
    th_cli_command_flush();
    if (run.exception.size > 0)
        fwrite(run.exception.data, 1, run.exception.size, stderr);
    th_buffer_free(&run.values);
    th_buffer_free(&run.exception);
    th_options_trace_options_free(&run.trace);
    return th_cli_interrupt_status(th_cli_command_finish("run", status));
}

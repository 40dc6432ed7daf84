/* tracehost call: evaluates calls of any NIF library. */
#include "call_arguments.h"
#include "call_prompt.h"
#include "subcommand.h"
#include "encoding.h"
#include "host/crash/crash.h"
#include "host/trace/trace.h"
#include "interrupt.h"
#include "run_limit.h"

#include <inttypes.h>
#include <unistd.h>

enum { MOST_THREADS = 1024 };

struct call {
    struct th_texts folders;
    struct th_call_arguments arguments;
    uint64_t repeat, threads;
    int64_t grace;    /* nanoseconds, for functions that run in the end */
    bool check, many; /* many: --repeat or --threads was given */
};

static enum th_status check(void *input)
{
    struct call *call = input;

    call->many = call->repeat || call->threads;
    call->repeat = call->repeat ? call->repeat : 1;
    call->threads = call->threads ? call->threads : 1;
    if (call->arguments.library_count == 0)
        return th_error_raise(TH_USAGE, "which LIBRARY?");
    if (call->many && call->arguments.text_count == 0)
        return th_error_raise(TH_USAGE, "--repeat and --threads want EXPRESSIONs, or - for stdin");
    return TH_OK;
}

static const struct th_argument arguments[] = {
    TH_OPTION(NULL, "DIR", FOLDER, 0,
              "Look in DIR first, then in $TRACEHOST_PATH, then where tracehost is installed",
              .letter = 'L', .how = TH_ARGUMENT_REPEATS, TH_INTO(struct call, folders)),
    TH_OPTION("repeat", "N", NUMBER, 0, "Evaluate all N times", .least = 1,
              .most = INT64_MAX / MOST_THREADS, TH_INTO(struct call, repeat)),
    TH_OPTION("threads", "N", NUMBER, 0,
              "Evaluate all in N processes at once, on N schedulers, each with its own variables",
              .least = 1, .most = MOST_THREADS, TH_INTO(struct call, threads)),
    TH_OPTION("grace", "T", TIME, 0, TH_GRACE_HELP, .most = INT64_MAX, TH_INTO(struct call, grace)),
    TH_OPTION("check", NULL, FLAG, 0,
              "Watch what the libraries do with the NIF API; exit with 1 if it is forbidden",
              TH_INTO(struct call, check)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments, .check = check},
    {.items = th_cli_call_argument_table, .offset = offsetof(struct call, arguments)},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Loads NIF libraries and evaluates Erlang expressions that call their functions, as "
              "a shell does.",
    .after = TH_CALL_ARGUMENTS_HELP
    " Without any, stdin is read; if that is a terminal, there is a prompt.\n\n"
    "There are terms, variables and patterns, operators, case, if, try, catch, receive and !; "
    "self(), register/2, timer:sleep/1 and the like; flush(), f(), f(V), b() and q() as in the "
    "shell; tracehost:console(), a process that prints what it is sent, and "
    "tracehost:open_port(\"FILE\") and close_port/1. There are funs and comprehensions, but no "
    "records and no other functions of Erlang's.\n\n"
    "Values are printed on stdout, exceptions on stderr; then the exit status is 1. With --repeat "
    "and --threads, values are those of the first time.\n\n"
    "Examples:\n"
    "  tracehost call -L priv jiffy 'jiffy:nif_decode_init(<<\"[1,2]\">>, []).'\n"
    "  tracehost call ./my_nif.so '{ok, C} = my_nif:new().' 'my_nif:add(C, 1).'\n"
    "  tracehost call --threads=4 --repeat=1000 my_nif -f stress.txt\n",
    .words = "LIBRARY... [EXPRESSION...]",
    .live = true,
};

/* --- The work --------------------------------------------------------------------------------- */

static void sum_up(const struct call *call, const struct th_call_work *work)
{
    uint64_t done = atomic_load_explicit(&work->done, memory_order_relaxed);
    uint64_t failed = atomic_load_explicit(&work->failed, memory_order_relaxed);

    if (!call->many && !th_cli_interrupt_came())
        return;
    th_cli_command_flush();
    fprintf(stderr, "tracehost call: ");
    if (th_cli_interrupt_came())
        fprintf(stderr, "%s came%s", th_cli_interrupt_name(), call->many ? " after " : "\n");
    if (call->many)
        fprintf(stderr, "%" PRIu64 " round%s of %u process%s, %" PRIu64 " evaluation%s failed\n",
                done, th_log_plural(done), work->sessions, work->sessions == 1 ? "" : "es", failed,
                th_log_plural(failed));
}

static enum th_status evaluate_all(const struct call *call, struct th_call_work *work)
{
    enum th_status status = TH_OK;

    if (call->arguments.text_count > 0) {
        status = th_cli_call_work_run(work);
    } else {
        struct th_call_session session;
        th_cli_call_session_start(&session, work, 1);
        status = th_cli_call_prompt(&session);
        if (status == TH_OK)
            status = th_cli_call_work_evaluated(work);
        th_cli_call_session_end(&session);
    }
    if (status != TH_OK)
        th_cli_command_fail("call");
    sum_up(call, work);
    return status == TH_OK && atomic_load_explicit(&work->failed, memory_order_relaxed) ? TH_FAILED
                                                                                        : status;
}

static void show_hanging(void *context, const char *function)
{
    const struct call *call = context;

    fprintf(stderr, "tracehost call: %s has not returned after %g s, and is not waited for\n",
            function, (double)call->grace / 1e9);
}

/* Nothing else is ended, as it is in use. */
static void give_up(void *context)
{
    fflush(NULL);
    th_runtime_each_running(show_hanging, context);
    _exit(th_cli_interrupt_status(TH_CRASHED));
}

/* From the first library to when the last one has no users any more. */
static enum th_status work_with_libraries(const struct call *call, struct th_call_work *work)
{
    enum th_status status;

    status = th_cli_call_arguments_load(&call->arguments, call->folders.items, call->folders.count,
                                        false);
    if (status == TH_OK)
        status = evaluate_all(call, work);
    else
        th_cli_command_fail("call");
    th_library_halt();
    th_runtime_kill_all();
    if (work->ends)
        th_cli_run_limit_end(work->ending);
    th_code_end();
    return status;
}

static enum th_status run(const struct call *call, struct th_call_work *work)
{
    struct th_runtime_setup setup = {.schedulers = work->sessions};
    enum th_status status;

    th_crash_install();
    if (call->check)
        th_check_start();
    th_runtime_start(&setup);
    status = work_with_libraries(call, work);
    if (th_process_port_close_all() != TH_OK && status == TH_OK)
        status = th_cli_command_fail("call");
    th_runtime_stop(); /* with it the last destructors have run, and the last unload() */
    th_crash_end();
    if (call->check && th_check_end() > 0 && status == TH_OK)
        status = TH_FAILED;
    return status;
}

int th_cli_command_call(int argc, char **argv)
{
    struct call call = {.grace = TH_GRACE};
    struct th_program *programs;
    size_t count;
    enum th_status status;

    th_cli_command_parse(&usage, argc, argv, &call);
    if (call.arguments.text_count == 0 && !isatty(STDIN_FILENO))
        th_cli_call_arguments_add_file(&call.arguments, "-");
    th_cli_interrupt_install();
    programs = th_alloc((call.arguments.text_count + 1) * sizeof *programs);
    status = th_cli_call_arguments_read(&call.arguments, programs, &count);
    if (status == TH_OK) {
        struct th_run_limit ending = {.command = "call",
                                      .duration = -1,
                                      .passed = true, /* all calls have ended */
                                      .grace = call.grace,
                                      .give_up = give_up,
                                      .context = &call};
        struct th_call_work work = {.programs = programs,
                                    .program_count = count,
                                    .rounds = call.repeat,
                                    .sessions = (unsigned)call.threads,
                                    .ending = &ending};
        status = run(&call, &work);
    } else {
        th_cli_command_fail("call");
    }
    for (size_t i = 0; i < count; i++)
        th_shell_program_free(&programs[i]);
    th_free(programs);
    th_free(call.folders.items);
    th_cli_call_arguments_free(&call.arguments);
    return th_cli_interrupt_status(th_cli_command_finish("call", status));
}

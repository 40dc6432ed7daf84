/* tracehost call: evaluates calls of any NIF library. */
#include "call_arguments.h"
#include "call_session.h"
#include "interrupt.h"
#include "line_editor.h"
#include "subcommand.h"

#include "host/cli/options/usage.h"
#include "host/crash/crash.h"
#include "host/library/load.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

struct call {
    struct th_texts folders;
    struct th_call_arguments arguments;
    uint64_t repeat, threads;
    bool many; /* --repeat or --threads was given */
    struct th_run_limit ending;
};

static enum th_status call_check(void *input)
{
    struct call *call = input;

    call->many = call->repeat || call->threads;
    call->repeat = call->repeat ? call->repeat : 1;
    call->threads = call->threads ? call->threads : 1;
    if (call->arguments.libraries.count == 0)
        return th_error_raise(TH_USAGE, "argument LIBRARY is missing");
    if (call->many && call->arguments.text_count == 0)
        return th_error_raise(
            TH_USAGE,
            "--repeat and --threads need an EXPRESSION: give one, or -f FILE, or - for stdin");
    return TH_OK;
}

static const struct th_argument arguments[] = {
    TH_OPTION(NULL, "DIR", FOLDER, INPUT, "Search DIR first, then $TRACEHOST_PATH", .letter = 'L',
              .how = TH_ARGUMENT_REPEATS, TH_INTO(struct call, folders)),
    TH_OPTION("repeat", "N", NUMBER, INPUT, "Evaluate all N times", .least = 1,
              .most = INT64_MAX / TH_CALL_MOST_THREADS, TH_INTO(struct call, repeat)),
    TH_OPTION("threads", "N", NUMBER, INPUT,
              "Evaluate all in N processes at once, each with its own scheduler and variables",
              .least = 1, .most = TH_CALL_MOST_THREADS, TH_INTO(struct call, threads)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments, .check = call_check},
    {.items = th_cli_call_argument_table, .offset = offsetof(struct call, arguments)},
    {.items = th_cli_supervisor_arguments},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before =
        "Calls functions of NIF libraries: evaluates Erlang expressions as a shell does.\n"
        "LIBRARY is a NIF library (NAME or ./PATH.so); EXPRESSION calls its functions. Without "
        "EXPRESSIONs there is a prompt; if stdin is no terminal, stdin is evaluated.",
    .after = TH_CALL_ARGUMENTS_HELP
    "\n\n"
    "The language has terms, variables and patterns, operators, case, if, try, catch, receive "
    "and !, funs and comprehensions; self(), register/2, timer:sleep/1 and the like; flush(), "
    "f(), f(V), b() and q() of the shell; tracehost:console(), a process that prints each "
    "message that it gets, tracehost:open_port(\"FILE\") and close_port/1. It has no records "
    "and no other functions of Erlang.\n\n"
    "Values are printed on stdout. Exceptions are printed on stderr, and the exit status is 1. "
    "With --repeat and --threads, the values of the first evaluation are printed.",
    .examples = "  tracehost call json 'json:decode(<<\"[1,2]\">>)'\n"
                "  tracehost call --threads=4 --repeat=1000 fib 'fib:fib(10)'",
    .words = "LIBRARY... [EXPRESSION...]",
    .live = true,
};

/* --- The prompt: a form may span many lines, up to its full stop ------------------------------ */

/* Evaluates the forms that are typed on stdin, a terminal, until its end, q() or a signal. Errors:
 * TH_FAILED if memory is short; then nothing was read. */
static enum th_status read_prompt(struct th_call_session *session)
{
    struct th_line_editor *editor =
        th_cli_line_editor_create(isatty(STDOUT_FILENO) ? stdout : stderr, NULL, NULL);
    struct th_buffer typed = {0};
    unsigned number = 1;
    bool goes_on = true;

    if (!editor)
        return th_error_raise(TH_FAILED, "cannot show a prompt: out of memory");
    th_crash_set_restore(th_cli_line_editor_restore);
    while (goes_on) {
        char *prompt = th_printf("%u> ", number);
        enum th_line_end end;
        enum th_typed state;
        const char *line;
        sigset_t before;

        /* Signals are unblocked only during the wait, so that none comes between the check and the
         * wait. */
        th_cli_interrupt_hold(&before);
        end = th_cli_line_edit(editor, prompt, -1, &line);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        th_free(prompt);
        if (end != TH_LINE_TYPED)
            break;
        th_buffer_printf(&typed, "%s\n", line);
        state = th_shell_typed((char *)typed.data, typed.size);
        if (state == TH_TYPED_FORMS) {
            struct th_program program;
            if (th_shell_parse(&program, (char *)typed.data, typed.size, false) == TH_OK) {
                goes_on = th_cli_call_session_evaluate(session, &program, true, NULL);
            } else {
                fprintf(stderr, "* %s\n", th_error_link(0));
                th_error_clear();
            }
            th_shell_program_free(&program);
            number++;
        }
        if (state != TH_TYPED_PART)
            typed.size = 0;
        fflush(stdout);
    }
    th_buffer_free(&typed);
    th_crash_set_restore(NULL);
    th_cli_line_editor_free(editor);
    return TH_OK;
}

/* --- The work --------------------------------------------------------------------------------- */

static enum th_status call_evaluate(void *context, const struct th_program programs[], size_t count)
{
    struct call *call = context;
    struct th_call_work work = {.programs = programs,
                                .program_count = count,
                                .rounds = call->repeat,
                                .sessions = (unsigned)call->threads,
                                .ending = &call->ending};
    enum th_status status = TH_OK;
    uint64_t done, failed;

    if (count > 0) {
        status = th_cli_call_work_run(&work);
    } else {
        struct th_call_session session;
        th_cli_call_session_start(&session, &work, 1);
        status = read_prompt(&session);
        if (status == TH_OK)
            status = th_cli_call_work_evaluated(&work);
        th_cli_call_session_end(&session);
    }
    if (status != TH_OK)
        th_cli_command_fail("call");
    done = atomic_load_explicit(&work.done, memory_order_relaxed);
    failed = atomic_load_explicit(&work.failed, memory_order_relaxed);
    if (call->many || th_cli_interrupt_came()) {
        th_cli_command_flush();
        fprintf(stderr, "tracehost call: ");
    }
    if (th_cli_interrupt_came())
        fprintf(stderr, "received %s%s", th_cli_interrupt_name(), call->many ? " after " : "\n");
    if (call->many)
        fprintf(stderr, "%" PRIu64 " round%s in %u process%s, %" PRIu64 " evaluation%s failed\n",
                done, th_log_plural(done), work.sessions, work.sessions == 1 ? "" : "es", failed,
                th_log_plural(failed));
    th_library_halt();
    th_runtime_kill_all();
    if (work.ends)
        th_cli_run_limit_end(work.ending);
    return status == TH_OK && failed ? TH_FAILED : status;
}

int th_cli_command_call(int argc, char **argv)
{
    struct call call = {.arguments.grace = TH_CALL_GRACE};
    struct th_call_host host = {.command = "call",
                                .arguments = &call.arguments,
                                .folders = &call.folders,
                                .evaluate = call_evaluate,
                                .context = &call};
    enum th_status status;

    th_cli_command_parse(&usage, argc, argv, &call);
    th_cli_command_supervise("call", NULL);
    host.setup.schedulers = (unsigned)call.threads;
    call.ending = (struct th_run_limit){.command = "call",
                                        .duration = -1,
                                        .passed = true, /* all calls have ended */
                                        .grace = call.arguments.grace};
    if (call.arguments.text_count == 0 && !isatty(STDIN_FILENO))
        th_cli_call_arguments_add(&call.arguments, "-", NULL);
    status = th_cli_call_host_run(&host);
    th_free(call.folders.items);
    return th_cli_interrupt_status(th_cli_command_finish("call", status));
}

/*
 * States of tracers that are expressions: evaluated once, when the tracer is attached, by the
 * thread that attaches it. A process of its own makes the calls of libraries' functions, so that
 * resources and pids that these give can be states.
 */
#include "state_expression.h"

#include "call_session.h"
#include "interrupt.h"

#include "host/trace/trace.h"

#include <string.h>

static th_term self_pid; /* see th_cli_state_expressions_begin() */

struct caller {
    struct th_process *process; /* NULL: nothing was called yet */
};

static enum th_called call(void *context, th_term module, th_term function, size_t count,
                           const th_term arguments[], th_env *env, th_term *result)
{
    struct caller *caller = context;
    const struct th_export *entry = th_cli_call_defined(module, function, count);

    if (!entry)
        return TH_CALLED_UNDEFINED;
    if (!caller->process)
        caller->process = th_runtime_run_start();
    return th_cli_called_of(
        th_runtime_run_call_export(caller->process, entry, arguments, env, result));
}

static bool receive(void *context, int64_t nanoseconds, th_env *env, th_term *message)
{
    return th_cli_call_receive(((struct caller *)context)->process, nanoseconds, env, message);
}

static bool interrupted(void *context)
{
    (void)context;
    return th_cli_interrupt_came() != 0;
}

static th_term self(void *context)
{
    (void)context;
    return self_pid == TH_NONE ? th_process_console_pid() : self_pid;
}

/* The exception's lines in one; that of an evaluation that was stopped says nothing. */
static enum th_status raised(const struct th_evaluation *e)
{
    struct th_buffer lines = {0}, line = {0};
    const char *from, *end;

    if (e->stopped)
        return th_error_raise(TH_USAGE, "the state has no value: %s came", th_cli_interrupt_name());
    th_shell_print_exception(e, &lines);
    from = th_buffer_text(&lines);
    for (from += strspn(from, "* "); *from; from = end + strspn(end, "\n ")) {
        end = from + strcspn(from, "\n");
        th_buffer_printf(&line, "%s%.*s", line.size ? ", " : "", (int)(end - from), from);
    }
    th_error_raise(TH_USAGE, "the state has no value: %s", th_buffer_text(&line));
    th_buffer_free(&line);
    th_buffer_free(&lines);
    return TH_USAGE;
}

static enum th_status evaluate(th_env *env, const struct th_program *program, th_term *state)
{
    static const struct th_shell_host host = {
        call, receive, interrupted, self, NULL, NULL, th_cli_call_functions,
    };
    struct caller caller = {0};
    struct th_evaluation e;
    enum th_status status = TH_OK;
    th_term value;

    th_shell_start(&e, &host, &caller, NULL);
    value = th_shell_evaluate_form(&e, program, program->forms[0]);
    if (value == TH_NONE)
        status = raised(&e);
    else
        *state = th_copy(env, value);
    th_shell_end(&e);
    if (caller.process)
        th_runtime_run_exit(caller.process, TH_AM(normal));
    return status;
}

static enum th_status read_state(th_env *env, const char *text, th_term *state)
{
    struct th_program program;
    enum th_status status = th_shell_parse(&program, text, strlen(text), true);

    if (status == TH_OK && program.count != 1)
        status = th_error_raise(TH_USAGE, "the state is %zu expressions, not one", program.count);
    else if (status == TH_OK)
        status = evaluate(env, &program, state);
    else
        status = th_error_raise(TH_USAGE, "the state is no Erlang term: %s", th_error_link(0));
    th_shell_program_free(&program);
    return status;
}

void th_cli_state_expressions_begin(th_term pid)
{
    self_pid = pid;
    th_tracer_state_evaluate = read_state;
}

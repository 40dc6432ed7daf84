#include "call_session.h"

#include "interrupt.h"
#include "subcommand.h"

#include "host/code/export.h"
#include "host/crash/crash.h"
#include "host/process/process.h"
#include "host/progress/progress.h"
#include "host/runtime/runtime.h"
#include "host/term/clock.h"
#include "host/term/text.h"
#include "host/trace/named_tracer.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* --- The host of an evaluation ---------------------------------------------------------------- */

static enum th_called call_session_call(void *context, th_term module, th_term function,
                                        size_t count, const th_term arguments[], th_env *env,
                                        th_term *result)
{
    static const enum th_called ends[] = {
        [TH_CALL_RETURNED] = TH_CALLED_RETURNED, [TH_CALL_RAISED] = TH_CALLED_RAISED,
        [TH_CALL_THREW] = TH_CALLED_THREW,       [TH_CALL_EXITED] = TH_CALLED_EXITED,
        [TH_CALL_ENDED] = TH_CALLED_ENDED,
    };
    struct th_call_session *session = context;
    const struct th_export *entry = th_code_export_find(module, function, (unsigned)count);
    bool defined;

    th_progress_enter();
    defined = th_code_export_callee(entry) != NULL;
    th_progress_leave();
    if (!defined)
        return TH_CALLED_UNDEFINED;
    if (!session->process)
        session->process = th_runtime_run_start();
    return ends[th_runtime_run_call_export(session->process, entry, arguments, env, result,
                                           &session->raised)];
}

static bool call_session_receive(void *context, int64_t nanoseconds, th_env *env, th_term *message)
{
    struct th_process *process = ((struct th_call_session *)context)->process;
    struct th_message *received = process ? th_runtime_run_receive(process, nanoseconds) : NULL;

    if (!received)
        return false;
    *message = th_copy(env, received->term);
    th_process_message_free(received);
    return true;
}

static bool interrupted(void *context)
{
    const struct th_call_work *work = ((struct th_call_session *)context)->work;

    return th_cli_interrupt_came() != 0 ||
           (work && atomic_load_explicit(&work->stopped, memory_order_relaxed));
}

static th_term call_session_self(void *context)
{
    return th_runtime_run_pid(((struct th_call_session *)context)->process);
}

static th_term stack(void *context)
{
    return ((struct th_call_session *)context)->raised.stack;
}

static th_term located(th_env *env, th_term stack)
{
    return th_runtime_call_stack(env,
                                 &(struct th_exception_raised){.lines_due = true, .stack = stack});
}

static const struct th_shell_host host = {
    call_session_call, call_session_receive,  interrupted, call_session_self, stack,
    located,           th_cli_call_functions,
};

void th_cli_call_session_start(struct th_call_session *session, struct th_call_work *work,
                               unsigned number)
{
    *session =
        (struct th_call_session){.work = work, .number = number, .process = th_runtime_run_start()};
    th_shell_start(&session->evaluation, &host, session, NULL);
}

void th_cli_call_session_end(struct th_call_session *session)
{
    th_shell_end(&session->evaluation);
    if (session->process)
        th_runtime_run_exit(session->process, TH_AM(normal));
}

/* --- Forms ------------------------------------------------------------------------------------ */

void th_cli_call_show_value(th_term value, FILE *out)
{
    struct th_buffer text = {0};

    th_text_show(&text, value);
    th_buffer_add_byte(&text, '\n');
    fwrite(text.data, 1, text.size, out);
    th_buffer_free(&text);
}

bool th_cli_call_session_evaluate(struct th_call_session *session, const struct th_program *program,
                                  bool shown, const char *where)
{
    struct th_evaluation *e = &session->evaluation;

    e->out = shown ? stdout : NULL;
    for (size_t i = 0; i < program->count && !e->stopped; i++) {
        struct th_buffer text = {0};
        th_term value;
        th_runtime_run_yield(session->process);
        value = th_shell_evaluate_form(e, program, program->forms[i]);
        if (value == TH_NONE && !e->stopped) {
            if (where)
                th_buffer_printf(&text, "tracehost call: %s\n", where);
            th_shell_print_exception(e, &text);
            fflush(stdout); /* keeps the order of stdout and stderr */
            /* One write, so that lines of other threads cannot come in between. */
            fwrite(text.data, 1, text.size, stderr);
            th_buffer_free(&text);
            atomic_fetch_add_explicit(&session->work->failed, 1, memory_order_relaxed);
        } else if (value != TH_NONE && shown) {
            th_cli_call_show_value(value, stdout);
            if (isatty(STDOUT_FILENO))
                fflush(stdout);
        }
        th_shell_collect(e);
    }
    return !e->stopped && !th_cli_interrupt_came();
}

/* --- Rounds ----------------------------------------------------------------------------------- */

/* Returns false if evaluation must stop. */
static bool evaluate_round(struct th_call_session *session, uint64_t round)
{
    struct th_call_work *work = session->work;
    bool shown = session->number == 1 && round == 1, many = work->rounds * work->sessions > 1;
    char where[64];

    snprintf(where, sizeof where, "process %u, round %" PRIu64 ":", session->number, round);
    /* Each round begins without bindings and without messages. */
    th_shell_forget_mail(&session->evaluation);
    th_shell_forget(&session->evaluation);
    th_shell_collect(&session->evaluation);
    for (size_t i = 0; i < work->program_count; i++)
        if (!th_cli_call_session_evaluate(session, &work->programs[i], shown, many ? where : NULL))
            return false;
    atomic_fetch_add_explicit(&work->done, 1, memory_order_relaxed);
    return true;
}

static void *run_session(void *context)
{
    struct th_call_session *session = context;
    struct th_call_work *work = session->work;
    bool goes_on = true;

    pthread_mutex_lock(&work->begins);
    pthread_mutex_unlock(&work->begins);
    /* A session that stops still meets the others, who wait for it. */
    for (uint64_t round = 1; round <= work->rounds && (goes_on || work->together); round++) {
        if (work->together)
            pthread_barrier_wait(&work->round);
        goes_on = goes_on && evaluate_round(session, round);
    }
    return NULL;
}

enum th_status th_cli_call_work_evaluated(struct th_call_work *work)
{
    enum th_status status = th_cli_run_limit_begin(work->ending);

    work->ends = status == TH_OK;
    return status;
}

/* All processes exist before the first one begins and until the last one is done: they may know
 * each other by name. */
enum th_status th_cli_call_work_run(struct th_call_work *work)
{
    struct th_call_session *sessions = th_alloc(work->sessions * sizeof *sessions);
    pthread_t *threads = th_alloc(work->sessions * sizeof *threads);
    enum th_status status = TH_OK;
    unsigned started = 1;

    for (unsigned i = 0; i < work->sessions; i++)
        th_cli_call_session_start(&sessions[i], work, i + 1);
    pthread_mutex_init(&work->begins, NULL);
    pthread_mutex_lock(&work->begins);
    for (; started < work->sessions; started++) {
        status = th_cli_thread_start(&threads[started], run_session, &sessions[started]);
        if (status != TH_OK)
            break;
    }
    if (work->together)
        pthread_barrier_init(&work->round, NULL, started);
    pthread_mutex_unlock(&work->begins);
    run_session(&sessions[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    if (work->together)
        pthread_barrier_destroy(&work->round);
    pthread_mutex_destroy(&work->begins);
    if (status == TH_OK)
        status = th_cli_call_work_evaluated(work);
    for (unsigned i = 0; i < work->sessions; i++)
        th_cli_call_session_end(&sessions[i]);
    th_free(threads);
    th_free(sessions);
    return status;
}

/* --- The limit of a run ---------------------------------------------------------------------- */

static const int64_t patience = 1000000000; /* nanoseconds before a report of the wait */

static bool call_session_has_ended(const struct th_run_limit *limit)
{
    return atomic_load_explicit(&limit->ended, memory_order_relaxed);
}

static bool has_passed(struct th_run_limit *limit)
{
    bool passed;

    pthread_mutex_lock(&limit->lock);
    passed = limit->passed;
    pthread_mutex_unlock(&limit->lock);
    return passed;
}

/* Returns true if the run has ended before DEADLINE. */
static bool ends_before(const struct th_run_limit *limit, int64_t deadline)
{
    while (!call_session_has_ended(limit) && th_clock_real_monotonic() < deadline)
        th_cli_interrupt_wait(deadline);
    return call_session_has_ended(limit);
}

static void show_hanging(void *context, const char *function)
{
    const struct th_run_limit *limit = context;

    fprintf(stderr, "tracehost %s: %s has not returned after %g s; the program ends without it\n",
            limit->command, function, (double)limit->grace / 1e9);
}

/* A running function is not interrupted. Data that may be in use is not freed. */
static void *call_session_watch(void *context)
{
    struct th_run_limit *limit = context;
    int64_t deadline =
        limit->duration < 0 ? INT64_MAX : th_clock_real_monotonic() + limit->duration;
    int64_t now, end;

    while (!has_passed(limit) && !th_cli_interrupt_came() && th_clock_real_monotonic() < deadline)
        th_cli_interrupt_wait(deadline);
    pthread_mutex_lock(&limit->lock);
    if (!limit->passed) {
        limit->stopped = true;
        limit->stop(limit->context);
    }
    pthread_mutex_unlock(&limit->lock);

    now = th_clock_real_monotonic();
    end = limit->grace < 0 ? INT64_MAX : now + limit->grace;
    if (end > now + patience) {
        if (ends_before(limit, now + patience))
            return NULL;
        th_cli_interrupt_uninstall();
        fprintf(stderr,
                "tracehost %s: waiting for running functions to return; a signal ends the program "
                "at once\n",
                limit->command);
    }
    if (ends_before(limit, end))
        return NULL;
    has_passed(limit); /* if the call has ended, the lock makes its data visible */
    if (limit->give_up)
        limit->give_up(limit->context);
    fflush(NULL);
    th_runtime_each_running(show_hanging, limit);
    th_crash_finish(th_cli_interrupt_status(TH_CRASHED));
    _exit(th_cli_interrupt_status(TH_CRASHED));
}

enum th_status th_cli_run_limit_begin(struct th_run_limit *limit)
{
    enum th_status status;

    pthread_mutex_init(&limit->lock, NULL);
    status = th_cli_thread_start(&limit->thread, call_session_watch, limit);
    if (status != TH_OK)
        pthread_mutex_destroy(&limit->lock);
    return status;
}

bool th_cli_run_limit_pass(struct th_run_limit *limit)
{
    bool stopped;

    pthread_mutex_lock(&limit->lock);
    limit->passed = true;
    stopped = limit->stopped;
    pthread_mutex_unlock(&limit->lock);
    th_cli_interrupt_wake();
    return !stopped;
}

void th_cli_run_limit_end(struct th_run_limit *limit)
{
    atomic_store_explicit(&limit->ended, true, memory_order_relaxed);
    th_cli_interrupt_wake();
    pthread_join(limit->thread, NULL);
    pthread_mutex_destroy(&limit->lock);
}

/* --- States of tracers ------------------------------------------------------------------------ */

/*
 * A state that is an expression is evaluated once, when the tracer is attached, by the thread that
 * attaches it. Calls of libraries' functions are made by a process of their own, so that their
 * resources and pids can be states. The process starts with the first call.
 */
static th_term state_self; /* see th_cli_state_expressions_begin() */

static th_term self_of_state(void *context)
{
    (void)context;
    return state_self == TH_NONE ? th_process_console_pid() : state_self;
}

/* Raises TH_USAGE with the exception's lines joined into one. An evaluation that was stopped has no
 * exception. */
static enum th_status refuse_state(const struct th_evaluation *e)
{
    struct th_buffer lines = {0}, line = {0};
    const char *from, *end;

    if (e->stopped)
        return th_error_raise(TH_USAGE, "cannot evaluate the state: received %s",
                              th_cli_interrupt_name());
    th_shell_print_exception(e, &lines);
    from = th_buffer_text(&lines);
    for (from += strspn(from, "* "); *from; from = end + strspn(end, "\n ")) {
        end = from + strcspn(from, "\n");
        th_buffer_printf(&line, "%s%.*s", line.size ? ", " : "", (int)(end - from), from);
    }
    th_error_raise(TH_USAGE, "cannot evaluate the state: %s", th_buffer_text(&line));
    th_buffer_free(&line);
    th_buffer_free(&lines);
    return TH_USAGE;
}

static enum th_status read_state(th_env *env, const char *text, th_term *state)
{
    static const struct th_shell_host host_of_state = {
        call_session_call,     call_session_receive, interrupted, self_of_state, NULL, NULL,
        th_cli_call_functions,
    };
    struct th_call_session session = {0};
    struct th_program program;
    enum th_status status = th_shell_parse(&program, text, strlen(text), true);

    if (status == TH_OK && program.count != 1) {
        status =
            th_error_raise(TH_USAGE, "the state must be one expression, not %zu", program.count);
    } else if (status == TH_OK) {
        th_term value;
        th_shell_start(&session.evaluation, &host_of_state, &session, NULL);
        value = th_shell_evaluate_form(&session.evaluation, &program, program.forms[0]);
        if (value == TH_NONE)
            status = refuse_state(&session.evaluation);
        else
            *state = th_copy(env, value);
        th_cli_call_session_end(&session);
    } else {
        status = th_error_raise(TH_USAGE, "the state is not an Erlang term: %s", th_error_link(0));
    }
    th_shell_program_free(&program);
    return status;
}

void th_cli_state_expressions_begin(th_term pid)
{
    state_self = pid;
    th_tracer_state_evaluate = read_state;
}

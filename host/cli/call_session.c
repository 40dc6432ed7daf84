#include "call_session.h"

#include "subcommand.h"
#include "interrupt.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* --- What an evaluation needs ----------------------------------------------------------------- */

enum th_called th_cli_called_of(enum th_call_end end)
{
    static const enum th_called ends[] = {
        [TH_CALL_RETURNED] = TH_CALLED_RETURNED, [TH_CALL_RAISED] = TH_CALLED_RAISED,
        [TH_CALL_THREW] = TH_CALLED_THREW,       [TH_CALL_EXITED] = TH_CALLED_EXITED,
        [TH_CALL_ENDED] = TH_CALLED_ENDED,
    };

    return ends[end];
}

const struct th_export *th_cli_call_defined(th_term module, th_term function, size_t count)
{
    const struct th_export *entry = th_code_export_find(module, function, (unsigned)count);
    bool defined;

    th_progress_enter();
    defined = th_code_export_callee(entry) != NULL;
    th_progress_leave();
    return defined ? entry : NULL;
}

static enum th_called call(void *context, th_term module, th_term function, size_t count,
                           const th_term arguments[], th_env *env, th_term *result)
{
    struct th_call_session *session = context;
    const struct th_export *entry = th_cli_call_defined(module, function, count);

    if (!entry)
        return TH_CALLED_UNDEFINED;
    return th_cli_called_of(th_runtime_run_call_raising(session->process, entry, arguments, env,
                                                        result, &session->raised));
}

bool th_cli_call_receive(struct th_process *process, int64_t nanoseconds, th_env *env,
                         th_term *message)
{
    struct th_message *received = process ? th_runtime_run_receive(process, nanoseconds) : NULL;

    if (!received)
        return false;
    *message = th_copy(env, received->term);
    th_process_message_free(received);
    return true;
}

static bool receive(void *context, int64_t nanoseconds, th_env *env, th_term *message)
{
    return th_cli_call_receive(((struct th_call_session *)context)->process, nanoseconds, env,
                               message);
}

static bool interrupted(void *context)
{
    const struct th_call_session *session = context;

    return th_cli_interrupt_came() != 0 ||
           atomic_load_explicit(&session->work->stopped, memory_order_relaxed);
}

static th_term self(void *context)
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
    call, receive, interrupted, self, stack, located, th_cli_call_functions,
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
    th_runtime_run_exit(session->process, TH_AM(normal));
}

/* --- Forms ------------------------------------------------------------------------------------ */

static void show_value(th_term value)
{
    struct th_buffer text = {0};

    th_text_show(&text, value);
    th_buffer_add_byte(&text, '\n');
    fwrite(text.data, 1, text.size, stdout);
    th_buffer_free(&text);
    if (isatty(STDOUT_FILENO))
        fflush(stdout);
}

/* One write, so that lines of other threads do not come in between. */
static void show_exception(struct th_call_session *session, const char *where)
{
    struct th_buffer text = {0};

    if (where)
        th_buffer_printf(&text, "tracehost call: %s\n", where);
    th_shell_print_exception(&session->evaluation, &text);
    fflush(stdout); /* what came before stands before */
    fwrite(text.data, 1, text.size, stderr);
    th_buffer_free(&text);
    atomic_fetch_add_explicit(&session->work->failed, 1, memory_order_relaxed);
}

bool th_cli_call_session_evaluate(struct th_call_session *session, const struct th_program *program,
                                  bool shown, const char *where)
{
    struct th_evaluation *e = &session->evaluation;

    e->out = shown ? stdout : NULL;
    for (size_t i = 0; i < program->count && !e->stopped; i++) {
        th_term value;
        th_runtime_run_yield(session->process);
        value = th_shell_evaluate_form(e, program, program->forms[i]);
        if (value == TH_NONE && !e->stopped)
            show_exception(session, where);
        else if (value != TH_NONE && shown)
            show_value(value);
        th_shell_collect(e);
    }
    return !e->stopped && !th_cli_interrupt_came();
}

/* --- Rounds ----------------------------------------------------------------------------------- */

/* Each round begins without bindings and without messages. */
static void begin_round(struct th_evaluation *e)
{
    th_shell_forget_mail(e);
    th_shell_forget(e);
    th_shell_collect(e);
}

static bool run_round(struct th_call_session *session, uint64_t round)
{
    const struct th_call_work *work = session->work;
    char where[64];
    bool goes_on = true;

    snprintf(where, sizeof where, "process %u, round %" PRIu64 ":", session->number, round);
    begin_round(&session->evaluation);
    for (size_t i = 0; goes_on && i < work->program_count; i++)
        goes_on = th_cli_call_session_evaluate(session, &work->programs[i],
                                               session->number == 1 && round == 1,
                                               work->rounds * work->sessions > 1 ? where : NULL);
    return goes_on;
}

static void *run_session(void *context)
{
    struct th_call_session *session = context;
    struct th_call_work *work = session->work;

    for (uint64_t round = 1; round <= work->rounds && run_round(session, round); round++)
        atomic_fetch_add_explicit(&work->done, 1, memory_order_relaxed);
    return NULL;
}

/* The processes are there before the first one begins, and until the last one is done: they may
 * know of each other by name. */
enum th_status th_cli_call_work_evaluated(struct th_call_work *work)
{
    enum th_status status = work->ending ? th_cli_run_limit_begin(work->ending) : TH_OK;

    work->ends = work->ending && status == TH_OK;
    return status;
}

enum th_status th_cli_call_work_run(struct th_call_work *work)
{
    struct th_call_session *sessions = th_alloc(work->sessions * sizeof *sessions);
    pthread_t *threads = th_alloc(work->sessions * sizeof *threads);
    enum th_status status = TH_OK;
    unsigned started = 1;

    for (unsigned i = 0; i < work->sessions; i++)
        th_cli_call_session_start(&sessions[i], work, i + 1);
    for (; started < work->sessions; started++) {
        int error = pthread_create(&threads[started], NULL, run_session, &sessions[started]);
        if (error) {
            status = th_error_raise(TH_FAILED, "cannot start a thread: %s", strerror(error));
            break;
        }
    }
    run_session(&sessions[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    if (status == TH_OK)
        status = th_cli_call_work_evaluated(work);
    for (unsigned i = 0; i < work->sessions; i++)
        th_cli_call_session_end(&sessions[i]);
    th_free(threads);
    th_free(sessions);
    return status;
}

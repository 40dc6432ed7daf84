/*
 * The end of a worker: what the supervisor does after it, and the report of a death.
 *
 * The supervisor reads memory in which a faulty library may have written: a step of the report that
 * crashes is left out.
 */
#include "supervisor_internal.h"

#include "host/base/kept.h"
#include "host/base/output.h"
#include "host/trace/event.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- The report ------------------------------------------------------------------------------- */

static void add_suspect(void *context, const void *page)
{
    struct th_crash_worker *worker = context;
    const struct th_self *self = page;

    if (!self->id || (worker->lost_thread && self != worker->lost_thread))
        return;
    if (th_shared_holds(worker->region, self->played, sizeof *self->played))
        worker->record = self->played->number;
    if (th_crash_is_in_library(self) && worker->suspect_count < TH_CRASH_SUSPECTS)
        worker->suspects[worker->suspect_count++] = self;
}

static void find_suspects(void *context)
{
    th_shared_pages_each(((struct th_crash_worker *)context)->region, add_suspect, context);
}

/* Returns whether the worker was ended from outside, or by nobody that can be named. */
static bool is_from_outside(const struct th_crash_worker *worker)
{
    return worker->page->sent || (WIFSIGNALED(worker->status) && !worker->lost_thread &&
                                  WTERMSIG(worker->status) == SIGKILL);
}

/* Writes how the worker ended, to TEXT, of SIZE bytes. */
static void describe_end(const struct th_crash_worker *worker, char *text, size_t size)
{
    char signal[80];

    if (worker->page->did[0]) {
        snprintf(text, size, "%s", worker->page->did);
    } else if (worker->replaced) {
        snprintf(text, size, "replaced the program (exec)");
    } else if (worker->lost_thread) {
        snprintf(text, size, "ended its thread");
    } else if (WIFSIGNALED(worker->status)) {
        th_crash_describe_signal(WTERMSIG(worker->status), signal, sizeof signal);
        snprintf(text, size, "crashed: %s", signal);
    } else {
        snprintf(text, size, "ended the program: _exit(%d)", WEXITSTATUS(worker->status));
    }
}

static void write_report(void *context)
{
    const struct th_crash_worker *worker = context;
    const struct th_crash_facts *facts = &worker->page->facts;
    bool alone = worker->suspect_count == 1;
    char did[120];

    describe_end(worker, did, sizeof did);
    if (worker->suspect_count == 0)
        th_write_text(STDERR_FILENO, "tracehost: a thread of a %s %s\n", facts->kind, did);
    if (worker->suspect_count > 1)
        th_write_text(STDERR_FILENO, "tracehost: one of %zu threads %s\n", worker->suspect_count,
                      did);
    for (size_t i = 0; i < worker->suspect_count; i++) {
        struct th_crash_scene scene = th_crash_scene_of(worker->suspects[i], facts);
        th_write_text(STDERR_FILENO, "%s%s '%s'%s%s, in %s\n", alone ? "tracehost: " : "  ",
                      scene.kind, scene.name, alone ? " " : "", alone ? did : "", scene.function);
        th_crash_write_position(worker->suspects[i], facts);
    }
}

/* Writes that no library is to blame, as far as is known. */
static void write_outside(void *context)
{
    const struct th_crash_worker *worker = context;
    int number = worker->page->sent ? worker->page->sent : WTERMSIG(worker->status);
    char signal[80];

    th_crash_describe_signal(number, signal, sizeof signal);
    th_write_text(STDERR_FILENO, "%s: %s%s: %s", worker->name, worker->title,
                  is_from_outside(worker) ? "killed from outside" : "crashed outside of libraries",
                  signal);
    if (worker->record)
        th_write_text(STDERR_FILENO, ", at record %llu", (unsigned long long)worker->record);
    th_write_text(STDERR_FILENO, "\n");
}

static void rescue_outputs(void *context)
{
    struct th_crash_worker *worker = context;

    for (size_t i = 0; i < worker->output_count; i++)
        worker->lost += th_kept_rescue(worker->outputs[i].kept, worker->outputs[i].descriptor);
}

static void remove_files(void *context)
{
    th_output_remove_unfinished_of(((const struct th_crash_worker *)context)->region);
}

/* A signal that has ended the worker ends the supervisor, too, as a shell expects. */
_Noreturn void th_crash_end_as(const struct th_crash_end *end)
{
    int number = end->signal;
    sigset_t one;

    if (!number)
        _exit(end->status);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* the worker has left a core, if anyone does */
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    _exit(end->status);
}

/* Leaves the alternate screen, writes the text that was held back meanwhile, and gives the terminal its
 * former settings. */
static void restore_terminal(const struct th_crash_worker *worker)
{
    if (worker->page->screen && !th_write_text(STDERR_FILENO, TH_CRASH_LEAVE_SCREEN))
        return; /* the terminal is gone */
    if (worker->held >= 0)
        th_output_copy_file(worker->held, 0, STDERR_FILENO);
    if (worker->has_terminal)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &worker->terminal);
}

/* A process that ends by the user's signal, or by that of a closed pipe, does so silently. */
static bool ends_silently(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT ||
           number == SIGPIPE;
}

/* Reports the death of WORKER, which NUMBER, a signal, has ended; 0: another cause. Returns whether a
 * library is accused. */
static bool report_death(struct th_crash_worker *worker, int number)
{
    bool reported = worker->page->reported;

    restore_terminal(worker);
    th_crash_try(rescue_outputs, worker);
    th_crash_try(remove_files, worker);
    if (number && !reported && ends_silently(number))
        return false;
    th_crash_try(find_suspects, worker);
    if (number && !reported && (is_from_outside(worker) || !worker->suspect_count)) {
        th_crash_try(write_outside, worker);
        return false;
    }
    if (!reported && !th_crash_try(write_report, worker))
        th_write_text(STDERR_FILENO, "%s: a library has ended the program, and its name is lost\n",
                      worker->name);
    if (worker->lost)
        th_write_text(STDERR_FILENO, "%s: %zu bytes of output were lost\n", worker->name,
                      worker->lost);
    return true;
}

struct th_crash_end th_crash_account_for(struct th_crash_worker *worker)
{
    const struct th_crash_page *page = worker->page;
    bool killed = worker->replaced || worker->lost_thread; /* by this process */
    int number = page->sent                               ? page->sent
                 : WIFSIGNALED(worker->status) && !killed ? WTERMSIG(worker->status)
                                                          : 0;
    bool crashed;

    if (page->finished && !worker->replaced && WIFEXITED(worker->status) &&
        WEXITSTATUS(worker->status) == page->status)
        return (struct th_crash_end){.status = page->status};
    th_crash_begin_report();
    for (size_t i = 0; i < TH_CRASH_FAULTS; i++)
        signal(th_crash_signals[i], th_crash_leave_step);
    crashed = report_death(worker, number);
    for (size_t i = 0; i < TH_CRASH_FAULTS; i++)
        signal(th_crash_signals[i], SIG_DFL);
    th_crash_abandon_report();
    if (crashed)
        return (struct th_crash_end){.crashed = true, .status = TH_CRASHED};
    return (struct th_crash_end){.status = 128 + number, .signal = number};
}

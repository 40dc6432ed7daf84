/*
 * The supervisor of workers; supervisor.h describes both.
 *
 * 1. The supervisor blocks all signals, maps a region for each worker and forks. A worker gets its
 *    signals back.
 * 2. The supervisor waits for signals and for messages of the workers. It passes signals on, stops
 *    when the workers have stopped, and keeps descriptors of their outputs. The outputs of several
 *    workers are merged (worker_merge.c).
 * 3. A worker ends, or another program takes its place (exec).
 * 4. After a death the supervisor writes what the worker had left, removes unfinished files,
 *    restores the terminal, and reports (worker_end.c). It may fork a successor, which plays all
 *    records again but that of the death.
 * 5. When all workers have ended, the supervisor ends with TH_CRASHED, or as the first worker that
 *    did not succeed.
 */
#include "supervisor_internal.h"

#include "host/base/buffer.h"
#include "host/base/kept.h"
#include "host/base/memory.h"
#include "host/base/output.h"
#include "host/probe/probe.h"
#include "host/term/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOOK_MS = 1000,       /* between two looks at the threads of the workers */
    MERGE_MS = 1,         /* between two looks at the output of the workers, while there is some */
    PIPE_BYTES = 1 << 20, /* of frames that gather between two looks */
    DEATHS_IN_A_ROW = 3
};

/* --- All workers ------------------------------------------------------------------------------ */

struct team {
    const char *name;                     /* of the command */
    const char *advice;                   /* see th_crash_supervise(); NULL: none */
    const struct th_crash_policy *policy; /* NULL: one worker, whose output is not merged */
    size_t count;
    struct th_crash_worker *workers;
    struct th_crash_merge *merge; /* NULL: none */
    struct pollfd *polled;        /* room for all descriptors */
    pid_t supervisor;
    int signals;     /* a signalfd */
    sigset_t before; /* the signal mask of the program */
    int64_t looked;  /* time of the last look at threads, in nanoseconds */
};

/* Notes that waitpid() has reported STATUS of the process ID. */
static void note_change(const struct team *team, pid_t id, int status)
{
    struct th_crash_worker *worker = team->workers, *end = worker + team->count;

    while (worker < end && worker->id != id)
        worker++;
    if (WIFSTOPPED(status)) {
        /* A thread that asked to be traced by its parent would wait for this process for ever. */
        if (ptrace(PTRACE_DETACH, id, NULL, WSTOPSIG(status)) != 0 && worker < end)
            worker->stopped = true;
    } else if (worker < end && WIFCONTINUED(status)) {
        worker->stopped = false;
    } else if (worker < end) {
        worker->status = status;
        worker->id = 0;
    }
}

/* The shell sees that the command has stopped. If the shell lets it go on, all processes do: their
 * group gets SIGCONT. A worker that goes on alone sends SIGCONT. */
static void stop_with_workers(struct team *team)
{
    bool stopped = false;

    for (size_t i = 0; i < team->count; i++) {
        if (team->workers[i].id && !team->workers[i].stopped)
            return;
        stopped |= team->workers[i].id != 0;
    }
    if (!stopped)
        return;
    for (size_t i = 0; i < team->count; i++)
        team->workers[i].stopped = false;
    raise(SIGSTOP);
}

/* Handles changes of the workers' state. A process that starts another program gets its name. */
static void look_at_workers(struct team *team)
{
    char name[TH_CRASH_NAME_BYTES];
    pid_t id;
    int status;

    for (size_t i = 0; i < team->count; i++) {
        struct th_crash_worker *worker = &team->workers[i];
        siginfo_t end = {0};
        if (worker->id && waitid(P_PID, (id_t)worker->id, &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            end.si_pid) {
            th_crash_read_name(worker->id, name);
            worker->replaced |= strcmp(name, worker->comm) != 0;
        }
    }
    while ((id = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED | __WALL)) > 0)
        note_change(team, id, status);
    stop_with_workers(team);
}

static size_t count_living(const struct team *team)
{
    size_t living = 0;

    for (size_t i = 0; i < team->count; i++)
        living += team->workers[i].id != 0;
    return living;
}

/* A terminal sends its signals to the whole group; so does the kernel in other cases. Without workers
 * the rest of the output waits for its reader. */
static void pass_signal_on(const struct team *team, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;

    for (size_t i = 0; i < team->count; i++) {
        pid_t id = team->workers[i].id;
        if (id && info->ssi_code != SI_KERNEL && (pid_t)info->ssi_pid != id)
            sigqueue(id, number, (union sigval){0});
    }
    if (count_living(team) == 0 && (number == SIGINT || number == SIGTERM || number == SIGHUP))
        th_crash_end_as(&(struct th_crash_end){.status = 128 + number, .signal = number});
}

/* --- The wait --------------------------------------------------------------------------------- */

/* Reads and writes output of several workers. Returns true if some waits for a worker or for its
 * reader, or if more is likely to come soon. */
static bool merge_outputs(struct team *team)
{
    bool broken, flows = false, waits;

    if (!team->merge)
        return false;
    for (size_t i = 0; i < team->count; i++)
        if (team->workers[i].id)
            flows |= th_crash_merge_read(team->merge, i, th_crash_worker_place(&team->workers[i]));
    broken = th_crash_merge_error(team->merge) == EPIPE;
    waits = th_crash_merge_write(team->merge);
    /* Without a merge the writer gets SIGPIPE. */
    for (size_t i = 0; i < team->count && !broken; i++)
        if (team->workers[i].id && th_crash_merge_error(team->merge) == EPIPE)
            kill(team->workers[i].id, SIGPIPE);
    return waits || flows;
}

/* Waits for news. If output WAITS, then only for MERGE_MS, in which frames gather in the pipes: a
 * wake-up for each of them would cost more than the frame. */
static void wait_for_news(struct team *team, bool waits)
{
    struct signalfd_siginfo info;
    size_t count = 0;

    team->polled[count++] = (struct pollfd){.fd = team->signals, .events = POLLIN};
    for (size_t i = 0; i < team->count; i++)
        if (team->workers[i].id && team->workers[i].socket >= 0)
            team->polled[count++] =
                (struct pollfd){.fd = team->workers[i].socket, .events = POLLIN};
    if (team->merge)
        count += th_crash_merge_poll(team->merge, !waits, team->polled + count);
    poll(team->polled, count, waits ? MERGE_MS : LOOK_MS);
    for (size_t i = 0; i < team->count; i++)
        th_crash_take_messages(&team->workers[i]);
    while (read(team->signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD)
            pass_signal_on(team, &info);
    if (th_clock_real_monotonic() - team->looked < (int64_t)LOOK_MS * 1000000)
        return;
    team->looked = th_clock_real_monotonic();
    for (size_t i = 0; i < team->count; i++)
        if (team->workers[i].id)
            th_crash_look_for_lost_thread(&team->workers[i]);
}

/* --- The beginning of a worker ---------------------------------------------------------------- */

/* Frees what belongs to WORKER alone, in the supervisor or in another worker. */
static void forget_worker(struct th_crash_worker *worker)
{
    if (worker->socket >= 0)
        close(worker->socket);
    while (worker->output_count > 0)
        close(worker->outputs[--worker->output_count].descriptor);
    th_crash_set_worker_held(worker, -1);
    if (worker->region)
        th_shared_end(worker->region);
    worker->region = NULL;
    worker->socket = -1;
}

/* Makes what a worker shares with the supervisor. Errors: returns false, with nothing made. */
static bool prepare_worker(const struct team *team, struct th_crash_worker *worker, int sockets[2],
                           int pipes[2])
{
    pipes[0] = pipes[1] = -1;
    if (team->merge && pipe2(pipes, O_CLOEXEC) != 0)
        return false;
    if (!th_shared_begin(sockets)) {
        if (team->merge)
            close(pipes[0]), close(pipes[1]);
        return false;
    }
    if (team->merge) {
        fcntl(pipes[0], F_SETFL, O_NONBLOCK);
        fcntl(pipes[0], F_SETPIPE_SZ, PIPE_BYTES); /* if the user's limit allows that */
    }
    worker->region = th_shared_here;
    worker->mark = worker->region->mark;
    worker->page = th_shared_alloc(sizeof *worker->page);
    worker->page->facts.kind = "tracer";
    worker->page->before = worker->past.death;
    worker->region->crash = worker->page;
    worker->stopped = worker->replaced = false;
    worker->lost_thread = worker->main = NULL;
    worker->suspect_count = worker->lost = 0;
    worker->record = 0;
    return true;
}

/* Frees the memory of TEAM, in a process that is no supervisor. */
static void leave_team(struct team *team)
{
    if (team->merge)
        th_crash_merge_leave(team->merge);
    th_free(team->workers);
    th_free(team->polled);
}

/* In the new process: leaves the other workers, and sets up its output. */
static void enter_worker(struct team *team, size_t number, int socket, int pipe)
{
    for (size_t i = 0; i < team->count; i++)
        if (i != number) {
            forget_worker(&team->workers[i]);
            th_free(team->workers[i].past.left_out);
        }
    close(team->signals);
    th_crash_become_worker(&team->workers[number], team->supervisor, socket);
    if (team->merge)
        th_crash_send_output(pipe, team->workers[number].past.furthest);
    else
        th_kept_stdout();
    leave_team(team);
    sigprocmask(SIG_SETMASK, &team->before, NULL);
}

/* Forks worker NUMBER. Returns 0 in the worker, above 0 in the supervisor, below 0 on failure, with
 * errno. */
static int start_worker(struct team *team, size_t number)
{
    struct th_crash_worker *worker = &team->workers[number];
    int sockets[2], pipes[2], error;

    if (!prepare_worker(team, worker, sockets, pipes))
        return -1;
    worker->id = fork();
    error = errno;
    if (worker->id <= 0) {
        close(sockets[0]);
        if (team->merge)
            close(pipes[0]);
    }
    if (worker->id == 0) {
        enter_worker(team, number, sockets[1], pipes[1]);
        return 0;
    }
    close(sockets[1]);
    if (team->merge)
        close(pipes[1]);
    if (worker->id < 0) {
        worker->id = 0;
        forget_worker(worker);
        errno = error;
        return -1;
    }
    worker->socket = sockets[0];
    if (team->merge)
        th_crash_merge_add(team->merge, number, pipes[0]);
    return 1;
}

/* --- The end of a worker ---------------------------------------------------------------------- */

/* Returns whether PLACE is the last of DEATHS_IN_A_ROW records, one after the other, of deaths. */
static bool is_in_a_row(const struct th_crash_past *past, uint64_t place)
{
    for (size_t i = 1; i < DEATHS_IN_A_ROW; i++)
        if (i > past->left_out_count || past->left_out[past->left_out_count - i] != place - i)
            return false;
    return true;
}

/* Returns whether the successor of worker NUMBER, which died at PLACE, can play the streams again from
 * their beginning and come further. A worker that dies at a record which one before it had passed does
 * not come to the same state; one that dies in each record dies of its state. */
static bool can_play_again(const struct team *team, size_t number, uint64_t place)
{
    const struct th_crash_past *past = &team->workers[number].past;
    bool is_whole = !team->policy->again || team->policy->again(number);

    return is_whole && !past->state_lost && place > past->furthest && !is_in_a_row(past, place);
}

/* Begins a line about the tracer of worker NUMBER, which has died in RECORD; names the death if it was
 * not reported, as the tracer has died so before. */
static void begin_line(const struct team *team, size_t number, uint64_t record)
{
    const struct th_crash_page *page = team->workers[number].page;
    const struct th_crash_death *death = &page->death;

    th_write_text(STDERR_FILENO, "%s: tracer '%s' ", team->name, team->policy->tracers[number]);
    if (page->repeated)
        th_write_text(STDERR_FILENO,
                      "crashed again in the same way, in record %llu, at byte %llu of %.*s: it ",
                      (unsigned long long)record, (unsigned long long)death->byte,
                      (int)sizeof death->stream - 1, death->stream);
}

/* Chooses the records for the successor of worker NUMBER, which died at PLACE, and writes so. */
static void choose_records(const struct team *team, size_t number, uint64_t place)
{
    struct th_crash_past *past = &team->workers[number].past;
    uint64_t record = place & TH_CRASH_STREAM_END;
    char others[48] = "";

    begin_line(team, number, record);

    past->state_lost = !can_play_again(team, number, place);
    if (past->furthest < place)
        past->furthest = place;
    if (past->state_lost) {
        if (past->resumed < place) {
            past->resumed = place;
            past->resumed_byte = th_crash_worker_byte(&team->workers[number]);
        }
        th_write_text(STDERR_FILENO, "goes on from record %llu, without its earlier state\n",
                      (unsigned long long)(past->resumed & TH_CRASH_STREAM_END) + 1);
        return;
    }
    if (past->left_out_count > 0)
        snprintf(others, sizeof others, " and %zu before it", past->left_out_count);
    TH_ARRAY_GROW(past->left_out, past->left_out_count, past->left_out_capacity);
    past->left_out[past->left_out_count++] = place;
    th_write_text(STDERR_FILENO, "plays all records again, without record %llu%s\n",
                  (unsigned long long)record, others);
}

/* Returns whether a successor follows worker NUMBER, which must have died in a record, and writes
 * so. */
static bool is_succeeded(const struct team *team, size_t number)
{
    struct th_crash_worker *worker = &team->workers[number];
    const struct th_crash_policy *policy = team->policy;
    uint64_t place, record;

    if (!policy || !policy->continues || !worker->end.crashed)
        return false;
    place = th_crash_worker_place(worker);
    record = place & TH_CRASH_STREAM_END;
    if (record == 0 || record == TH_CRASH_STREAM_END || place >= TH_CRASH_RESULTS)
        return false;
    if (worker->region->mark != worker->mark) {
        begin_line(team, number, record);
        th_write_text(STDERR_FILENO, "gets no more events: the crash has overwritten the number of "
                                     "its record\n");
        return false;
    }
    if (worker->past.deaths++ == policy->max_crashes) {
        begin_line(team, number, record);
        th_write_text(STDERR_FILENO,
                      "has crashed %llu times, and gets no more events: see --max-crashes\n",
                      (unsigned long long)worker->past.deaths);
        return false;
    }
    choose_records(team, number, place);
    return true;
}

/* Accounts for the end of worker NUMBER. Returns true in its successor. */
static bool end_worker(struct team *team, size_t number)
{
    struct th_crash_worker *worker = &team->workers[number];
    struct th_crash_past *past = &worker->past;
    bool crashed = worker->end.crashed, succeeded;
    int started = 1;

    th_crash_take_messages(worker);
    worker->end = th_crash_account_for(worker);
    past->has_written |= worker->page->wrote;
    past->death = worker->page->death;
    past->has_begun = worker->page->began || (past->resumed && past->has_begun);
    succeeded = is_succeeded(team, number);
    worker->end.crashed |= crashed;
    forget_worker(worker);
    if (team->merge)
        th_crash_merge_end(team->merge, number, !succeeded);
    if (succeeded)
        started = start_worker(team, number);
    if (started < 0) {
        th_write_text(STDERR_FILENO, "%s: cannot start a process for tracer '%s': %s\n", team->name,
                      team->policy->tracers[number], strerror(errno));
        th_crash_merge_end(team->merge, number, true);
    }
    if ((!succeeded || started < 0) && team->policy && team->policy->gone)
        team->policy->gone(number);
    return started == 0;
}

static _Noreturn void end_supervisor(const struct team *team)
{
    struct th_crash_end end = {0};
    int error = team->merge ? th_crash_merge_error(team->merge) : 0;
    struct sigaction pipe;

    for (size_t i = 0; i < team->count && !end.crashed; i++) {
        const struct th_crash_end *one = &team->workers[i].end;
        if (one->crashed)
            end = (struct th_crash_end){.crashed = true, .status = TH_CRASHED};
        else if (!end.status)
            end = *one;
    }
    if (end.crashed && team->advice)
        th_write_text(STDERR_FILENO, "%s: %s\n", team->name, team->advice);
    sigaction(SIGPIPE, NULL, &pipe);
    if (error == EPIPE && pipe.sa_handler != SIG_IGN && !end.status) {
        end = (struct th_crash_end){.status = 128 + SIGPIPE, .signal = SIGPIPE};
    } else if (error && !end.signal && !end.crashed) {
        th_write_text(STDERR_FILENO, "%s: cannot write to stdout: %s\n", team->name,
                      strerror(error));
        end.status = TH_FAILED;
    }
    th_crash_end_as(&end);
}

/* Supervises until all workers have ended, and then ends the program. Returns only in a successor:
 * its number. */
static size_t supervise_team(struct team *team)
{
    for (;;) {
        bool waits = merge_outputs(team);
        for (size_t i = 0; i < team->count; i++)
            team->workers[i].lives = team->workers[i].id != 0;
        look_at_workers(team);
        for (size_t i = 0; i < team->count; i++)
            if (team->workers[i].lives && !team->workers[i].id && end_worker(team, i))
                return i;
        if (count_living(team) > 0)
            wait_for_news(team, waits);
        else if (merge_outputs(team))
            wait_for_news(team, true);
        else
            end_supervisor(team);
    }
}

/* --- The beginning ---------------------------------------------------------------------------- */

/* Returns whether a debugger or strace traces this process, valgrind runs it, or a tool has attached
 * to its probes: they would follow the supervisor. */
static bool is_watched(void)
{
    const char *preloaded = getenv("LD_PRELOAD"), *tracer = NULL;
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    char text[4096];
    ssize_t size = file >= 0 ? read(file, text, sizeof text - 1) : -1;

    if (file >= 0)
        close(file);
    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        if (__atomic_load_n(th_probe_probes[i].semaphore, __ATOMIC_RELAXED)) /* orders nothing */
            return true;
    if (size > 0) {
        text[size] = '\0';
        tracer = strstr(text, "\nTracerPid:\t");
    }
    return (tracer && atoi(tracer + strlen("\nTracerPid:\t"))) ||
           (preloaded && strstr(preloaded, "vgpreload"));
}

/* Signals that the supervisor waits for. A fault of its own, or SIGKILL, ends it as usual. */
static void handled_signals(sigset_t *signals)
{
    sigfillset(signals);
    sigdelset(signals, SIGALRM); /* th_crash_try() */
    for (size_t i = 0; i < TH_CRASH_FAULTS; i++)
        sigdelset(signals, th_crash_signals[i]);
}

/* Allocates what TEAM needs. */
static void begin_team(struct team *team)
{
    team->looked = th_clock_real_monotonic();
    team->workers = th_alloc_zero(team->count * sizeof team->workers[0]);
    team->polled = th_alloc_zero((2 * team->count + 2) * sizeof team->polled[0]);
    if (team->policy)
        team->merge = th_crash_merge_begin(team->count);
    for (size_t i = 0; i < team->count; i++) {
        struct th_crash_worker *worker = &team->workers[i];
        worker->name = team->name;
        worker->socket = worker->held = -1;
        worker->has_terminal = tcgetattr(STDIN_FILENO, &worker->terminal) == 0;
        th_crash_read_name(team->supervisor, worker->comm);
        if (team->count > 1)
            snprintf(worker->title, sizeof worker->title,
                     "tracer '%.60s': ", team->policy->tracers[i]);
    }
}

/* Not all processes could be forked: ends those that were. */
static _Noreturn void give_up(const struct team *team)
{
    int error = errno;

    for (size_t i = 0; i < team->count; i++)
        if (team->workers[i].id)
            kill(team->workers[i].id, SIGKILL);
    th_write_text(STDERR_FILENO, "%s: cannot start a process for each tracer: %s\n", team->name,
                  strerror(error));
    _exit(TH_FAILED);
}

/* Starts the workers of TEAM and supervises them. Returns in the workers alone, or, if there is no
 * supervision, the count of them. */
static size_t supervise(struct team *team)
{
    sigset_t handled;
    int started = 1;

    if (is_watched())
        return team->count;
    begin_team(team);
    handled_signals(&handled);
    sigprocmask(SIG_BLOCK, &handled, &team->before);
    team->signals = signalfd(-1, &handled, SFD_NONBLOCK | SFD_CLOEXEC);
    for (size_t i = 0; i < team->count && started > 0 && team->signals >= 0; i++) {
        started = start_worker(team, i);
        if (started == 0)
            return i;
        if (started < 0 && i > 0)
            give_up(team);
    }
    if (started > 0 && team->signals >= 0)
        return supervise_team(team);
    if (team->signals >= 0)
        close(team->signals);
    leave_team(team);
    sigprocmask(SIG_SETMASK, &team->before, NULL);
    return team->count;
}

size_t th_crash_supervise_several(const char *name, size_t count,
                                  const struct th_crash_policy *policy)
{
    struct team team = {.name = name, .policy = policy, .count = count, .supervisor = getpid()};

    return supervise(&team);
}

void th_crash_supervise(const char *name, const char *advice)
{
    supervise(&(struct team){.name = name, .advice = advice, .count = 1, .supervisor = getpid()});
}

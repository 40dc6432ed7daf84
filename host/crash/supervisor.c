/*
 * The supervisor of a worker; supervisor.h describes both.
 *
 * 1. The supervisor blocks all signals, maps the region and forks. The worker gets its signals
 *    back.
 * 2. The supervisor waits for signals and for messages of the worker. It passes signals on, stops
 *    when the worker stops, and keeps descriptors of the worker's outputs.
 * 3. The end of the worker, or another program in its place (exec), ends the wait.
 * 4. After a death the supervisor writes what the worker had left, removes unfinished files,
 *    restores the terminal, reports, and ends as the worker did or with TH_CRASHED.
 *
 * The supervisor reads memory in which a faulty library may have written: a step of the report that
 * crashes is left out.
 */
#include "supervisor.h"

#include "crash_internal.h"

#include "host/base/kept.h"
#include "host/base/output.h"
#include "host/base/shared.h"
#include "host/probe/probe.h"
#include "host/trace/event.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum {
    KEPT_LIMIT = 256, /* outputs */
    NAME_BYTES = 32,  /* of a process; the kernel cuts names to less */
    LOOK_MS = 1000    /* between two looks at the worker's threads */
};

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

static struct th_crash_page *own_page; /* of the worker; in the region */

struct th_crash_page *th_crash_page(void)
{
    return own_page;
}

bool th_crash_is_supervised(void)
{
    return own_page != NULL;
}

void th_crash_finish(int status)
{
    if (!own_page)
        return;
    own_page->status = status;
    own_page->finished = true;
}

void th_crash_set_screen(bool shown)
{
    if (own_page)
        own_page->screen = shown;
}

/* --- Signals that are passed on --------------------------------------------------------------- */

/* A signal to the process group reaches the worker twice: directly, and through the supervisor, in
 * either order. So the number of signals that were sent is the larger of both counts. */
bool th_crash_is_repeated(int number, const siginfo_t *info)
{
    static unsigned counts[NSIG][2]; /* directly; passed on. Only handlers of NUMBER use a row. */
    bool passed_on = own_page && info->si_code == SI_QUEUE && info->si_pid == getppid();
    unsigned *count = &counts[number][passed_on], other = counts[number][!passed_on];

    return ++*count <= other;
}

/* --- The worker as the supervisor sees it ----------------------------------------------------- */

struct kept_output {
    const struct th_kept *kept;
    int descriptor;
};

struct worker {
    const char *name; /* of the command, for messages */
    pid_t id;
    int socket; /* -1: the worker has closed its end */
    struct th_shared_region *region;
    struct th_crash_page *page;
    struct kept_output outputs[KEPT_LIMIT]; /* in the order in which they began */
    size_t output_count;
    struct termios terminal;
    bool has_terminal;
    char comm[NAME_BYTES]; /* the process' name, before any library can change it */
    bool replaced;         /* another program is in the worker's place */
    const struct th_self
        *lost_thread; /* a thread that has ended in code of a library; NULL: none */
    int status;       /* as of waitpid(), once the worker has ended */

    /* Threads that were in code of libraries when the worker ended. */
    const struct th_self *suspects[8];
    size_t suspect_count;
    uint64_t record; /* number of the record that was played; 0: none */
    size_t lost;     /* bytes of output */
};

static void end_output(struct worker *worker, const struct th_kept *kept)
{
    size_t i = 0;

    while (i < worker->output_count && worker->outputs[i].kept != kept)
        i++;
    if (i == worker->output_count)
        return;
    close(worker->outputs[i].descriptor);
    worker->output_count--;
    memmove(&worker->outputs[i], &worker->outputs[i + 1],
            (worker->output_count - i) * sizeof worker->outputs[0]);
}

/* Takes one message of the worker. Returns false if there is none at present. */
static bool take_worker_message(struct worker *worker)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } with;
    struct th_kept_message message;
    struct iovec part = {&message, sizeof message};
    struct msghdr head = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = with.room, .msg_controllen = sizeof with};
    ssize_t size;
    int descriptor = -1;

    if (worker->socket < 0)
        return false;
    size = recvmsg(worker->socket, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0)
        return errno == EINTR;
    if (size == 0) {
        close(worker->socket);
        worker->socket = -1;
        return false;
    }
    if (CMSG_FIRSTHDR(&head) && with.head.cmsg_type == SCM_RIGHTS)
        memcpy(&descriptor, CMSG_DATA(&with.head), sizeof descriptor);
    if (descriptor < 0)
        end_output(worker, message.kept);
    else if (worker->output_count < KEPT_LIMIT)
        worker->outputs[worker->output_count++] = (struct kept_output){message.kept, descriptor};
    else
        close(descriptor);
    return true;
}

/* --- The wait --------------------------------------------------------------------------------- */

/* Returns whether another program runs in the worker's process: its memory is not the worker's. */
static bool is_replaced(const struct worker *worker)
{
    uint64_t mark = 0;
    struct iovec own = {&mark, sizeof mark}, other = {&worker->region->mark, sizeof mark};

    if (process_vm_readv(worker->id, &own, 1, &other, 1, 0) != sizeof mark)
        return errno == EFAULT;
    return mark != worker->region->mark;
}

/* Reads the name of the process ID, which may be a zombie, to NAME. */
static void read_name(pid_t id, char name[NAME_BYTES])
{
    char path[64];
    ssize_t size = -1;
    int file;

    snprintf(path, sizeof path, "/proc/%d/comm", (int)id);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        size = read(file, name, NAME_BYTES - 1);
        close(file);
    }
    name[size > 0 ? size : 0] = '\0';
}

/* Handles changes of the worker's state. Returns true if the worker has ended. A process that starts
 * another program gets its name. */
static bool look_at_worker(struct worker *worker)
{
    char name[NAME_BYTES];
    siginfo_t end = {0};
    pid_t id;
    int status;

    if (waitid(P_PID, (id_t)worker->id, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid) {
        read_name(worker->id, name);
        worker->replaced |= strcmp(name, worker->comm) != 0;
    }
    while ((id = waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL)) > 0) {
        if (id == worker->id && !WIFSTOPPED(status)) {
            worker->status = status;
            return true;
        }
        /* A thread that asked to be traced by its parent would wait for this process for ever. */
        if (ptrace(PTRACE_DETACH, id, NULL, WSTOPSIG(status)) == 0)
            continue;
        /* The shell sees that the command has stopped. If the shell lets it go on, both processes do:
         * their group gets SIGCONT. A worker that goes on alone sends SIGCONT. */
        raise(SIGSTOP);
    }
    return false;
}

/* A terminal sends its signals to the whole group; so does the kernel in other cases. */
static void pass_signal_on(const struct worker *worker, const struct signalfd_siginfo *info)
{
    if (info->ssi_code != SI_KERNEL && (pid_t)info->ssi_pid != worker->id)
        sigqueue(worker->id, (int)info->ssi_signo, (union sigval){0});
}

/* A thread that ends by the bare system call leaves no trace in its process: if it is needed there,
 * the worker would wait for it for ever. */
static void find_lost_thread(void *context, const void *page)
{
    struct worker *worker = context;
    const struct th_self *self = page;

    if (self->id && th_crash_is_in_library(self) && th_crash_thread_has_ended(worker->id, self->id))
        worker->lost_thread = self;
}

static void look_for_lost_thread(struct worker *worker)
{
    th_shared_pages_each(worker->region, find_lost_thread, worker);
    if (worker->lost_thread)
        kill(worker->id, SIGKILL);
}

/* The worker closes its end of the socket as it ends, when its memory is gone; as it is replaced by
 * another program; or because a library closes all descriptors. */
static void wait_for_end(struct worker *worker, int signals)
{
    struct signalfd_siginfo info;

    while (!look_at_worker(worker)) {
        struct pollfd news[] = {{.fd = signals, .events = POLLIN},
                                {.fd = worker->socket, .events = POLLIN}};
        int count = poll(news, 2, LOOK_MS);
        if (count == 0)
            look_for_lost_thread(worker);
        if (count <= 0)
            continue;
        if (news[1].revents) {
            while (take_worker_message(worker))
                ;
            worker->replaced |= worker->socket < 0 && is_replaced(worker);
            if (worker->replaced)
                kill(worker->id, SIGKILL);
        }
        while (read(signals, &info, sizeof info) == sizeof info)
            if (info.ssi_signo != SIGCHLD)
                pass_signal_on(worker, &info);
    }
    while (take_worker_message(worker))
        ;
}

/* --- The report ------------------------------------------------------------------------------- */

static void add_suspect(void *context, const void *page)
{
    struct worker *worker = context;
    const struct th_self *self = page;
    enum { MOST = sizeof worker->suspects / sizeof worker->suspects[0] };

    if (!self->id || (worker->lost_thread && self != worker->lost_thread))
        return;
    if (self->played)
        worker->record = self->played->number;
    if (th_crash_is_in_library(self) && worker->suspect_count < MOST)
        worker->suspects[worker->suspect_count++] = self;
}

static void find_suspects(void *context)
{
    th_shared_pages_each(((struct worker *)context)->region, add_suspect, context);
}

/* Returns whether the worker was ended from outside, or by nobody that can be named. */
static bool is_from_outside(const struct worker *worker)
{
    return worker->page->sent || (WIFSIGNALED(worker->status) && !worker->lost_thread &&
                                  WTERMSIG(worker->status) == SIGKILL);
}

/* Writes how the worker ended, to TEXT, of SIZE bytes. */
static void describe_end(const struct worker *worker, char *text, size_t size)
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
    const struct worker *worker = context;
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
    const struct worker *worker = context;
    int number = worker->page->sent ? worker->page->sent : WTERMSIG(worker->status);
    char signal[80];

    th_crash_describe_signal(number, signal, sizeof signal);
    th_write_text(STDERR_FILENO, "%s: %s: %s", worker->name,
                  is_from_outside(worker) ? "killed from outside" : "crashed outside of libraries",
                  signal);
    if (worker->record)
        th_write_text(STDERR_FILENO, ", at record %llu", (unsigned long long)worker->record);
    th_write_text(STDERR_FILENO, "\n");
}

static void rescue_outputs(void *context)
{
    struct worker *worker = context;

    for (size_t i = 0; i < worker->output_count; i++)
        worker->lost += th_kept_rescue(worker->outputs[i].kept, worker->outputs[i].descriptor);
}

static void remove_files(void *context)
{
    th_output_remove_unfinished_of(((const struct worker *)context)->region);
}

/* Ends the supervisor by the signal that has ended the worker, as a shell expects. */
static _Noreturn void end_by_signal(int number)
{
    sigset_t one;

    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* the worker has left a core, if anyone does */
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    _exit(128 + number);
}

/* Leaves the alternate screen, and gives the terminal its former settings. */
static void restore_terminal(const struct worker *worker)
{
    static const char leave[] = "\033[?7h\033[?25h\033[?1049l";

    if (worker->page->screen && write(STDERR_FILENO, leave, sizeof leave - 1) < 0)
        return; /* the terminal is gone */
    if (worker->has_terminal)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &worker->terminal);
}

/* A process that ends by the user's signal, or by that of a closed pipe, does so silently. */
static bool ends_silently(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT ||
           number == SIGPIPE;
}

static _Noreturn void end_supervisor(struct worker *worker)
{
    const struct th_crash_page *page = worker->page;
    bool killed = worker->replaced || worker->lost_thread; /* by this process */
    int number = page->sent                               ? page->sent
                 : WIFSIGNALED(worker->status) && !killed ? WTERMSIG(worker->status)
                                                          : 0;

    if (page->finished && !worker->replaced && WIFEXITED(worker->status) &&
        WEXITSTATUS(worker->status) == page->status)
        _exit(page->status);
    th_crash_begin_report();
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        signal(faults[i], th_crash_leave_step);
    restore_terminal(worker);
    th_crash_try(rescue_outputs, worker);
    th_crash_try(remove_files, worker);
    if (number && !page->reported && ends_silently(number))
        end_by_signal(number);
    th_crash_try(find_suspects, worker);
    if (number && !page->reported && (is_from_outside(worker) || !worker->suspect_count)) {
        th_crash_try(write_outside, worker);
        end_by_signal(number);
    }
    if (!page->reported && !th_crash_try(write_report, worker))
        th_write_text(STDERR_FILENO, "%s: a library has ended the program, and its name is lost\n",
                      worker->name);
    if (worker->lost)
        th_write_text(STDERR_FILENO, "%s: %zu bytes of output were lost\n", worker->name,
                      worker->lost);
    _exit(TH_CRASHED);
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

static void announce_end(int status, void *unused)
{
    (void)unused;
    th_crash_finish(status);
}

/* Wakes the supervisor, which stopped when the worker did. */
static void on_continue(int number, siginfo_t *info, void *context)
{
    int error = errno;

    (void)number, (void)context;
    if (own_page && th_shared_here->worker == getpid() && info->si_pid != getppid())
        kill(getppid(), SIGCONT);
    errno = error;
}

static void begin_worker(struct th_crash_page *page, int socket, pid_t supervisor,
                         const sigset_t *before)
{
    struct sigaction continued = {.sa_sigaction = on_continue, .sa_flags = SA_SIGINFO | SA_RESTART};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor)
        _exit(TH_FAILED); /* the supervisor was killed before that */
    th_shared_work(socket);
    own_page = page;
    on_exit(announce_end, NULL); /* the first handler runs last */
    sigaction(SIGCONT, &continued, NULL);
    th_kept_stdout();
    sigprocmask(SIG_SETMASK, before, NULL);
}

/* Signals that the supervisor waits for. A fault of its own, or SIGKILL, ends it as usual. */
static void handled_signals(sigset_t *signals)
{
    sigfillset(signals);
    sigdelset(signals, SIGALRM); /* th_crash_try() */
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(signals, faults[i]);
}

void th_crash_supervise(const char *name)
{
    struct worker worker = {.name = name};
    pid_t supervisor = getpid();
    sigset_t handled, before;
    int sockets[2], signals;

    if (is_watched() || !th_shared_begin(sockets))
        return;
    worker.region = th_shared_here;
    worker.page = th_shared_alloc(sizeof *worker.page);
    worker.page->facts.kind = "tracer";
    worker.region->crash = worker.page;
    worker.has_terminal = tcgetattr(STDIN_FILENO, &worker.terminal) == 0;
    handled_signals(&handled);
    sigprocmask(SIG_BLOCK, &handled, &before);
    signals = signalfd(-1, &handled, SFD_NONBLOCK | SFD_CLOEXEC);
    worker.id = signals >= 0 ? fork() : -1;
    if (worker.id <= 0) {
        close(sockets[0]);
        close(signals);
    }
    if (worker.id == 0) {
        begin_worker(worker.page, sockets[1], supervisor, &before);
        return;
    }
    close(sockets[1]);
    if (worker.id < 0) {
        th_shared_end(worker.region);
        sigprocmask(SIG_SETMASK, &before, NULL);
        return;
    }
    worker.socket = sockets[0];
    read_name(supervisor, worker.comm);
    wait_for_end(&worker, signals);
    end_supervisor(&worker);
}

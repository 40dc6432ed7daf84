/*
 * Running nodes as streams: node:NAME@HOST.
 *
 * A process of its own, the feeder, runs the shared object that speaks with the node (node/node.h).
 * It writes trace-port records to a pipe, which is read as a file is. So a tracer that hangs or dies
 * does not keep the feeder from telling the node that somebody listens, and the node is left in
 * order however this process ends: the feeder sees the end of the pipe.
 */
#include "replay_internal.h"

#include "node/node.h"

#include "host/base/buffer.h"
#include "host/library/find.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCHEME "node:"

enum { LOOK_UP_MS = 500, LONGEST = 1 << 16, FIRST_HIGH = 64 };

typedef int serve_function(const struct tracehost_node_request *request, int out, int status);

struct th_node_served {
    serve_function *serve;
    const struct tracehost_node_request *request;
};

struct th_node_feeder {
    pid_t process, owner;  /* owner: its parent */
    const char *source;    /* what the process speaks with, for messages */
    int status;            /* the socket of lines, and of questions for a position */
    struct th_buffer text; /* lines that were not used yet */
    bool stopped, ended;   /* th_replay_node_stop(), th_replay_node_end() were called */
};

bool th_replay_node_is_name(const char *name)
{
    return strncmp(name, SCHEME, sizeof SCHEME - 1) == 0;
}

/* --- Opening ---------------------------------------------------------------------------------- */

const char *th_replay_node_of(const char *name)
{
    return name + sizeof SCHEME - 1;
}

enum th_status th_replay_node_symbol(const char *name, void **found)
{
    enum th_status status =
        th_library_beside_symbol("tracehost_node.so", "this tracehost was built without erlang-dev",
                                 name, TH_MALFORMED, found);

    return status == TH_OK ? TH_OK : th_error_context("running nodes cannot be traced");
}

/* Leaves all files but stderr, OUT and STATUS to the reader, whose pipes would stay open. */
static void leave_files(int *out, int *status)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int high[] = {fcntl(*out, F_DUPFD_CLOEXEC, FIRST_HIGH),
                  fcntl(*status, F_DUPFD_CLOEXEC, FIRST_HIGH)};

    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    *out = dup2(high[0], STDERR_FILENO + 1);
    *status = dup2(high[1], STDERR_FILENO + 2);
    close_range((unsigned)*status + 1, ~0U, 0);
}

/* Runs the feeder. After fork() in a process with several threads: so the shared object was opened
 * before. */
static _Noreturn void run_feeder(th_feeder_function *serve, const void *request, const char *source,
                                 int out, int status)
{
    sigset_t none;
    char title[16];

    snprintf(title, sizeof title, "tracehost-%s", source);
    prctl(PR_SET_NAME, title);
    leave_files(&out, &status);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    _exit(serve(request, out, status));
}

/* Forks the feeder. Errors: TH_FAILED. */
static enum th_status fork_feeder(th_feeder_function *serve, const void *request,
                                  struct th_node_feeder *feeder, int *fd)
{
    int out[2] = {-1, -1}, status[2] = {-1, -1};

    if (pipe2(out, O_CLOEXEC) == 0 &&
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, status) == 0)
        feeder->process = fork();
    if (feeder->process == 0)
        run_feeder(serve, request, feeder->source, out[1], status[1]);
    close(out[1]);
    close(status[1]);
    *fd = out[0];
    feeder->status = status[0];
    if (feeder->process > 0)
        return TH_OK;
    close(out[0]);
    return th_error_raise(TH_FAILED, "cannot start a process: %s", strerror(errno));
}

/* --- Lines of the feeder ---------------------------------------------------------------------- */

/* Reads what the feeder has written. Returns false at the end of the pipe. */
static bool hear_feeder(struct th_node_feeder *feeder)
{
    char bytes[1024];
    ssize_t size = read(feeder->status, bytes, sizeof bytes);

    if (size > 0 && feeder->text.size < LONGEST)
        th_buffer_add(&feeder->text, bytes, (size_t)size);
    return size > 0 || (size < 0 && errno == EINTR);
}

/* Raises the lines `error: TEXT`, outermost first, as links of the chain, with STATUS. Returns TH_OK
 * if there are none. */
static enum th_status raise_lines(struct th_node_feeder *feeder, enum th_status status)
{
    static const char mark[] = "error: ";
    enum th_status raised = TH_OK;
    char *text = th_strdup(th_buffer_text(&feeder->text)), *line;

    while ((line = strrchr(text, '\n'))) { /* from the last line on: the innermost cause */
        *line = 0;
        line = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
        if (strncmp(line, mark, sizeof mark - 1) != 0)
            continue;
        line += sizeof mark - 1;
        raised =
            raised == TH_OK ? th_error_raise(status, "%s", line) : th_error_context("%s", line);
    }
    th_free(text);
    feeder->text.size = 0;
    return raised;
}

/* Waits until the feeder has written `ok`. Errors: TH_END if *STOP is set; TH_MALFORMED with the
 * feeder's reason if it ends before. */
static enum th_status await_feeder(struct th_node_feeder *feeder, const volatile int *stop)
{
    struct pollfd wait = {.fd = feeder->status, .events = POLLIN};
    bool speaks = true;

    while (speaks) {
        while (poll(&wait, 1, LOOK_UP_MS) <= 0)
            if (stop && __atomic_load_n(stop, __ATOMIC_RELAXED)) /* a flag without data */
                return TH_END;
        speaks = hear_feeder(feeder);
        if (strstr(th_buffer_text(&feeder->text), "ok\n"))
            return TH_OK;
    }
    if (raise_lines(feeder, TH_MALFORMED) == TH_OK)
        th_error_raise(TH_MALFORMED, "the process that speaks with the %s has ended",
                       feeder->source);
    return th_error_status();
}

/* --- In the reader ---------------------------------------------------------------------------- */

enum th_status th_replay_feeder_open(th_feeder_function *serve, const void *request,
                                     const char *source, const volatile int *stop,
                                     struct th_node_feeder **feeder, int *fd)
{
    struct th_node_feeder *made = th_alloc_zero(sizeof *made);
    enum th_status status;

    *feeder = NULL;
    made->process = -1;
    made->owner = getpid();
    made->source = source;
    status = fork_feeder(serve, request, made, fd);
    if (status == TH_OK && (status = await_feeder(made, stop)) != TH_OK)
        close(*fd);
    if (status == TH_OK)
        *feeder = made;
    else
        th_replay_node_close(made);
    return status;
}

const char *th_replay_feeder_told(struct th_node_feeder *feeder, const char *words)
{
    const char *line = strstr(th_buffer_text(&feeder->text), words);

    return line ? line + strlen(words) : NULL;
}

static int serve_node(const void *served, int out, int status)
{
    const struct th_node_served *node = served;

    return node->serve(node->request, out, status);
}

enum th_status th_replay_node_open(const char *name, const struct th_node_options *options,
                                   const volatile int *stop, struct th_node_feeder **feeder,
                                   int *fd)
{
    struct tracehost_node_request request = {.node = th_replay_node_of(name)};
    struct th_node_served served = {.request = &request};
    void *found;
    enum th_status status;

    *feeder = NULL;
    if (!options)
        return th_error_raise(TH_MALFORMED, "no command can ask a running node here");
    request.cookie = options->cookie;
    request.cookie_file = options->cookie_file;
    request.wish = options->wish;
    request.wish_size = options->wish_size;
    request.no_load = options->evaluated;
    request.for_ns = options->for_ns;
    request.port_rate = options->port_rate;
    request.port_bytes = options->port_bytes;
    status = th_replay_node_symbol("tracehost_node_serve", &found);
    if (status != TH_OK)
        return status;
    memcpy(&served.serve, &found, sizeof found); /* ISO C has no conversion to a function */
    return th_replay_feeder_open(serve_node, &served, "node", stop, feeder, fd);
}

/* Waits for the end of the feeder, and returns its status as waitpid() does. */
static int end_of_feeder(struct th_node_feeder *feeder)
{
    int status = 0;

    if (feeder->process > 0)
        waitpid(feeder->process, &status, 0);
    feeder->process = -1;
    return status;
}

enum th_status th_replay_node_end(struct th_node_feeder *feeder)
{
    enum th_status status;
    int end;

    if (feeder->ended)
        return TH_OK;
    feeder->ended = true;
    shutdown(feeder->status, SHUT_WR);
    while (hear_feeder(feeder))
        ;
    status = raise_lines(feeder, TH_PARTIAL);
    end = end_of_feeder(feeder);
    if (status != TH_OK || !WIFSIGNALED(end))
        return status;
    th_error_raise(TH_PARTIAL, "signal %d, %s", WTERMSIG(end), strsignal(WTERMSIG(end)));
    return th_error_context("the process that spoke with the %s was killed: what the %s sent "
                            "last is lost",
                            feeder->source, feeder->source);
}

enum th_status th_replay_feeder_mark(struct th_node_feeder *feeder, uint64_t records)
{
    if (feeder->ended)
        return TH_OK;
    feeder->text.size = 0;
    send(feeder->status, &records, sizeof records,
         MSG_NOSIGNAL); /* a feeder that has ended does not answer */
    while (!strstr(th_buffer_text(&feeder->text), "marked\n") &&
           !strstr(th_buffer_text(&feeder->text), "failed\n") && hear_feeder(feeder))
        ;
    if (strstr(th_buffer_text(&feeder->text), "marked\n"))
        return TH_OK;
    if (raise_lines(feeder, TH_FAILED) == TH_OK)
        th_error_raise(TH_FAILED, "the process that speaks with the %s has ended", feeder->source);
    return th_error_status();
}

void th_replay_node_stop(struct th_node_feeder *feeder)
{
    if (!feeder->stopped && feeder->process > 0)
        kill(feeder->process, SIGTERM);
    feeder->stopped = true;
}

void th_replay_node_close(struct th_node_feeder *feeder)
{
    if (!feeder)
        return;
    if (feeder->owner == getpid()) {
        th_replay_node_stop(feeder);
        shutdown(feeder->status, SHUT_WR);
        while (hear_feeder(feeder)) /* its end: the node is as it was */
            ;
        end_of_feeder(feeder);
    }
    close(feeder->status);
    th_buffer_free(&feeder->text);
    th_free(feeder);
}

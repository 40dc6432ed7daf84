#include "share_process.h"

#include "interrupt.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/base/output.h"
#include "host/trace/share.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_UP_MS = 500 };

static void begin_child(const struct th_share_process *process, pid_t parent)
{
    FILE *out = fdopen(dup(process->printed), "w");

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!out || getppid() != parent || dup2(process->printed, STDERR_FILENO) < 0 ||
        (!isatty(STDOUT_FILENO) && dup2(process->printed, STDOUT_FILENO) < 0))
        _exit(TH_FAILED);
    stdout = out;
}

bool th_cli_share_process_fork(struct th_share_process *process, bool *child)
{
    pid_t parent = getpid();
    int sockets[2];

    *child = false;
    *process = (struct th_share_process){.socket = -1,
                                         .results = memfd_create("results", MFD_CLOEXEC),
                                         .printed = memfd_create("printed", MFD_CLOEXEC)};
    if (process->results < 0 || process->printed < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return false;
    process->pid = fork();
    *child = process->pid == 0;
    process->socket = sockets[*child];
    close(sockets[!*child]);
    if (*child)
        begin_child(process, parent);
    return process->pid >= 0;
}

off_t th_cli_share_process_printed(const struct th_share_process *process)
{
    struct stat about;

    fflush(NULL);
    return fstat(process->printed, &about) == 0 ? about.st_size : -1;
}

void th_cli_share_process_send(const struct th_share_process *process, const struct th_buffer *data,
                               char word)
{
    if (!th_output_write_bytes(process->results, data->data, data->size) ||
        write(process->socket, &word, 1) != 1)
        _exit(TH_FAILED);
    if (th_trace_share_has_files())
        while (read(process->socket, &word, 1) < 0 && errno == EINTR)
            ;
    _exit(TH_OK); /* without unload() of tracers, which would write their output */
}

static bool await_results(struct th_share_process *process)
{
    struct pollfd wait = {.fd = process->socket, .events = POLLIN};

    while (!th_cli_interrupt_came())
        if (poll(&wait, 1, LOOK_UP_MS) > 0)
            return read(process->socket, &process->word, 1) == 1;
    return false;
}

bool th_cli_share_process_receive(struct th_share_process *process, struct th_buffer *data)
{
    struct stat about;
    size_t size;

    if (!await_results(process) || fstat(process->results, &about) != 0)
        return false;
    size = (size_t)about.st_size;
    if (pread(process->results, th_buffer_reserve(data, size), size, 0) != (ssize_t)size)
        return false;
    data->size += size;
    return ftruncate(process->results, 0) == 0 && lseek(process->results, 0, SEEK_SET) == 0;
}

void th_cli_share_process_end(struct th_share_process *process)
{
    if (process->pid > 0) {
        kill(process->pid, SIGKILL);
        waitpid(process->pid, NULL, 0);
    }
    close(process->socket);
    close(process->results);
    close(process->printed);
    *process = (struct th_share_process){.socket = -1, .results = -1, .printed = -1};
}

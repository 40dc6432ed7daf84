/* Asks running nodes for their modules and functions, in a process of its own (node/node.h). */
#include "reader.h"
#include "replay_internal.h"

#include "node/node.h"

#include "host/base/buffer.h"
#include "host/term/clock.h"
#include "host/trace/event.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int list_function(const struct tracehost_node_request *request, const char *module,
                          int out);

static int64_t now_ms(void)
{
    return th_clock_real_monotonic() / 1000000;
}

/* Reads FD to its end. Returns false if that takes longer than until END. */
static bool read_in_time(int fd, int64_t end, struct th_buffer *text)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char bytes[8192];
    ssize_t size = 1;
    int64_t left;

    while (size > 0 && (left = end - now_ms()) > 0 && poll(&wait, 1, (int)left) > 0) {
        size = read(fd, bytes, sizeof bytes);
        if (size > 0)
            th_buffer_add(text, bytes, (size_t)size);
    }
    return size == 0;
}

/* Runs LIST in a process, and collects its output. Returns false if LIST runs longer than until END. */
static bool run_list(list_function *list, const struct tracehost_node_request *request,
                     const char *module, int64_t end, struct th_buffer *text)
{
    int out[2], status = -1;
    pid_t process;
    bool ended;

    if (pipe2(out, O_CLOEXEC) != 0)
        return false;
    process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(list(request, module, out[1]));
    }
    close(out[1]);
    ended = process > 0 && read_in_time(out[0], end, text);
    close(out[0]);
    if (process > 0) {
        kill(process, SIGKILL);
        waitpid(process, &status, 0);
    }
    return ended;
}

void th_replay_node_list(const char *name, const struct th_node_options *options, th_term module,
                         int *left_ms, void (*visit)(void *context, const struct th_mfa *found),
                         void *context)
{
    struct tracehost_node_request request = {.node = th_replay_node_of(name),
                                             .cookie = options->cookie,
                                             .cookie_file = options->cookie_file};
    const char *of = module == TH_NONE ? NULL : th_atom_name(module)->text;
    struct th_buffer text = {0};
    const int64_t end = now_ms() + *left_ms;
    list_function *list;
    void *found;

    if (th_replay_node_symbol("tracehost_node_list", &found) != TH_OK) {
        th_error_clear();
        return;
    }
    memcpy(&list, &found, sizeof found); /* ISO C has no conversion to a function */
    if (run_list(list, &request, of, end, &text)) {
        th_buffer_text(&text); /* the last item ends with a 0, whatever the process has written */
        for (size_t at = 0, size; at < text.size; at += size + 1) {
            const char *item = (const char *)text.data + at;
            const char *slash = of ? strrchr(item, '/') : NULL;
            struct th_mfa one = {module, TH_NONE, 0};
            size = strlen(item);
            if (slash)
                one.arity = (uint32_t)atoi(slash + 1);
            *(of ? &one.function : &one.module) =
                th_atom_utf8(item, slash ? (size_t)(slash - item) : size);
            if (one.module != TH_NONE && (!of || one.function != TH_NONE))
                visit(context, &one);
        }
    }
    *left_ms = (int)(end - now_ms());
    th_buffer_free(&text);
}

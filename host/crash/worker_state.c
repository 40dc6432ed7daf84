/* A worker as the supervisor sees it: its messages, its threads, another program in its place. */
#include "supervisor_internal.h"

#include "host/base/kept.h"
#include "host/trace/event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void end_output(struct th_crash_worker *worker, const struct th_kept *kept)
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

void th_crash_set_worker_held(struct th_crash_worker *worker, int file)
{
    if (worker->held >= 0)
        close(worker->held);
    worker->held = file;
}

/* Takes one message of the worker. Returns false if there is none at present. */
static bool take_worker_message(struct th_crash_worker *worker)
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
    if (!message.kept)
        th_crash_set_worker_held(worker, descriptor);
    else if (descriptor < 0)
        end_output(worker, message.kept);
    else if (worker->output_count < TH_CRASH_OUTPUTS)
        worker->outputs[worker->output_count++] =
            (struct th_crash_output){message.kept, descriptor};
    else
        close(descriptor);
    return true;
}

/* Returns whether another program runs in the worker's process: its memory is not the worker's. */
static bool is_replaced(const struct th_crash_worker *worker)
{
    uint64_t mark = 0;
    struct iovec own = {&mark, sizeof mark}, other = {&worker->region->mark, sizeof mark};

    if (process_vm_readv(worker->id, &own, 1, &other, 1, 0) != sizeof mark)
        return errno == EFAULT;
    return mark != worker->region->mark;
}

void th_crash_read_name(pid_t id, char name[TH_CRASH_NAME_BYTES])
{
    char path[64];
    ssize_t size = -1;
    int file;

    snprintf(path, sizeof path, "/proc/%d/comm", (int)id);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        size = read(file, name, TH_CRASH_NAME_BYTES - 1);
        close(file);
    }
    name[size > 0 ? size : 0] = '\0';
}

/* A thread that ends by the bare system call leaves no trace in its process: if it is needed there,
 * the worker would wait for it for ever. */
static bool is_lost(const struct th_crash_worker *worker, const struct th_self *self, pid_t id)
{
    return id && self->id == id && th_crash_is_in_library(self) &&
           th_crash_thread_has_ended(worker->id, id);
}

static void find_lost_thread(void *context, const void *page)
{
    struct th_crash_worker *worker = context;
    const struct th_self *self = page;

    if (is_lost(worker, self, self->id))
        worker->lost_thread = self;
}

/* A thread that ends as it should, while its page is read, seems lost; so do all threads of a process
 * that ends. A short time later the page of such a thread is cleared, and such a process can be waited
 * for. */
void th_crash_look_for_lost_thread(struct th_crash_worker *worker)
{
    enum { MOMENT_NS = 20 * 1000 * 1000 };
    siginfo_t end = {0};

    th_shared_pages_each(worker->region, find_lost_thread, worker);
    if (!worker->lost_thread)
        return;
    nanosleep(&(struct timespec){.tv_nsec = MOMENT_NS}, NULL);
    if ((waitid(P_PID, (id_t)worker->id, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid) ||
        !is_lost(worker, worker->lost_thread, worker->lost_thread->id))
        worker->lost_thread = NULL;
    else
        kill(worker->id, SIGKILL);
}

uint64_t th_crash_worker_place(struct th_crash_worker *worker)
{
    const struct th_self *self;

    if (!worker->main && th_crash_place_of(worker->region, NULL))
        for (size_t i = 0; !worker->main && (self = th_shared_page_at(worker->region, i)); i++)
            if (self->id && self->id == worker->region->worker)
                worker->main = self;
    return th_crash_place_of(worker->region, worker->main);
}

uint64_t th_crash_worker_byte(const struct th_crash_worker *worker)
{
    const struct th_event *played = worker->main ? worker->main->played : NULL;

    return th_shared_holds(worker->region, played, sizeof *played) ? played->position : 0;
}

/* The worker closes its end of the socket as it ends, when its memory is gone; as it is replaced by
 * another program; or because a library closes all descriptors. */
void th_crash_take_messages(struct th_crash_worker *worker)
{
    bool open = worker->socket >= 0;

    while (take_worker_message(worker))
        ;
    if (!open || worker->socket >= 0 || !worker->id)
        return;
    worker->replaced |= is_replaced(worker);
    if (worker->replaced)
        kill(worker->id, SIGKILL);
}

/*
 * The server: one thread that waits for all clients at once.
 *
 * A client costs the host a bounded amount of memory, and no time except that of its commands: the
 * thread never waits for a client. A client has at most one line with the bytes read together with
 * it, and one answer or one command in a thread of its own. Until that answer is sent, nothing more
 * is read from the client and no further request is run.
 *
 * If there is no place or no descriptor for a new client, the client that has been idle for the
 * longest time is disconnected. If that frees no descriptor, the server does not accept for a
 * second, or until a client leaves.
 */
#include "server.h"

#include "control_internal.h"

#include "host/base/buffer.h"
#include "host/base/thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ = 1 << 16 };

struct client {
    int fd;
    struct th_buffer come;   /* received requests */
    bool skips;              /* the rest of a line that is too long is skipped */
    struct th_buffer answer; /* answer to send, ... */
    size_t sent;             /* ... and its bytes already sent */
    int64_t since;           /* time of the last progress in sending, in seconds */
    uint64_t turn;           /* value of the server's `turn` at the client's arrival or last line */
    struct task *task;       /* command in progress; NULL: none */
};

/* A command that takes long, in a thread of its own. Started and ended by the server's thread. */
struct task {
    const struct th_control *control;
    pthread_t thread;
    struct th_control_wire_request request;
    struct th_buffer answer;
    bool abandoned;   /* the client is gone: the answer is dropped */
    atomic_bool done; /* set with release after the answer; read with acquire */
};

struct th_control {
    const struct th_control_setup *setup;
    pthread_t thread;
    int listening;
    int wake;                                      /* eventfd: a task is done, or the end */
    atomic_bool ended;                             /* relaxed: a wake-up follows */
    struct stat identity;                          /* of the socket's file */
    struct client clients[TH_CONTROL_CLIENTS + 1]; /* one more, for a refused client */
    size_t client_count;
    uint64_t turn;     /* counts up */
    bool made_room;    /* freed a descriptor, and no client has come since */
    int64_t deaf_till; /* in seconds; until then no client is accepted; 0: accepts */
    struct task *tasks[TH_CONTROL_APART];
    size_t task_count;
    /* Written by the server's thread, read by any. Relaxed: each number stands alone. */
    _Atomic uint64_t accepted, requests, refused, malformed, dropped;
};

static void server_count(_Atomic uint64_t *counted)
{
    atomic_fetch_add_explicit(counted, 1, memory_order_relaxed);
}

static uint64_t counted(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static int64_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* --- Answers --------------------------------------------------------------------------------- */

/* Returns the buffer for the next answer. */
static struct th_buffer *answer_of(struct client *client)
{
    if (client->answer.size == 0)
        client->since = seconds();
    return &client->answer;
}

/* Sends as much as the client takes. Returns false if the client is gone. */
static bool send_answers(struct client *client)
{
    while (client->sent < client->answer.size) {
        ssize_t sent = send(client->fd, client->answer.data + client->sent,
                            client->answer.size - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN;
        client->sent += (size_t)sent;
        client->since = seconds();
    }
    th_buffer_free(&client->answer);
    client->answer = (struct th_buffer){0};
    client->sent = 0;
    return true;
}

/* --- Commands that take long ------------------------------------------------------------------ */

/* A full counter is readable, too. */
static void server_wake(const struct th_control *control)
{
    uint64_t one = 1;

    while (write(control->wake, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static void *run_task(void *context)
{
    struct task *task = context;
    const struct th_control *control = task->control;

    if (control->setup->begin)
        control->setup->begin();
    th_control_wire_carry_out(control->setup, &task->request, &task->answer);
    if (control->setup->end)
        control->setup->end();
    atomic_store_explicit(&task->done, true, memory_order_release);
    server_wake(control);
    return NULL;
}

/* Runs REQUEST in a new thread, and takes it over. Returns NULL, with the cause in the chain, if
 * there are too many tasks or no thread; then the caller keeps REQUEST. */
static struct task *start_task(struct th_control *control,
                               const struct th_control_wire_request *request)
{
    struct task *task;
    int error;

    if (control->task_count == TH_CONTROL_APART) {
        th_error_raise(TH_FAILED, "%d long commands are running; try again later",
                       TH_CONTROL_APART);
        return NULL;
    }
    task = th_alloc_zero(sizeof *task);
    task->control = control;
    task->request = *request;
    atomic_init(&task->done, false);
    error = th_thread_start(&task->thread, NULL, run_task, task);
    if (error == 0) {
        control->tasks[control->task_count++] = task;
        return task;
    }
    th_free(task);
    th_error_raise(TH_FAILED, "cannot start a thread for the command: %s", strerror(error));
    return NULL;
}

static bool server_is_done(const struct task *task)
{
    return atomic_load_explicit(&task->done, memory_order_acquire);
}

/* Waits for TASK, appends its answer to OUT (may be NULL), and frees TASK. */
static void end_task(struct th_control *control, struct task *task, struct th_buffer *out)
{
    size_t i = 0;

    pthread_join(task->thread, NULL);
    while (control->tasks[i] != task)
        i++;
    control->tasks[i] = control->tasks[--control->task_count];
    if (out)
        th_buffer_add(out, task->answer.data, task->answer.size);
    th_buffer_free(&task->answer);
    th_free(task);
}

/* --- Requests -------------------------------------------------------------------------------- */

static void server_carry_out(struct th_control *control, struct client *client, size_t size)
{
    const char *line = (const char *)client->come.data;
    struct th_buffer *answer = answer_of(client);
    struct th_control_wire_request request;

    if (!th_control_wire_read(control->setup, line, size, &request, answer)) {
        server_count(&control->malformed);
        return;
    }
    server_count(&control->requests);
    if (!request.command || !request.command->takes_long) {
        th_control_wire_carry_out(control->setup, &request, answer);
        return;
    }
    client->task = start_task(control, &request);
    if (!client->task)
        th_control_wire_refuse(&request, answer);
}

/* Returns the length of the first line, without the newline; -1: not complete. */
static ssize_t line_of(const struct client *client)
{
    const unsigned char *begin = client->come.data;
    const unsigned char *end = client->come.size ? memchr(begin, '\n', client->come.size) : NULL;

    return end ? end - begin : -1;
}

/* Handles one line, if it is complete. An empty line is ignored. If the line is too long, its bytes
 * are dropped, and so is its rest. */
static void take_line(struct th_control *control, struct client *client)
{
    struct th_buffer *come = &client->come;
    ssize_t size = line_of(client);
    size_t least = (size < 0 ? come->size : (size_t)size) + 1; /* bytes, with the newline */

    if (least > TH_CONTROL_LINE && !client->skips) {
        server_count(&control->malformed);
        th_control_wire_complain("the line is too long", answer_of(client));
        client->skips = true;
    }
    if (size >= 0) {
        client->turn = ++control->turn;
        if (!client->skips && size > 0)
            server_carry_out(control, client, (size_t)size);
        client->skips = false;
        come->size -= (size_t)size + 1;
        memmove(come->data, come->data + size + 1, come->size);
    } else if (least > TH_CONTROL_LINE) {
        th_buffer_free(come);
        *come = (struct th_buffer){0};
    }
}

/* --- Clients --------------------------------------------------------------------------------- */

static void server_let_go(struct th_control *control, size_t i)
{
    struct client *client = &control->clients[i];

    if (client->task)
        client->task->abandoned = true;
    close(client->fd);
    control->deaf_till = 0;
    th_buffer_free(&client->come);
    th_buffer_free(&client->answer);
    *client = control->clients[--control->client_count];
}

/* Disconnects the client that has been idle for the longest time; an idle client awaits no answer,
 * and all its data was read. Returns false if no client is idle. */
static bool server_make_room(struct th_control *control)
{
    size_t longest = control->client_count;

    for (size_t i = 0; i < control->client_count; i++) {
        const struct client *client = &control->clients[i];
        char byte;
        bool idle = !client->task && client->answer.size == 0 && line_of(client) < 0 &&
                    recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
        if (idle &&
            (longest == control->client_count || client->turn < control->clients[longest].turn))
            longest = i;
    }
    if (longest == control->client_count)
        return false;
    server_count(&control->dropped);
    server_let_go(control, longest);
    return true;
}

static void accept_client(struct th_control *control)
{
    int fd = accept4(control->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct client *client;
    bool stays;

    if (fd >= 0) {
        control->made_room = false;
        if (!th_control_socket_is_ours(fd, NULL)) {
            server_count(&control->refused);
            close(fd);
            return;
        }
        stays = control->client_count < TH_CONTROL_CLIENTS || server_make_room(control);
        server_count(stays ? &control->accepted : &control->refused);
        client = &control->clients[control->client_count++];
        *client = (struct client){.fd = fd, .turn = ++control->turn};
        if (stays)
            th_control_wire_greet(control->setup, answer_of(client));
        else
            th_control_wire_complain("there are too many clients; try again later",
                                     answer_of(client));
        if (!send_answers(client) || !stays)
            server_let_go(control, control->client_count - 1);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        /* Another thread may take the descriptor that becomes free here. */
        control->made_room = !control->made_room && server_make_room(control);
        if (!control->made_room)
            control->deaf_till = seconds() + 1;
    }
}

/* Handles EVENTS of CLIENT without waiting; at most one request, so that other clients have their
 * turn. Returns false if the client must be disconnected. */
static bool serve(struct th_control *control, struct client *client, int events)
{
    if (events & (POLLHUP | POLLERR) && !(events & POLLIN))
        return false;
    if (client->task && !server_is_done(client->task))
        return true;
    if (client->task)
        end_task(control, client->task, answer_of(client));
    client->task = NULL;
    if (client->answer.size == 0) {
        if (events & POLLIN && line_of(client) < 0) {
            ssize_t size =
                recv(client->fd, th_buffer_reserve(&client->come, READ), READ, MSG_DONTWAIT);
            if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
                return false;
            client->come.size += size > 0 ? (size_t)size : 0;
        }
        take_line(control, client);
    }
    if (client->answer.size > 0 && !send_answers(client))
        return false;
    if (client->answer.size == 0 || seconds() - client->since <= TH_CONTROL_PATIENCE)
        return true;
    server_count(&control->dropped);
    return false;
}

/* --- The thread ------------------------------------------------------------------------------ */

enum { WAKE, LISTENING, FIRST_CLIENT };

/* Fills WAITS. Returns poll()'s timeout in milliseconds: 0 if a complete request is there; one
 * second if an answer is pending, or accepting is suspended; else -1. */
static int server_fill_in(const struct th_control *control, struct pollfd *waits)
{
    bool deaf = seconds() < control->deaf_till;
    int time = deaf ? 1000 : -1;

    waits[WAKE] = (struct pollfd){.fd = control->wake, .events = POLLIN};
    waits[LISTENING] = (struct pollfd){.fd = control->listening, .events = deaf ? 0 : POLLIN};
    for (size_t i = 0; i < control->client_count; i++) {
        const struct client *client = &control->clients[i];
        bool owed = client->answer.size > 0;
        waits[FIRST_CLIENT + i] = (struct pollfd){.fd = client->fd,
                                                  .events = client->task ? 0
                                                            : owed       ? POLLOUT
                                                                         : POLLIN};
        if (!client->task && !owed && line_of(client) >= 0)
            time = 0;
        else if (owed && time < 0)
            time = 1000;
    }
    return time;
}

static void *server_run(void *context)
{
    struct th_control *control = context;
    const struct th_control_setup *setup = control->setup;
    struct pollfd waits[FIRST_CLIENT + TH_CONTROL_CLIENTS + 1];
    uint64_t times;

    if (setup->begin)
        setup->begin();
    while (!atomic_load_explicit(&control->ended, memory_order_relaxed)) {
        int time = server_fill_in(control, waits);
        size_t clients = control->client_count;
        if (poll(waits, FIRST_CLIENT + clients, time) < 0)
            continue;
        while (waits[WAKE].revents && read(control->wake, &times, sizeof times) < 0 &&
               errno == EINTR)
            ; /* read before the tasks are checked: a task that ends later wakes the server again */
        if (atomic_load_explicit(&control->ended, memory_order_relaxed))
            break;
        for (size_t i = clients; i-- > 0;) /* downwards: the last client fills a free place */
            if (!serve(control, &control->clients[i], waits[FIRST_CLIENT + i].revents))
                server_let_go(control, i);
        for (size_t i = control->task_count; i-- > 0;) /* likewise */
            if (control->tasks[i]->abandoned && server_is_done(control->tasks[i]))
                end_task(control, control->tasks[i], NULL);
        if (waits[LISTENING].revents)
            accept_client(control);
    }
    if (setup->end)
        setup->end();
    return NULL;
}

enum th_status th_control_begin(const struct th_control_setup *setup, struct th_control **result)
{
    struct th_control *control = th_alloc_zero(sizeof *control);
    enum th_status status;
    int error;

    control->setup = setup;
    atomic_init(&control->ended, false);
    status = th_control_socket_listen(setup->path, &control->listening, &control->identity);
    if (status != TH_OK) {
        th_free(control);
        return status;
    }
    control->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    error =
        control->wake < 0 ? errno : th_thread_start(&control->thread, NULL, server_run, control);
    if (error == 0) {
        *result = control;
        return TH_OK;
    }
    if (control->wake >= 0)
        close(control->wake);
    th_control_socket_remove(setup->path, &control->identity);
    close(control->listening);
    th_free(control);
    return th_error_raise(TH_FAILED, "cannot start the control server: %s", strerror(error));
}

void th_control_end(struct th_control *control)
{
    if (!control)
        return;
    atomic_store_explicit(&control->ended, true, memory_order_relaxed);
    server_wake(control);
    pthread_join(control->thread, NULL);
    th_control_socket_remove(control->setup->path, &control->identity);
    while (control->client_count > 0) {
        struct client *client = &control->clients[0];
        if (client->task)
            end_task(control, client->task, answer_of(client));
        client->task = NULL;
        send_answers(client);
        server_let_go(control, 0);
    }
    while (control->task_count > 0)
        end_task(control, control->tasks[0], NULL);
    close(control->listening);
    close(control->wake);
    th_free(control);
}

struct th_control_counts th_control_counts(const struct th_control *control)
{
    if (!control)
        return (struct th_control_counts){0};
    return (struct th_control_counts){
        .clients = counted(&control->accepted),
        .requests = counted(&control->requests),
        .refused = counted(&control->refused),
        .malformed = counted(&control->malformed),
        .dropped = counted(&control->dropped),
    };
}

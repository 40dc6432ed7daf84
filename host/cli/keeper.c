#include "keeper.h"

#include "interrupt.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/base/output.h"
#include "host/replay/log/log_job.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS INT64_C(1000000)

struct request {
    enum th_keeper_request request;
    uint64_t number, size; /* size: of the data that follow */
};

/* The state of the keeper's process. */
struct keeping {
    struct th_log_job_options *options;
    struct th_log_job *job;
    int socket;
    bool claimed; /* it has a claim, as far as it knows */
    bool told;    /* that the claim is lost: the next result gets no answer */
};

/* --- Bytes ------------------------------------------------------------------------------------- */

static bool take_bytes(int socket, void *data, size_t size)
{
    char *to = data;

    while (size > 0) {
        ssize_t got = recv(socket, to, size, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        to += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool receive_data(int socket, uint64_t size, struct th_buffer *data)
{
    if (size > 0 &&
        (!th_buffer_try(data, size) || !take_bytes(socket, data->data + data->size, size)))
        return false;
    data->size += size;
    return true;
}

/* --- In the keeper ------------------------------------------------------------------------------ */

/* Sends ANSWER for STATUS. Returns false if nobody hears it, or the keeper has failed. */
static bool answer_with(const struct keeping *keeping, enum th_status status,
                        enum th_keeper_result at_end, struct th_keeper_answer *answer,
                        const struct th_buffer *data)
{
    answer->result = status == TH_OK    ? TH_KEEPER_DONE
                     : status == TH_END ? at_end
                                        : TH_KEEPER_FAILED;
    answer->size = data && status == TH_OK ? data->size : 0;
    if (answer->result == TH_KEEPER_FAILED)
        th_error_save(&answer->chain);
    return th_output_send_bytes(keeping->socket, answer, sizeof *answer) &&
           (answer->size == 0 || th_output_send_bytes(keeping->socket, data->data, data->size));
}

/* Waits for a request, and renews the claim meanwhile. Returns false at the end. */
static bool await_request(struct keeping *keeping, struct request *request)
{
    struct pollfd wait = {.fd = keeping->socket, .events = POLLIN};
    struct th_keeper_answer *lost = th_alloc_zero(sizeof *lost);
    int64_t third = keeping->options->lease_ns / 3 / MS;
    bool heard = true;

    while (heard && poll(&wait, 1, keeping->claimed ? (int)third : -1) <= 0) {
        enum th_status status = keeping->claimed ? th_replay_log_job_renew(keeping->job) : TH_OK;
        if (status == TH_OK)
            continue;
        keeping->claimed = false;
        keeping->told = true;
        heard = answer_with(keeping, status, TH_KEEPER_LOST, lost, NULL) && status == TH_END;
    }
    th_free(lost);
    return heard && take_bytes(keeping->socket, request, sizeof *request);
}

/* Does what REQUEST asks for. Returns false at the end. */
static bool serve_request(struct keeping *keeping, const struct request *request,
                          struct th_buffer *data, struct th_keeper_answer *answer)
{
    enum th_status status = TH_FAILED;
    bool told = keeping->told;

    data->size = 0;
    if (!receive_data(keeping->socket, request->size, data))
        return false;
    keeping->told = false;
    switch (request->request) {
    case TH_KEEPER_CLAIM:
        status = th_replay_log_job_claim(keeping->job, &answer->segment);
        keeping->claimed = status == TH_OK;
        return answer_with(keeping, status, TH_KEEPER_END, answer, NULL);
    case TH_KEEPER_MARK:
    case TH_KEEPER_UNSOUND:
        keeping->claimed = false;
        status =
            th_replay_log_job_mark(keeping->job, request->request == TH_KEEPER_MARK ? data : NULL);
        return (told && status == TH_END) ||
               answer_with(keeping, status, TH_KEEPER_LOST, answer, NULL);
    case TH_KEEPER_SURVEY:
        status = th_replay_log_job_survey(keeping->job, &answer->segments, &answer->first_bytes,
                                          &answer->records, &answer->sound);
        return answer_with(keeping, status, TH_KEEPER_END, answer, NULL);
    case TH_KEEPER_GET:
        status = th_replay_log_job_get(keeping->job, request->number, data);
        return answer_with(keeping, status, TH_KEEPER_END, answer, data);
    }
    return false;
}

/* The process: the first answer tells whether the job is open. */
static _Noreturn void run_keeper(struct th_log_job_options *options, int socket)
{
    struct keeping keeping = {.options = options, .socket = socket};
    struct th_keeper_answer *answer = th_alloc_zero(sizeof *answer);
    struct th_buffer data = {0};
    struct request request;
    enum th_status status;

    prctl(PR_SET_NAME, "tracehost-keeper");
    th_cli_interrupt_hold(NULL); /* the main process decides */
    options->watch = socket;
    status = th_replay_log_job_open(options, &keeping.job);
    if (status == TH_OK)
        snprintf(answer->recording, sizeof answer->recording, "%s",
                 th_replay_log_job_recording(keeping.job));
    if (answer_with(&keeping, status, TH_KEEPER_END, answer, NULL) && status == TH_OK)
        while (await_request(&keeping, &request) &&
               serve_request(&keeping, &request, &data, answer))
            ;
    if (status == TH_OK)
        th_replay_log_job_release(keeping.job);
    th_replay_log_job_end(keeping.job);
    _exit(TH_OK);
}

/* --- In the main process ------------------------------------------------------------------------ */

enum th_status th_cli_keeper_begin(struct th_log_job_options *options, struct th_keeper *keeper,
                                   struct th_keeper_answer *answer)
{
    int sockets[2];

    *keeper = (struct th_keeper){.socket = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return th_error_raise(TH_FAILED, "cannot make a process: %s", strerror(errno));
    keeper->pid = fork();
    if (keeper->pid == 0) {
        close(sockets[0]);
        run_keeper(options, sockets[1]);
    }
    close(sockets[1]);
    keeper->socket = sockets[0];
    if (keeper->pid < 0) {
        keeper->pid = 0;
        return th_error_raise(TH_FAILED, "cannot make a process: %s", strerror(errno));
    }
    return th_cli_keeper_hear(keeper, answer, NULL);
}

static enum th_status keeper_has_ended(void)
{
    return th_error_raise(TH_FAILED, "the process that speaks with the server has ended");
}

enum th_status th_cli_keeper_ask(const struct th_keeper *keeper, enum th_keeper_request request,
                                 uint64_t number, const struct th_buffer *data)
{
    const struct request asked = {
        .request = request, .number = number, .size = data ? data->size : 0};

    if (th_output_send_bytes(keeper->socket, &asked, sizeof asked) &&
        (asked.size == 0 || th_output_send_bytes(keeper->socket, data->data, data->size)))
        return TH_OK;
    return keeper_has_ended();
}

enum th_status th_cli_keeper_hear(const struct th_keeper *keeper, struct th_keeper_answer *answer,
                                  struct th_buffer *data)
{
    if (!take_bytes(keeper->socket, answer, sizeof *answer) ||
        (answer->size > 0 && !receive_data(keeper->socket, answer->size, data)))
        return keeper_has_ended();
    if (answer->result != TH_KEEPER_FAILED)
        return TH_OK;
    th_error_restore(&answer->chain);
    return th_error_status();
}

void th_cli_keeper_end(struct th_keeper *keeper)
{
    if (keeper->socket >= 0)
        close(keeper->socket);
    if (keeper->pid > 0)
        waitpid(keeper->pid, NULL, 0);
    *keeper = (struct th_keeper){.socket = -1};
}

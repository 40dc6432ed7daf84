/* The client's end: sends a request and waits for its answer. */
#include "control.h"
#include "control_internal.h"
#include "server.h"

#include "host/base/buffer.h"
#include "host/base/output.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ = 1 << 16, LOOK_UP_MS = 100 };

struct th_control_client {
    int fd;
    json_t *greeting;
    json_int_t asked;      /* id of the latest request; ids count up */
    struct th_buffer line; /* received and unused bytes; lines may have any length */
};

static enum th_status gone(void)
{
    return th_error_raise(TH_FAILED, "the host has ended or has closed the connection");
}

/* Waits for the next line and parses it. Errors: TH_END if *STOP is not 0. */
static enum th_status client_read_line(struct th_control_client *client, const volatile int *stop,
                                       json_t **line)
{
    struct th_buffer *come = &client->line;
    struct pollfd wait = {.fd = client->fd, .events = POLLIN};
    json_error_t error;
    char *end;

    while (!(end = come->size ? memchr(come->data, '\n', come->size) : NULL)) {
        ssize_t got;
        do { /* polls at intervals: a signal may come just before the wait */
            if (stop && __atomic_load_n(stop, __ATOMIC_RELAXED))
                return TH_END;
        } while (stop && poll(&wait, 1, LOOK_UP_MS) <= 0);
        got = recv(client->fd, th_buffer_reserve(come, READ), READ, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return gone();
        if (got > 0)
            come->size += (size_t)got;
    }
    *line = json_loadb((const char *)come->data, (size_t)(end - (char *)come->data),
                       JSON_REJECT_DUPLICATES, &error);
    come->size -= (size_t)(end + 1 - (char *)come->data);
    memmove(come->data, end + 1, come->size);
    return *line ? TH_OK
                 : th_error_raise(TH_MALFORMED, "cannot read the host's answer: it is not JSON");
}

static enum th_status send_all(struct th_control_client *client, const char *text, size_t size)
{
    return th_output_send_bytes(client->fd, text, size) ? TH_OK : gone();
}

/* --- Connecting ------------------------------------------------------------------------------ */

/* Checks the first line. A host without room sends an error as its first line; any other line that
 * is no greeting comes from another program. */
static enum th_status check_greeting(const char *path, const json_t *greeting)
{
    json_int_t protocol = json_integer_value(json_object_get(greeting, "protocol"));
    const char *error = json_string_value(json_array_get(json_object_get(greeting, "error"), 0));

    if (error)
        return th_error_raise(TH_FAILED, "%s: %s", path, error);
    if (!json_is_string(json_object_get(greeting, "tracehost")))
        return th_error_raise(TH_MALFORMED, "the program that serves %s is not tracehost", path);
    if (protocol == TH_CONTROL_PROTOCOL)
        return TH_OK;
    return th_error_raise(TH_USAGE,
                          "the host at %s uses version %lld of the protocol, this program version "
                          "%d: use the tracehost that started the host",
                          path, (long long)protocol, TH_CONTROL_PROTOCOL);
}

enum th_status th_control_connect(const char *path, struct th_control_client **client,
                                  const json_t **greeting)
{
    int fd;
    enum th_status status = th_control_socket_connect(path, &fd);

    if (status != TH_OK)
        return status;
    *client = th_alloc_zero(sizeof **client);
    (*client)->fd = fd;
    status = client_read_line(*client, NULL, &(*client)->greeting);
    if (status == TH_OK)
        status = check_greeting(path, (*client)->greeting);
    *greeting = (*client)->greeting;
    if (status != TH_OK)
        th_control_disconnect(*client);
    return status;
}

void th_control_disconnect(struct th_control_client *client)
{
    close(client->fd);
    json_decref(client->greeting);
    th_buffer_free(&client->line);
    th_free(client);
}

int th_control_descriptor(const struct th_control_client *client)
{
    return client->fd;
}

/* --- Asking ---------------------------------------------------------------------------------- */

static enum th_status send_request(struct th_control_client *client, const char *command, int count,
                                   char *const arguments[])
{
    json_t *texts = json_array(), *request;
    enum th_status status;
    char *line;

    for (int i = 0; i < count; i++)
        if (json_array_append_new(texts, json_string(arguments[i])) != 0) {
            json_decref(texts);
            return th_error_raise(TH_USAGE, "argument %d is not in UTF-8", i + 1);
        }
    request =
        json_pack("{s:I, s:s, s:o}", "id", ++client->asked, "command", command, "arguments", texts);
    if (!request)
        return th_error_raise(TH_USAGE, "the command is not in UTF-8");
    line = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    status = send_all(client, line, strlen(line));
    free(line);
    return status == TH_OK ? send_all(client, "\n", 1) : status;
}

enum th_status th_control_ask(struct th_control_client *client, const char *command, int count,
                              char *const arguments[], const volatile int *stop, json_t **answer)
{
    enum th_status status = send_request(client, command, count, arguments);

    while (status == TH_OK) { /* drops answers that were not waited for */
        status = client_read_line(client, stop, answer);
        if (status != TH_OK || json_integer_value(json_object_get(*answer, "id")) == client->asked)
            break;
        json_decref(*answer);
    }
    return status;
}

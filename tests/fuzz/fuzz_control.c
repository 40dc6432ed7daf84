/* Fuzzes the control socket: each line gets exactly one line in answer, and a host that runs or
 * replays executes its commands without harm. The first byte selects the host. */
#include "host/base/base.h"
#include "host/cli/cli.h"
#include "host/control/control.h"
#include "host/control/control_internal.h"
#include "host/trace/trace.h"

#include <stdlib.h>
#include <string.h>

struct hosting {
    struct th_control_host host;
    struct th_control_main_thread main_thread; /* no thread serves it, so its tasks are refused */
};

static void stop(void *context)
{
    (void)context;
}

static void tell(void *context, json_t *status)
{
    (void)context;
    (void)status;
}

static json_t *no_processes(void *context)
{
    (void)context;
    return json_array();
}

/* Returns a host that lasts for all inputs. */
static struct hosting *hosting_of(bool live)
{
    static const struct th_texts no_folders;
    static struct hosting hostings[2];
    struct hosting *hosting = &hostings[live];

    if (hosting->host.tracing)
        return hosting;
    th_control_main_thread_begin(&hosting->main_thread);
    th_control_main_thread_end(&hosting->main_thread);
    hosting->host = (struct th_control_host){
        .program = live ? "run" : "replay",
        .tracing = th_trace_create(),
        .live = live,
        .runs_code = live,
        .folders = &no_folders,
        .path = "socket",
        .stop = stop,
        .tell = tell,
        .processes = no_processes,
        .main_thread = live ? NULL : &hosting->main_thread,
    };
    th_trace_share(hosting->host.tracing);
    th_control_host_prepare(&hosting->host);
    return hosting;
}

static void end_sessions(struct th_tracing *tracing)
{
    struct th_session *session;

    while ((session = th_trace_session(tracing, 0)))
        th_trace_session_destroy(session);
}

/* Asserts that OUT is one line of JSON. */
static void check(const struct th_buffer *out)
{
    json_error_t error;
    json_t *answer = json_loadb((const char *)out->data, out->size, 0, &error);

    if (!answer || !json_object_get(answer, "id") || !json_object_get(answer, "ok") ||
        memchr(out->data, '\n', out->size) != out->data + out->size - 1)
        abort();
    json_decref(answer);
}

/* A name with a slash would be a file of this machine. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct th_control_wire_request request;
    struct th_buffer out = {0};
    struct hosting *hosting;

    if (size < 1 || memchr(data, '\n', size) || memmem(data, size, "./", 2) ||
        memmem(data, size, "\"/", 2) || memmem(data, size, "\\", 1))
        return 0;
    hosting = hosting_of(data[0] & 1);
    if (th_control_wire_read(&hosting->host.setup, (const char *)data + 1, size - 1, &request,
                             &out))
        th_control_wire_carry_out(&hosting->host.setup, &request, &out);
    check(&out);
    if (th_error_status() != TH_OK)
        abort();
    end_sessions(hosting->host.tracing);
    th_buffer_free(&out);
    return 0;
}

/* A control socket, and watched files, in a program that embeds a host. */
#include "embed_host.h"

#include "host/control/commands/commands.h"
#include "host/trace/session.h"

#include <jansson.h>

/* The program's setup, with the host of the commands. */
struct control {
    struct th_control_host host; /* must be the first member */
    tracehost_host *of;
    char *program, *path; /* path: NULL without a socket */
    struct tracehost_control_setup setup;
};

static void embed_control_stop(void *context)
{
    const struct control *control = context;

    control->setup.stop(control->setup.context);
}

static json_t *embed_control_list_processes(void *context)
{
    const struct control *control = context;

    return th_embed_processes(control->of);
}

static void embed_control_report(const struct th_control_host *host, const char *text)
{
    const struct control *control = (const struct control *)host;

    if (control->setup.report)
        control->setup.report(control->setup.context, text);
    else
        fprintf(stderr, "%s: %s", control->program, text);
}

static void free_control(struct control *control)
{
    th_free(control->program);
    th_free(control->path);
    th_free(control);
}

enum tracehost_status tracehost_control_open(tracehost_host *host,
                                             const struct tracehost_control_setup *given)
{
    struct tracehost_control_setup setup;
    struct control *control;
    enum th_status status =
        th_embed_sized_take(&setup, sizeof setup, given, "tracehost_control_setup")
            ?: th_embed_check_outside(host);

    if (status == TH_OK && host->control)
        status = th_error_raise(TH_USAGE, "the host's control is open already");
    else if (status == TH_OK && !th_trace_is_shared(host->tracing))
        status = th_error_raise(TH_USAGE, "the host was not started with `live`");
    else if (status == TH_OK && (!setup.program || !*setup.program))
        status = th_embed_missing("name of the program");
    else if (status == TH_OK && !setup.path && !setup.watch)
        status = th_error_raise(TH_USAGE, "a control needs `path` or `watch`");
    status = status ?: th_embed_enter();
    if (status != TH_OK)
        return th_embed_answer(status);
    control = th_alloc_zero(sizeof *control);
    control->of = host;
    control->setup = setup;
    control->program = th_strdup(setup.program);
    control->path = setup.path ? th_strdup(setup.path) : NULL;
    control->host = (struct th_control_host){
        .program = control->program,
        .tracing = host->tracing,
        .live = true,
        .folders = &host->folders,
        .folders_lock = &host->loading,
        .path = control->path,
        .watches = setup.watch,
        .stop = setup.stop ? embed_control_stop : NULL,
        .report = embed_control_report,
        .processes = embed_control_list_processes,
        .context = control,
    };
    status = th_control_host_begin(&control->host);
    if (status != TH_OK) {
        th_error_context("cannot serve %s", control->path);
    } else {
        th_control_host_lock(&control->host); /* commands may arrive already */
        status = th_control_host_watch(&control->host);
        th_control_host_unlock(&control->host);
        if (status != TH_OK)
            th_control_host_end(&control->host);
    }
    if (status == TH_OK)
        host->control = &control->host;
    else
        free_control(control);
    return th_embed_answer(status);
}

enum tracehost_status tracehost_control_close(tracehost_host *host)
{
    enum th_status status = th_embed_check_outside(host);

    if (status != TH_OK || !host->control)
        return th_embed_answer(status);
    th_control_host_end(host->control);
    free_control((struct control *)host->control);
    host->control = NULL;
    return TRACEHOST_OK;
}

void tracehost_control_lock(tracehost_host *host)
{
    if (host && host->control)
        th_control_host_lock(host->control);
}

void tracehost_control_unlock(tracehost_host *host)
{
    if (host && host->control)
        th_control_host_unlock(host->control);
}

/* Commands for the host itself: status, tracers, processes, stop, help. */
#include "commands.h"
#include "commands_internal.h"

#include "host/control/control_internal.h"
#include "host/process/process.h"
#include "host/term/clock.h"
#include "host/trace/live/live.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

/* --- status ----------------------------------------------------------------------------------- */

static enum th_status carry_out_status(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;
    struct th_control_counts counts = th_control_counts(host->server);
    struct th_live_counts live = th_live_counts(host->tracing);
    int64_t now = th_clock_real_monotonic();
    double time = (double)(now - host->rate.time) / 1e9, more = 0;
    uint64_t traced = 0, discarded = 0, total;

    (void)count;
    (void)words;
    for (size_t i = 0; i < th_trace_sessions(host->tracing); i++) {
        const struct th_session *session = th_trace_session(host->tracing, i);
        struct th_session_counts events = {0};
        if (session)
            events = th_trace_session_counts(session);
        traced += events.traced;
        discarded += events.discarded;
    }
    total = traced + discarded;
    /* The rate since the previous `status`, or the start. Counts of ended sessions are lost. */
    if (total > host->rate.events)
        more = (double)(total - host->rate.events);
    host->rate = (struct th_control_rate){now, total};
    *result = json_pack("{s:s, s:i, s:s, s:f, s:I, s:{s:I, s:I}}", "program", host->program, "pid",
                        (int)getpid(), "version", TH_VERSION, "seconds",
                        (double)(now - host->began) / 1e9, "sessions",
                        (json_int_t)th_trace_sessions(host->tracing), "events", "traced",
                        (json_int_t)traced, "discarded", (json_int_t)discarded);
    json_object_set_new(*result, "rate",
                        json_pack("{s:f, s:f}", "events_per_second", time > 0 ? more / time : 0.0,
                                  "over_seconds", time));
    json_object_set_new(*result, "lost",
                        json_pack("{s:I, s:I, s:I}", "suppressed", (json_int_t)live.suppressed,
                                  "strangers", (json_int_t)live.strangers, "mail_dropped",
                                  (json_int_t)th_process_mail_dropped()));
    json_object_set_new(
        *result, "control",
        json_pack("{s:I, s:I, s:I, s:I, s:I}", "clients", (json_int_t)counts.clients, "requests",
                  (json_int_t)counts.requests, "refused", (json_int_t)counts.refused, "malformed",
                  (json_int_t)counts.malformed, "dropped", (json_int_t)counts.dropped));
    if (host->tell)
        host->tell(host->context, *result);
    return TH_OK;
}

const struct th_control_command th_control_command_status = {
    "status", NULL, NULL, "Shows running time, counts of events, rate and losses of the host.",
    .carry_out = carry_out_status};

/* --- tracers ---------------------------------------------------------------------------------- */

static void add_tracer(json_t *tracers, const struct th_control_host *host, const char *name,
                       const char *path, const char *origin)
{
    json_t *numbers = json_array();

    for (size_t i = 0; i < th_trace_sessions(host->tracing); i++) {
        const struct th_session *session = th_trace_session(host->tracing, i);
        if (session && th_trace_session_has_tracer(session) && /* the view has none */
            strcmp(th_trace_session_name(session), name) == 0)
            json_array_append_new(numbers, json_integer(th_control_session_number(session)));
    }
    json_array_append_new(tracers, json_pack("{s:s, s:s, s:s, s:o}", "name", name, "path", path,
                                             "origin", origin, "sessions", numbers));
}

static enum th_status carry_out_tracers(void *context, int count, char **words, json_t **result)
{
    const struct th_control_host *host = context;
    struct th_found_list list = {0};
    struct th_search search;
    json_t *tracers = json_array();

    (void)count;
    (void)words;
    th_control_host_search(host, TH_SEARCH_TRACERS, &search);
    th_library_search_list(&search, &list);
    for (size_t i = 0; i < list.count; i++)
        if (!list.items[i].shadowed)
            add_tracer(tracers, host, list.items[i].name, list.items[i].path,
                       th_library_search_origin_text(list.items[i].origin));
    /* Tracers that were attached by a path, or are functions of the program, are in no searched
     * folder. */
    for (size_t i = 0; i < th_trace_sessions(host->tracing); i++) {
        const struct th_session *session = th_trace_session(host->tracing, i);
        const char *name;
        bool is_path;
        size_t k = 0;
        if (!session || !th_trace_session_has_tracer(session))
            continue;
        name = th_trace_session_name(session);
        is_path = th_trace_session_library(session);
        while (k < list.count && strcmp(list.items[k].name, name) != 0)
            k++;
        if (k == list.count)
            add_tracer(tracers, host, name, is_path ? name : "", is_path ? "path" : "program");
    }
    th_library_found_list_free(&list);
    th_library_search_free(&search);
    *result = json_pack("{s:o}", "tracers", tracers);
    return TH_OK;
}

const struct th_control_command th_control_command_tracers = {
    "tracers", NULL, NULL, "Lists the tracers that can be attached, with their paths.",
    .carry_out = carry_out_tracers};

/* --- processes -------------------------------------------------------------------------------- */

struct asked {
    const struct th_control_host *host;
    json_t *processes;
};

static enum th_status status_commands_list_processes(void *argument)
{
    struct asked *asked = argument;

    asked->processes = asked->host->processes(asked->host->context);
    return TH_OK;
}

static enum th_status carry_out_processes(void *context, int count, char **words, json_t **result)
{
    struct asked asked = {.host = context};
    enum th_status status =
        th_control_at_tracees(asked.host, status_commands_list_processes, &asked);

    (void)count;
    (void)words;
    if (status == TH_OK)
        *result = json_pack("{s:o}", "processes", asked.processes);
    return status;
}

const struct th_control_command th_control_command_processes = {
    "processes", NULL, NULL, "Lists the processes with state, queue length and memory.",
    .carry_out = carry_out_processes};

/* --- stop, help ------------------------------------------------------------------------------- */

static enum th_status carry_out_stop(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;

    (void)count;
    (void)words;
    (void)result;
    if (!host->stop)
        return th_error_raise(TH_USAGE, "this program cannot be stopped by a command");
    host->stop(host->context);
    return TH_OK;
}

const struct th_control_command th_control_command_stop = {
    "stop", NULL, NULL, "Ends the host, as a signal does.", .carry_out = carry_out_stop};

static const struct th_argument *const help_arguments[] = {
    &(const struct th_argument)TH_WORD("COMMAND", COMMAND, 0, .size = sizeof(const char *)), NULL};

/* Returns help for all commands, or for the named one. */
static enum th_status carry_out_help(void *context, int count, char **words, json_t **result)
{
    const struct th_control_host *host = context;
    const char *only = NULL;
    enum th_status status = th_control_take(&th_control_command_help, count, words, &only);
    json_t *commands;

    if (status != TH_OK)
        return status;
    if (only && !th_control_find(host->setup.commands, only))
        return th_control_unknown(&host->setup, only);
    commands = json_array();
    for (const struct th_control_command *const *c = host->setup.commands; *c; c++)
        if (!only || strcmp(only, (*c)->name) == 0)
            json_array_append_new(commands, th_control_help(*c));
    *result = json_pack("{s:o}", "commands", commands);
    return TH_OK;
}

const struct th_control_command th_control_command_help = {"help", help_arguments, NULL,
                                                           "Describes COMMAND, or all commands.",
                                                           .carry_out = carry_out_help};

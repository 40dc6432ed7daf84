#include "trace_options.h"

#include "host/base/output.h"
#include "host/cli/call_session.h"
#include "host/cli/interrupt.h"
#include "host/cli/subcommand.h"
#include "host/cli/top/top.h"
#include "host/control/commands/commands.h"
#include "host/control/commands/session_options.h"
#include "host/crash/crash.h"
#include "host/term/text.h"

#include <stdlib.h>
#include <string.h>

/* Nanoseconds after which a running callback is reported, but not ended. */
#define SLOW ((int64_t)10 * 1000 * 1000 * 1000)

/* Tracers read the environment variables, as other programs do. */
static enum th_status take_color(const struct th_argument *argument, const char *value, void *input)
{
    int64_t when;
    enum th_status status = th_control_argument_number(argument, value, &when);

    (void)input;
    if (status == TH_OK && when == 0)
        setenv("CLICOLOR_FORCE", "1", 1);
    if (status == TH_OK && when == 1) {
        unsetenv("CLICOLOR_FORCE");
        setenv("NO_COLOR", "1", 1);
    }
    return status;
}

const struct th_argument th_options_trace_arguments[] = {
    TH_OPTION(NULL, "DIR", FOLDER, TRACERS, "Search DIR first for tracers", .letter = 'L',
              .how = TH_ARGUMENT_REPEATS, TH_INTO(struct th_trace_options, folders),
              .live_help = "Search DIR first for libraries and tracers"),
    TH_OPTION("watch", NULL, FLAG, TRACERS, "Replace a tracer when its file changes",
              TH_INTO(struct th_trace_options, watch),
              .live_help = "Replace a library or tracer when its file changes"),
    TH_OPTION("stats", NULL, FLAG, OUTPUT, "Print counts of all events on stderr at the end",
              TH_INTO(struct th_trace_options, stats)),
    TH_OPTION("format", "FORMAT", CHOICE, OUTPUT, "Format of counts: text (default) or json",
              .words = TH_WORDS("text", "json"), TH_INTO(struct th_trace_options, json)),
    TH_OPTION("top", "T", TIME, OUTPUT, "Show the most called functions every T (1s)",
              .how = TH_ARGUMENT_OPTIONAL, .otherwise = "1s", .least = 100000000, .most = INT64_MAX,
              .wanted = "a time of at least 100ms", TH_INTO(struct th_trace_options, top)),
    TH_OPTION("color", "WHEN", CHOICE, OUTPUT, "Colours: always, never or auto (default)",
              .words = TH_WORDS("always", "never", "auto"), .take = take_color),
    TH_OPTION("callback-timeout", "T", TIME, LIMITS,
              "Exit with 6 if a callback takes longer than T",
              TH_INTO(struct th_trace_options, timeout)),
    TH_OPTION("control", "SOCKET", SOCKET, OTHER, "Accept commands of `tracehost ctl SOCKET`",
              TH_INTO(struct th_trace_options, control)),
    {0},
};

enum th_status th_options_trace_options_check(void *input)
{
    struct th_trace_options *trace = input;
    enum th_status status;

    trace->sessions.optional = trace->top > 0;
    status = th_control_session_options_check(&trace->sessions);
    return status == TH_OK && trace->top ? th_top_check(trace) : status;
}

/* --- The tracing ------------------------------------------------------------------------------ */

void th_options_trace_options_init(struct th_trace_options *trace, bool live)
{
    *trace = (struct th_trace_options){.live = live};
    th_control_session_options_init(&trace->sessions, live);
    th_cli_state_expressions_begin(TH_NONE);
}

void th_options_trace_options_free(struct th_trace_options *trace)
{
    th_control_session_options_free(&trace->sessions);
    th_free(trace->folders.items);
}

/* Prints a term on stdout, on a line of its own, like erlang:display/1, with the text format of
 * this program: shortest floats, `k => v` in maps, and a plain newline. */
static void display(th_term term)
{
    struct th_buffer line = {0};

    th_text_print(&line, term);
    th_buffer_add_byte(&line, '\n');
    fwrite(line.data, 1, line.size, stdout);
    th_buffer_free(&line);
}

static void trace_options_report(const struct th_control_host *host, const char *text)
{
    th_cli_command_flush();
    fprintf(stderr, "tracehost %s: %s", host->program, text);
}

static void stop_as_told(void *context)
{
    (void)context;
    th_cli_interrupt_stop();
}

enum th_status th_options_trace_options_begin(const struct th_trace_options *trace,
                                              struct th_control_host *host)
{
    struct th_search search;
    enum th_status status;

    host->live = trace->live;
    host->runs_code = trace->live;
    host->folders = &trace->folders;
    host->path = trace->control;
    host->watches = trace->watch;
    host->report = trace_options_report;
    host->stop = stop_as_told;
    status = th_control_host_begin(host);
    if (status != TH_OK)
        return th_error_context("cannot serve --control=%s", trace->control);
    th_control_host_lock(host); /* commands may arrive already */
    th_trace_use_display(host->tracing, display);
    status = th_crash_set_timeout(trace->timeout ? trace->timeout : SLOW, trace->timeout != 0);
    if (status == TH_OK) {
        th_trace_hold();
        th_control_host_search(host, TH_SEARCH_TRACERS, &search);
        if (!trace->control || !th_control_session_options_are_empty(&trace->sessions))
            status = th_control_session_options_attach(&trace->sessions, &search, host->tracing);
        th_library_search_free(&search);
        th_output_stop = NULL; /* a FIFO that is opened later must not block: the client waits for
                                  an answer */
    }
    if (status == TH_OK)
        status = th_control_host_watch(host);
    if (status == TH_OK)
        status = th_top_begin(host, trace);
    th_control_host_unlock(host);
    return status;
}

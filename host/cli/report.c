/* tracehost report: makes an HTML page of recorded streams. */
#include "interrupt.h"
#include "replaying.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/output.h"
#include "host/cli/options/usage.h"
#include "host/trace/callback.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING "</html>\n" /* last bytes of a complete page */

struct page {
    struct th_replaying replay;
    const char *output; /* NULL: derived from the first stream's name */
    const char *title;  /* NULL: the first stream's name */
};

static const struct th_argument arguments[] = {
    TH_WORD("STREAM", FILE, TH_ARGUMENT_NEEDED | TH_ARGUMENT_REPEATS,
            TH_INTO(struct page, replay.streams)),
    TH_OPTION(
        "output", "FILE", FILE, OUTPUT,
        "Write the page to FILE once the page is complete; - for stdout (default: name of the "
        "first STREAM with the suffix .html, in the current folder)",
        .letter = 'o', TH_INTO(struct page, output)),
    TH_OPTION("title", "TEXT", TEXT, OUTPUT,
              "Title of the page (default: name of the first STREAM)", TH_INTO(struct page, title)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments},
    {.items = th_control_session_arguments,
     .offset = offsetof(struct page, replay.trace.sessions),
     .has = th_cli_node_is_of_session,
     .check = th_cli_node_check},
    {.items = th_cli_bounds_arguments,
     .offset = offsetof(struct page, replay.play),
     .check = th_cli_bounds_check},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct page, replay.stream)},
    {.items = th_cli_node_arguments, .offset = offsetof(struct page, replay.stream)},
    {.items = th_cli_supervisor_arguments},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before =
        "Makes an HTML page of recorded event streams, which are parts of one recording, or of "
        "several nodes.\n" TH_STREAM_HELP,
    .after =
        "The page shows how often each function was called and how long its calls took, time "
        "by stack, when processes ran, messages between processes with their waiting times, "
        "and the slowest calls.\n\n" TH_STREAM_MORE_HELP "\n\n" TH_EVENTS_HELP "\n\n" TH_TIME_HELP,
    .examples = "  tracehost report -o page.html samples/recordings/s13_procs.trace\n"
                "  tracehost report -p wl:_ samples/recordings/s04_genserver_pingpong.trace",
};

/* --- The page's file -------------------------------------------------------------------------- */

/* Derives the page's name: STREAM without folder, wrap set's star and suffix, with ".html". */
static char *name_page(const char *stream)
{
    const char *slash = strrchr(stream, '/'), *dot;
    struct th_buffer name = {0};

    if (strcmp(stream, "-") == 0 || strstr(stream, "://"))
        return th_strdup("report.html");
    for (const char *from = slash ? slash + 1 : stream; *from; from++)
        if (*from != '*')
            th_buffer_add_byte(&name, (unsigned char)*from);
    dot = strrchr(th_buffer_text(&name), '.');
    if (dot && dot != (char *)name.data)
        name.size = (size_t)(dot - (char *)name.data);
    th_buffer_add_text(&name, ".html");
    return th_buffer_take_text(&name);
}

/* Returns true if the tracer has written the page to its end. For an output that is no file, this
 * cannot be checked. */
static bool is_complete(const struct th_output *out)
{
    char end[sizeof ENDING - 1];
    struct stat about;

    if (!out->temporary)
        return true;
    return fstat(fileno(out->file), &about) == 0 && about.st_size > (off_t)sizeof end &&
           pread(fileno(out->file), end, sizeof end, about.st_size - (off_t)sizeof end) ==
               (ssize_t)sizeof end &&
           memcmp(end, ENDING, sizeof end) == 0;
}

/* Commits or drops the page. STATUS is the replay's; NAMES_ITSELF: --output was not given. An
 * existing page stays if no stream could be opened (already reported), or if a stream that can be
 * read again was interrupted. A page of a stream that cannot be read again is written; the page
 * itself states that it is incomplete. */
static int report_finish(const struct page *page, bool names_itself, struct th_output *out,
                         int status)
{
    bool interrupted = page->replay.interrupted && out->name;

    if (page->replay.opened && status != TH_USAGE && !interrupted && is_complete(out)) {
        if (th_output_commit(out) != TH_OK)
            return th_cli_command_fail("report");
        if (names_itself)
            fprintf(stderr, "tracehost report: the page was written to %s\n", page->output);
        return status;
    }
    th_output_abandon(out);
    if (!page->replay.opened || status == TH_USAGE)
        return status;
    if (interrupted) {
        th_error_raise(TH_FAILED, "%s was not written: received %s", page->output,
                       th_cli_interrupt_name());
        return th_cli_interrupt_status(th_cli_command_fail("report"));
    }
    th_error_raise(TH_FAILED, "cannot write %s: the page is not complete", page->output);
    return th_cli_command_fail("report");
}

int th_cli_command_report(int argc, char **argv)
{
    struct page page = {.replay.command = "report"};
    struct th_control_session_options *sessions = &page.replay.trace.sessions;
    struct th_buffer tracer = {0};
    struct th_output out;
    char *name = NULL, *path;
    const char *lost;
    int status;

    th_options_trace_options_init(&page.replay.trace, false);
    th_cli_command_parse(&usage, argc, argv, &page);
    th_cli_replaying_ask_nodes(&page.replay);
    th_cli_command_supervise("report", NULL);
    if (!page.output)
        page.output = name = name_page(page.replay.streams.items[0]);
    if (!page.title && strcmp(page.replay.streams.items[0], "-") == 0)
        page.title = th_cli_stream_title("-");
    th_cli_interrupt_install();

    /* The page replaces its file after the streams are read; but a stream of that name would be
     * lost. */
    lost = th_cli_replaying_stream_at(&page.replay, page.output);
    if (lost)
        th_error_raise(TH_USAGE,
                       "the page would overwrite the stream %s: choose another file with -o FILE",
                       th_cli_stream_title(lost));
    if (lost || th_output_open(&out, page.output) != TH_OK) {
        status = th_cli_interrupt_status(th_cli_command_fail("report"));
    } else {
        /* The tracer writes to a descriptor that is open here, or to stdout. */
        path = out.name ? th_printf("/dev/fd/%d", fileno(out.file)) : NULL;
        th_trace_failures_name(path, page.output);
        th_buffer_printf(&tracer, "report=#{output => \"%s\"", path ? path : "-");
        if (page.title)
            th_buffer_add_text(&tracer, ", title => <<");
        for (const char *byte = page.title; byte && *byte; byte++)
            th_buffer_printf(&tracer, "%s%u", byte == page.title ? "" : ",", (unsigned char)*byte);
        th_buffer_add_text(&tracer, page.title ? ">>}" : "}");
        th_control_take_tracer(NULL, th_buffer_text(&tracer), sessions);
        status = th_cli_replaying_run(&page.replay);
        th_trace_failures_name(NULL, NULL);
        th_buffer_free(&tracer);
        th_free(path);
        status = report_finish(&page, name != NULL, &out, status);
    }
    th_options_trace_options_free(&page.replay.trace);
    th_free(page.replay.streams.items);
    th_free(name);
    return status;
}

/* Streams node:NAME@HOST of the command line: their options, and what the nodes are asked for. */
#include "node_options.h"

#include "stream.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/replay/reader.h"

#include <stdlib.h>

enum { RATE = 10000 }; /* events a second that a node bears */

static enum th_status take_rate(const struct th_argument *argument, const char *value, void *input)
{
    struct th_stream_options *options = input;

    options->rate_given = true;
    return th_control_argument_number(argument, value, &options->limits.rate);
}

const struct th_argument th_cli_node_arguments[] = {
    TH_OPTION("cookie", "COOKIE", TEXT, NODE, "The cookie of node:NAME@HOST",
              .how = TH_ARGUMENT_RARE, TH_INTO(struct th_stream_options, node.cookie)),
    TH_OPTION("cookie-file", "FILE", FILE, NODE,
              "The file with the cookie (default: ~/.erlang.cookie)", .how = TH_ARGUMENT_RARE,
              TH_INTO(struct th_stream_options, node.cookie_file)),
    TH_OPTION("for", "T", TIME, LIMITS, "Trace node:NAME@HOST for the time T", .least = 1,
              .most = INT64_MAX, .wanted = "a time above 0",
              TH_INTO(struct th_stream_options, node.for_ns)),
    TH_OPTION("max-rate", "N", NUMBER, NODE,
              "End the tracing when the node has more than N events a second (default: 10000; 0: "
              "no limit)",
              .how = TH_ARGUMENT_RARE, .most = INT64_MAX / 2, .take = take_rate),
    TH_OPTION("max-bytes", "BYTES", BYTES, NODE, "The same for bytes of events a second",
              .how = TH_ARGUMENT_RARE, .least = 1, .most = INT64_MAX / 2,
              .wanted = "a size above 0", TH_INTO(struct th_stream_options, limits.bytes)),
    TH_OPTION("sample", "N", NUMBER, NODE,
              "Beyond these limits, go on with one of N processes instead of ending",
              .how = TH_ARGUMENT_RARE, .least = 2, .most = 1 << 20,
              TH_INTO(struct th_stream_options, limits.sample)),
    TH_OPTION("via", "TRACER", CHOICE, NODE,
              "agent (default): a process of tracehost; port: a trace port of the node, which "
              "listens on all addresses, without a cookie",
              .how = TH_ARGUMENT_RARE, .words = TH_WORDS("agent", "port"),
              TH_INTO(struct th_stream_options, limits.via_port)),
    TH_OPTION("load", NULL, FLAG, NODE,
              "Let the node load modules that -p names and that are not loaded",
              .how = TH_ARGUMENT_RARE, TH_INTO(struct th_stream_options, limits.load)),
    TH_OPTION("no-load", NULL, FLAG, NODE,
              "Load no module of tracehost into the node; the node evaluates its text, which is "
              "slower",
              .how = TH_ARGUMENT_RARE, TH_INTO(struct th_stream_options, node.evaluated)),
    TH_OPTION("explain", NULL, FLAG, NODE,
              "Print what the node would be asked for, and what is decided here, and end",
              .how = TH_ARGUMENT_RARE, TH_INTO(struct th_stream_options, explain)),
    {0},
};

bool th_cli_node_is_of_session(const struct th_argument *argument)
{
    enum th_control_session_argument which =
        (enum th_control_session_argument)(argument - th_control_session_arguments);

    return which != TH_SESSION_TRACER && which != TH_SESSION_BEGIN && which != TH_SESSION_KIND &&
           which != TH_SESSION_META_TRACER;
}

enum th_status th_cli_node_check(void *input)
{
    return th_control_session_options_check(input);
}

/* Prints TEXT, what is asked of the nodes NAMES, and what is left to do here. */
static void explain(const struct th_stream_options *options, const char *const *names, size_t count,
                    const char *text, bool decided)
{
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i == 0 ? "in " : ", ", names[i]);
    printf("\n%s%shere\n  %s\n", text,
           options->limits.via_port
               ? "  a trace port: it listens on all addresses, without a cookie, and\n"
                 "  queues without a bound in bytes; the limits are applied here\n"
               : "",
           decided ? "flags: the node decides the patterns" : "the same again, for each session");
}

/* Prints which of SESSIONS have events without times, although the records of the node have some. */
static void explain_times(const struct th_control_session_options *sessions)
{
    for (size_t i = th_control_session_options_first(sessions); i < sessions->count; i++)
        if (sessions->items[i].flag_list &&
            !(sessions->items[i].flags & (TH_FLAGS_STAMPS | TH_FLAG_CPU_TIMESTAMP)))
            printf("  tracers get no times, as --flags=%s names no time stamp: "
                   "monotonic_timestamp is one\n",
                   sessions->items[i].flag_list);
}

/* th_cli_node_ask(); PLAYS: the command delivers the events to SESSIONS. */
static bool ask_node(const char *command, struct th_stream_options *options,
                     const char *const *names, size_t count,
                     struct th_control_session_options *sessions, bool plays)
{
    static struct th_buffer wish; /* until the program ends */
    struct th_buffer text = {0};
    const char *node = NULL, *other = NULL;
    bool decided;

    for (size_t i = 0; i < count; i++)
        *(th_replay_node_is_name(names[i]) ? &node : &other) = names[i];
    if (!node)
        return false;
    if (other) {
        th_error_raise(
            TH_USAGE,
            "%s is no running node: running nodes are traced with each other only; record %s with "
            "tracehost convert",
            th_cli_stream_title(other), node);
        exit(th_cli_command_fail(command));
    }
    if (!options->rate_given)
        options->limits.rate = RATE;
    options->limits.scheduler = options->scheduler_id;
    options->limits.others = count > 1;
    if (th_control_node_wish(sessions, &options->limits, &wish, &text, &decided) != TH_OK)
        exit(th_cli_command_fail(command));
    if (options->explain) {
        explain(options, names, count, th_buffer_text(&text), decided);
        if (plays)
            explain_times(sessions);
        exit(th_cli_command_finish(command, TH_OK));
    }
    th_control_node_chosen(sessions, decided);
    if (options->limits.via_port) {
        options->node.port_rate = options->limits.rate;
        options->node.port_bytes = options->limits.bytes;
    }
    options->node.wish_size = wish.size;
    options->node.wish = wish.data;
    th_buffer_free(&text);
    return true;
}

bool th_cli_node_ask(const char *command, struct th_stream_options *options,
                     const char *const *names, size_t count,
                     struct th_control_session_options *sessions)
{
    return ask_node(command, options, names, count, sessions, true);
}

void th_cli_node_ask_only(const char *command, struct th_stream_options *options,
                          const char *const *names, size_t count,
                          struct th_control_session_options *sessions)
{
    if (ask_node(command, options, names, count, sessions, false) ||
        th_control_session_options_are_empty(sessions))
        return;
    th_error_raise(TH_USAGE,
                   "-p, --flags, --processes and --ports are for node:NAME@HOST: of %s, "
                   "each record is taken",
                   th_cli_stream_title(names[0]));
    exit(th_cli_command_fail(command));
}

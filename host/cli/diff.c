/* tracehost diff: compares two recordings. */
#include "diff_sides.h"

#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/base/output.h"
#include "host/cli/options/usage.h"

#include <string.h>
#include <unistd.h>

static const struct th_argument arguments[] = {
    TH_WORD("STREAM", FILE, TH_ARGUMENT_NEEDED | TH_ARGUMENT_REPEATS,
            TH_INTO(struct th_diff, replay.streams)),
    TH_OPTION("output", "FILE", FILE, OUTPUT, "Write the differences to FILE (default: stdout)",
              .letter = 'o', TH_INTO(struct th_diff, output)),
    TH_OPTION("format", "FORMAT", CHOICE, OUTPUT, "text (default) or json",
              .words = TH_WORDS("text", "json"), TH_INTO(struct th_diff, format)),
    TH_OPTION("flame", "FILE", FILE, OUTPUT,
              "Also write a differential flame graph, SVG for browsers, to FILE",
              TH_INTO(struct th_diff, flame)),
    TH_OPTION("top", "N", NUMBER, OUTPUT,
              "Show N differences and N functions; 0 for all that are kept (default: 10)",
              .most = UINT32_MAX, TH_INTO(struct th_diff, top)),
    TH_OPTION("color", "WHEN", CHOICE, OUTPUT, "Colours: always, never or auto (default)",
              .words = TH_WORDS("auto", "always", "never"), TH_INTO(struct th_diff, color)),
    TH_OPTION("fail-if", "CONDITION", TEXT, LIMITS,
              "Exit with 1 if CONDITION holds, with 4 if it cannot be decided: "
              "'p99(m:f/1) > +10%', 'calls(m:f/1) != 0%', 'max(m:_) > 5ms', differs",
              .how = TH_ARGUMENT_REPEATS, TH_INTO(struct th_diff, conditions)),
    TH_OPTION("bisect", NULL, FLAG, INPUT,
              "Find the first of many recordings, files or folders, for which the condition of "
              "--fail-if holds against the first one",
              TH_INTO(struct th_diff, bisect)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments},
    {.items = th_control_session_arguments,
     .offset = offsetof(struct th_diff, replay.trace.sessions),
     .has = th_cli_node_is_of_session,
     .check = th_cli_node_check},
    {.items = th_cli_bounds_arguments,
     .offset = offsetof(struct th_diff, replay.play),
     .check = th_cli_bounds_check},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct th_diff, replay.stream)},
    {.items = th_cli_supervisor_arguments},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Compares the calls of two recordings: the first STREAM is before, the second after. "
              "A STREAM is a trace-port file, a wrap set NAME*TAIL, JSON lines, or - for stdin.",
    .after = "Differences alone do not change the exit status; --fail-if does. METRIC(FUNCTIONS) "
             "RELATION VALUE: calls, errors, total, own, p50, p90, p99 or max of functions as -p "
             "takes them; <, <=, >, >=, == or !=; a value such as 7 or 5ms, or a change such as "
             "+10%, -2 or +2ms.\n\n" TH_TIME_HELP,
    .examples = "  tracehost diff samples/recordings/s0[12]*e\n"
                "  tracehost diff --fail-if='calls(ex:bar)>20' samples/recordings/s0[12]*e\n"
                "  tracehost diff --bisect --fail-if=differs samples/recordings/s0[12]*e\n",
};

/* --- Two recordings --------------------------------------------------------------------------- */

/* Opens FILE for the tracer, whose path of it is *PATH. */
static enum th_status open_for_tracer(struct th_output *out, const char *name, char **path)
{
    if (th_output_open(out, name) != TH_OK)
        return th_error_status();
    *path = out->name ? th_printf("/dev/fd/%d", fileno(out->file)) : NULL;
    return TH_OK;
}

/* Plays both recordings and decides the conditions. */
static int compare_streams(const struct th_diff *diff, struct th_diff_result *result)
{
    int status, worst;
    json_t *json;

    result->before = th_cli_diff_make_file();
    result->json = diff->conditions.count ? th_cli_diff_make_file() : -1;
    if (result->before < 0 || (diff->conditions.count && result->json < 0))
        return TH_FAILED;
    worst = th_cli_diff_play(diff, diff->replay.streams.items[0], result->before, NULL);
    if (worst != TH_OK && worst != TH_PARTIAL)
        return worst;
    status = th_cli_diff_play(diff, diff->replay.streams.items[1], -1, result);
    if (status != TH_OK && status != TH_PARTIAL)
        return status;
    worst = status == TH_OK ? worst : status;
    if (result->json < 0)
        return worst;
    json = th_cli_diff_read_json(result->json);
    status = json ? th_cli_diff_decide(diff, json, false) : TH_FAILED;
    json_decref(json);
    return status == TH_OK ? worst : status;
}

/* Returns whether a file of the comparison is useful in spite of STATUS. */
static bool is_compared(int status)
{
    return status == TH_OK || status == TH_PARTIAL;
}

static int close_output(struct th_output *out, bool commits)
{
    if (commits)
        return th_output_commit(out) == TH_OK ? TH_OK : th_cli_command_fail("diff");
    th_output_abandon(out);
    return TH_OK;
}

static int diff_two(struct th_diff *diff)
{
    struct th_diff_result result = {.before = -1, .json = -1};
    struct th_output output, flame;
    char *output_path = NULL, *flame_path = NULL;
    int status, closed;
    bool commits;

    if (open_for_tracer(&output, diff->output, &output_path) != TH_OK)
        return th_cli_command_fail("diff");
    if (diff->flame && open_for_tracer(&flame, diff->flame, &flame_path) != TH_OK) {
        status = th_cli_command_fail("diff");
        th_output_abandon(&output);
        th_free(output_path);
        return status;
    }
    result.output = output_path;
    result.flame = flame_path;
    status = compare_streams(diff, &result);
    commits = is_compared(status) || (result.json >= 0 && lseek(result.json, 0, SEEK_END) > 0);
    closed = close_output(&output, commits);
    if (diff->flame && closed == TH_OK)
        closed = close_output(&flame, commits);
    th_free(output_path);
    th_free(flame_path);
    return closed == TH_OK ? status : closed;
}

/* --- The command ------------------------------------------------------------------------------ */

static enum th_status check_diff_streams(const struct th_diff *diff)
{
    const struct th_texts *streams = &diff->replay.streams;
    const char *lost =
        diff->output ? th_cli_replaying_stream_at(&diff->replay, diff->output) : NULL;
    size_t files;

    if (!diff->bisect && streams->count != 2)
        return th_error_raise(TH_USAGE, "two streams are compared, but %zu %s given",
                              streams->count, streams->count == 1 ? "is" : "are");
    if (diff->bisect && !diff->conditions.count)
        return th_error_raise(TH_USAGE, "--bisect needs a condition: --fail-if=differs, or "
                                        "--fail-if='p99(m:f/1) > +10%%'");
    if (diff->bisect && (diff->output || diff->flame))
        return th_error_raise(TH_USAGE, "--bisect writes neither differences nor a flame graph: "
                                        "compare the two recordings that it finds");
    for (size_t i = 0; i < streams->count; i++)
        if (th_replay_is_connection(streams->items[i]))
            return th_error_raise(TH_USAGE,
                                  "%s is a running node: make a recording first, as `tracehost "
                                  "replay -t trace_port,output=FILE` does",
                                  streams->items[i]);
    if (!diff->bisect && strcmp(streams->items[0], streams->items[1]) == 0 &&
        th_replay_reader_reads_once(streams->items[0], &files))
        return th_error_raise(TH_USAGE, "%s can be read only once, so it cannot be both streams",
                              th_cli_stream_title(streams->items[0]));
    if (!lost && diff->flame)
        lost = th_cli_replaying_stream_at(&diff->replay, diff->flame);
    if (lost)
        return th_error_raise(TH_USAGE,
                              "the output would overwrite the stream %s: choose another "
                              "file",
                              th_cli_stream_title(lost));
    return TH_OK;
}

static enum th_status parse_conditions(struct th_diff *diff)
{
    enum th_status status = TH_OK;

    diff->parsed = th_alloc_zero((diff->conditions.count + 1) * sizeof *diff->parsed);
    for (size_t i = 0; i < diff->conditions.count && status == TH_OK; i++)
        status = th_cli_diff_condition_parse(diff->conditions.items[i], &diff->parsed[i]);
    return status;
}

int th_cli_command_diff(int argc, char **argv)
{
    struct th_diff diff = {.replay = {.command = "diff", .stream.alone = true}, .top = 10};
    int status;

    th_options_trace_options_init(&diff.replay.trace, false);
    th_cli_command_parse(&usage, argc, argv, &diff);
    if (check_diff_streams(&diff) != TH_OK || parse_conditions(&diff) != TH_OK)
        status = th_cli_command_fail("diff");
    else
        status = diff.bisect ? th_cli_diff_bisect(&diff) : diff_two(&diff);
    th_options_trace_options_free(&diff.replay.trace);
    th_free(diff.replay.streams.items);
    th_free(diff.conditions.items);
    th_free(diff.parsed);
    return th_cli_command_finish("diff", status);
}

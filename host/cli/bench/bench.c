/* tracehost bench: measures what each callback of a tracer costs. */
#include "bench_instructions.h"
#include "bench_results.h"

#include "host/base/log.h"
#include "host/base/memory.h"
#include "host/cli/options/usage.h"
#include "host/cli/subcommand.h"
#include "host/crash/crash.h"
#include "host/library/find.h"
#include "host/library/load.h"
#include "host/trace/named_tracer.h"
#include "host/trace/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct input {
    const char *tracer, *old;
    struct th_texts folders;
    int64_t runs, threads;
    bool json, unmeasured;
};

static enum th_status bench_check(void *context)
{
    const struct input *input = context;

    if (input->old && input->unmeasured)
        return th_error_raise(TH_USAGE, "--unmeasured plays one tracer: leave out --compare");
    if (input->old && input->runs < TH_BENCH_COMPARED_RUNS)
        return th_error_raise(TH_USAGE, "--compare needs --runs=%d or more",
                              TH_BENCH_COMPARED_RUNS);
    return TH_OK;
}

static const struct th_argument arguments[] = {
    TH_WORD("TRACER", TRACER, TH_ARGUMENT_NEEDED, TH_INTO(struct input, tracer)),
    TH_OPTION("compare", "OLD", TRACER, INPUT, "Find the rows in which TRACER differs from OLD",
              TH_INTO(struct input, old)),
    TH_OPTION(NULL, "DIR", FOLDER, INPUT, "Search DIR first, then $TRACEHOST_PATH", .letter = 'L',
              .how = TH_ARGUMENT_REPEATS, TH_INTO(struct input, folders)),
    TH_OPTION("runs", "N", NUMBER, INPUT, "Measure each row N times (default: 40)", .least = 1,
              .most = 100000, TH_INTO(struct input, runs)),
    TH_OPTION("threads", "N", NUMBER, INPUT, "Let N schedulers call at the same time (default: 2)",
              .least = 1, .most = TH_BENCH_THREADS, TH_INTO(struct input, threads)),
    TH_OPTION("format", "FORMAT", CHOICE, OUTPUT, "text (default) or json",
              .words = TH_WORDS("text", "json"), TH_INTO(struct input, json)),
    TH_OPTION("unmeasured", NULL, FLAG, OTHER,
              "Play each row for the empty tracer and for TRACER, and print nothing: for profilers",
              .how = TH_ARGUMENT_RARE, TH_INTO(struct input, unmeasured)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments, .check = bench_check},
    {.items = th_cli_supervisor_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Measures what each callback of a tracer costs, by tag and by size of the terms, "
              "beside an empty tracer.\n"
              "TRACER is NAME, NAME=STATE or NAME,key=value,..., as with `replay -t`.",
    .after = "Where valgrind is installed, instructions are counted, too. Outputs of tracers go to "
             "/dev/null.",
    .examples = "  tracehost bench count\n"
                "  tracehost bench text --compare=jsonl",
};

/* --- The tracers ------------------------------------------------------------------------------ */

/* Loads the tracer of TEXT, and begins its session. TEXT NULL: the empty tracer. */
static enum th_status begin_tracer(struct th_bench *bench, struct th_tracing *tracing,
                                   const struct th_search *search, const char *text)
{
    struct th_bench_tracer *tracer = &bench->tracers[bench->tracer_count];
    struct th_session_setup setup = {.name = "empty"};
    struct th_named_tracer named = {0};
    enum th_status status = TH_OK;

    if (text) {
        status = th_trace_named_tracer_parse(text, &named);
        if (status != TH_OK)
            return th_error_context("cannot use the tracer '%s'", text);
        setup.name = named.name;
        setup.state = named.state;
        status = th_trace_tracer_load(search, named.name, &setup.library);
    }
    if (status == TH_OK)
        status = th_trace_session_create(tracing, &setup, &tracer->session);
    if (text)
        th_trace_named_tracer_free(&named);
    if (status != TH_OK)
        return status;
    tracer->name = text;
    tracer->wanted = th_alloc_zero(bench->events.count * sizeof *tracer->wanted);
    tracer->ns = th_alloc_zero(bench->events.count * bench->runs * sizeof *tracer->ns);
    bench->tracer_count++;
    return TH_OK;
}

static enum th_status begin_tracers(struct th_bench *bench, struct th_tracing *tracing,
                                    const struct input *input)
{
    struct th_search search;
    enum th_status status;

    th_library_search_init(&search, TH_SEARCH_TRACERS, input->folders.items, input->folders.count);
    status = begin_tracer(bench, tracing, &search, NULL);
    if (status == TH_OK)
        status = begin_tracer(bench, tracing, &search, input->tracer);
    if (status == TH_OK && input->old)
        status = begin_tracer(bench, tracing, &search, input->old);
    th_library_search_free(&search);
    return status;
}

static void end_tracers(struct th_bench *bench)
{
    for (size_t i = 0; i < bench->tracer_count; i++) {
        th_free(bench->tracers[i].wanted);
        th_free(bench->tracers[i].ns);
        th_free(bench->tracers[i].instructions);
    }
    th_bench_events_free(&bench->events);
}

/* --- The command ------------------------------------------------------------------------------ */

/* Replaces stdout by /dev/null, for what tracers print, and returns the old one; -1: it stays. */
static int discard_stdout(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int kept = nowhere < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    th_cli_command_flush();
    if (kept >= 0)
        dup2(nowhere, STDOUT_FILENO);
    if (nowhere >= 0)
        close(nowhere);
    return kept;
}

/* Prints the results on KEPT, the old stdout. Tracers that end later print nowhere again. */
static void print_results(const struct th_bench *bench, bool json, int kept)
{
    th_cli_command_flush();
    if (kept >= 0)
        dup2(kept, STDOUT_FILENO);
    (json ? th_bench_print_json : th_bench_print_text)(bench);
    close(discard_stdout());
}

/* Counts instructions, or warns why not. */
static void count_instructions(struct th_bench *bench, const struct input *input)
{
    for (size_t i = TH_BENCH_NEW; i < bench->tracer_count; i++)
        if (th_bench_count_instructions(bench, i, &input->folders) != TH_OK) {
            th_warn("instructions are not counted: %s", th_error_link(0));
            th_error_clear();
            return;
        }
}

static enum th_status check_attached(const struct th_bench *bench)
{
    for (size_t i = TH_BENCH_NEW; i < bench->tracer_count; i++)
        if (!th_trace_session_attached(bench->tracers[i].session))
            return th_error_raise(TH_FAILED, "nothing is measured, as tracer '%s' has failed",
                                  bench->tracers[i].name);
    return TH_OK;
}

static enum th_status measure_all(struct th_bench *bench, const struct input *input)
{
    enum th_status status;

    th_bench_warm_up(bench);
    status = check_attached(bench);
    if (status != TH_OK)
        return status;
    th_bench_measure(bench);
    status = th_bench_measure_threads(bench);
    if (status == TH_OK && bench->threads > 1 && bench->waited > TH_BENCH_WAITED)
        th_warn("threads had no processor for %.0f %% of the time: waiting for each other is "
                "underestimated",
                100 * bench->waited);
    if (status == TH_OK)
        status = check_attached(bench);
    if (status == TH_OK)
        count_instructions(bench, input);
    return status;
}

static int bench_run(struct th_bench *bench, const struct input *input)
{
    struct th_tracing *tracing = th_trace_create();
    int kept = discard_stdout();
    enum th_status status;

    th_trace_discard_outputs(tracing);
    if (!input->unmeasured) /* else no other thread may disturb the heap: instructions repeat */
        th_trace_share(tracing);
    status = begin_tracers(bench, tracing, input);
    if (status == TH_OK && input->unmeasured)
        th_bench_play_counted(bench);
    else if (status == TH_OK)
        status = measure_all(bench, input);
    if (status != TH_OK)
        th_cli_command_fail("bench");
    else if (!input->unmeasured)
        print_results(bench, input->json, kept);
    close(kept);
    th_library_halt();
    th_trace_free(tracing);
    th_crash_end();
    return th_cli_command_finish("bench", status);
}

int th_cli_command_bench(int argc, char **argv)
{
    struct input input = {.runs = 40, .threads = 2};
    struct th_bench bench = {0};
    int status;

    th_cli_command_parse(&usage, argc, argv, &input);
    bench.runs = (size_t)input.runs;
    bench.threads = (unsigned)input.threads;
    th_cli_command_supervise("bench", NULL);
    th_crash_install();
    th_bench_events_make(&bench.events, 0);
    status = bench_run(&bench, &input);
    end_tracers(&bench);
    th_free(input.folders.items);
    return status;
}

/* Shows the results of `bench`. */
#include "bench_results.h"

#include "host/base/memory.h"
#include "host/cli/subcommand.h"
#include "host/term/atom.h"
#include "host/trace/tags.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *tag_name(const struct th_bench_series *series)
{
    return th_atom_name(series->calls[0].argv[0])->text;
}

static const char *callback_of(const struct th_bench *bench, size_t series)
{
    return th_trace_session_callback(bench->tracers[TH_BENCH_NEW].session,
                                     bench->events.series[series].slot);
}

/* --- Text ------------------------------------------------------------------------------------- */

/* A row, or the heading, has these columns: event, ns, spread, more, instructions, more, calls. */

static const char row_text[] = "%-30s %7s %6s %7s %8s %8s %8s\n";

/* Prints VALUE with three digits or more into TEXT. */
static const char *number_text(char text[32], double value)
{
    snprintf(text, 32, "%.*f", value < 99.95 && value > -99.95 ? 1 : 0, value);
    return text;
}

/* Prints VALUE per second: "950 k", "3.17 M". */
static const char *rate_text(char text[32], double value)
{
    static const char *const units[] = {"", " k", " M", " G"};
    size_t unit = 0;

    for (; value >= 999.5 && unit < 3; unit++)
        value /= 1000;
    snprintf(text, 32, "%.*f%s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
    return text;
}

static void print_series(const struct th_bench *bench, size_t i)
{
    const struct th_bench_series *series = &bench->events.series[i];
    const struct th_bench_tracer *tracer = &bench->tracers[TH_BENCH_NEW];
    const double *empty = bench->tracers[TH_BENCH_EMPTY].instructions;
    struct th_bench_figure ns = th_bench_time(bench, TH_BENCH_NEW, i), more;
    char event[64], texts[6][32] = {0};

    snprintf(event, sizeof event, "  %s%s%s", tag_name(series), *series->content ? " " : "",
             series->content);
    if (!tracer->wanted[i]) {
        printf("%-30s %7s\n", event, "-");
        return;
    }
    more = th_bench_time_beside(bench, TH_BENCH_NEW, TH_BENCH_EMPTY, i);
    if (tracer->instructions) {
        number_text(texts[3], tracer->instructions[i]);
        number_text(texts[4], tracer->instructions[i] - empty[i]);
    }
    printf(row_text, event, number_text(texts[0], ns.median), number_text(texts[1], ns.spread),
           number_text(texts[2], more.median), texts[3], texts[4],
           rate_text(texts[5], 1e9 / ns.median));
}

/* Prints the series of the callback that serves series FIRST, the first one of that callback. */
static void print_callback(const struct th_bench *bench, size_t first)
{
    const char *callback = callback_of(bench, first);

    printf("%s\n", callback);
    for (int tag = 0; tag < TH_TAGS; tag++)
        for (size_t i = first; i < bench->events.count; i++)
            if ((int)bench->events.series[i].tag == tag &&
                strcmp(callback_of(bench, i), callback) == 0)
                print_series(bench, i);
}

static bool is_first_of_callback(const struct th_bench *bench, size_t series)
{
    for (size_t i = 0; i < series; i++)
        if (strcmp(callback_of(bench, i), callback_of(bench, series)) == 0)
            return false;
    return true;
}

static void print_rates(const struct th_bench *bench)
{
    struct th_bench_figure one = th_bench_rate(bench, TH_BENCH_NEW, false);
    struct th_bench_figure all = th_bench_rate(bench, TH_BENCH_NEW, true);
    struct th_bench_figure gain = th_bench_gain(bench, TH_BENCH_NEW);
    struct th_bench_figure empty = th_bench_gain(bench, TH_BENCH_EMPTY);
    char texts[2][32];

    printf("\na node that makes traced calls, %s, could make %s a second on one scheduler",
           bench->tracers[TH_BENCH_NEW].wanted[bench->events.trace_call] ? "with their returns"
                                                                         : "which are discarded",
           rate_text(texts[0], one.median));
    if (bench->threads > 1)
        printf(",\n%s on %u: %.2f +- %.2f times as many (with an empty tracer %.2f +- %.2f)",
               rate_text(texts[1], all.median), bench->threads, gain.median, gain.spread,
               empty.median, empty.spread);
    putchar('\n');
}

static void print_difference(const struct th_bench *bench, size_t i,
                             const struct th_bench_difference *found)
{
    const struct th_bench_series *series = &bench->events.series[i];
    char texts[2][32];

    printf("%s %s%s%s:", series->slot % 2 ? "trace" : "enabled", tag_name(series),
           *series->content ? " " : "", series->content);
    if (found->time_differs)
        printf(" %s ns %s (p = %.1g)", number_text(texts[0], fabs(found->more_ns)),
               found->more_ns > 0 ? "slower" : "faster", found->p);
    if (found->instructions_differ)
        printf("%s %s instructions %s", found->time_differs ? "," : "",
               number_text(texts[1], fabs(found->more_instructions)),
               found->more_instructions > 0 ? "more" : "fewer");
    putchar('\n');
}

static void print_comparison(const struct th_bench *bench)
{
    size_t compared = 0, differ = 0;

    printf("\nbeside %s:\n", bench->tracers[TH_BENCH_OLD].name);
    for (size_t i = 0; i < bench->events.count; i++) {
        struct th_bench_difference found = th_bench_compare(bench, i);
        compared += found.compared;
        if (!found.time_differs && !found.instructions_differ)
            continue;
        differ++;
        print_difference(bench, i, &found);
    }
    if (differ == 0)
        printf("no difference beyond noise in %zu rows\n", compared);
    else
        printf("%zu of %zu rows differ beyond noise\n", differ, compared);
}

void th_bench_print_text(const struct th_bench *bench)
{
    const struct th_bench_tracer *tracer = &bench->tracers[TH_BENCH_NEW];
    bool counted = tracer->instructions != NULL;

    printf("tracer  %s\n\n", tracer->name);
    printf(row_text, "event", "ns", "+-", "more", counted ? "instr." : "", counted ? "more" : "",
           "calls/s");
    for (size_t kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < bench->events.count; i++)
            if (bench->events.series[i].slot % 2 == kind && is_first_of_callback(bench, i))
                print_callback(bench, i);
    print_rates(bench);
    if (bench->tracer_count > TH_BENCH_OLD)
        print_comparison(bench);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *json_difference(const struct th_bench *bench, size_t i)
{
    struct th_bench_difference found = th_bench_compare(bench, i);
    json_t *object;

    if (!found.compared)
        return json_null();
    object = json_pack("{s:f, s:f, s:b}", "ns_more", found.more_ns, "p", found.p, "ns_differs",
                       found.time_differs);
    if (bench->tracers[TH_BENCH_OLD].instructions && bench->tracers[TH_BENCH_NEW].instructions)
        json_object_update_new(object,
                               json_pack("{s:f, s:b}", "instructions_more", found.more_instructions,
                                         "instructions_differ", found.instructions_differ));
    return object;
}

static json_t *json_series(const struct th_bench *bench, size_t i)
{
    const struct th_bench_series *series = &bench->events.series[i];
    const struct th_bench_tracer *tracer = &bench->tracers[TH_BENCH_NEW];
    const double *empty = bench->tracers[TH_BENCH_EMPTY].instructions;
    struct th_bench_figure ns = th_bench_time(bench, TH_BENCH_NEW, i);
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:b}", "callback", callback_of(bench, i), "tag",
                  tag_name(series), "content", series->content, "wanted", tracer->wanted[i]);

    if (tracer->wanted[i])
        json_object_update_new(
            row, json_pack("{s:f, s:f, s:f}", "ns", ns.median, "ns_spread", ns.spread, "ns_more",
                           th_bench_time_beside(bench, TH_BENCH_NEW, TH_BENCH_EMPTY, i).median));
    if (tracer->wanted[i] && tracer->instructions)
        json_object_update_new(row,
                               json_pack("{s:f, s:f}", "instructions", tracer->instructions[i],
                                         "instructions_more", tracer->instructions[i] - empty[i]));
    if (bench->tracer_count > TH_BENCH_OLD)
        json_object_set_new(row, "compared", json_difference(bench, i));
    return row;
}

static json_t *json_rate(const struct th_bench *bench, size_t tracer)
{
    return json_pack("{s:f, s:f, s:f}", "one", th_bench_rate(bench, tracer, false).median, "all",
                     th_bench_rate(bench, tracer, true).median, "gain",
                     th_bench_gain(bench, tracer).median);
}

void th_bench_print_json(const struct th_bench *bench)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < bench->events.count; i++)
        json_array_append_new(rows, json_series(bench, i));
    th_cli_command_print_json(
        json_pack("{s:s, s:I, s:o, s:{s:I, s:f, s:o, s:o}}", "tracer",
                  bench->tracers[TH_BENCH_NEW].name, "runs", (json_int_t)bench->runs, "rows", rows,
                  "traced_calls_per_second", "schedulers", (json_int_t)bench->threads,
                  "without_processor", bench->waited, "tracer", json_rate(bench, TH_BENCH_NEW),
                  "empty", json_rate(bench, TH_BENCH_EMPTY)),
        JSON_INDENT(1) | JSON_REAL_PRECISION(6));
}

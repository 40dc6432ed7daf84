/*
 * Measures the JSON lines reader, beside Jansson that only parses the same lines. The figure NAME is
 * the way into the tracer `count`, beside Jansson.
 *
 *   json_lines STREAM [NAME]
 */
#include "measure.h"
#include "play.h"

#include "host/replay/replay.h"
#include "host/trace/trace.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 5 };

static const char *stream;

static void fail(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", stream, what);
    exit(1);
}

/* Calls getline() and json_loadb() with the flags that the reader uses. */
static uint64_t jansson(void)
{
    FILE *file = fopen(stream, "r");
    uint64_t events = 0;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;

    if (!file)
        fail("cannot be read");
    while ((length = getline(&line, &room, file)) > 0) {
        json_t *value = json_loadb(line, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
        if (!value)
            fail("is no JSON");
        json_decref(value);
        events++;
    }
    free(line);
    fclose(file);
    return events;
}

/* Reads each event with its kind, tag and tracee; if ALL, with all terms. */
static uint64_t read_events(bool all)
{
    struct th_reader_options options = {0};
    struct th_event event = {0};
    struct th_reader *reader;
    uint64_t events = 0;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_replay_reader_open(stream, &options, &reader) != TH_OK)
        fail("is no stream");
    for (; th_replay_reader_next(reader, &event) == TH_OK; events++) {
        if (all && th_trace_event_decode(&event, &env) != TH_OK)
            fail("has a damaged event");
        th_env_clear(&env);
    }
    th_replay_reader_close(reader);
    th_env_release(&env);
    return events;
}

static uint64_t skim(void)
{
    return read_events(false);
}

static uint64_t decode(void)
{
    return read_events(true);
}

static uint64_t count(void)
{
    return play(stream, PLAY_ALL);
}

int main(int argc, char **argv)
{
    static const struct measure_case cases[] = {{"JSON: Jansson alone", jansson},
                                                {"JSON: skim", skim},
                                                {"JSON: decode", decode},
                                                {"JSON: tracer count", count}};
    double medians[4], ratios[4];
    FILE *report = fdopen(dup(STDOUT_FILENO), "w");

    if (argc < 2 || argc > 3)
        return 2;
    stream = argv[1];
    if (!report || !freopen("/dev/null", "w", stdout)) /* the output of the tracer is discarded */
        return 1;
    measure_pairs(report, cases, 4, ROUNDS, medians, ratios);
    fprintf(report,
            "  reading JSON lines takes %.2f times what Jansson alone takes, with all terms %.2f, "
            "into `count` %.2f\n",
            ratios[1], ratios[2], ratios[3]);
    fclose(report);
    if (argc == 3)
        measure_figure_pair(argv[2], medians[3], medians[0], ratios[3]);
    return 0;
}

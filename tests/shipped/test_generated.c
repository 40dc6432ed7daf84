/* Tests the shipped tracers with generated streams: no tracer crashes or misuses the NIF API. STRESS_SEEDS=N tries N
 * random streams instead of a few. */
#include "host/replay/replay.h"

#include "host/base/base.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEEDS = 3, EVENTS = 500, DONE = 0, PARTIAL = 4 };

static char folder[] = "/tmp/generated.XXXXXX", stream_file[64];

static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(stream_file, sizeof stream_file, "%s/stream.trace", folder);
    return 0;
}

static int end(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Plays STREAM into each tracer. */
static void play(struct th_buffer *stream, const char *name)
{
    static const char *const tracers[] = {
        "text",     "count", "time",     "flame",      "report",   "otlp", "jsonl",      "chrome",
        "sequence", "msg",   "coverage", "trace_port", "perfetto", "tree", "speedscope",
    };
    FILE *file = fopen(stream_file, "wb");
    char command[512];

    assert_non_null(file);
    assert_int_equal(fwrite(stream->data, 1, stream->size, file), stream->size);
    fclose(file);
    th_buffer_free(stream);
    for (size_t i = 0; i < sizeof tracers / sizeof tracers[0]; i++) {
        int status;
        snprintf(command, sizeof command,
                 "\"$TRACEHOST\" replay --check -t %s,output=%s/output %s >%s/told 2>&1",
                 tracers[i], folder, stream_file, folder);
        status = system(command);
        if (WIFEXITED(status) && (WEXITSTATUS(status) == DONE || WEXITSTATUS(status) == PARTIAL))
            continue;
        snprintf(command, sizeof command, "cat %s/told >&2", folder);
        status = system(command) ? status : status;
        fail_msg("%s, %s: wait status %d", name, tracers[i], status);
    }
}

static uint64_t seeds(void)
{
    const char *given = getenv("STRESS_SEEDS");

    return given ? strtoul(given, NULL, 10) : SEEDS;
}

static void test_tour(void **state)
{
    struct th_buffer stream = {0};
    size_t *shapes;

    (void)state;
    th_replay_generate_tour(&stream, &shapes);
    th_free(shapes);
    play(&stream, "the tour");
}

static void test_random_streams(void **state)
{
    char name[32];

    (void)state;
    for (uint64_t seed = 0; seed < seeds(); seed++) {
        struct th_buffer stream = {0};
        th_replay_generate_random(&stream, seed, EVENTS);
        snprintf(name, sizeof name, "seed %u", (unsigned)seed);
        play(&stream, name);
    }
}

/* Copies of a recording that has nearly every flag, changed at random. */
static void test_changed_recording(void **state)
{
    const struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT};
    struct th_buffer recording = {0};
    char name[32];

    (void)state;
    stream_add_file(&recording, "samples/recordings/s15_kitchen_sink.trace");
    for (uint64_t seed = 0; seed < seeds(); seed++) {
        struct th_buffer stream = {0};
        assert_int_equal(th_replay_generate_mutated(&stream, &recording, &how, seed), TH_OK);
        snprintf(name, sizeof name, "changes of seed %u", (unsigned)seed);
        play(&stream, name);
    }
    th_buffer_free(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tour),
        cmocka_unit_test(test_random_streams),
        cmocka_unit_test(test_changed_recording),
    };

    return cmocka_run_group_tests(tests, begin, end);
}

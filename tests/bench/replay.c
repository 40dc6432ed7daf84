/*
 * Events per second on one recording, one thread: walking the record headers; skimming, all held
 * back by flags; the tracer `count`; decoding every term. Each case runs several times in turn with
 * the others and its median counts.
 *
 *   replay STREAM
 */
#include "host/replay/replay.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 9, BUFFER = 1 << 20 };

static const char *stream;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The least that any reader must do: read(2) the file and go from header to header. */
static uint64_t walk_headers(void)
{
    static unsigned char buffer[BUFFER];
    int file = open(stream, O_RDONLY);
    uint64_t records = 0;
    size_t used = 0, at;
    ssize_t got;

    while ((got = read(file, buffer + used, BUFFER - used)) > 0) {
        used += (size_t)got;
        for (at = 0; used - at >= 5; records++) {
            size_t size = (size_t)buffer[at + 1] << 24 | (size_t)buffer[at + 2] << 16 |
                          (size_t)buffer[at + 3] << 8 | buffer[at + 4];
            if (used - at - 5 < size)
                break;
            at += 5 + size;
        }
        memmove(buffer, buffer + at, used - at);
        used -= at;
    }
    close(file);
    return records;
}

static void fail(void)
{
    th_error_print(stderr, "bench");
    exit(1);
}

static struct th_reader *open_stream(void)
{
    struct th_reader_options options = {0};
    struct th_reader *reader;

    if (th_reader_open(stream, &options, &reader) != TH_OK)
        fail();
    return reader;
}

/* Plays the stream into the tracer `count` with FLAGS; its tables go to stdout. */
static uint64_t play(uint32_t flags)
{
    struct th_tracing *tracing = th_tracing_create();
    struct th_session_setup setup = {"count", NULL, TH_NONE, flags};
    struct th_player_options options = {0};
    struct th_player_counts counts = {0};
    struct th_reader *reader = open_stream();
    struct th_session *session;
    struct th_search search;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    setup.state = th_make_map(&env, NULL, NULL, 0, true);
    th_search_init(&search, NULL, 0);
    if (th_library_find(&search, "count", &setup.library) != TH_OK ||
        th_library_load(setup.library, NULL, th_small(0)) != TH_OK ||
        th_session_attach(tracing, &setup, &session) != TH_OK)
        fail();
    th_play(tracing, reader, &options, NULL, NULL, NULL, &counts);
    th_tracing_free(tracing);
    th_reader_close(reader);
    th_search_free(&search);
    th_env_release(&env);
    return counts.records;
}

static uint64_t skim(void)
{
    return play(0);
}

static uint64_t count(void)
{
    return play(TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED);
}

static uint64_t decode(void)
{
    struct th_reader *reader = open_stream();
    struct th_event event = {0};
    uint64_t records = 0;
    th_term tuple;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    for (; th_reader_next(reader, &event) == TH_OK; records++) {
        if (event.source->whole(&event, &env, &tuple) != TH_OK)
            fail();
        th_env_clear(&env);
    }
    th_env_release(&env);
    th_reader_close(reader);
    return records;
}

static const struct {
    const char *name;
    uint64_t (*run)(void);
} cases[] = {
    {"walk the headers", walk_headers},
    {"skim, no flags", skim},
    {"tracer count", count},
    {"decode every term", decode},
};

enum { CASES = sizeof cases / sizeof cases[0] };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double seconds[CASES][ROUNDS];
    uint64_t records[CASES] = {0};
    FILE *report = fdopen(dup(STDOUT_FILENO), "w");

    if (argc != 2) {
        fprintf(stderr, "usage: replay STREAM\n");
        return 2;
    }
    stream = argv[1];
    if (!report || !freopen("/dev/null", "w", stdout)) /* what tracers print is of no interest */
        return 1;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CASES; i++) {
            double began = now();
            records[i] = cases[i].run();
            seconds[i][round] = now() - began;
        }
    fprintf(report, "%s: %llu records, median of %d\n", stream, (unsigned long long)records[0],
            ROUNDS);
    for (int i = 0; i < CASES; i++) {
        qsort(seconds[i], ROUNDS, sizeof seconds[i][0], by_value);
        double median = seconds[i][ROUNDS / 2];
        fprintf(report, "  %-18s %8.1f ns/event %8.2f million events/s\n", cases[i].name,
                median * 1e9 / (double)records[i], (double)records[i] / median / 1e6);
    }
    fclose(report);
    return 0;
}

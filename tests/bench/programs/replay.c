/*
 * Measures events per second on one recording with one thread: walking the record headers;
 * skimming, with all events withheld by flags; the tracer `count`; decoding each term.
 *
 *   replay STREAM
 */
#include "measure.h"
#include "play.h"

#include "host/replay/replay.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 256 * 1024 };

static const char *stream;

/* Does the least that a reader must: reads the file with read(2), from header to header. */
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

    if (th_replay_reader_open(stream, &options, &reader) != TH_OK)
        fail();
    return reader;
}

static uint64_t skim(void)
{
    return play(stream, 0);
}

static uint64_t count(void)
{
    return play(stream, PLAY_ALL);
}

static uint64_t decode(void)
{
    struct th_reader *reader = open_stream();
    struct th_event event = {0};
    uint64_t records = 0;
    th_term tuple;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    for (; th_replay_reader_next(reader, &event) == TH_OK; records++) {
        if (event.source->whole(&event, &env, &tuple) != TH_OK)
            fail();
        th_env_clear(&env);
    }
    th_env_release(&env);
    th_replay_reader_close(reader);
    return records;
}

int main(int argc, char **argv)
{
    static const struct measure_case cases[] = {
        {"walk the headers", walk_headers},
        {"skim, no flags", skim},
        {"tracer count", count},
        {"decode every term", decode},
    };
    double medians[sizeof cases / sizeof cases[0]];
    FILE *report = fdopen(dup(STDOUT_FILENO), "w");

    if (argc != 2) {
        fprintf(stderr, "usage: replay STREAM\n");
        return 2;
    }
    stream = argv[1];
    if (!report || !freopen("/dev/null", "w", stdout)) /* the output of tracers is discarded */
        return 1;
    fprintf(report, "%s: %llu records\n", stream, (unsigned long long)walk_headers());
    measure(report, cases, sizeof cases / sizeof cases[0], medians);
    fclose(report);
    return 0;
}

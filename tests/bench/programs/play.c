#include "play.h"

#include "host/library/library.h"
#include "host/replay/replay.h"
#include "host/term/term.h"

#include <stdlib.h>

uint64_t play(const char *stream, uint32_t flags)
{
    struct th_tracing *tracing = th_trace_create();
    struct th_session_setup setup = {.name = "count", .flags = flags};
    struct th_player_options options = {0};
    struct th_player_counts counts = {0};
    struct th_reader_options reading = {0};
    struct th_reader *reader;
    struct th_session *session;
    struct th_search search;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    setup.state = th_make_map(&env, NULL, NULL, 0, true);
    th_library_search_init(&search, TH_SEARCH_TRACERS, NULL, 0);
    if (th_replay_reader_open(stream, &reading, &reader) != TH_OK ||
        th_library_find(&search, "count", &setup.library) != TH_OK ||
        th_library_load(setup.library, NULL, th_small(0)) != TH_OK ||
        th_trace_session_attach(tracing, &setup, &session) != TH_OK) {
        th_error_print(stderr, "bench");
        exit(1);
    }
    th_replay_play(tracing, reader, &options, NULL, NULL, NULL, &counts);
    th_trace_free(tracing);
    th_replay_reader_close(reader);
    th_library_search_free(&search);
    th_env_release(&env);
    return counts.records;
}

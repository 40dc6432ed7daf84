/* Helpers for the tests of tracehost.h: assertions about refusals and their reasons; a tracer that
 * sends messages to the test. */
#ifndef TH_TESTS_EMBEDDING_H
#define TH_TESTS_EMBEDDING_H

#include "host/embed/embed.h"
#include "tests/support/assertions.h"

#include <stdlib.h>
#include <string.h>

#define RECORDING(name) "samples/recordings/" name ".trace"
#define FIRST_SESSION ((tracehost_session)64) /* the first id in each host */

static tracehost_host *host;

static inline const char *build_folder(const char *folder)
{
    static char path[4096];
    const char *build = getenv("BUILD_DIR");

    snprintf(path, sizeof path, "%s/%s", build ? build : "build/release", folder);
    return path;
}

static inline void good(enum tracehost_status status)
{
    if (status != TRACEHOST_OK)
        tracehost_error_print(stderr, "refused");
    assert_int_equal(status, TRACEHOST_OK);
}

/* Asserts that STATUS is EXPECTED and that the whole chain of causes is WHY. */
static inline void refused(enum tracehost_status status, enum tracehost_status expected,
                           const char *why)
{
    char text[8192];

    tracehost_error_text(text, sizeof text);
    assert_string_equal(text, why);
    assert_int_equal(status, expected);
    assert_int_equal(tracehost_error_status(), expected);
    tracehost_error_clear();
}

#define misused(call, why) refused(call, TRACEHOST_USAGE, why)

static inline int begin(void **state)
{
    const char *folder = build_folder("samples");
    const struct tracehost_setup setup = {
        .size = sizeof setup, .folders = &folder, .folder_count = 1};

    (void)state;
    good(tracehost_host_start(&setup, &host));
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    good(tracehost_host_stop(host));
    return 0;
}

static inline ERL_NIF_TERM atom(const char *name)
{
    return enif_make_atom(NULL, name);
}

/* --- The inbox of messages from tracers ------------------------------------------------------- */

static char inbox[65536];
static void (*on_message)(void); /* called for each message; may be NULL */

static inline void receive(void *context, ERL_NIF_TERM message)
{
    char *text = tracehost_term_to_text(message);

    (void)context;
    strncat(inbox, text, sizeof inbox - strlen(inbox) - 2);
    strcat(inbox, "\n");
    tracehost_free(text);
    if (on_message)
        on_message();
}

/* Starts a session of erl_msg_tracer, which sends {trace, Sender, Receiver} to PROCESS. */
static inline tracehost_session send_to(const tracehost_process *process, uint32_t recorded_flags)
{
    const struct tracehost_session_setup setup = {
        .size = sizeof setup,
        .tracer = "erl_msg_tracer",
        .name = "inbox",
        .state = tracehost_process_pid(process),
        .recorded_flags = recorded_flags,
    };
    tracehost_session session = 0;

    inbox[0] = 0;
    good(tracehost_session_create(host, &setup, &session));
    return session;
}

static inline struct tracehost_session_counts counts_of(tracehost_session session)
{
    struct tracehost_session_counts counts = {.size = sizeof counts};

    good(tracehost_session_get_counts(host, session, &counts));
    return counts;
}

/* Plays a whole recording. */
static inline enum tracehost_status play(const char *name,
                                         const struct tracehost_replay_options *options,
                                         struct tracehost_replay_counts *counts)
{
    tracehost_stream *stream;
    tracehost_replay *replay;
    enum tracehost_status status;

    good(tracehost_stream_open(name, NULL, &stream));
    good(tracehost_replay_begin(host, stream, options, &replay));
    status = tracehost_replay_play(replay);
    if (counts)
        good(tracehost_replay_get_counts(replay, counts));
    good(tracehost_replay_end(replay));
    good(tracehost_stream_close(stream));
    return status;
}

#endif

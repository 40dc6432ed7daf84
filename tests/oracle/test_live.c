/* Processes that do the same in a BEAM and in tracehost must cause the same callbacks
 * (live.escript). */
#include "tests/runtime/plays.h"

#include "tests/support/stream.h"

#include <unistd.h>

static char folder[] = "/tmp/live-XXXXXX";

static struct th_library *open_logging(void)
{
    char *path = th_printf("%s/tests/tracers/otp/logging.so", getenv("BUILD_DIR"));
    struct th_library *library;

    if (th_library_open(path, &library) != TH_OK ||
        th_library_load(library, NULL, th_small(0)) != TH_OK ||
        th_library_check_tracer(library) != TH_OK)
        fail_msg("%s", th_error_link(0));
    th_free(path);
    return library;
}

/* Creates a session that logs to the file N.here. */
static struct th_session *log_to(unsigned n)
{
    struct th_session_setup setup = {.name = "logging", .library = open_logging()};
    char *state = th_printf("#{log => <<\"%s/%u.here\">>}", folder, n);
    struct th_session *logging;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, state, strlen(state), &setup.state), TH_OK);
    assert_int_equal(th_trace_session_create(scene_tracing(), &setup, &logging), TH_OK);
    th_env_release(&env);
    th_free(state);
    return logging;
}

static void play_logged(unsigned n, const char *script)
{
    struct th_session *logging = log_to(n);

    assert_int_equal(th_trace_session_trace_one(logging, th_runtime_run_pid(player), true,
                                                TH_FLAG_PROCS | TH_FLAG_SEND | TH_FLAG_RECEIVE |
                                                    TH_FLAG_EXITING | TH_FLAG_SET_ON_SPAWN),
                     TH_OK);
    play(script);
    th_trace_session_destroy(logging);
}

/* Plays the scripts of the file, each {"Name", Script} with a full stop at the end of a line. */
static unsigned play_all(char *text)
{
    unsigned n = 0;
    char *begin, *end;

    for (begin = strstr(text, "\n{"); begin; begin = strstr(end + 1, "\n{")) {
        end = strstr(begin, "}.\n");
        assert_non_null(end);
        *end = 0;
        play_logged(++n, strchr(begin, '['));
    }
    return n;
}

static void live_events_equal_those_of_a_beam(void **state)
{
    struct th_buffer text = {0};
    char *command;

    (void)state;
    stream_add_file(&text, "tests/oracle/live/scripts.txt");
    assert_int_equal(play_all((char *)th_buffer_text(&text)), 10);
    th_buffer_free(&text);
    command = th_printf("escript tests/oracle/live.escript '%s' '%s/tests/tracers/otp/logging.so'",
                        folder, getenv("BUILD_DIR"));
    if (system(command) != 0)
        fail_msg("not the same: see %s", folder);
    th_free(command);
    command = th_printf("rm -r %s", folder);
    assert_int_equal(system(command), 0);
    th_free(command);
}

static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    begin_plays(1);
    th_trace_session_destroy(session);
    return 0;
}

static int end(void **state)
{
    (void)state;
    end_plays();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(live_events_equal_those_of_a_beam, begin, end),
    };

    if (!getenv("OTP_INCLUDE") || !*getenv("OTP_INCLUDE") ||
        system("command -v escript > /dev/null") != 0) {
        puts("no escript, or no erl_nif.h of OTP (Debian: erlang-base, erlang-dev)");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

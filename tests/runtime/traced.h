/* Sets up tests of traced processes: parties.h in a tracing, with a session `s` that traces the
 * calls of `process`. */
#ifndef TRACED_H
#define TRACED_H

#include "tests/runtime/parties.h"
#include "tests/support/scene.h"

#define RETURNS "[{'_',[],[{return_trace}]}]"
#define EXCEPTIONS "[{'_',[],[{exception_trace}]}]"

static struct th_session *session;
static struct th_process *process;
static th_env env;

#define call(...) call_in(process, __VA_ARGS__)

/* TEXT is at least as long as BY. */
static inline void replace(char *in, const char *text, const char *by)
{
    size_t old = strlen(text), new = strlen(by);

    while ((in = strstr(in, text))) {
        memcpy(in, by, new);
        memmove(in + new, in + old, strlen(in + old) + 1);
    }
}

/* Returns the callbacks since the last call, without the `enabled` for trace_status at scheduling
 * in; `process` is P. The caller frees the text. */
static inline char *callbacks(void)
{
    char *log = strdup(scene_log()), *rest = log, *line;
    struct th_buffer kept = {0};

    replace(log, show("", th_runtime_run_pid(process)), "P");
    while ((line = strsep(&rest, "\n")) && *line)
        if (strncmp(line, "enabled(trace_status,", strlen("enabled(trace_status,")) != 0) {
            th_buffer_add_text(&kept, line);
            th_buffer_add_text(&kept, "\n");
        }
    free(log);
    log = strdup(th_buffer_text(&kept));
    th_buffer_free(&kept);
    return log;
}

static inline void assert_callbacks(const char *expected)
{
    char *text = callbacks();

    assert_string_equal(text, expected);
    free(text);
}

/* Shortens a line of callbacks, "trace_call(TAG,s,P,WHAT,#{KEY => VALUE}) self", to "TAG WHAT
 * VALUE"; the pid of any process is left out. */
static inline void shorten(char *line)
{
    char *end = line + strlen(line) - strlen(") self");
    char *options = strstr(line, ",#{"), *value;

    assert_string_equal(end, ") self");
    *end = '\0';
    assert_non_null(options);
    value = strstr(options, " => ");
    if (value) {
        end[-1] = '\0'; /* the brace */
        memmove(options + 1, value + 4, strlen(value + 4) + 1);
        *options = ' ';
    } else {
        *options = '\0';
    }
    value = strstr(line, ",s,");
    assert_non_null(value);
    *value = ' ';
    end = strstr(value, ",{") + 1;
    memmove(value + 1, end, strlen(end) + 1);
    memmove(line, line + strlen("trace_call("), strlen(line + strlen("trace_call(")) + 1);
}

/* Asserts the events since the last time. `enabled_call` must have been called once for each call,
 * and for nothing else. */
static inline void assert_log(const char *expected)
{
    char *log = callbacks(), *rest = log, *line;
    struct th_buffer text = {0};
    int asked = 0;

    if (!lines_shown)
        drop_lines(log);
    while ((line = strsep(&rest, "\n")) && *line) {
        if (strncmp(line, "enabled_call(call,", strlen("enabled_call(call,")) == 0) {
            asked++;
            continue;
        }
        shorten(line);
        asked -= strncmp(line, "call ", strlen("call ")) == 0;
        th_buffer_add_text(&text, line);
        th_buffer_add_text(&text, "\n");
    }
    assert_string_equal(th_buffer_text(&text), expected);
    assert_int_equal(asked, 0);
    th_buffer_free(&text);
    free(log);
}

/* Sets a pattern for MODULE:FUNCTION/ARITY; FUNCTION NULL: any function. */
static inline enum th_status try_in(const char *module, const char *function, int arity,
                                    const char *match, uint32_t kinds)
{
    struct th_pattern pattern = {th_atom(module), function ? th_atom(function) : TH_NONE, arity,
                                 false};
    enum th_status status;
    th_term term;
    th_env own;

    th_env_init(&own, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&own, match, strlen(match), &term), TH_OK);
    status = th_trace_session_function(session, &pattern, term, kinds, NULL);
    th_env_release(&own);
    return status;
}

/* Sets a pattern for party:FUNCTION. */
static inline enum th_status try(const char *function, int arity, const char *match, uint32_t kinds)
{
    return try_in("party", function, arity, match, kinds);
}

static inline void set(const char *function, int arity, const char *match, uint32_t kinds)
{
    assert_int_equal(try(function, arity, match, kinds), TH_OK);
}

static inline void begin_with(size_t open_calls)
{
    th_env_init(&env, TH_ENV_PLAIN);
    scene_begin_empty(NULL);
    th_trace_share(scene_tracing());
    party_setup.tracing = scene_tracing();
    party_setup.open_calls = open_calls;
    start_party(2);
    th_runtime_set_reports(false);
    process = th_runtime_run_start();
    session = scene_create("s");
    th_trace_session_trace_one(session, th_runtime_run_pid(process), true, TH_FLAG_CALL);
    scene_log();
}

static inline int begin(void **state)
{
    (void)state;
    begin_with(0);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    stop_party();
    scene_end();
    th_env_release(&env);
    return 0;
}

#endif

/* Tests which probes a script hits, with which arguments, by the host's own watcher. */
#include "parties.h"

#include "host/base/base.h"
#include "host/code/code.h"
#include "host/probe/probe.h"
#include "host/process/process.h"
#include "host/term/term.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static struct th_process *process;
static char *self;

#define call(...) call_in(process, __VA_ARGS__)

/* The hits of watched probes, one a line. Guarded by the lock, as several threads hit probes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_buffer hits;

static void note(const struct th_probe *probe, const union th_probe_value *values)
{
    pthread_mutex_lock(&lock);
    th_buffer_add_text(&hits, probe->name);
    for (unsigned i = 0; i < probe->count; i++)
        if (probe->arguments[i].type == TH_PROBE_string)
            th_buffer_printf(&hits, " %s", values[i].string);
        else
            th_buffer_printf(&hits, " %lld", (long long)values[i].integer);
    th_buffer_add_text(&hits, "\n");
    pthread_mutex_unlock(&lock);
}

static void watch(const char *pattern)
{
    size_t matching = 0;

    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        if (th_probe_matches(&th_probe_probes[i], pattern)) {
            th_probe_raise(&th_probe_probes[i]);
            matching++;
        }
    assert_order(matching, >, 0);
}

/* Replaces each TEXT with BY, which is not longer. */
static void replace(char *in, const char *text, const char *by)
{
    size_t old = strlen(text), new = strlen(by);

    while ((in = strstr(in, text))) {
        memcpy(in, by, new);
        memmove(in + new, in + old, strlen(in + old) + 1);
    }
}

/* Ends all watching and returns the hits; `process` is P, OTHER (may be NULL) is Q. The caller
 * frees the text. */
static char *seen(const char *other)
{
    char *text;

    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        while (*th_probe_probes[i].semaphore > 0)
            th_probe_lower(&th_probe_probes[i]);
    pthread_mutex_lock(&lock);
    text = strdup(th_buffer_text(&hits));
    hits.size = 0;
    pthread_mutex_unlock(&lock);
    replace(text, self, "P");
    if (other)
        replace(text, other, "Q");
    return text;
}

static void assert_seen(const char *other, const char *expected)
{
    char *text = seen(other);

    assert_string_equal(text, expected);
    free(text);
}

/* Waits until PID is dead. */
static void await_end(const char *pid)
{
    call("monitor", "[%s]", pid);
    assert_non_null(strstr(call("select", "['DOWN',10000]"), pid));
}

/* --- Messages -------------------------------------------------------------------------------- */

static void probes_show_a_message_sent_queued_received(void **state)
{
    char *server = th_strdup(call("spawn", "[party,server,[],0]"));

    (void)state;
    watch("message__*");
    assert_string_equal(call("ping", "[%s,1]", server), "done");
    assert_seen(server, "message__send P Q 3 0 0 0\n"
                        "message__queued Q 3 1 0 0 0\n"
                        "message__receive Q 3 0 0 0 0\n"
                        "message__send Q P 0 0 0 0\n"
                        "message__queued P 0 1 0 0 0\n"
                        "message__receive P 0 0 0 0 0\n");
    call("sends", "[%s,[stop]]", server);
    await_end(server);
    th_free(server);
}

/* A message to itself does not hit message__queued; a list of two elements takes four words. */
static void probes_show_a_message_of_a_process_to_itself(void **state)
{
    (void)state;
    watch("message__*");
    call("sends", "[%s,[a,{b,c},[1,2]]]", self);
    assert_seen(NULL, "message__send P P 0 0 0 0\n"
                      "message__send P P 3 0 0 0\n"
                      "message__send P P 4 0 0 0\n");
    watch("message__*");
    assert_string_equal(call("select", "[b,0]"), "{b,c}");
    assert_seen(NULL, "message__receive P 3 2 0 0 0\n");
    watch("message__receive");
    assert_string_equal(call("await", "[0]"), "a");
    assert_string_equal(message_to(process), "[1,2]");
    assert_seen(NULL, "message__receive P 0 1 0 0 0\nmessage__receive P 4 0 0 0 0\n");
}

static void probes_show_the_token_of_each_message(void **state)
{
    char *server = th_strdup(call("spawn", "[party,server,[],0]"));

    (void)state;
    call("seq_set", "[label,17]");
    watch("message__*");
    call("ping", "[%s,1]", server);
    assert_seen(server, "message__send P Q 3 17 0 1\n"
                        "message__queued Q 3 1 17 0 1\n"
                        "message__receive Q 3 0 17 0 1\n"
                        "message__send Q P 0 17 1 2\n"
                        "message__queued P 0 1 17 1 2\n"
                        "message__receive P 0 0 17 1 2\n");
    call("seq_set", "[label,{no,number}]");
    watch("message__send");
    call("sends", "[%s,[stop]]", server);
    assert_seen(server, "message__send P Q 0 0 2 3\n");
    call("seq_reset", "[]");
    await_end(server);
    th_free(server);
}

/* If the user tag spreads, the message carries {Tag, Token}. */
static void probes_show_the_tag_beside_the_token(void **state)
{
    th_env env;
    th_term travels;
    struct th_message_numbers numbers;

    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, "{tag,{0,17,4,self,3}}", 21, &travels), TH_OK);
    numbers = th_process_message_numbers(TH_NIL, travels);
    assert_int_equal(numbers.label, 17);
    assert_int_equal(numbers.previous, 3);
    assert_int_equal(numbers.serial, 4);
    assert_int_equal(th_text_parse(&env, "{tag,[]}", 8, &travels), TH_OK);
    assert_int_equal(th_process_message_numbers(TH_NIL, travels).serial, 0);
    th_env_release(&env);
}

static void probes_show_the_sizes_of_copied_terms(void **state)
{
    (void)state;
    watch("copy__struct");
    call("sends", "[%s,[{b,c},a]]", self);
    assert_seen(NULL, "copy__struct 0\ncopy__struct 3\ncopy__struct 0\n"); /* the first: a call */
    call("await", "[0]");
    call("await", "[0]");
}

/* --- Processes ------------------------------------------------------------------------------- */

/* The process is scheduled once: its exit is a part of its turn. */
static void probes_show_the_spawn_and_exit_of_a_process(void **state)
{
    char *child;

    (void)state;
    watch("process__spawn");
    watch("process__exit*");
    watch("copy__object");
    child = th_strdup(call("spawn", "[party,exits,[{sad,[x]}],1]")); /* with a link */
    message_to(process);
    assert_seen(child, "copy__object Q 5\n"
                       "process__spawn Q party:exits/1\n"
                       "process__exit Q {sad,[x]}\n"
                       "process__exit_signal Q P {sad,[x]}\n");
    th_free(child);
}

static void probes_show_a_process_being_scheduled(void **state)
{
    char *child = th_strdup(call("spawn", "[party,server,[],0]"));

    (void)state;
    call("ping", "[%s,1]", child);
    watch("process__scheduled");
    watch("process__unscheduled");
    call("sends", "[%s,[stop]]", child);
    await_end(child);
    call("self", "[]");
    char *text = seen(child);
    assert_non_null(strstr(text, "process__scheduled Q party:server/0\nprocess__unscheduled Q\n"));
    assert_non_null(strstr(text, "process__unscheduled P\n")); /* lets the other process run */
    assert_non_null(strstr(text, "process__scheduled P "));
    free(text);
    th_free(child);
}

static void probes_show_exit_signals(void **state)
{
    char *child = th_strdup(call("spawn", "[party,server,[],0]"));

    (void)state;
    watch("process__exit*");
    call("signal", "[%s,bad]", child);
    await_end(child);
    assert_seen(child, "process__exit_signal P Q bad\nprocess__exit Q bad\n");
    th_free(child);
}

/* --- Heaps ----------------------------------------------------------------------------------- */

/* Reads the numbers in the first line of TEXT that begins with NAME. */
static void numbers_of(const char *text, const char *name, int numbers[2], int count)
{
    const char *line = strstr(text, name);

    if (!line)
        fail_msg("no %s in: %s", name, text);
    assert_int_equal(sscanf(line, "%*s P %d %d", &numbers[0], &numbers[1]), count);
}

/* Calls NAME/2 with N and a list of LENGTH elements. */
static void call_with_list(const char *name, int n, int length)
{
    const struct th_callee *callee =
        th_code_export_callee(th_code_export_find(th_atom("party"), th_atom(name), 2));
    th_term argv[2] = {th_small(n), TH_NIL}, result;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    while (length-- > 0)
        argv[1] = th_make_cons(&env, th_small(1), argv[1]);
    assert_int_equal(th_runtime_run_call(process, callee, argv, &env, &result), TH_CALL_RETURNED);
    th_env_release(&env);
}

/* One function makes garbage; one keeps 10000 words, so the heap grows; one releases these. */
static void probes_show_collections_and_growth_of_a_heap(void **state)
{
    int numbers[2];
    char *text;

    (void)state;
    watch("gc_*");
    call("loop", "[10000]");
    text = seen(NULL);
    numbers_of(text, "gc_major__start ", numbers, 1);
    assert_int_equal(numbers[0], 0);
    numbers_of(text, "gc_major__end ", numbers, 1);
    assert_order(numbers[0], >, 1000);
    assert_null(strstr(text, "minor"));
    free(text);
    watch("process__heap_*");
    call_with_list("yields", 3, 5000);
    text = seen(NULL);
    numbers_of(text, "process__heap_grow ", numbers, 2);
    assert_int_equal(numbers[0], 2048);
    assert_true(numbers[1] > 20000 && numbers[1] < 100000);
    free(text);
    watch("process__heap_*");
    call_with_list("sheds", 3, 5000);
    text = seen(NULL);
    numbers_of(text, "process__heap_shrink ", numbers, 2);
    assert_true(numbers[0] > 20000 && numbers[1] < 10000);
    free(text);
}

/* --- Functions ------------------------------------------------------------------------------- */

static void probes_show_calls_and_returns(void **state)
{
    (void)state;
    watch("*function__*");
    watch("nif__*");
    assert_string_equal(call("call", "[party,call,[party,echo,[7]]]"), "7");
    assert_seen(NULL, "global__function__entry P party:call/3 0\n"
                      "nif__entry P party:call/3\n"
                      "global__function__entry P party:call/3 1\n"
                      "nif__entry P party:call/3\n"
                      "global__function__entry P party:echo/1 2\n"
                      "nif__entry P party:echo/1\n"
                      "nif__return P party:echo/1\n"
                      "function__return P party:echo/1 2\n"
                      "nif__return P party:call/3\n"
                      "function__return P party:call/3 1\n"
                      "nif__return P party:call/3\n"
                      "function__return P party:call/3 0\n");
}

/* A function that schedules another has not returned; one that raises returns no value. */
static void probes_show_the_ends_of_tail_calls_and_exceptions(void **state)
{
    (void)state;
    watch("*function__*");
    watch("nif__*");
    assert_string_equal(call("tail", "[party,echo,[7]]"), "7");
    assert_seen(NULL, "global__function__entry P party:tail/3 0\n"
                      "nif__entry P party:tail/3\n"
                      "nif__return P party:tail/3\n"
                      "global__function__entry P party:echo/1 0\n"
                      "nif__entry P party:echo/1\n"
                      "nif__return P party:echo/1\n"
                      "function__return P party:echo/1 0\n");
    watch("*function__*");
    watch("nif__*");
    assert_string_equal(call("fails", "[bad]"), "error: bad");
    assert_seen(NULL, "global__function__entry P party:fails/1 0\n"
                      "nif__entry P party:fails/1\n"
                      "nif__return P party:fails/1\n");
}

/* --- Ports ----------------------------------------------------------------------------------- */

static void probes_show_writes_to_a_port(void **state)
{
    char file[] = "/tmp/test_probed.XXXXXX", *expected, *name, *text;
    int fd = mkstemp(file);
    th_term port;

    (void)state;
    assert_order(fd, >=, 0);
    close(fd);
    watch("port__*");
    assert_int_equal(th_process_port_open_file(file, &port), TH_OK);
    name = text_of_pid(port);
    assert_true(th_process_port_command(port, TH_NIL));
    assert_int_equal(th_process_port_close(port), TH_OK);
    text = seen(name);
    expected = th_printf("port__open undefined %s Q\n"
                         "port__command undefined Q %s command\n"
                         "port__exit undefined Q %s normal\n",
                         file, file, file);
    assert_string_equal(text, expected);
    th_free(expected);
    th_free(name);
    free(text);
    unlink(file);
}

/* --- User probes ----------------------------------------------------------------------------- */

static void a_library_fires_user_probes(void **state)
{
    (void)state;
    assert_string_equal(call("user_trace", "[hello,4711]"), "{0,0,0}");
    watch("user_trace__s1");
    assert_string_equal(call("user_trace", "[hello,4711]"), "{1,1,0}");
    watch("user_trace__i4s4");
    assert_string_equal(call("user_trace", "[hello,4711]"), "{3,1,1}");
    assert_seen(NULL, "user_trace__s1 hello\n"
                      "user_trace__s1 hello\n"
                      "user_trace__i4s4 P tag 4711 -1 0 1 hello  s3 s4\n");
}

/* --- The tests ------------------------------------------------------------------------------- */

static int setup(void **state)
{
    (void)state;
    start_party(1);
    process = th_runtime_run_start();
    self = text_of_pid(th_runtime_run_pid(process));
    call("trap", "[1]");
    th_probe_watch(note);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(seen(NULL));
    th_probe_watch(NULL);
    th_free(self);
    th_runtime_run_exit(process, TH_AM(normal));
    stop_party();
    th_buffer_free(&hits);
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(probes_show_a_message_sent_queued_received),
        TEST(probes_show_a_message_of_a_process_to_itself),
        TEST(probes_show_the_token_of_each_message),
        TEST(probes_show_the_tag_beside_the_token),
        TEST(probes_show_the_sizes_of_copied_terms),
        TEST(probes_show_the_spawn_and_exit_of_a_process),
        TEST(probes_show_a_process_being_scheduled),
        TEST(probes_show_exit_signals),
        TEST(probes_show_collections_and_growth_of_a_heap),
        TEST(probes_show_calls_and_returns),
        TEST(probes_show_the_ends_of_tail_calls_and_exceptions),
        TEST(probes_show_writes_to_a_port),
        TEST(a_library_fires_user_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

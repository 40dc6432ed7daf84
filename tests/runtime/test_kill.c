/* Tests a driven process that is killed during a call. */
#include "parties.h"
#include "host/base/base.h"
#include "host/code/code.h"
#include "host/runtime/mailbox.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

static struct th_process *process;

static void *kill_soon(void *unused)
{
    nanosleep(&(struct timespec){0, 20 * 1000 * 1000}, NULL);
    th_runtime_run_kill(process);
    return unused;
}

/* Kills a process that traps exits, in whatever it does; after its end it has no effect. */
static void killed_in(const char *name, const char *arguments)
{
    pthread_t killer;

    process = th_runtime_run_start();
    assert_string_equal(call_in(process, "trap", "[1]"), "0");
    pthread_create(&killer, NULL, kill_soon, NULL);
    assert_string_equal(call_in(process, name, "%s", arguments), "ended: killed");
    pthread_join(killer, NULL);
    th_runtime_run_kill(process);
    assert_string_equal(call_in(process, "self", "[]"), "ended: killed");
    assert_null(th_runtime_run_receive(process, -1));
    th_runtime_run_exit(process, TH_AM(normal));
}

static void a_waiting_process_is_killed(void **state)
{
    (void)state;
    killed_in("server", "[]");
}

static void a_process_in_an_endless_loop_is_killed(void **state)
{
    (void)state;
    killed_in("loop", "[100000000000]");
}

static void an_idle_process_is_killed(void **state)
{
    (void)state;
    process = th_runtime_run_start();
    th_runtime_run_kill(process);
    assert_string_equal(call_in(process, "self", "[]"), "ended: killed");
    th_runtime_run_exit(process, TH_AM(normal));
}

/* --- In dirty functions ----------------------------------------------------------------------- */

static char *ended;

static void *poll_until_dead(void *watcher)
{
    ended = th_strdup(call_in(process, "until_dead", "[%s]", (const char *)watcher));
    return NULL;
}

/* A process, which traps exits if TRAPS, is in until_dead(); WATCHER sends it an exit signal for
 * each of REASONS. END is the expected result of its call. */
static void told_in_dirty_function(const char *traps, const char *const reasons[], const char *end)
{
    struct th_process *watcher = th_runtime_run_start();
    char *pid = text_of_pid(th_runtime_run_pid(watcher));
    char *target;
    pthread_t thread;

    process = th_runtime_run_start();
    target = text_of_pid(th_runtime_run_pid(process));
    call_in(process, "trap", "[%s]", traps);
    pthread_create(&thread, NULL, poll_until_dead, pid);
    assert_string_equal(message_to(watcher), "began");
    for (; *reasons; reasons++)
        call_in(watcher, "signal", "[%s,%s]", target, *reasons);
    assert_string_equal(message_to(watcher), "dead");
    pthread_join(thread, NULL);
    assert_string_equal(ended, end);
    th_runtime_run_exit(process, TH_AM(normal));
    th_runtime_run_exit(watcher, TH_AM(normal));
    th_free(ended);
    th_free(target);
    th_free(pid);
}

static void a_dirty_function_sees_its_process_end(void **state)
{
    (void)state;
    told_in_dirty_function("1", (const char *const[]){"one", "normal", "kill", NULL},
                           "ended: killed");
    told_in_dirty_function("0", (const char *const[]){"normal", "why", "kill", NULL}, "ended: why");
}

/* Returns the number of processes in the code of the library. */
static uint64_t users_of_party(void)
{
    return th_code_instance_users(
        th_code_export_callee(th_code_export_find(th_atom("party"), th_atom("let_go"), 0))
            ->instance);
}

/* Runs FUNCTION, a variant of stays(), in a process that WATCHER has spawned and monitors. A signal
 * with REASON ends the process: others see END while the function still runs, and its later
 * messages are dropped, as in OTP 25. */
static void ended_in_dirty_function(const char *function, const char *reason, const char *end)
{
    struct th_process *watcher = th_runtime_run_start();
    char *self = text_of_pid(th_runtime_run_pid(watcher));
    char *pid;

    call_in(watcher, "trap", "[1]");
    pid = th_strdup(call_in(watcher, "spawn", "[party,%s,[%s],0]", function, self));
    assert_string_equal(message_to(watcher), "began");
    call_in(watcher, "register", "[some_name,%s]", pid);
    call_in(watcher, "monitor", "[%s]", pid);
    call_in(watcher, "signal", "[%s,%s]", pid, reason);
    assert_non_null(strstr(call_in(watcher, "select", "['DOWN',20000]"), end));
    assert_string_equal(call_in(watcher, "sent_late", "[]"), "-1");
    assert_string_equal(call_in(watcher, "alive", "[%s]", pid), "0");
    assert_string_equal(call_in(watcher, "whereis", "[some_name]"), "undefined");
    call_in(watcher, "monitor", "[%s]", pid);
    assert_non_null(strstr(call_in(watcher, "select", "['DOWN',20000]"), "noproc"));
    call_in(watcher, "signal", "[%s,kill]", pid);
    assert_int_equal(users_of_party(), 1);
    assert_int_equal(th_runtime_processes(), 2);
    call_in(watcher, "let_go", "[]");
    while (strcmp(call_in(watcher, "sent_late", "[]"), "-1") == 0)
        ;
    assert_string_equal(call_in(watcher, "sent_late", "[]"), "0");
    assert_string_equal(call_in(watcher, "select", "[late,0]"), "timeout");
    while (th_runtime_processes() > 1)
        sched_yield();
    assert_int_equal(users_of_party(), 0);
    th_runtime_run_exit(watcher, TH_AM(normal));
    th_free(pid);
    th_free(self);
}

static void monitors_report_a_process_killed_in_a_dirty_function(void **state)
{
    (void)state;
    ended_in_dirty_function("stays", "kill", ",killed}");
    ended_in_dirty_function("stays", "why", ",why}");
    ended_in_dirty_function("stays_and_links", "kill", ",killed}");
}

static void a_signal_that_does_not_kill_waits_for_the_function(void **state)
{
    struct th_process *watcher = th_runtime_run_start();
    char *self = text_of_pid(th_runtime_run_pid(watcher));
    char *pid;

    (void)state;
    call_in(watcher, "trap", "[1]");
    pid = th_strdup(call_in(watcher, "spawn", "[party,stays_and_links,[%s],0]", self));
    assert_string_equal(message_to(watcher), "began");
    call_in(watcher, "monitor", "[%s]", pid);
    call_in(watcher, "signal", "[%s,why]", pid);
    assert_string_equal(call_in(watcher, "alive", "[%s]", pid), "1");
    call_in(watcher, "let_go", "[]");
    assert_non_null(strstr(call_in(watcher, "select", "['DOWN',20000]"), ",normal}"));
    assert_string_equal(call_in(watcher, "sent_late", "[]"), "1");
    assert_string_equal(call_in(watcher, "select", "[late,0]"), "{late}");
    th_runtime_run_exit(watcher, TH_AM(normal));
    th_free(pid);
    th_free(self);
}

/* The first signal removes the link. */
static void a_second_signal_over_one_link_has_no_effect(void **state)
{
    struct th_process *watcher = th_runtime_run_start();
    char *self = text_of_pid(th_runtime_run_pid(watcher));
    char *pid, *crosses;

    (void)state;
    pid = th_strdup(call_in(watcher, "spawn", "[party,stays_and_crosses,[%s],0]", self));
    assert_string_equal(message_to(watcher), "here");
    call_in(watcher, "monitor", "[%s]", pid);
    crosses = th_strdup(call_in(watcher, "spawn", "[party,crosses,[%s],0]", pid));
    assert_string_equal(message_to(watcher), "began");
    call_in(watcher, "monitor", "[%s]", crosses);
    assert_non_null(strstr(call_in(watcher, "select", "['DOWN',20000]"), crosses));
    assert_string_equal(call_in(watcher, "alive", "[%s]", pid), "1");
    call_in(watcher, "let_go", "[]");
    assert_non_null(strstr(call_in(watcher, "select", "['DOWN',20000]"), ",normal}"));
    assert_string_equal(call_in(watcher, "sent_late", "[]"), "1");
    th_runtime_run_exit(watcher, TH_AM(normal));
    th_free(crosses);
    th_free(pid);
    th_free(self);
}

/* Others link to the process and exit, or kill it before a dirty thread takes it. */
static void other_processes_end_a_process_in_a_dirty_function(void **state)
{
    struct th_process *watcher = th_runtime_run_start();
    char *self = text_of_pid(th_runtime_run_pid(watcher));
    char *pids[3];

    (void)state;
    for (int i = 0; i < 2; i++) {
        pids[i] = th_strdup(call_in(watcher, "spawn", "[party,stays,[%s],0]", self));
        assert_string_equal(message_to(watcher), "began");
    }
    pids[2] = th_strdup(call_in(watcher, "spawn", "[party,until_dead,[%s],0]", self));
    for (int i = 0; i < 3; i++)
        call_in(watcher, "monitor", "[%s]", pids[i]);
    call_in(watcher, "spawn", "[party,links_and_exits,[%s,crash],0]", pids[0]);
    assert_non_null(strstr(call_in(watcher, "select", "['DOWN',20000]"), ",crash}"));
    call_in(watcher, "signal", "[%s,kill]", pids[2]);
    assert_non_null(strstr(call_in(watcher, "select", "['DOWN',20000]"), pids[2]));
    assert_string_equal(call_in(watcher, "alive", "[%s]", pids[1]), "1");
    call_in(watcher, "let_go", "[]");
    assert_non_null(strstr(call_in(watcher, "select", "['DOWN',20000]"), ",normal}"));
    th_runtime_run_exit(watcher, TH_AM(normal));
    for (int i = 0; i < 3; i++)
        th_free(pids[i]);
    th_free(self);
}

enum { KILLERS = 3, ROUNDS = 200 };

static char *_Atomic latest[KILLERS]; /* the last pid that each has spawned, as text */

/* Ends PID in one of several ways, after signals that have no effect. */
static void end_somehow(struct th_process *watcher, const char *pid, unsigned how)
{
    th_term term = TH_NONE;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, pid, strlen(pid), &term), TH_OK);
    th_runtime_signal_send(term, TH_SIGNAL_PURGE, TH_NONE, UINT64_MAX, TH_AM(normal));
    th_env_release(&env);
    call_in(watcher, "signal", "[%s,normal]", pid);
    if (how % 3 == 0)
        call_in(watcher, "spawn", "[party,links_and_exits,[%s,why],0]", pid);
    else
        call_in(watcher, "signal", "[%s,%s]", pid, how % 3 == 1 ? "kill" : "why");
}

static void *spawn_and_kill(void *context)
{
    unsigned number = (unsigned)(uintptr_t)context, random = number;
    struct th_process *watcher = th_runtime_run_start();
    char *self = text_of_pid(th_runtime_run_pid(watcher));

    call_in(watcher, "trap", "[1]");
    for (int i = 0; i < ROUNDS; i++) {
        char *pid, *other;
        random = random * 1103515245u + 12345u;
        pid = th_strdup(call_in(watcher, "spawn", "[party,busy,[%s,%u],0]", self, random >> 1));
        call_in(watcher, "monitor", "[%s]", pid);
        th_free(atomic_exchange(&latest[number], th_strdup(pid)));
        other = atomic_exchange(&latest[(number + 1) % KILLERS], NULL);
        if (other)
            call_in(watcher, "monitor", "[%s]", other);
        end_somehow(watcher, pid, random >> 16);
        for (int downs = other ? 2 : 1; downs > 0; downs--)
            assert_non_null(strstr(call_in(watcher, "select", "['DOWN',20000]"), "DOWN"));
        th_free(other);
        th_free(pid);
    }
    th_runtime_run_exit(watcher, TH_AM(normal));
    th_free(self);
    return NULL;
}

/* Signals reach functions as they begin, do things of all kinds, and return. */
static void many_processes_are_killed_at_once(void **state)
{
    pthread_t threads[KILLERS];

    (void)state;
    for (uintptr_t i = 0; i < KILLERS; i++)
        pthread_create(&threads[i], NULL, spawn_and_kill, (void *)i);
    for (int i = 0; i < KILLERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < KILLERS; i++)
        th_free(atomic_exchange(&latest[i], NULL));
}

static int begin(void **state)
{
    (void)state;
    start_party(2);
    return 0;
}

static int end(void **state)
{
    (void)state;
    stop_party();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiting_process_is_killed),
        cmocka_unit_test(a_process_in_an_endless_loop_is_killed),
        cmocka_unit_test(an_idle_process_is_killed),
        cmocka_unit_test(a_dirty_function_sees_its_process_end),
        cmocka_unit_test(monitors_report_a_process_killed_in_a_dirty_function),
        cmocka_unit_test(a_signal_that_does_not_kill_waits_for_the_function),
        cmocka_unit_test(a_second_signal_over_one_link_has_no_effect),
        cmocka_unit_test(other_processes_end_a_process_in_a_dirty_function),
        cmocka_unit_test(many_processes_are_killed_at_once),
    };

    return cmocka_run_group_tests(tests, begin, end);
}

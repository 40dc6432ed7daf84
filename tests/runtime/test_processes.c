/* Tests processes: messages, links, monitors, names, exits; many processes. Results and order were
 * measured in a BEAM (OTP 25). */
#include "parties.h"
#include "host/base/base.h"
#include "host/process/process.h"
#include "host/runtime/mailbox.h"

#include <time.h>

static struct th_process *process;
static char *self;

#define call(...) call_in(process, __VA_ARGS__)

/* Spawns party:FUNCTION(ARGUMENTS) and returns the pid as text, which the caller frees. */
static char *spawn(const char *function, const char *arguments, int options)
{
    return th_strdup(call("spawn", "[party,%s,%s,%d]", function, arguments, options));
}

/* Waits until PID is dead. */
static void await_end(const char *pid)
{
    call("monitor", "[%s]", pid);
    assert_non_null(strstr(call("select", "['DOWN',10000]"), pid));
}

/* Returns the reason of the next 'DOWN' message. */
static const char *down(void)
{
    const char *text = call("select", "['DOWN',10000]");
    const char *process_part = strstr(text, "process,<");
    const char *reason = process_part ? strstr(process_part, ">,") : NULL;

    return reason ? reason + 2 : text;
}

/* --- Messages -------------------------------------------------------------------------------- */

static void messages_are_received_in_order_or_by_selection(void **state)
{
    (void)state;
    call("sends", "[%s,[{a,1},{b,2},{a,3},c]]", self);
    assert_string_equal(call("select", "[b,0]"), "{b,2}");
    assert_string_equal(call("select", "[d,0]"), "timeout");
    assert_string_equal(call("select", "[d,10]"), "timeout");
    assert_string_equal(call("await", "[0]"), "{a,1}");
    assert_string_equal(call("await", "[-1]"), "{a,3}");
    assert_string_equal(message_to(process), "c");
    assert_string_equal(call("await", "[0]"), "timeout");
}

static void a_server_answers_until_it_is_stopped(void **state)
{
    char *server = spawn("server", "[]", 0);

    (void)state;
    assert_string_equal(call("ping", "[%s,1000]", server), "done");
    assert_string_equal(call("alive", "[%s]", server), "1");
    call("sends", "[%s,[stop]]", server);
    await_end(server);
    assert_string_equal(call("alive", "[%s]", server), "0");
    th_free(server);
}

/* --- Ends ------------------------------------------------------------------------------------ */

static const char *end_of(const char *function, const char *arguments)
{
    call("spawn", "[party,%s,%s,2]", function, arguments);
    return down();
}

static void a_process_ends_with_a_reason(void **state)
{
    (void)state;
    th_runtime_set_reports(false);
    assert_string_equal(end_of("echo", "[1]"), "normal}");
    assert_string_equal(end_of("exits", "[{why}]"), "{why}}");
    assert_string_equal(end_of("fails", "[why]"), "{why,[{party,fails,[why],[]}]}}");
    assert_string_equal(end_of("throws", "[t]"), "{{nocatch,t},[{party,throws,[t],[]}]}}");
    assert_string_equal(end_of("nowhere", "[1]"), "{undef,[{party,nowhere,[1],[]}]}}");
    assert_string_equal(end_of("exits", "[kill]"), "kill}");
    assert_string_equal(end_of("dirty", "[]"), "normal}");
    th_runtime_set_reports(true);
}

static void an_error_is_reported_once(void **state)
{
    unsigned long before = th_warnings();

    (void)state;
    end_of("fails", "[reported]");
    assert_int_equal(th_warnings() - before, 1);
    end_of("exits", "[not_reported]");
    end_of("echo", "[1]");
    assert_int_equal(th_warnings() - before, 1);
}

/* --- Signals --------------------------------------------------------------------------------- */

static void an_exit_signal_ends_a_process_that_does_not_trap(void **state)
{
    char *pid = spawn("server", "[]", 2); /* {Pid, Monitor} */
    char *comma = strchr(pid, ',');

    (void)state;
    *comma = '\0';
    call("signal", "[%s,normal]", pid + 1);
    assert_string_equal(call("ping", "[%s,1]", pid + 1), "done"); /* the process is alive */
    call("signal", "[%s,{reason}]", pid + 1);
    assert_string_equal(down(), "{reason}}");
    th_free(pid);
}

static void kill_ends_a_process_that_traps_exits(void **state)
{
    char *pid;

    (void)state;
    for (int i = 0; i < 2; i++) {
        pid = spawn(i ? "traps" : "server", i ? "[nobody]" : "[]", 0);
        call("monitor", "[%s]", pid);
        call("signal", "[%s,kill]", pid);
        assert_string_equal(down(), "killed}");
        th_free(pid);
    }
}

static void signals_keep_their_order(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        char *pid = spawn("server", "[]", 0);
        call("kill_and_monitor", "[%s]", pid);
        assert_string_equal(down(), "noproc}");
        th_free(pid);
    }
}

static void a_process_that_traps_exits_gets_messages(void **state)
{
    char arguments[64], expected[128];
    char *pid;

    (void)state;
    snprintf(arguments, sizeof arguments, "[%s]", self);
    pid = spawn("traps", arguments, 0);
    assert_string_equal(message_to(process), "ready");
    call("signal", "[%s,normal]", pid);
    snprintf(expected, sizeof expected, "{'EXIT',%s,normal}", self);
    assert_string_equal(message_to(process), expected);
    await_end(pid);
    th_free(pid);
}

/* --- Links ----------------------------------------------------------------------------------- */

static void a_link_delivers_the_exit_of_a_process(void **state)
{
    char expected[128];
    char *pid;

    (void)state;
    assert_string_equal(call("trap", "[1]"), "0");
    pid = spawn("await", "[-1]", 1);
    call("signal", "[%s,{bad}]", pid);
    snprintf(expected, sizeof expected, "{'EXIT',%s,{bad}}", pid);
    assert_string_equal(message_to(process), expected);
    call("link", "[%s]", pid); /* dead by now */
    snprintf(expected, sizeof expected, "{'EXIT',%s,noproc}", pid);
    assert_string_equal(message_to(process), expected);
    th_free(pid);
    pid = spawn("echo", "[1]", 1);
    snprintf(expected, sizeof expected, "{'EXIT',%s,normal}", pid);
    assert_string_equal(message_to(process), expected);
    assert_string_equal(call("trap", "[0]"), "1");
    th_free(pid);
}

static void an_unlinked_process_delivers_no_exit(void **state)
{
    (void)state;
    call("trap", "[1]");
    for (int i = 0; i < 200; i++) {
        char *pid = spawn("server", "[]", 1);
        call("relink", "[%s]", pid);
        call("unlink", "[%s]", pid);
        call("signal", "[%s,bad]", pid);
        await_end(pid);
        th_free(pid);
    }
    assert_string_equal(call("await", "[0]"), "timeout");
    call("trap", "[0]");
    assert_int_equal(process->links.count, 0);
}

static void a_link_ends_a_process_that_does_not_trap(void **state)
{
    struct th_process *other = th_runtime_run_start();

    (void)state;
    call_in(other, "spawn", "[party,exits,[gone],1]");
    assert_string_equal(call_in(other, "await", "[-1]"), "ended: gone");
    assert_string_equal(call_in(other, "self", "[]"), "ended: gone");
    assert_null(th_runtime_run_receive(other, -1));
    th_runtime_run_exit(other, TH_AM(normal));
}

/* --- Monitors -------------------------------------------------------------------------------- */

static void monitors_can_be_stopped(void **state)
{
    char *pid = spawn("server", "[]", 0);
    char *monitor = th_strdup(call("monitor", "[%s]", pid));

    (void)state;
    assert_string_equal(call("demonitor", "[%s,0]", monitor), "1");
    assert_string_equal(call("demonitor", "[%s,0]", monitor), "0");
    assert_string_equal(call("demonitor", "[none,1]"), "0");
    th_free(monitor);
    call("signal", "[%s,kill]", pid);
    await_end(pid);
    monitor = th_strdup(call("monitor", "[%s]", pid));
    call("sends", "[%s,[behind]]", self);
    assert_string_equal(call("demonitor", "[%s,1]", monitor), "0"); /* it came and is removed */
    assert_string_equal(call("await", "[0]"), "behind");
    assert_string_equal(call("await", "[0]"), "timeout");
    th_free(monitor);
    th_free(pid);
}

/* The monitored processes keep no entry of a dead owner. */
static void monitors_are_removed_with_their_owner(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        end_of("monitor", "[<0.1.0>]");
    call("spawn", "[party,monitor,[%s],2]", self);
    assert_string_equal(down(), "normal}");
    call("await", "[0]");
    assert_int_equal(process->watchers.count, 0);
    assert_int_equal(process->monitors.count, 0);
}

/* --- Names ----------------------------------------------------------------------------------- */

static void a_name_is_free_after_its_process_has_ended(void **state)
{
    char *pid = spawn("server", "[]", 0);

    (void)state;
    assert_string_equal(call("register", "[bob,%s]", pid), "1");
    assert_string_equal(call("register", "[bob,%s]", self), "0");
    assert_string_equal(call("whereis", "[bob]"), pid);
    call("kill_and_monitor", "[%s]", pid);
    down();
    assert_string_equal(call("whereis", "[bob]"), "undefined");
    assert_string_equal(call("unregister", "[bob]"), "0");
    assert_string_equal(call("register", "[bob,%s]", self), "1");
    assert_string_equal(call("unregister", "[bob]"), "1");
    th_free(pid);
}

/* --- Many ------------------------------------------------------------------------------------ */

static void await_only_one_is_left(void)
{
    for (int i = 0; i < 5000 && th_runtime_processes() > 1; i++)
        assert_string_equal(call("await", "[1]"), "timeout");
    assert_int_equal(th_runtime_processes(), 1);
}

static void an_exit_ends_a_hundred_thousand_linked_processes(void **state)
{
    struct th_process *other = th_runtime_run_start();

    (void)state;
    assert_string_equal(call_in(other, "spawns", "[100000,party,await,[-1]]"), "100000");
    assert_int_equal(th_runtime_processes(), 100002);
    th_runtime_signal_send(th_runtime_run_pid(other), TH_SIGNAL_EXIT, TH_NONE, 0, th_atom("storm"));
    th_runtime_run_exit(other, TH_AM(normal));
    await_only_one_is_left();
}

static void a_hundred_thousand_short_processes_run(void **state)
{
    (void)state;
    assert_string_equal(call("spawns", "[100000,party,echo,[1]]"), "100000");
    await_only_one_is_left();
}

static void an_exit_ends_a_chain_of_linked_processes(void **state)
{
    struct th_message *message;
    th_term last;

    (void)state;
    call("spawn", "[party,chain,[50000,%s],0]", self);
    message = th_runtime_run_receive(process, -1);
    last = th_tuple_elements(message->term)[1];
    th_process_message_free(message);
    th_runtime_signal_send(last, TH_SIGNAL_EXIT, TH_NONE, 0, th_atom("storm"));
    await_only_one_is_left();
}

static void a_mailbox_keeps_a_million_messages_in_order(void **state)
{
    (void)state;
    call("floods", "[%s,1000000]", self);
    assert_string_equal(call("select", "[0,0]"), "{0}");
    assert_string_equal(call("select", "[500000,0]"), "{500000}");
    assert_string_equal(call("await", "[0]"), "{999999}");
}

/* All processes exchange messages, over all schedulers. */
static void many_processes_talk_at_once(void **state)
{
    char *servers[8], *talkers[32];

    (void)state;
    for (int i = 0; i < 8; i++)
        servers[i] = spawn("server", "[]", 0);
    for (int i = 0; i < 32; i++)
        talkers[i] = th_strdup(call("spawn", "[party,ping,[%s,500],2]", servers[i % 8]));
    for (int i = 0; i < 32; i++)
        assert_string_equal(down(), "normal}");
    for (int i = 0; i < 32; i++)
        th_free(talkers[i]);
    for (int i = 0; i < 8; i++) {
        call("kill_and_monitor", "[%s]", servers[i]);
        down();
        th_free(servers[i]);
    }
}

static void a_process_behind_a_long_function_moves_to_another_thread(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        assert_string_equal(call("spins", "[name%d]", i), "ran");
}

static void timers_end_waits_in_any_order(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++)
        call("spawn", "[party,await,[%d],0]", (i * 7919) % 60);
    call("spawns", "[300,party,select,[a,20]]");
    for (int i = 0; i < 300; i++) /* killed before their timer is due */
        call("signal", "[%s,kill]", call("spawn", "[party,await,[10000],0]"));
    await_only_one_is_left();
}

/* --- Links on both sides ---------------------------------------------------------------------- */

enum { PEERS = 12 };

struct peers {
    const struct th_process *all[PEERS + 1];
    size_t count;
    bool quiet;
};

/* Runs under the mailbox's lock. */
static void note_peer(void *context, void *what, th_term pid)
{
    struct peers *peers = context;
    const struct th_process *peer = what;

    (void)pid;
    assert_order(peers->count, <=, PEERS);
    peers->all[peers->count++] = peer;
    peers->quiet &= peer->waiting;
}

/* Waits until all processes wait, twice in a row: then no signal is in transit. */
static struct peers await_quiet(void)
{
    struct peers peers = {.quiet = false};

    for (int quiet = 0; quiet < 2; quiet = peers.quiet ? quiet + 1 : 0) {
        nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
        peers = (struct peers){.quiet = true};
        th_process_each(th_runtime_mailbox_wake, note_peer, &peers);
    }
    return peers;
}

/* Processes link and unlink each other at random, at once. */
static void both_ends_of_a_link_know_it_or_neither(void **state)
{
    struct th_buffer list = {0};
    char *pids[PEERS];
    struct peers peers;
    size_t links = 0;

    (void)state;
    for (int i = 0; i < PEERS; i++) {
        pids[i] = th_strdup(call("spawn", "[party,mingles,[2000,%d,%s],0]", i, self));
        th_buffer_printf(&list, "%s%s", i ? "," : "", pids[i]);
    }
    for (int i = 0; i < PEERS; i++)
        call("sends", "[%s,[[%s]]]", pids[i], th_buffer_text(&list));
    for (int i = 0; i < PEERS; i++)
        assert_string_equal(message_to(process), "done");
    peers = await_quiet();
    for (size_t i = 0; i < peers.count; i++)
        for (size_t k = 0; k < peers.count; k++) {
            void *link = th_hash_table_get(&peers.all[i]->links, peers.all[k]->pid);
            assert_ptr_equal(link, th_hash_table_get(&peers.all[k]->links, peers.all[i]->pid));
            assert_true(link == NULL || link == TH_LINKED);
            links += link != NULL;
        }
    assert_int_equal(peers.count, PEERS + 1);
    assert_order(links, >, 0);
    for (int i = 0; i < PEERS; i++)
        th_free(pids[i]);
    th_buffer_free(&list);
}

static int begin(void **state)
{
    (void)state;
    start_party(3);
    process = th_runtime_run_start();
    self = text_of_pid(th_runtime_run_pid(process));
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_free(self);
    th_runtime_run_exit(process, TH_AM(normal));
    stop_party();
    return 0;
}

/* Each test has a driven process of its own. */
static int renew(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    th_runtime_kill_all();
    process = th_runtime_run_start();
    th_free(self);
    self = text_of_pid(th_runtime_run_pid(process));
    return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, renew)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(messages_are_received_in_order_or_by_selection),
        TEST(a_server_answers_until_it_is_stopped),
        TEST(a_process_ends_with_a_reason),
        TEST(an_error_is_reported_once),
        TEST(an_exit_signal_ends_a_process_that_does_not_trap),
        TEST(kill_ends_a_process_that_traps_exits),
        TEST(signals_keep_their_order),
        TEST(a_process_that_traps_exits_gets_messages),
        TEST(a_link_delivers_the_exit_of_a_process),
        TEST(an_unlinked_process_delivers_no_exit),
        TEST(a_link_ends_a_process_that_does_not_trap),
        TEST(monitors_can_be_stopped),
        TEST(monitors_are_removed_with_their_owner),
        TEST(a_name_is_free_after_its_process_has_ended),
        TEST(an_exit_ends_a_hundred_thousand_linked_processes),
        TEST(a_hundred_thousand_short_processes_run),
        TEST(an_exit_ends_a_chain_of_linked_processes),
        TEST(a_mailbox_keeps_a_million_messages_in_order),
        TEST(many_processes_talk_at_once),
        TEST(a_process_behind_a_long_function_moves_to_another_thread),
        TEST(timers_end_waits_in_any_order),
        TEST(both_ends_of_a_link_know_it_or_neither),
    };

    return cmocka_run_group_tests(tests, begin, end);
}

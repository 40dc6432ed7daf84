/* Tests the limit of processes. */
#include "parties.h"

static void a_spawn_beyond_the_limit_of_processes_fails(void **state)
{
    struct th_process *process;

    (void)state;
    party_setup.processes = 10;
    start_party(2);
    process = th_runtime_run_start();
    assert_string_equal(call_in(process, "spawns", "[9,party,await,[-1]]"), "9");
    assert_string_equal(call_in(process, "spawn", "[party,echo,[1],0]"), "error: system_limit");
    assert_int_equal(th_runtime_processes(), 10);
    th_runtime_run_exit(process, th_atom("done"));
    stop_party();
}

/* A running process is killed when its function returns, and so are those it has spawned. */
static void kill_all_ends_every_process(void **state)
{
    struct th_process *process;

    (void)state;
    party_setup.processes = 0;
    start_party(3);
    process = th_runtime_run_start();
    assert_string_equal(call_in(process, "spawns", "[500,party,server,[]]"), "500");
    call_in(process, "spawns", "[20,party,loop,[1000000000]]");
    call_in(process, "spawns", "[20,party,crowd,[1000]]");
    call_in(process, "spawns", "[20,party,await,[5]]");
    assert_order(th_runtime_processes(), >, 500);
    th_runtime_kill_all();
    assert_order(th_runtime_processes(), <=,
                 1); /* the process may not have seen yet that all others have ended */
    assert_string_equal(call_in(process, "self", "[]"), "ended: killed");
    th_runtime_run_exit(process, TH_AM(normal));
    assert_int_equal(th_runtime_processes(), 0);
    stop_party();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spawn_beyond_the_limit_of_processes_fails),
        cmocka_unit_test(kill_all_ends_every_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

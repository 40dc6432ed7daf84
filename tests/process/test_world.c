/* Tests the world of a recording: seen and ended processes, names, and forgotten processes. */
#include "host/base/base.h"
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>

enum { MANY = 200000 };

static size_t dropped;
static struct th_recorded_process *last_dropped;

static void drop(struct th_recorded_process *process)
{
    dropped++;
    last_dropped = process;
}

static th_term pid(uint32_t number)
{
    return th_local_pid(number, 0);
}

static int begin(void **state)
{
    (void)state;
    th_process_world_reset(drop);
    dropped = 0;
    return 0;
}

static void each_recorded_process_has_one_struct(void **state)
{
    struct th_recorded_process *a = th_process_world_see(pid(1));
    struct th_recorded_process *b = th_process_world_see(pid(2));

    (void)state;
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(th_process_world_see(pid(1)), a);
    assert_ptr_equal(th_process_world_see(pid(1)), a);
    assert_ptr_equal(th_process_world_find(pid(2)), b);
    assert_null(th_process_world_find(pid(3)));
    assert_true(a->id == pid(1) && a->name == TH_NONE && !a->tracing);
}

static void a_port_is_not_the_process_of_the_same_number(void **state)
{
    (void)state;
    assert_ptr_not_equal(th_process_world_see(th_local_port(7)), th_process_world_see(pid(7)));
    th_process_world_end(pid(7));
    assert_false(th_process_alive(pid(7)));
    assert_true(th_process_alive(th_local_port(7)));
}

static void a_recorded_process_is_alive_until_its_end(void **state)
{
    (void)state;
    assert_true(th_process_alive(pid(5))); /* never seen */
    th_process_world_see(pid(5));
    assert_true(th_process_alive(pid(5)));
    th_process_world_end(pid(5));
    assert_false(th_process_alive(pid(5)));
    assert_null(th_process_world_find(pid(5)));
    assert_true(th_process_alive(pid(6)));
    assert_true(th_process_alive(th_local_pid(5, 1))); /* the number was reused */
}

static void the_dead_stay_dead_when_seen_again(void **state)
{
    (void)state;
    th_process_world_see(pid(5));
    th_process_world_end(pid(5));
    assert_non_null(th_process_world_see(pid(5)));
    assert_false(th_process_alive(pid(5)));
    th_process_world_end(pid(5));
    assert_int_equal(th_process_world_counts().ended, 1);
    assert_int_equal(th_process_world_counts().seen, 1);
}

static void a_term_that_is_no_local_identifier_is_not_alive(void **state)
{
    th_env env;

    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    assert_false(th_process_alive(TH_AM(undefined)));
    assert_false(th_process_alive(TH_NIL));
    assert_false(th_process_alive(th_make_pid(&env, TH_AM(nonode), 1, 2, 3)));
    th_env_release(&env);
}

static void pids_with_huge_numbers_are_distinct(void **state)
{
    th_env env;
    th_term big, other;
    struct th_recorded_process *process;

    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    big = th_make_pid(&env, 0, 0, 0xFFFFFFFFu, 1);
    other = th_make_pid(&env, 0, 0, 0xFFFFFFFEu, 1);
    process = th_process_world_see(big);
    assert_term_equal(process->id, TH_NONE);
    assert_ptr_equal(th_process_world_see(big), process);
    assert_ptr_not_equal(th_process_world_see(other), process);
    process->tracing = &env;
    th_process_world_end(big);
    assert_int_equal(dropped, 1);
    assert_null(th_process_world_find(big));
    assert_non_null(th_process_world_find(other));
    th_env_release(&env);
}

static void dropping_a_process_that_has_tracing_is_reported(void **state)
{
    struct th_recorded_process *a = th_process_world_see(pid(1));

    (void)state;
    a->tracing = &dropped;
    th_process_world_see(pid(2));
    th_process_world_end(pid(2));
    assert_int_equal(dropped, 0);
    th_process_world_end(pid(1));
    assert_int_equal(dropped, 1);
    assert_ptr_equal(last_dropped, a);
}

static void a_reset_forgets_all_processes_and_names(void **state)
{
    (void)state;
    th_process_world_see(pid(1))->tracing = &dropped;
    th_process_world_register(pid(2), TH_AM(console));
    th_process_world_end(pid(3));
    th_process_world_set_node((struct th_etf_node){TH_AM(nonode), 5});
    th_process_world_reset(drop);
    assert_int_equal(dropped, 1);
    assert_null(th_process_world_find(pid(1)));
    assert_term_equal(th_process_whereis(TH_AM(console)), TH_NONE);
    assert_true(th_process_alive(pid(3)));
    assert_int_equal(th_process_world_node().node, 0);
    assert_int_equal(th_process_world_counts().seen, 0);
    assert_int_equal(th_process_world_counts().ended, 0);
    th_process_world_end(pid(3));
    assert_false(th_process_alive(pid(3)));
}

static void a_name_belongs_to_the_latest_process(void **state)
{
    (void)state;
    th_process_world_register(pid(1), TH_AM(ok));
    assert_term_equal(th_process_whereis(TH_AM(ok)), pid(1));
    th_process_world_register(pid(2), TH_AM(ok)); /* the recording lost the unregister */
    assert_term_equal(th_process_whereis(TH_AM(ok)), pid(2));
    assert_term_equal(th_process_world_see(pid(1))->name, TH_NONE);
    assert_term_equal(th_process_world_see(pid(2))->name, TH_AM(ok));
    th_process_world_register(pid(2), TH_AM(ok));
    assert_term_equal(th_process_world_see(pid(2))->name, TH_AM(ok));
}

static void a_process_has_one_name(void **state)
{
    (void)state;
    th_process_world_register(pid(1), TH_AM(ok));
    th_process_world_register(pid(1), TH_AM(error));
    assert_term_equal(th_process_whereis(TH_AM(ok)), TH_NONE);
    assert_term_equal(th_process_whereis(TH_AM(error)), pid(1));
    th_process_world_unregister(pid(1), TH_AM(error));
    th_process_world_unregister(pid(1), TH_AM(error));
    assert_term_equal(th_process_whereis(TH_AM(error)), TH_NONE);
    assert_term_equal(th_process_world_see(pid(1))->name, TH_NONE);
}

static void each_node_has_its_names(void **state)
{
    unsigned peer = th_peer_add(th_atom("a@b"), 1), next = th_peer_add(th_atom("a@b"), 2);
    th_term far = th_make_pid(NULL, th_atom("a@b"), 1, 1, 0);
    th_term farther = th_make_port(NULL, th_atom("a@b"), 2, 1);
    th_env env;

    (void)state;
    th_process_world_register(far, TH_AM(ok));
    assert_term_equal(th_process_whereis(TH_AM(ok)), TH_NONE);
    th_process_world_register(pid(1), TH_AM(ok));
    th_process_world_register(farther, TH_AM(ok));
    assert_term_equal(th_process_whereis(TH_AM(ok)), pid(1));
    assert_term_equal(th_process_world_named(TH_AM(ok), 0), pid(1));
    assert_term_equal(th_process_world_named(TH_AM(ok), peer), far);
    assert_term_equal(th_process_world_named(TH_AM(ok), next), farther);
    assert_term_equal(th_process_world_see(far)->name, TH_AM(ok));

    th_process_world_unregister(th_make_pid(NULL, th_atom("a@b"), 1, 9, 0), TH_AM(ok));
    assert_term_equal(th_process_world_named(TH_AM(ok), peer), TH_NONE);
    assert_term_equal(th_process_world_see(far)->name, TH_NONE);
    assert_term_equal(th_process_whereis(TH_AM(ok)), pid(1));
    th_process_world_end(farther);
    assert_term_equal(th_process_world_named(TH_AM(ok), next), TH_NONE);
    th_process_world_register(far, TH_AM(ok));
    th_process_world_unregister(pid(2), TH_AM(ok));
    assert_term_equal(th_process_whereis(TH_AM(ok)), TH_NONE);
    assert_term_equal(th_process_world_named(TH_AM(ok), peer), far);

    th_env_init(&env, TH_ENV_PLAIN); /* a process without a word takes the name of its own node */
    th_process_world_register(pid(1), TH_AM(ok));
    th_process_world_register(th_make_pid(&env, th_atom("x@y"), 1, 1, 0), TH_AM(ok));
    th_process_world_register(th_make_pid(&env, th_atom("a@b"), 1, UINT32_MAX, 0), TH_AM(ok));
    assert_term_equal(th_process_whereis(TH_AM(ok)), pid(1));
    assert_term_equal(th_process_world_named(TH_AM(ok), peer), TH_NONE);
    th_env_release(&env);
}

static void processes_of_peers_live_and_end_by_themselves(void **state)
{
    const uint32_t serials[] = {0, TH_HOST_SERIAL, TH_PID_SERIAL_MAX};

    (void)state;
    th_peer_add(th_atom("a@b"), 1);
    for (size_t i = 0; i < 3; i++) {
        th_term far = th_make_pid(NULL, th_atom("a@b"), 1, 1, serials[i]);
        th_term port = th_make_port(NULL, th_atom("a@b"), 1, TH_HOST_PORT_ID + i);
        struct th_recorded_process *process = th_process_world_see(far);

        assert_term_equal(process->id, far);
        assert_ptr_not_equal(process, th_process_world_see(pid(1)));
        assert_true(th_process_alive(far) && th_process_alive(port));
        th_process_world_end(far);
        th_process_world_end(port);
        assert_true(!th_process_alive(far) && !th_process_alive(port));
        assert_true(th_process_alive(pid(1)));
    }
}

static void the_end_of_a_process_frees_its_name(void **state)
{
    (void)state;
    th_process_world_register(pid(1), TH_AM(ok));
    th_process_world_end(pid(1));
    assert_term_equal(th_process_whereis(TH_AM(ok)), TH_NONE);
    assert_term_equal(th_process_world_see(pid(1))->name, TH_NONE);
}

static void the_world_keeps_its_node_and_creation(void **state)
{
    struct th_etf_node node = {TH_AM(nonode), 0xFFFFFFFFu};

    (void)state;
    assert_true(th_process_world_node().node == 0 && th_process_world_node().creation == 0);
    th_process_world_set_node(node);
    assert_term_equal(th_process_world_node().node, TH_AM(nonode));
    assert_int_equal(th_process_world_node().creation, 0xFFFFFFFFu);
}

static void idle_processes_are_dropped_and_others_are_kept(void **state)
{
    (void)state;
    th_process_world_see(pid(1))->tracing = &dropped;
    th_process_world_register(pid(2), TH_AM(ok));
    for (uint32_t i = 3; i < MANY; i++) {
        struct th_recorded_process *process = th_process_world_see(pid(i));
        th_process_world_see(pid(3)); /* the process that is never idle */
        assert_term_equal(process->id, pid(i));
    }
    assert_in_range(th_process_world_counts().present, 65536, 2 * 65536);
    assert_int_equal(th_process_world_counts().seen, MANY - 1);
    assert_non_null(th_process_world_find(pid(1)));
    assert_non_null(th_process_world_find(pid(2)));
    assert_non_null(th_process_world_find(pid(3)));
    assert_null(th_process_world_find(pid(4)));
    assert_true(th_process_alive(pid(4)));
    assert_int_equal(dropped, 0);
    th_process_world_see(pid(4));
    assert_int_equal(th_process_world_counts().seen, MANY - 1);
}

static void a_known_process_costs_no_memory(void **state)
{
    unsigned long before;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        th_process_world_see(pid(i));
    before = th_alloc_count();
    for (uint32_t i = 0; i < 100000; i++)
        th_process_world_see(pid(i * 7 % 1000));
    assert_int_equal(th_alloc_count(), before);
}

static void the_ends_of_many_processes_are_remembered(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MANY; i += 2)
        th_process_world_end(th_local_pid(i, i % 3));
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(th_process_alive(th_local_pid(i, i % 3)), i % 2);
    assert_int_equal(th_process_world_counts().ended, MANY / 2);
    assert_int_equal(th_process_world_counts().present, 0);
}

/* The host's own identifiers are dead unless the host has issued them. Those of peers are never the
 * host's own. */
static bool may_be_recorded(th_term id)
{
    if (th_peer_of(id))
        return true;
    return th_is_local_port(id) ? th_local_port_id(id) < TH_HOST_PORT_ID
                                : th_local_pid_serial(id) < TH_HOST_SERIAL;
}

static void identifiers_that_differ_in_one_bit_are_distinct(void **state)
{
    const th_term ids[] = {pid(0), th_local_port(0), th_local_pid(0x7FFFFFF, TH_HOST_SERIAL - 1)};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (int bit = 4; bit < 64; bit += 2)
            th_process_world_end(ids[i] ^ (th_term)1 << bit);
        for (int bit = 4; bit < 64; bit++) {
            th_term other = ids[i] ^ (th_term)1 << bit;
            assert_int_equal(th_process_alive(other), bit % 2 && may_be_recorded(other));
        }
        assert_true(th_process_alive(ids[i]));
    }
    assert_int_equal(th_process_world_counts().ended, 3 * 30);
    th_process_world_reset(drop);
    for (int bit = 4; bit < 64; bit++) {
        th_term other = ids[2] ^ (th_term)1 << bit;
        assert_int_equal(th_process_alive(other), may_be_recorded(other));
    }
}

static void count_seen(void *context, th_term id)
{
    size_t *counts = context;

    counts[0]++;
    counts[1] += id == th_local_port(5) || id == th_local_pid(0x7FFFFFF, 0x12345) ||
                 (th_is_local_pid(id) && th_local_pid_number(id) < 1000 && id != pid(7));
}

static void all_seen_identifiers_are_listed(void **state)
{
    size_t counts[2] = {0};

    (void)state;
    for (uint32_t i = 8; i < 1000; i++)
        th_process_world_see(pid(i));
    th_process_world_see(th_local_port(5));
    th_process_world_end(th_local_pid(0x7FFFFFF, 0x12345));
    th_process_world_expect(pid(7));
    assert_true(th_process_world_each_seen(count_seen, counts));
    assert_int_equal(counts[0], 994);
    assert_int_equal(counts[1], 994);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_recorded_process_has_one_struct, begin),
        cmocka_unit_test_setup(a_port_is_not_the_process_of_the_same_number, begin),
        cmocka_unit_test_setup(a_recorded_process_is_alive_until_its_end, begin),
        cmocka_unit_test_setup(the_dead_stay_dead_when_seen_again, begin),
        cmocka_unit_test_setup(a_term_that_is_no_local_identifier_is_not_alive, begin),
        cmocka_unit_test_setup(pids_with_huge_numbers_are_distinct, begin),
        cmocka_unit_test_setup(dropping_a_process_that_has_tracing_is_reported, begin),
        cmocka_unit_test_setup(a_reset_forgets_all_processes_and_names, begin),
        cmocka_unit_test_setup(a_name_belongs_to_the_latest_process, begin),
        cmocka_unit_test_setup(a_process_has_one_name, begin),
        cmocka_unit_test_setup(the_end_of_a_process_frees_its_name, begin),
        cmocka_unit_test_setup(processes_of_peers_live_and_end_by_themselves, begin),
        cmocka_unit_test_setup(each_node_has_its_names, begin),
        cmocka_unit_test_setup(the_world_keeps_its_node_and_creation, begin),
        cmocka_unit_test_setup(idle_processes_are_dropped_and_others_are_kept, begin),
        cmocka_unit_test_setup(a_known_process_costs_no_memory, begin),
        cmocka_unit_test_setup(the_ends_of_many_processes_are_remembered, begin),
        cmocka_unit_test_setup(identifiers_that_differ_in_one_bit_are_distinct, begin),
        cmocka_unit_test_setup(all_seen_identifiers_are_listed, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

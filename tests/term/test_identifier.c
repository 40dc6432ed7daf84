/* Tests pids, ports and references, also magic ones, of this node and of others. */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <string.h>

static th_env env;

static int begin(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    return 0;
}

static void assert_pid(th_term node, uint32_t creation, uint32_t number, uint32_t serial)
{
    th_term t = th_make_pid(&env, node, creation, number, serial);
    struct th_pid_parts parts;

    assert_true(th_is_pid(t));
    assert_int_equal(th_is_local_pid(t), node == TH_NONE && number < 1u << 28 && serial < 1u << 28);
    assert_false(th_is_port(t) || th_is_ref(t) || th_is_atom(t) || th_is_small(t));
    assert_true(th_get_pid(t, &parts));
    assert_term_equal(parts.node, node);
    assert_int_equal(parts.creation, th_is_local_pid(t) ? 0 : creation);
    assert_int_equal(parts.number, number);
    assert_int_equal(parts.serial, serial);
}

static void pids_return_their_parts(void **state)
{
    (void)state;
    for (int bit = 0; bit < 32; bit++) {
        assert_pid(TH_NONE, 0, (uint32_t)1 << bit, 0);
        assert_pid(TH_NONE, 0, 0, (uint32_t)1 << bit);
        assert_pid(TH_AM(nonode), (uint32_t)1 << bit, 7, (uint32_t)1 << bit);
    }
    assert_pid(TH_NONE, 0, TH_PID_NUMBER_MAX, TH_PID_SERIAL_MAX);
    assert_pid(TH_NONE, 0, TH_PID_NUMBER_MAX, UINT32_MAX);
    assert_pid(TH_NONE, 0, UINT32_MAX, UINT32_MAX);
    assert_pid(TH_AM(nonode), UINT32_MAX, UINT32_MAX, UINT32_MAX);
    assert_false(th_get_pid(th_local_port(1), &(struct th_pid_parts){0}));
}

static void assert_port(th_term node, uint32_t creation, uint64_t id)
{
    th_term t = th_make_port(&env, node, creation, id);
    struct th_port_parts parts;

    assert_true(th_is_port(t));
    assert_int_equal(th_is_local_port(t), node == TH_NONE && id >> 56 == 0);
    assert_false(th_is_pid(t) || th_is_ref(t) || th_is_atom(t) || th_is_small(t));
    assert_true(th_get_port(t, &parts));
    assert_term_equal(parts.node, node);
    assert_int_equal(parts.creation, th_is_local_port(t) ? 0 : creation);
    assert_int_equal(parts.id, id);
}

static void ports_return_their_parts(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++) {
        assert_port(TH_NONE, 0, (uint64_t)1 << bit);
        assert_port(TH_AM(nonode), 3, (uint64_t)1 << bit);
    }
    assert_port(TH_NONE, 0, TH_PORT_ID_MAX);
    assert_port(TH_NONE, 0, UINT64_MAX);
    assert_false(th_get_port(th_local_pid(1, 0), &(struct th_port_parts){0}));
}

static void references_return_their_parts(void **state)
{
    const uint32_t words[TH_REF_WORDS] = {1, 0xFFFFFFFF, 3, 4, 0x80000000};
    struct th_ref_parts parts;

    (void)state;
    for (size_t count = 1; count <= TH_REF_WORDS; count++) {
        th_term t = th_make_reference(&env, TH_AM(nonode), UINT32_MAX, words, count);
        assert_true(th_get_ref(t, &parts));
        assert_term_equal(parts.node, TH_AM(nonode));
        assert_int_equal(parts.creation, UINT32_MAX);
        assert_int_equal(parts.count, count);
        assert_memory_equal(parts.words, words, count * sizeof *words);
        for (size_t i = count; i < TH_REF_WORDS; i++)
            assert_int_equal(parts.words[i], 0);
        assert_false(parts.magic);
        assert_null(th_magic_object(t));
    }
    assert_false(th_get_ref(TH_NIL, &parts));
}

static void new_references_differ(void **state)
{
    th_term a = th_make_new_reference(&env);
    th_term b = th_make_new_reference(&env);
    struct th_ref_parts parts;

    (void)state;
    assert_true(th_is_ref(a));
    assert_false(th_identical(a, b));
    assert_true(th_get_ref(a, &parts));
    assert_term_equal(parts.node, TH_NONE);
    assert_int_equal(parts.count, 3);
    assert_order(parts.words[0], <, 1 << 18);
}

static int shares;

static void keep_share(struct th_magic *object);
static struct th_magic shared = {keep_share, {1, 2, 3}};

static void keep_share(struct th_magic *object)
{
    assert_ptr_equal(object, &shared);
    shares++;
}

static void release_share(struct th_offheap *self)
{
    assert_ptr_equal(th_magic_owner(self), &shared);
    shares--;
}

static void release_nothing(struct th_offheap *self)
{
    (void)self;
}

static void a_magic_reference_holds_its_object(void **state)
{
    th_env other;
    th_term t = th_make_magic(&env, &shared, release_share);
    th_term again;
    struct th_ref_parts parts;

    (void)state;
    shares = 1;
    assert_ptr_equal(th_magic_object(t), &shared);
    assert_ptr_equal(th_magic_object_of(t, release_share), &shared);
    assert_null(th_magic_object_of(t, release_nothing));
    assert_null(th_magic_object_of(th_make_new_reference(&env), release_share));
    assert_true(th_get_ref(t, &parts));
    assert_true(parts.magic);
    assert_int_equal(parts.count, 3);
    assert_memory_equal(parts.words, shared.words, sizeof shared.words);
    assert_int_equal(parts.words[3], 0);
    assert_int_equal(th_reference_number(t), 0);
    th_env_init(&other, TH_ENV_PLAIN);
    again = th_magic_share(&other, t);
    assert_int_equal(shares, 2);
    assert_term_identical(t, again);
    assert_term_identical(t, th_make_reference(&env, TH_NONE, 0, shared.words, 3));
    th_env_clear(&env);
    assert_int_equal(shares, 1);
    assert_ptr_equal(th_magic_object(again), &shared);
    th_env_release(&other);
    assert_int_equal(shares, 0);
    assert_null(th_magic_object(TH_NIL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pids_return_their_parts),
        TEST(ports_return_their_parts),
        TEST(references_return_their_parts),
        TEST(new_references_differ),
        TEST(a_magic_reference_holds_its_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

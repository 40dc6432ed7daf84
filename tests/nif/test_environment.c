/* Tests environments and exceptions. */
#include "host/base/base.h"
#include "host/nif/nif.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>

static ErlNifEnv *env;

static int begin(void **state)
{
    (void)state;
    env = enif_alloc_env();
    return 0;
}

static int end(void **state)
{
    (void)state;
    enif_free_env(env);
    return 0;
}

static void a_copied_term_outlives_the_original_environment(void **state)
{
    ErlNifEnv *other = enif_alloc_env();
    ERL_NIF_TERM term = enif_make_list2(other, enif_make_double(other, 1.5),
                                        enif_make_string(other, "text", ERL_NIF_LATIN1));
    ERL_NIF_TERM copy = enif_make_copy(env, term);
    ERL_NIF_TERM head, tail;
    double d;

    (void)state;
    assert_true(enif_is_identical(term, copy));
    assert_int_not_equal(term, copy);
    enif_free_env(other);
    assert_true(enif_get_list_cell(env, copy, &head, &tail));
    assert_true(enif_get_double(env, head, &d) && d == 1.5);
}

static void immediate_terms_are_copied_unchanged(void **state)
{
    ERL_NIF_TERM terms[] = {TH_AM(ok), TH_NIL, enif_make_int(env, -5), th_local_pid(1, 2),
                            th_local_port(3)};

    (void)state;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        assert_term_equal(enif_make_copy(env, terms[i]), terms[i]);
}

static void a_cleared_environment_can_be_used_again(void **state)
{
    ERL_NIF_TERM term;
    unsigned long before;

    (void)state;
    enif_raise_exception(env, TH_AM(error));
    enif_clear_env(env);
    assert_false(enif_has_pending_exception(env, NULL));
    enif_make_string(env, "text", ERL_NIF_LATIN1);
    before = th_alloc_count();
    for (int i = 0; i < 1000; i++) {
        enif_clear_env(env);
        term = enif_make_string(env, "text", ERL_NIF_LATIN1);
        assert_true(enif_is_list(env, term));
    }
    assert_int_equal(th_alloc_count(), before);
}

static void clearing_or_freeing_a_call_environment_has_no_effect(void **state)
{
    th_env call;
    ERL_NIF_TERM term;
    double d;

    (void)state;
    th_env_init(&call, TH_ENV_CALLBACK);
    term = enif_make_double(&call, 2.5);
    enif_clear_env(&call);
    enif_free_env(&call);
    enif_free_env(NULL);
    enif_make_double(&call, 3.5);
    assert_true(enif_get_double(&call, term, &d) && d == 2.5);
    th_env_release(&call);
}

static void a_raised_exception_is_pending_with_its_reason(void **state)
{
    ERL_NIF_TERM reason = TH_NIL;
    ERL_NIF_TERM raised;

    (void)state;
    assert_false(enif_has_pending_exception(env, &reason));
    assert_false(enif_has_pending_exception(env, NULL));
    assert_term_equal(reason, TH_NIL);
    assert_false(enif_is_exception(env, TH_NIL));
    raised = enif_make_badarg(env);
    assert_true(enif_is_exception(env, raised));
    assert_false(enif_is_exception(env, TH_AM(badarg)));
    assert_true(enif_has_pending_exception(env, NULL));
    assert_true(enif_has_pending_exception(env, &reason));
    assert_term_equal(reason, TH_AM(badarg));
}

static void any_term_may_be_the_reason_of_an_exception(void **state)
{
    ERL_NIF_TERM why = enif_make_tuple2(env, TH_AM(error), TH_NIL);
    ERL_NIF_TERM reason;

    (void)state;
    assert_true(enif_is_exception(env, enif_raise_exception(env, why)));
    assert_true(enif_has_pending_exception(env, &reason));
    assert_term_equal(reason, why);
}

static void an_environment_without_library_has_no_private_data(void **state)
{
    (void)state;
    assert_null(enif_priv_data(env));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_copied_term_outlives_the_original_environment, begin,
                                        end),
        cmocka_unit_test_setup_teardown(immediate_terms_are_copied_unchanged, begin, end),
        cmocka_unit_test_setup_teardown(a_cleared_environment_can_be_used_again, begin, end),
        cmocka_unit_test_setup_teardown(clearing_or_freeing_a_call_environment_has_no_effect, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_raised_exception_is_pending_with_its_reason, begin, end),
        cmocka_unit_test_setup_teardown(any_term_may_be_the_reason_of_an_exception, begin, end),
        cmocka_unit_test_setup_teardown(an_environment_without_library_has_no_private_data, begin,
                                        end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests atoms: one word each, both encodings, limits. */
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

static void equal_names_make_the_same_atom(void **state)
{
    (void)state;
    assert_term_equal(enif_make_atom(env, "ok"), TH_AM(ok));
    assert_term_equal(enif_make_atom(env, "made here"), enif_make_atom_len(NULL, "made here!", 9));
    assert_term_equal(enif_make_atom(env, ""), enif_make_atom_len(env, "x", 0));
    assert_true(enif_is_atom(env, TH_AM(ok)));
    assert_false(enif_is_atom(env, TH_NIL));
    assert_false(enif_is_atom(env, enif_make_int(env, 1)));
}

static void an_atom_name_has_at_most_255_characters(void **state)
{
    char name[256];
    char back[257];
    ERL_NIF_TERM atom, reason;

    (void)state;
    memset(name, 0xE5, sizeof name); /* two bytes of UTF-8 each */
    atom = enif_make_atom_len(env, name, 255);
    assert_true(enif_is_atom(env, atom));
    assert_int_equal(enif_get_atom(env, atom, back, sizeof back, ERL_NIF_LATIN1), 256);
    assert_memory_equal(back, name, 255);
    atom = enif_make_atom_len(env, name, 256);
    assert_true(enif_is_exception(env, atom));
    assert_true(enif_has_pending_exception(env, &reason));
    assert_term_equal(reason, TH_AM(badarg));
}

static void a_failed_new_atom_raises_no_exception(void **state)
{
    char name[256];
    ERL_NIF_TERM atom = TH_NIL;

    (void)state;
    memset(name, 'n', sizeof name);
    assert_true(enif_make_new_atom(env, "fresh one", &atom, ERL_NIF_LATIN1));
    assert_term_equal(atom, enif_make_atom(env, "fresh one"));
    atom = TH_NIL;
    assert_false(enif_make_new_atom_len(env, name, 256, &atom, ERL_NIF_LATIN1));
    assert_false(enif_make_new_atom_len(env, name, 256, &atom, ERL_NIF_UTF8));
    assert_false(enif_make_new_atom(env, "\xC3", &atom, ERL_NIF_UTF8));
    assert_false(enif_make_new_atom(env, "x", &atom, (ErlNifCharEncoding)3));
    assert_term_equal(atom, TH_NIL);
    assert_false(enif_has_pending_exception(env, NULL));
}

static void utf8_and_latin1_name_the_same_atom(void **state)
{
    ERL_NIF_TERM a, b;

    (void)state;
    assert_true(enif_make_new_atom(env, "\xC3\xA5", &a, ERL_NIF_UTF8));
    assert_true(enif_make_new_atom(env, "\xE5", &b, ERL_NIF_LATIN1));
    assert_term_equal(a, b);
}

static void looking_up_an_existing_atom_creates_no_atom(void **state)
{
    ERL_NIF_TERM atom = TH_NIL;
    size_t before = th_atom_count();

    (void)state;
    assert_false(enif_make_existing_atom(env, "no such name", &atom, ERL_NIF_LATIN1));
    assert_false(enif_make_existing_atom_len(env, "no such name", 5, &atom, ERL_NIF_UTF8));
    assert_false(enif_make_existing_atom(env, "ok", &atom, (ErlNifCharEncoding)0));
    assert_term_equal(atom, TH_NIL);
    assert_int_equal(th_atom_count(), before);
    assert_true(enif_make_existing_atom(env, "ok", &atom, ERL_NIF_LATIN1));
    assert_term_equal(atom, TH_AM(ok));
    assert_true(enif_make_existing_atom_len(env, "error!", 5, &atom, ERL_NIF_UTF8));
    assert_term_equal(atom, TH_AM(error));
}

static void an_atom_name_that_does_not_fit_is_not_copied(void **state)
{
    char name[4] = "abc";

    (void)state;
    assert_int_equal(enif_get_atom(env, TH_AM(ok), name, 0, ERL_NIF_LATIN1), 0);
    assert_int_equal(enif_get_atom(env, TH_AM(ok), name, 2, ERL_NIF_LATIN1), 0);
    assert_int_equal(enif_get_atom(env, TH_NIL, name, 4, ERL_NIF_LATIN1), 0);
    assert_int_equal(enif_get_atom(env, TH_AM(ok), name, 4, (ErlNifCharEncoding)3), 0);
    assert_string_equal(name, "abc");
    assert_int_equal(enif_get_atom(env, TH_AM(ok), name, 3, ERL_NIF_LATIN1), 3);
    assert_string_equal(name, "ok");
}

static void an_atom_with_wide_characters_has_no_latin1_name(void **state)
{
    ERL_NIF_TERM wide;
    char name[8];
    unsigned length = 9;

    (void)state;
    assert_true(enif_make_new_atom(env, "z\xD0\x96", &wide, ERL_NIF_UTF8));
    assert_int_equal(enif_get_atom(env, wide, name, sizeof name, ERL_NIF_LATIN1), 0);
    assert_false(enif_get_atom_length(env, wide, &length, ERL_NIF_LATIN1));
    assert_int_equal(length, 9);
    assert_true(enif_get_atom_length(env, wide, &length, ERL_NIF_UTF8));
    assert_int_equal(length, 3);
    assert_int_equal(enif_get_atom(env, wide, name, 3, ERL_NIF_UTF8), 0);
    assert_int_equal(enif_get_atom(env, wide, name, 4, ERL_NIF_UTF8), 4);
    assert_string_equal(name, "z\xD0\x96");
}

static void the_length_of_an_atom_depends_on_the_encoding(void **state)
{
    ERL_NIF_TERM atom = enif_make_atom(env, "a\xE5");
    unsigned length;

    (void)state;
    assert_true(enif_get_atom_length(env, atom, &length, ERL_NIF_LATIN1));
    assert_int_equal(length, 2);
    assert_true(enif_get_atom_length(env, atom, &length, ERL_NIF_UTF8));
    assert_int_equal(length, 3);
    assert_false(enif_get_atom_length(env, TH_NIL, &length, ERL_NIF_LATIN1));
}

static void a_known_atom_allocates_no_memory(void **state)
{
    unsigned long before;

    (void)state;
    enif_make_atom(env, "known");
    before = th_alloc_count();
    for (int i = 0; i < 1000; i++)
        enif_make_atom(env, "known");
    assert_int_equal(th_alloc_count(), before);
}

static void the_atom_cache_index_is_within_its_range(void **state)
{
    unsigned most = enif_max_atom_cache_index(), index = 99, again;
    char name[32];

    (void)state;
    assert_int_equal(most, 2038); /* as in a BEAM */
    assert_true(enif_get_atom_cache_index(env, TH_AM(ok), &again));
    for (unsigned i = 0; i < 2 * most; i++) {
        snprintf(name, sizeof name, "cached %u", i);
        assert_true(enif_get_atom_cache_index(env, enif_make_atom(env, name), &index));
        assert_order(index, <=, most);
    }
    assert_true(enif_get_atom_cache_index(env, TH_AM(ok), &index));
    assert_int_equal(index, again);
    index = 99;
    assert_false(enif_get_atom_cache_index(env, TH_NIL, &index));
    assert_int_equal(index, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_names_make_the_same_atom, begin, end),
        cmocka_unit_test_setup_teardown(an_atom_name_has_at_most_255_characters, begin, end),
        cmocka_unit_test_setup_teardown(a_failed_new_atom_raises_no_exception, begin, end),
        cmocka_unit_test_setup_teardown(utf8_and_latin1_name_the_same_atom, begin, end),
        cmocka_unit_test_setup_teardown(looking_up_an_existing_atom_creates_no_atom, begin, end),
        cmocka_unit_test_setup_teardown(an_atom_name_that_does_not_fit_is_not_copied, begin, end),
        cmocka_unit_test_setup_teardown(an_atom_with_wide_characters_has_no_latin1_name, begin,
                                        end),
        cmocka_unit_test_setup_teardown(the_length_of_an_atom_depends_on_the_encoding, begin, end),
        cmocka_unit_test_setup_teardown(a_known_atom_allocates_no_memory, begin, end),
        cmocka_unit_test_setup_teardown(the_atom_cache_index_is_within_its_range, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests atoms: one word for a name, from any thread; names, order and limits. */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void constants_equal_the_atoms_of_their_names(void **state)
{
    static const char *const names[] = {
#define X(name, text) text,
        TH_ATOMS(X)
#undef X
    };

    (void)state;
    for (size_t i = 0; i < TH_ATOM_CONSTANTS; i++) {
        th_term constant = (th_term)i << 6 | TH_TAG_ATOM;
        assert_term_equal(th_atom(names[i]), constant);
        assert_string_equal(th_atom_name(constant)->text, names[i]);
    }
    assert_term_equal(TH_AM(true), th_atom("true"));
    assert_term_equal(TH_AM(trace_status), th_atom("trace_status"));
}

static void atoms_of_one_name_are_one_word(void **state)
{
    th_term a = th_atom("a name that nobody else has");

    (void)state;
    assert_true(th_is_atom(a));
    assert_true(th_is_immediate(a));
    assert_term_equal(a, th_atom_utf8("a name that nobody else has", 27));
    assert_int_not_equal(a, th_atom("a name that nobody else hat"));
    assert_int_not_equal(a, th_atom("a name that nobody else ha"));
}

static void latin1_and_utf8_of_a_name_give_one_atom(void **state)
{
    th_term a = th_atom_latin1("caf\xE9", 4);

    (void)state;
    assert_term_equal(a, th_atom_utf8("caf\xC3\xA9", 5));
    assert_string_equal(th_atom_name(a)->text, "caf\xC3\xA9");
    assert_int_equal(th_atom_name(a)->bytes, 5);
    assert_int_equal(th_atom_name(a)->characters, 4);
    assert_true(th_atom_name(a)->latin1);
    assert_true(th_atom_name(th_atom_utf8("\xC3\xBF", 2))->latin1);
    assert_false(th_atom_name(th_atom_utf8("\xC4\x80", 2))->latin1);
    assert_false(th_atom_name(th_atom_utf8("a\xE2\x82\xAC", 4))->latin1);
}

static void a_look_up_makes_no_atom(void **state)
{
    size_t atoms = th_atom_count();
    th_term a;

    (void)state;
    assert_term_equal(th_atom_existing_utf8("never made \xC3\xA9", 13), TH_NONE);
    assert_term_equal(th_atom_existing_latin1("never made \xE9", 12), TH_NONE);
    assert_int_equal(th_atom_count(), atoms);
    a = th_atom_utf8("never made \xC3\xA9", 13);
    assert_int_equal(th_atom_count(), atoms + 1);
    assert_term_equal(th_atom_existing_utf8("never made \xC3\xA9", 13), a);
    assert_term_equal(th_atom_existing_latin1("never made \xE9", 12), a);
    assert_term_equal(th_atom_existing_latin1("ok", 2), TH_AM(ok));
}

static void the_empty_atom_and_atoms_of_zero_bytes_differ(void **state)
{
    th_term empty = th_atom_utf8("", 0);
    th_term zero = th_atom_utf8("\0", 1);

    (void)state;
    assert_true(th_is_atom(empty));
    assert_true(th_is_atom(zero));
    assert_int_not_equal(empty, zero);
    assert_int_equal(th_atom_name(empty)->bytes, 0);
    assert_int_equal(th_atom_name(zero)->bytes, 1);
    assert_order(th_atom_compare(empty, zero), <, 0);
    assert_order(th_atom_compare(th_atom("a"), th_atom_utf8("a\0", 2)), <, 0);
}

static void names_beyond_255_characters_are_refused(void **state)
{
    char latin1[256];
    char utf8[4 * 256];

    (void)state;
    memset(latin1, 0xE9, sizeof latin1);
    for (size_t i = 0; i < 256; i++)
        memcpy(utf8 + 4 * i, "\xF0\x9F\x98\x80", 4);
    assert_true(th_is_atom(th_atom_latin1(latin1, 255)));
    assert_term_equal(th_atom_latin1(latin1, 256), TH_NONE);
    assert_term_equal(th_atom_existing_latin1(latin1, 256), TH_NONE);
    assert_true(th_is_atom(th_atom_utf8(utf8, 4 * 255)));
    assert_int_equal(th_atom_name(th_atom_utf8(utf8, 4 * 255))->characters, 255);
    assert_term_equal(th_atom_utf8(utf8, 4 * 256), TH_NONE);
    memset(utf8, 'a', 256);
    assert_term_equal(th_atom_utf8(utf8, 256), TH_NONE);
}

static void invalid_utf8_is_refused(void **state)
{
    (void)state;
    assert_term_equal(th_atom_utf8("\xE9", 1), TH_NONE);
    assert_term_equal(th_atom_utf8("a\xC3", 2), TH_NONE);
    assert_term_equal(th_atom_utf8("\xED\xA0\x80", 3), TH_NONE);
    assert_term_equal(th_atom_existing_utf8("\xED\xA0\x80", 3), TH_NONE);
}

static void only_atoms_have_a_name(void **state)
{
    (void)state;
    assert_null(th_atom_name(TH_NONE));
    assert_null(th_atom_name(TH_NIL));
    assert_null(th_atom_name(th_small(5)));
    assert_null(th_atom_name((th_term)(TH_ATOM_LIMIT - 1) << 6 | TH_TAG_ATOM));
    assert_null(th_atom_name(~(th_term)0 << 6 | TH_TAG_ATOM));
}

static void atoms_are_ordered_by_their_characters(void **state)
{
    static const char *const ascending[] = {
        "",
        "A",
        "AA",
        "B",
        "a",
        "aaaa",
        "aaaaa",
        "aaaab",
        "aaab",
        "aab",
        "ab",
        "abc",
        "b",
        "\x7F",
        "\xC2\x80",
        "\xC3\xBF",
        "\xC4\x80",
        "\xE2\x82\xAC",
        "\xEF\xBF\xBD",
        "\xF0\x9F\x98\x80",
    };
    enum { COUNT = sizeof ascending / sizeof *ascending };

    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < COUNT; k++) {
            th_term a = th_atom_utf8(ascending[i], strlen(ascending[i]));
            th_term b = th_atom_utf8(ascending[k], strlen(ascending[k]));
            int order = th_atom_compare(a, b);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
}

/*
 * The threads create the same names, each from another start: several threads create some names at
 * once, and the table grows while others read.
 */
enum { THREADS = 4, NAMES = 20000 };

struct worker {
    pthread_t thread;
    size_t start;
    th_term atoms[NAMES];
};

static th_term make_name(size_t i)
{
    char name[32];

    return th_atom_utf8(name, (size_t)snprintf(name, sizeof name, "shared name %zu", i));
}

static void *make_names(void *argument)
{
    struct worker *worker = argument;

    for (size_t i = 0; i < NAMES; i++) {
        size_t n = (worker->start + i) % NAMES;
        worker->atoms[n] = make_name(n);
    }
    return NULL;
}

static void threads_get_the_same_atoms(void **state)
{
    static struct worker workers[THREADS];
    size_t atoms = th_atom_count();

    (void)state;
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].start = i * NAMES / (2 * THREADS);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, make_names, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    assert_int_equal(th_atom_count(), atoms + NAMES);
    for (size_t n = 0; n < NAMES; n++) {
        assert_term_equal(workers[0].atoms[n], make_name(n));
        for (size_t i = 1; i < THREADS; i++)
            assert_int_equal(workers[i].atoms[n], workers[0].atoms[n]);
    }
}

/* Must be the last test, as it fills the table. */
/* Numbered names especially, which are common. */
static void similar_names_are_found_in_a_few_steps(void **state)
{
    static const char *const formats[] = {"f%d", "%04d", "a%db", "number_%d"};
    char name[32];

    (void)state;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (int i = 0; i < 10000; i++) {
            snprintf(name, sizeof name, formats[f], i);
            th_atom(name);
        }
    assert_order(th_atom_longest_search(), <, 300);
}

static void a_full_table_refuses_new_names(void **state)
{
    th_term last = TH_NONE;

    (void)state;
    for (size_t i = th_atom_count(); i < TH_ATOM_LIMIT; i++)
        last = make_name(NAMES + i);
    assert_true(th_is_atom(last));
    assert_int_equal(th_atom_count(), TH_ATOM_LIMIT);
    assert_term_equal(th_atom("one too many"), TH_NONE);
    assert_int_equal(th_atom_count(), TH_ATOM_LIMIT);
    assert_term_equal(th_atom("ok"), TH_AM(ok));
    assert_term_equal(make_name(NAMES + TH_ATOM_LIMIT - 1), last);
    assert_non_null(th_atom_name(last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_equal_the_atoms_of_their_names),
        cmocka_unit_test(atoms_of_one_name_are_one_word),
        cmocka_unit_test(latin1_and_utf8_of_a_name_give_one_atom),
        cmocka_unit_test(a_look_up_makes_no_atom),
        cmocka_unit_test(the_empty_atom_and_atoms_of_zero_bytes_differ),
        cmocka_unit_test(names_beyond_255_characters_are_refused),
        cmocka_unit_test(invalid_utf8_is_refused),
        cmocka_unit_test(only_atoms_have_a_name),
        cmocka_unit_test(atoms_are_ordered_by_their_characters),
        cmocka_unit_test(threads_get_the_same_atoms),
        cmocka_unit_test(similar_names_are_found_in_a_few_steps),
        cmocka_unit_test(a_full_table_refuses_new_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

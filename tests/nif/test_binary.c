/* Tests binaries, I/O lists and the external term format. */
#include "host/check/check.h"
#include "host/nif/nif.h"
#include "host/process/process.h"
#include "host/runtime/runtime.h"
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

static ERL_NIF_TERM binary(const char *text)
{
    ERL_NIF_TERM term;
    size_t size = strlen(text);

    memcpy(enif_make_new_binary(env, size, &term), text, size);
    return term;
}

static ERL_NIF_TERM text(const char *latin1)
{
    return enif_make_string(env, latin1, ERL_NIF_LATIN1);
}

static ERL_NIF_TERM odd_bits(void)
{
    unsigned char *data;
    ERL_NIF_TERM term = th_make_heap_binary(env, 3, &data);

    *data = 0xE0;
    return term;
}

static void assert_bytes(ERL_NIF_TERM term, const char *expected)
{
    ErlNifBinary bin;

    assert_true(enif_inspect_iolist_as_binary(env, term, &bin));
    assert_int_equal(bin.size, strlen(expected));
    assert_memory_equal(bin.data, expected, bin.size);
}

static void allocated_binaries_become_terms(void **state)
{
    ErlNifBinary bin;
    ERL_NIF_TERM term;

    (void)state;
    assert_true(enif_alloc_binary(3, &bin));
    memcpy(bin.data, "abc", 3);
    term = enif_make_binary(env, &bin);
    assert_memory_equal(bin.data, "abc", 3); /* readable until the call returns */
    assert_bytes(term, "abc");
    assert_bytes(enif_make_binary(env, &bin), "abc"); /* a copy */
    enif_release_binary(&bin);
    assert_bytes(term, "abc");
}

static void a_binary_outlives_the_environment_it_came_from(void **state)
{
    ErlNifEnv *other = enif_alloc_env();
    ErlNifBinary bin;
    ERL_NIF_TERM term;

    (void)state;
    assert_true(enif_alloc_binary(1000, &bin));
    memset(bin.data, 'x', 1000);
    term = enif_make_copy(env, enif_make_binary(other, &bin));
    enif_free_env(other);
    assert_true(enif_inspect_binary(env, term, &bin));
    assert_int_equal(bin.size, 1000);
    assert_int_equal(bin.data[999], 'x');
}

static void allocated_binaries_grow_and_shrink(void **state)
{
    ErlNifBinary bin;

    (void)state;
    assert_true(enif_alloc_binary(3, &bin));
    memcpy(bin.data, "abc", 3);
    for (size_t size = 4; size < 100000; size *= 3) {
        assert_true(enif_realloc_binary(&bin, size));
        assert_int_equal(bin.size, size);
        bin.data[size - 1] = 'z';
        assert_memory_equal(bin.data, "abc", 3);
    }
    assert_false(enif_realloc_binary(&bin, SIZE_MAX));
    assert_memory_equal(bin.data, "abc", 3);
    assert_true(enif_realloc_binary(&bin, 2));
    assert_bytes(enif_make_binary(env, &bin), "ab");
}

static void reallocating_an_inspected_binary_copies_its_bytes(void **state)
{
    ERL_NIF_TERM term = binary("abc");
    ErlNifBinary bin;

    (void)state;
    assert_true(enif_inspect_binary(env, term, &bin));
    assert_true(enif_realloc_binary(&bin, 4));
    memcpy(bin.data, "xbcd", 4);
    assert_bytes(enif_make_binary(env, &bin), "xbcd");
    assert_bytes(term, "abc");
}

static void releasing_a_binary_twice_or_without_ownership_is_safe(void **state)
{
    ErlNifBinary bin;

    (void)state;
    assert_true(enif_alloc_binary(0, &bin));
    assert_non_null(bin.data);
    enif_release_binary(&bin);
    enif_release_binary(&bin);
    assert_false(enif_alloc_binary(SIZE_MAX, &bin));
    assert_true(enif_inspect_binary(env, binary("abc"), &bin));
    enif_release_binary(&bin); /* not an owner: no effect */
}

static void new_binaries_are_written_in_place(void **state)
{
    static const size_t sizes[] = {0, 1, 64, 65, 100000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ERL_NIF_TERM term;
        ErlNifBinary bin;
        unsigned char *data = enif_make_new_binary(env, sizes[i], &term);
        memset(data, 'q', sizes[i]);
        assert_true(enif_inspect_binary(env, term, &bin));
        assert_int_equal(bin.size, sizes[i]);
        assert_ptr_equal(bin.data, data);
    }
}

static void a_term_that_is_no_binary_leaves_the_output_unchanged(void **state)
{
    ErlNifBinary bin = {.size = 77};

    (void)state;
    assert_false(enif_inspect_binary(env, TH_NIL, &bin));
    assert_false(enif_inspect_binary(env, TH_AM(ok), &bin));
    assert_false(enif_inspect_binary(env, odd_bits(), &bin));
    assert_false(enif_is_binary(env, odd_bits()));
    assert_false(enif_is_binary(env, text("abc")));
    assert_true(enif_is_binary(env, binary("")));
    assert_int_equal(bin.size, 77);
}

static void a_sub_binary_must_lie_inside_its_binary(void **state)
{
    ERL_NIF_TERM term = binary("0123456789");

    (void)state;
    assert_bytes(enif_make_sub_binary(env, term, 2, 3), "234");
    assert_bytes(enif_make_sub_binary(env, enif_make_sub_binary(env, term, 2, 5), 1, 2), "34");
    assert_bytes(enif_make_sub_binary(env, term, 10, 0), "");
    assert_true(enif_is_exception(env, enif_make_sub_binary(env, term, 8, 3)));
    assert_true(enif_is_exception(env, enif_make_sub_binary(env, term, 11, 0)));
    assert_true(enif_is_exception(env, enif_make_sub_binary(env, term, 5, SIZE_MAX)));
    assert_true(enif_is_exception(env, enif_make_sub_binary(env, TH_NIL, 0, 0)));
}

static void io_lists_are_joined_to_a_binary(void **state)
{
    ERL_NIF_TERM tail = enif_make_list_cell(env, enif_make_int(env, 0x21), binary("tail"));

    (void)state;
    assert_bytes(TH_NIL, "");
    assert_bytes(binary("abc"), "abc");
    assert_bytes(text("abc"), "abc");
    assert_bytes(tail, "!tail");
    assert_bytes(enif_make_list3(env, text("a"), binary("bc"), TH_NIL), "abc");
    assert_bytes(enif_make_list_cell(env, enif_make_list2(env, TH_NIL, text("x")), tail), "x!tail");
}

static void deep_io_lists_do_not_overflow_the_stack(void **state)
{
    ERL_NIF_TERM list = text("x");

    (void)state;
    for (int i = 0; i < 1000000; i++)
        list = enif_make_list_cell(env, list, TH_NIL);
    assert_bytes(list, "x");
}

static void a_term_that_is_no_io_list_leaves_the_output_unchanged(void **state)
{
    ErlNifBinary bin = {.size = 77};
    ERL_NIF_TERM bad[] = {
        TH_AM(ok),
        enif_make_int(env, 1),
        enif_make_list1(env, enif_make_int(env, 256)),
        enif_make_list1(env, enif_make_int(env, -1)),
        enif_make_list1(env, TH_AM(ok)),
        enif_make_list1(env, odd_bits()),
        enif_make_list_cell(env, binary("a"), enif_make_int(env, 1)),
        enif_make_list1(env, enif_make_list_cell(env, binary("a"), TH_AM(ok))),
        odd_bits(),
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(enif_inspect_iolist_as_binary(env, bad[i], &bin));
    assert_int_equal(bin.size, 77);
}

static void a_term_is_encoded_and_decoded_again(void **state)
{
    ERL_NIF_TERM term = enif_make_tuple2(env, text("abc"), enif_make_double(env, 1.5));
    ERL_NIF_TERM back = TH_NIL;
    ErlNifBinary bin;

    (void)state;
    assert_true(enif_term_to_binary(env, term, &bin));
    assert_int_equal(bin.data[0], 131);
    assert_int_equal(enif_binary_to_term(env, bin.data, bin.size - 1, &back, 0), 0);
    assert_int_equal(enif_binary_to_term(env, bin.data, bin.size, &back, 1), 0);
    assert_term_equal(back, TH_NIL);
    assert_true(enif_realloc_binary(&bin, bin.size + 3)); /* the bytes after it are not read */
    assert_int_equal(enif_binary_to_term(env, bin.data, bin.size, &back, 0), bin.size - 3);
    assert_true(enif_is_identical(term, back));
    enif_release_binary(&bin);
}

/* A callback may call the function while the host has an error of its own, or has none. */
static void a_failed_decoding_does_not_change_the_host_s_error(void **state)
{
    static const unsigned char cut_off[] = {131, 119, 6};
    ERL_NIF_TERM back;

    (void)state;
    assert_int_equal(enif_binary_to_term(env, cut_off, sizeof cut_off, &back, 0), 0);
    assert_int_equal(th_error_status(), TH_OK);
    th_error_raise(TH_MALFORMED, "cause");
    th_error_context("link");
    assert_int_equal(enif_binary_to_term(env, cut_off, sizeof cut_off, &back, 0), 0);
    assert_int_equal(th_error_status(), TH_MALFORMED);
    assert_string_equal(th_error_link(0), "link");
    assert_string_equal(th_error_link(1), "cause");
    assert_null(th_error_link(2));
    th_error_clear();
}

static void safe_decoding_creates_no_atoms(void **state)
{
    static const unsigned char unknown[] = {131, 119, 6, 'n', 'o', 't', 'y', 'e', 't'};
    ERL_NIF_TERM back = TH_NIL;
    size_t before = th_atom_count();

    (void)state;
    assert_int_equal(
        enif_binary_to_term(env, unknown, sizeof unknown, &back, ERL_NIF_BIN2TERM_SAFE), 0);
    assert_int_equal(th_atom_count(), before);
    assert_int_equal(enif_binary_to_term(env, unknown, sizeof unknown, &back, 0), sizeof unknown);
    assert_int_equal(
        enif_binary_to_term(env, unknown, sizeof unknown, &back, ERL_NIF_BIN2TERM_SAFE),
        sizeof unknown);
}

static void identifiers_are_encoded_with_the_recorded_node(void **state)
{
    ERL_NIF_TERM pid = th_local_pid(42, 1), back;
    ErlNifBinary bin;

    (void)state;
    th_process_world_set_node((struct th_etf_node){enif_make_atom(env, "a@b"), 9});
    assert_true(enif_term_to_binary(env, pid, &bin));
    assert_non_null(memmem(bin.data, bin.size, "a@b", 3));
    assert_order(enif_binary_to_term(env, bin.data, bin.size, &back, 0), >, 0);
    assert_term_equal(back, pid);
    th_process_world_reset(NULL);
    assert_order(enif_binary_to_term(env, bin.data, bin.size, &back, 0), >, 0);
    assert_true(enif_is_pid(env, back) && back != pid);
    enif_release_binary(&bin);
}

/* The structure in NIF 2.0 to 2.10, followed by data of the library. */
union as_before_2_11 {
    ErlNifBinary today;
    struct {
        size_t size;
        unsigned char *data;
        void *internal[2];
        uint64_t behind;
    } then;
};

#define assert_untouched(bin) assert_int_equal((bin).then.behind, 42)

/* Calls each function that writes to an ErlNifBinary. */
static void use_all(void)
{
    union as_before_2_11 bin;
    ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL);

    bin.then.behind = 42;
    assert_true(enif_inspect_binary(env, binary("abc"), &bin.today));
    assert_untouched(bin);
    assert_true(enif_realloc_binary(&bin.today, 5)); /* a copy */
    assert_untouched(bin);
    assert_true(enif_realloc_binary(&bin.today, 500));
    assert_untouched(bin);
    enif_release_binary(&bin.today);
    assert_untouched(bin);
    assert_true(enif_inspect_iolist_as_binary(env, text("abc"), &bin.today));
    assert_untouched(bin);
    assert_true(enif_alloc_binary(3, &bin.today));
    assert_untouched(bin);
    enif_make_binary(env, &bin.today);
    assert_untouched(bin);
    assert_true(enif_term_to_binary(env, text("abc"), &bin.today));
    assert_untouched(bin);
    assert_true(enif_ioq_enq_binary(queue, &bin.today, 0));
    assert_untouched(bin);
    enif_ioq_destroy(queue);
}

static void nothing_is_written_beyond_binaries_of_old_versions(void **state)
{
    (void)state;
    use_all();
    th_check_start();
    use_all();
    th_check_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_written_beyond_binaries_of_old_versions, begin,
                                        end),
        cmocka_unit_test_setup_teardown(allocated_binaries_become_terms, begin, end),
        cmocka_unit_test_setup_teardown(a_binary_outlives_the_environment_it_came_from, begin, end),
        cmocka_unit_test_setup_teardown(allocated_binaries_grow_and_shrink, begin, end),
        cmocka_unit_test_setup_teardown(reallocating_an_inspected_binary_copies_its_bytes, begin,
                                        end),
        cmocka_unit_test_setup_teardown(releasing_a_binary_twice_or_without_ownership_is_safe,
                                        begin, end),
        cmocka_unit_test_setup_teardown(new_binaries_are_written_in_place, begin, end),
        cmocka_unit_test_setup_teardown(a_term_that_is_no_binary_leaves_the_output_unchanged, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_sub_binary_must_lie_inside_its_binary, begin, end),
        cmocka_unit_test_setup_teardown(io_lists_are_joined_to_a_binary, begin, end),
        cmocka_unit_test_setup_teardown(deep_io_lists_do_not_overflow_the_stack, begin, end),
        cmocka_unit_test_setup_teardown(a_term_that_is_no_io_list_leaves_the_output_unchanged,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_term_is_encoded_and_decoded_again, begin, end),
        cmocka_unit_test_setup_teardown(a_failed_decoding_does_not_change_the_host_s_error, begin,
                                        end),
        cmocka_unit_test_setup_teardown(safe_decoding_creates_no_atoms, begin, end),
        cmocka_unit_test_setup_teardown(identifiers_are_encoded_with_the_recorded_node, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

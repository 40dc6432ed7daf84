/* Tests vectors and queues of binaries. The layout of vectors was measured in a BEAM. */
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

/* Returns a term from Erlang text. */
static ERL_NIF_TERM term(const char *text)
{
    th_term t;

    assert_int_equal(th_text_parse(env, text, strlen(text), &t), TH_OK);
    return t;
}

/* Returns a list of COUNT binaries of SIZE bytes; large ones are shared. */
static ERL_NIF_TERM binaries(unsigned count, size_t size)
{
    ERL_NIF_TERM list = TH_NIL, head;

    while (count-- > 0) {
        memset(enif_make_new_binary(env, size, &head), (int)('a' + count % 26), size);
        list = enif_make_list_cell(env, head, list);
    }
    return list;
}

/* --- Vectors --------------------------------------------------------------------------------- */

/* Returns the vector taken from TEXT as "a|bb  [<<"ccc">>]", or "no". */
static const char *taken(ErlNifEnv *caller, size_t max_length, const char *text)
{
    static char said[200];
    size_t length = 0;
    ErlNifIOVec *vec = NULL;
    ERL_NIF_TERM tail;

    if (!enif_inspect_iovec(caller, max_length, term(text), &tail, &vec))
        return "no";
    for (int i = 0; i < vec->iovcnt; i++)
        length += (size_t)snprintf(said + length, sizeof said - length, "%s%.*s", i ? "|" : "",
                                   (int)vec->iov[i].iov_len, vec->iov[i].iov_base);
    enif_snprintf(said + length, sizeof said - length, "  %T", tail);
    enif_free_iovec(vec);
    return said;
}

#define assert_taken(max_length, text, expected)                      \
    do {                                                              \
        assert_string_equal(taken(env, max_length, text), expected);  \
        assert_string_equal(taken(NULL, max_length, text), expected); \
    } while (0)

static void a_vector_contains_the_binaries_of_a_list(void **state)
{
    (void)state;
    assert_taken(10, "[]", "  []");
    assert_taken(10, "[<<\"a\">>,<<\"bb\">>,<<\"ccc\">>]", "a|bb|ccc  []");
    assert_taken(2, "[<<\"a\">>,<<\"bb\">>,<<\"ccc\">>]", "a|bb  [<<\"ccc\">>]");
    assert_taken(3, "[<<\"a\">>,<<\"bb\">>,<<\"ccc\">>]", "a|bb|ccc  []");
}

static void a_vector_takes_at_least_one_binary(void **state)
{
    (void)state;
    assert_taken(0, "[<<\"a\">>,<<\"b\">>]", "a  [<<\"b\">>]");
    assert_taken(1, "[<<\"a\">>,<<\"b\">>]", "a  [<<\"b\">>]");
    assert_taken(0, "[]", "  []");
}

static void empty_binaries_count_but_are_not_in_the_vector(void **state)
{
    (void)state;
    assert_taken(2, "[<<>>,<<\"a\">>,<<>>]", "a  [<<>>]");
    assert_taken(9, "[<<>>,<<\"a\">>,<<>>]", "a  []");
    assert_taken(0, "[<<>>,<<\"a\">>]", "  [<<\"a\">>]");
}

static void only_a_list_of_binaries_becomes_a_vector(void **state)
{
    (void)state;
    assert_taken(9, "<<\"abc\">>", "no");
    assert_taken(9, "foo", "no");
    assert_taken(9, "[<<\"a\">>,98]", "no");
    assert_taken(9, "[<<\"a\">>,[<<\"b\">>]]", "no");
    assert_taken(9, "[<<3:4>>]", "no");
    assert_taken(9, "[<<\"a\">>|<<\"b\">>]", "no");
    assert_taken(1, "[<<\"a\">>|<<\"b\">>]", "no"); /* the rest would not be a list */
    assert_taken(1, "[<<\"a\">>,x]", "a  [x]");     /* the rest is a list, with any elements */
    assert_taken(1, "[<<\"a\">>,<<\"b\">>|x]", "a  [<<\"b\">>|x]");
}

static void a_failed_inspection_leaves_the_outputs_unchanged(void **state)
{
    ErlNifIOVec given, *vec = &given;
    ERL_NIF_TERM tail = 17;

    (void)state;
    memset(&given, 0x55, sizeof given);
    assert_false(enif_inspect_iovec(env, 9, TH_AM(ok), &tail, &vec));
    assert_ptr_equal(vec, &given);
    assert_true(tail == 17 && given.iovcnt == 0x55555555);
}

static void a_given_vector_is_used_if_it_is_large_enough(void **state)
{
    ErlNifIOVec given, *vec = &given;
    ERL_NIF_TERM tail;

    (void)state;
    for (int owner = 0; owner < 2; owner++) {
        memset(&given, 0x55, sizeof given);
        vec = &given;
        assert_true(enif_inspect_iovec(owner ? NULL : env, 99, binaries(ERL_NIF_IOVEC_SIZE, 5),
                                       &tail, &vec));
        assert_ptr_equal(vec, &given);
        assert_ptr_equal(given.iov, given.small_iov);
        assert_int_equal(given.iovcnt, ERL_NIF_IOVEC_SIZE);
        assert_int_equal(given.size, 5 * ERL_NIF_IOVEC_SIZE);
        enif_free_iovec(vec);
        assert_true(enif_inspect_iovec(owner ? NULL : env, 99, binaries(ERL_NIF_IOVEC_SIZE + 1, 5),
                                       &tail, &vec));
        assert_ptr_not_equal(vec, &given);
        assert_int_equal(vec->iovcnt, ERL_NIF_IOVEC_SIZE + 1);
        enif_free_iovec(vec);
    }
}

/* The vector keeps sub-binaries, heap binaries and shared ones after their terms are gone. */
static void a_vector_without_environment_outlives_its_terms(void **state)
{
    ERL_NIF_TERM large, small = term("<<\"small binary\">>"), list[4], tail;
    ErlNifIOVec *vec = NULL;
    const char *shared;
    ErlNifBinary bin;

    (void)state;
    memset(enif_make_new_binary(env, 200, &large), 'L', 200);
    enif_inspect_binary(env, large, &bin);
    shared = (char *)bin.data;
    list[0] = small;
    list[1] = large;
    list[2] = enif_make_sub_binary(env, large, 190, 10);
    list[3] = enif_make_sub_binary(env, small, 6, 6);
    assert_true(enif_inspect_iovec(NULL, 9, enif_make_list_from_array(env, list, 4), &tail, &vec));
    enif_clear_env(env);
    assert_int_equal(vec->iovcnt, 4);
    assert_int_equal(vec->size, 12 + 200 + 10 + 6);
    assert_memory_equal(vec->iov[0].iov_base, "small binary", 12);
    assert_ptr_equal(vec->iov[1].iov_base, shared);
    assert_ptr_equal(vec->iov[2].iov_base, shared + 190);
    assert_memory_equal(vec->iov[2].iov_base, "LLLLLLLLLL", 10);
    assert_memory_equal(vec->iov[3].iov_base, "binary", 6);
    enif_free_iovec(vec);
}

static void a_vector_of_an_environment_copies_no_bytes(void **state)
{
    ERL_NIF_TERM small = term("<<\"small\">>"), tail;
    ErlNifIOVec *vec = NULL;
    ErlNifBinary bin;

    (void)state;
    enif_inspect_binary(env, small, &bin);
    assert_true(enif_inspect_iovec(env, 9, enif_make_list1(env, small), &tail, &vec));
    assert_ptr_equal(vec->iov[0].iov_base, bin.data);
    enif_free_iovec(vec); /* unnecessary, harmless */
    assert_ptr_equal(vec->iov[0].iov_base, bin.data);
    enif_free_iovec(NULL);
}

/* --- Queues ---------------------------------------------------------------------------------- */

static ErlNifBinary bytes(const char *text)
{
    ErlNifBinary bin;

    assert_true(enif_alloc_binary(strlen(text), &bin));
    memcpy(bin.data, text, bin.size);
    return bin;
}

static void enqueue(ErlNifIOQueue *queue, const char *text, size_t skip)
{
    ErlNifBinary bin = bytes(text);

    assert_true(enif_ioq_enq_binary(queue, &bin, skip));
}

/* Returns the runs in the queue: "ab|c". */
static const char *waiting(ErlNifIOQueue *queue)
{
    static char said[400];
    size_t length = 0, size = 0;
    int count = -1;
    SysIOVec *runs = enif_ioq_peek(queue, &count);

    said[0] = 0;
    for (int i = 0; i < count; i++) {
        length += (size_t)snprintf(said + length, sizeof said - length, "%s%.*s", i ? "|" : "",
                                   (int)runs[i].iov_len, (char *)runs[i].iov_base);
        size += runs[i].iov_len;
    }
    assert_int_equal(size, enif_ioq_size(queue));
    return said;
}

static void an_empty_queue_returns_no_data(void **state)
{
    ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    size_t size = 99;
    ERL_NIF_TERM head = 17;
    int count = 99;

    (void)state;
    assert_null(enif_ioq_peek(queue, &count));
    assert_int_equal(count, 0);
    assert_null(enif_ioq_peek(queue, NULL));
    assert_false(enif_ioq_peek_head(env, queue, &size, &head));
    assert_false(enif_ioq_deq(queue, 1, &size));
    assert_true(size == 99 && head == 17);
    assert_true(enif_ioq_deq(queue, 0, &size));
    assert_int_equal(size, 0);
    enif_ioq_destroy(queue);
    enif_ioq_destroy(NULL);
    assert_null(enif_ioq_create(0));
    assert_null(enif_ioq_create(2));
}

static void bytes_leave_a_queue_in_the_order_of_arrival(void **state)
{
    ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    size_t size;

    (void)state;
    enqueue(queue, "0123456789", 3);
    enqueue(queue, "abc", 0);
    enqueue(queue, "gone", 4);
    assert_string_equal(waiting(queue), "3456789|abc");
    assert_true(enif_ioq_deq(queue, 2, &size));
    assert_int_equal(size, 8);
    assert_string_equal(waiting(queue), "56789|abc");
    assert_true(enif_ioq_deq(queue, 6, NULL));
    assert_string_equal(waiting(queue), "bc");
    assert_false(enif_ioq_deq(queue, 3, &size));
    assert_string_equal(waiting(queue), "bc");
    assert_int_equal(size, 8);
    assert_true(enif_ioq_deq(queue, 2, &size));
    assert_int_equal(size, 0);
    assert_string_equal(waiting(queue), "");
    enqueue(queue, "again", 0); /* queued data end with the queue */
    assert_string_equal(waiting(queue), "again");
    enif_ioq_destroy(queue);
}

static void an_enqueued_binary_belongs_to_the_queue(void **state)
{
    ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    ErlNifBinary bin = bytes("0123456789");

    (void)state;
    assert_true(enif_ioq_enq_binary(queue, &bin, 5));
    assert_memory_equal(bin.data, "0123456789", 10); /* readable until the call returns */
    enif_release_binary(&bin);                       /* unnecessary, harmless */
    assert_string_equal(waiting(queue), "56789");
    bin = bytes("0123456789");
    assert_false(enif_ioq_enq_binary(queue, &bin, 11)); /* gone, too */
    assert_string_equal(waiting(queue), "56789");
    enif_ioq_destroy(queue);
}

static void enqueued_bytes_of_a_term_are_copied(void **state)
{
    ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    ErlNifBinary bin;

    (void)state;
    assert_true(enif_inspect_binary(env, term("<<\"of a term\">>"), &bin));
    assert_true(enif_ioq_enq_binary(queue, &bin, 3));
    enif_clear_env(env);
    assert_string_equal(waiting(queue), "a term");
    enif_ioq_destroy(queue);
}

static void enqueue_vector(ErlNifIOQueue *queue, ErlNifEnv *owner, size_t skip, int expected)
{
    ERL_NIF_TERM list = term("[<<\"ab\">>,<<>>,<<\"cde\">>,<<\"f\">>]"), tail;
    ErlNifIOVec *vec = NULL;

    assert_true(enif_inspect_iovec(owner, 9, list, &tail, &vec));
    assert_int_equal(enif_ioq_enqv(queue, vec, skip), expected);
    enif_free_iovec(vec);
}

static void an_enqueued_vector_outlives_its_terms(void **state)
{
    (void)state;
    for (int owner = 0; owner < 2; owner++) {
        ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
        enqueue_vector(queue, owner ? NULL : env, 1, 1);
        enqueue_vector(queue, owner ? NULL : env, 2, 1);
        enqueue_vector(queue, owner ? NULL : env, 5, 1);
        enqueue_vector(queue, owner ? NULL : env, 6, 1);
        enqueue_vector(queue, owner ? NULL : env, 7, 0);
        enif_clear_env(env);
        assert_string_equal(waiting(queue), "b|cde|f|cde|f|f");
        enif_ioq_destroy(queue);
    }
}

static void the_head_of_a_queue_outlives_the_queue(void **state)
{
    ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    ERL_NIF_TERM head;
    ErlNifBinary bin;
    size_t size = 0;

    (void)state;
    enqueue(queue, "0123456789", 4);
    enqueue(queue, "abc", 0);
    assert_true(enif_ioq_deq(queue, 1, NULL));
    assert_true(enif_ioq_peek_head(env, queue, &size, &head));
    assert_int_equal(size, 5);
    assert_true(enif_ioq_peek_head(env, queue, NULL, &head));
    enif_ioq_destroy(queue);
    assert_true(enif_inspect_binary(env, head, &bin));
    assert_int_equal(bin.size, 5);
    assert_memory_equal(bin.data, "56789", 5);
}

/* 40,000 bytes pass through the queue; from the tenth round on, at least 40 bytes are in it. */
static void a_queue_that_never_empties_keeps_only_waiting_bytes(void **state)
{
    ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    char text[16];
    int count;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "%04d", i);
        enqueue(queue, text, 0);
        if (i >= 10) {
            SysIOVec *runs = enif_ioq_peek(queue, &count);
            assert_int_equal(count, 11);
            assert_int_equal(
                atoi((char[]){((char *)runs[0].iov_base)[0], ((char *)runs[0].iov_base)[1],
                              ((char *)runs[0].iov_base)[2], ((char *)runs[0].iov_base)[3], 0}),
                i - 10);
            assert_true(enif_ioq_deq(queue, 4, NULL));
        }
    }
    assert_int_equal(enif_ioq_size(queue), 40);
    enif_ioq_destroy(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_vector_contains_the_binaries_of_a_list, begin, end),
        cmocka_unit_test_setup_teardown(a_vector_takes_at_least_one_binary, begin, end),
        cmocka_unit_test_setup_teardown(empty_binaries_count_but_are_not_in_the_vector, begin, end),
        cmocka_unit_test_setup_teardown(only_a_list_of_binaries_becomes_a_vector, begin, end),
        cmocka_unit_test_setup_teardown(a_failed_inspection_leaves_the_outputs_unchanged, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_given_vector_is_used_if_it_is_large_enough, begin, end),
        cmocka_unit_test_setup_teardown(a_vector_without_environment_outlives_its_terms, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_vector_of_an_environment_copies_no_bytes, begin, end),
        cmocka_unit_test_setup_teardown(an_empty_queue_returns_no_data, begin, end),
        cmocka_unit_test_setup_teardown(bytes_leave_a_queue_in_the_order_of_arrival, begin, end),
        cmocka_unit_test_setup_teardown(an_enqueued_binary_belongs_to_the_queue, begin, end),
        cmocka_unit_test_setup_teardown(enqueued_bytes_of_a_term_are_copied, begin, end),
        cmocka_unit_test_setup_teardown(an_enqueued_vector_outlives_its_terms, begin, end),
        cmocka_unit_test_setup_teardown(the_head_of_a_queue_outlives_the_queue, begin, end),
        cmocka_unit_test_setup_teardown(a_queue_that_never_empties_keeps_only_waiting_bytes, begin,
                                        end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

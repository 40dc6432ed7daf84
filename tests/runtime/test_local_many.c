/* Tests local calls beyond the room for return requests, and as deep as the stack allows. */
#include "tests/runtime/locals.h"

#include <pthread.h>
#include <unistd.h>

static long calls, ends;

static ERL_NIF_TERM note(const char *callback, ErlNifEnv *in, int argc, const ERL_NIF_TERM argv[])
{
    (void)callback;
    (void)in;
    if (argc == 3)
        return TH_AM(trace);
    calls += argv[0] == TH_AM(call);
    ends += argv[0] != TH_AM(call);
    return TH_AM(ok);
}

static int begin_counting(void **state)
{
    begin_locals(state);
    loaded_hook(note);
    calls = ends = 0;
    return 0;
}

static long depth_to_use(void)
{
    pthread_attr_t attributes;
    size_t size; /* of a thread's stack */
    enum {
        BYTES = 16, /* in a frame of locals:thin/1, with its return address */
        /* For the caller, the callee and thread-local variables, of which sanitizers have many. */
        LEFT = 1024 * 1024
    };

    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    return ((long)size - LEFT) / BYTES;
}

/* A traced function can recurse as deeply as an untraced one; return requests beyond the limit are
 * counted, not kept. */
static void a_traced_function_recurses_as_deep_as_an_untraced_one(void **state)
{
    long depth = depth_to_use();
    long deepest = 1000000;

    (void)state;
    if (depth > deepest)
        depth = deepest;
    assert_string_equal(local("thins", "[%ld]", depth), "0");
    set_local("thin", RETURNS);
    for (int i = 1; i <= 2; i++) {
        assert_string_equal(local("thins", "[%ld]", depth), "0");
        assert_int_equal(calls, (depth + 1) * i);
        assert_int_equal(ends + (long)th_runtime_calls_not_kept(), calls);
        assert_order(ends, >, 10000 * i);
    }
    print_message("%ld deep, of which %ld returns were told\n", depth, ends / 2);
    assert_order(th_runtime_calls_not_kept(), >, 0);
    assert_int_equal(th_runtime_calls_left(), 0);
}

/* Calls that are jumps share one stack frame, however many are made. */
static void traced_tail_calls_take_no_stack(void **state)
{
    enum { MANY = 1500000, MOST = 1000000 };

    (void)state;
    set_local("loop", RETURNS);
    assert_string_equal(local("loops", "[%d]", MANY - 1), "done");
    assert_int_equal(calls, MANY);
    assert_int_equal(ends, MOST);
    assert_int_equal(th_runtime_calls_not_kept(), MANY - MOST);
    assert_string_equal(local("loops", "[%d]", 9), "done");
    assert_int_equal(ends, MOST + 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_counting, end_locals)
        TEST(a_traced_function_recurses_as_deep_as_an_untraced_one),
        TEST(traced_tail_calls_take_no_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

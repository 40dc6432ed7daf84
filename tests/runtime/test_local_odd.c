/* Tests local calls in unusual places: in threads without a process, in signal handlers, in forked
 * children, and where C++ throws. */
#include "tests/runtime/locals.h"

#include "tests/support/skipping.h"

#include <unistd.h>

/* --- Threads --------------------------------------------------------------------------------- */

static void a_call_on_a_thread_without_a_process_is_counted(void **state)
{
    (void)state;
    set_local(NULL, EXCEPTIONS);
    assert_int_equal(try_in("locals", "ends_thread", 1, "true", TH_BP_COUNT), TH_OK);
    assert_string_equal(local("thread", "[]"), "ok");
    assert_log("call {locals,thread,[]}\nreturn_from {locals,thread,0} ok\n");
    assert_int_equal(th_live_counts(scene_tracing()).strangers, 4);
    assert_int_equal(th_runtime_calls_left(), 0);
}

/* --- C++ ------------------------------------------------------------------------------------- */

static void a_cxx_exception_unwinds_frames(void **state)
{
    char *path = th_printf("%s/tests/plugins/thrower.so", getenv("BUILD_DIR"));
    bool there = access(path, R_OK) == 0;
    struct th_library *thrower;

    (void)state;
    th_free(path);
    if (!there)
        skip_because("no g++");
#ifdef __SANITIZE_ADDRESS__
    skip_because(
        "the address sanitizer takes no exception of a C++ library that a C program opens");
#endif
    thrower = add_module(".", "thrower");
    assert_int_equal(try_in("thrower", NULL, TH_ANY_ARITY, EXCEPTIONS, TH_BP_LOCAL), TH_OK);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(call("call", "[thrower,catches,[1]]"), "caught");
        assert_log("call {thrower,catches,[1]}\ncall {thrower,passes,[1]}\n"
                   "call {thrower,throws,[1]}\ncall {thrower,throws,[0]}\n"
                   "exception_from {thrower,throws,1} {error,unwound}\n"
                   "exception_from {thrower,throws,1} {error,unwound}\n"
                   "call {thrower,destroyed,[]}\n"
                   "return_from {thrower,destroyed,0} destroyed\n"
                   "exception_from {thrower,passes,1} {error,unwound}\n"
                   "return_from {thrower,catches,1} caught\n");
    }
    assert_int_equal(th_runtime_calls_left(), 0);
    remove_module(thrower);
}

/* --- Signals and child processes, with callbacks that only count ------------------------------ */

static long calls, ends, same_calls, in_child;
static pid_t parent;

static ERL_NIF_TERM note(const char *callback, ErlNifEnv *in, int argc, const ERL_NIF_TERM argv[])
{
    (void)callback;
    (void)in;
    if (getpid() != parent)
        in_child++;
    if (argc == 3)
        return TH_AM(trace);
    if (argv[0] != TH_AM(call)) {
        ends++;
    } else {
        calls++;
        same_calls += th_tuple_elements(argv[3])[1] == th_atom("same");
    }
    return TH_AM(ok);
}

static hooked_function *set_hook(hooked_function *hook)
{
    hooked_function *old = loaded_hook(hook);

    parent = getpid();
    calls = ends = same_calls = in_child = 0;
    return old;
}

/* If a signal handler interrupts the host itself, its calls are suppressed and counted. */
static void calls_in_signal_handlers_are_traced_or_counted(void **state)
{
    enum { SIGNALS = 1000, DEPTH = 30 };
    hooked_function *old = set_hook(note);
    long came, rounds, suppressed;

    (void)state;
    set_local("thin", EXCEPTIONS);
    set_local("same", EXCEPTIONS);
    assert_int_equal(
        sscanf(local("signalled", "[%d,%d]", SIGNALS, DEPTH), "{%ld,%ld}", &came, &rounds), 2);
    suppressed = (long)th_live_counts(scene_tracing()).suppressed;
    print_message("%ld signals, %ld while the host was at work\n", came, suppressed);
    assert_order(suppressed, >, 0);
    assert_int_equal(same_calls + suppressed, came);
    assert_int_equal(calls - same_calls, rounds * (DEPTH + 1));
    assert_int_equal(ends, calls);
    assert_int_equal(th_runtime_calls_left(), 0);
    assert_int_equal(th_runtime_calls_not_kept(), 0);
    set_hook(old);
}

static void a_forked_child_delivers_no_events(void **state)
{
    hooked_function *old = set_hook(note);

    (void)state;
    set_local(NULL, EXCEPTIONS);
    assert_string_equal(local("forking", "[]"), "0");
    assert_int_equal(in_child, 0);
    assert_int_equal(calls, 3); /* forking, forks, deep */
    assert_int_equal(ends, 3);
    set_hook(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_locals, end_locals)
        TEST(a_call_on_a_thread_without_a_process_is_counted),
        TEST(a_cxx_exception_unwinds_frames),
        TEST(calls_in_signal_handlers_are_traced_or_counted),
        TEST(a_forked_child_delivers_no_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

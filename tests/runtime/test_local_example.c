/* Tests the example of OTP's document on tracing, plugins/spec_example, under local breakpoints:
 * the events are a BEAM's, whichever compiler was used. */
#include "host/base/base.h"
#include "tests/runtime/locals.h"

#include <unistd.h>

/* Without optimisation, clang compiles no jumps; then a callee returns to its caller. */
static bool jumps(const char *made_by)
{
    return strcmp(made_by, "clang-O0") != 0;
}

static struct th_library *example;

static void begin_example(const char *made_by)
{
    begin(NULL);
    example = add_module(made_by, "spec_example");
}

static void end_example(void)
{
    remove_module(example);
    end(NULL);
}

static void set_all(const char *match, uint32_t kinds)
{
    assert_int_equal(try_in("spec_example", NULL, TH_ANY_ARITY, match, kinds), TH_OK);
}

static void call_foo(void)
{
    assert_string_equal(call("call", "[spec_example,foo,[]]"), "ok");
}

/* The functions called in the example, in order; then bar(10) to bar(0). */
enum { BARS = 11 };
static const char *const first[] = {"foo", "lots", "'of'", "indirections"};

/* Returns [N] as Erlang prints it: some lists of integers are printed as text. */
static const char *show_list(int n)
{
    static const char *const texts[] = {[8] = "\"\\b\"", [9] = "\"\\t\"", [10] = "\"\\n\""};
    static char text[16];

    if (n >= 8)
        return texts[n];
    snprintf(text, sizeof text, "[%d]", n);
    return text;
}

static void add_bars(struct th_buffer *text, const char *caller, bool jumping)
{
    for (int i = BARS - 1; i >= 0; i--) {
        bool is_first = i == BARS - 1;
        const char *by = jumping || is_first ? caller : " {spec_example,bar,1}";
        th_buffer_printf(text, "call {spec_example,bar,%s}%s\n", show_list(i), *caller ? by : "");
    }
}

static void assert_text(struct th_buffer *text)
{
    assert_log(th_buffer_text(text));
    th_buffer_free(text);
}

static void check_callers(const char *made_by)
{
    struct th_buffer text = {0};

    set_all(CALLERS, TH_BP_LOCAL);
    call_foo();
    th_buffer_printf(&text, "call {spec_example,foo,[]} {party,call,3}\n");
    for (int i = 1; i < 4; i++)
        th_buffer_printf(&text, "call {spec_example,%s,[]} {spec_example,%s,0}\n", first[i],
                         first[jumps(made_by) ? 0 : i - 1]);
    add_bars(&text, jumps(made_by) ? " {spec_example,foo,0}" : " {spec_example,indirections,0}",
             jumps(made_by));
    assert_text(&text);
}

static void check_global(void)
{
    set_all("false", TH_BP_LOCAL); /* removes them from functions without an export entry, too */
    set_all(CALLERS, TH_BP_GLOBAL);
    call_foo();
    assert_log("call {spec_example,foo,[]} {party,call,3}\n");
}

static void add_calls(struct th_buffer *text)
{
    for (int i = 0; i < 4; i++)
        th_buffer_printf(text, "call {spec_example,%s,[]}\n", first[i]);
    add_bars(text, "", true);
}

static void check_returns(void)
{
    struct th_buffer text = {0};

    set_all(RETURNS, TH_BP_LOCAL);
    call_foo();
    add_calls(&text);
    for (int i = 0; i < BARS; i++)
        th_buffer_printf(&text, "return_from {spec_example,bar,1} done\n");
    for (int i = 3; i > 0; i--)
        th_buffer_printf(&text, "return_from {spec_example,%s,0} done\n", first[i]);
    th_buffer_printf(&text, "return_from {spec_example,foo,0} ok\n");
    assert_text(&text);
}

static void check_return_to(const char *made_by)
{
    struct th_buffer text = {0};

    set_all("true", TH_BP_LOCAL);
    th_trace_session_trace_one(session, th_runtime_run_pid(process), true, TH_FLAG_RETURN_TO);
    call_foo();
    add_calls(&text);
    if (!jumps(made_by)) {
        for (int i = 1; i < BARS; i++)
            th_buffer_printf(&text, "return_to {spec_example,bar,1}\n");
        for (int i = 3; i > 0; i--)
            th_buffer_printf(&text, "return_to {spec_example,%s,0}\n", first[i]);
    }
    th_buffer_printf(&text, "return_to {spec_example,foo,0}\nreturn_to {party,call,3}\n");
    assert_text(&text);
}

static void local_breakpoints_trace_the_example_like_a_beam(void **state)
{
    static const char *const made[] = {"gcc-O0", "gcc-O2", "clang-O0", "clang-O2"};
    int checked = 0;

    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        char *path = th_printf("%s/tests/plugins/%s/spec_example.so", getenv("BUILD_DIR"), made[i]);
        bool there = access(path, R_OK) == 0;
        th_free(path);
        if (!there)
            continue; /* this compiler is not installed */
        print_message("%s\n", made[i]);
        begin_example(made[i]);
        check_callers(made[i]);
        check_global();
        check_returns();
        check_return_to(made[i]);
        end_example();
        checked++;
    }
    assert_order(checked, >, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_breakpoints_trace_the_example_like_a_beam)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

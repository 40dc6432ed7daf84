/* Tests lines of running functions in stack traces: of exceptions, of callers, the look-up. */
#include "traced.h"

#include "host/base/base.h"
#include "tests/support/compiled.h"

#include <unistd.h>

/* Optimised, as tests depend on which calls are jumps. */
static const char source[] =
    "#line 1 \"lines.c\"\n"
    "#include <nif_module.h>\n"
    "static volatile int noted;\n"
    "#define NIF(name) \\\n"
    "    static ERL_NIF_TERM name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])\n"
    "NIF(raises)\n"
    "{\n"
    "    ERL_NIF_TERM raised = enif_raise_exception(env, argv[0]); /* RAISES */\n"
    "    noted++;\n"
    "    return raised;\n"
    "}\n"
    "NIF(bad)\n"
    "{\n"
    "    ERL_NIF_TERM raised = enif_make_badarg(env); /* BAD */\n"
    "    noted++;\n"
    "    return raised;\n"
    "}\n"
    "NIF(jumps)\n"
    "{ /* JUMPS */\n"
    "    return enif_raise_exception(env, argv[0]);\n"
    "}\n"
    "NIF(silent)\n"
    "{ /* SILENT */\n"
    "    noted++;\n"
    "    return 0;\n"
    "}\n"
    "NIF(calls)\n"
    "{\n"
    "    ERL_NIF_TERM result = th_call(env, argv[0], argv[1], 1, &argv[2]); /* CALLS */\n"
    "    noted++;\n"
    "    return result;\n"
    "}\n"
    "static __attribute__((noinline)) ERL_NIF_TERM help(ErlNifEnv *env, const ERL_NIF_TERM "
    "argv[])\n"
    "{\n"
    "    ERL_NIF_TERM result = th_call(env, argv[0], argv[1], 1, &argv[2]); /* HELP */\n"
    "    noted++;\n"
    "    return result;\n"
    "}\n"
    "NIF(helped)\n"
    "{\n"
    "    ERL_NIF_TERM result = help(env, argv); /* HELPED */\n"
    "    noted++;\n"
    "    return result;\n"
    "}\n"
    "NIF(goes_on)\n"
    "{ /* GOES_ON */\n"
    "    noted++;\n"
    "    return argv[0];\n"
    "}\n"
    "NIF(waits)\n"
    "{\n"
    "    return th_call_then(env, argv[0], argv[1], 1, &argv[2], goes_on, 0, 0, NULL);\n"
    "}\n"
    "NIF(later)\n"
    "{ /* LATER */\n"
    "    return enif_make_badarg(env);\n"
    "}\n"
    "NIF(yields)\n"
    "{\n"
    "    return enif_schedule_nif(env, \"later\", 0, later, argc, argv);\n"
    "}\n"
    "static ErlNifFunc functions[] = {\n"
    "    {\"raises\", 1, raises, 0}, {\"bad\", 1, bad, 0}, {\"jumps\", 1, jumps, 0},\n"
    "    {\"silent\", 1, silent, 0}, {\"calls\", 3, calls, 0}, {\"helped\", 3, helped, 0},\n"
    "    {\"waits\", 3, waits, 0}, {\"yields\", 1, yields, 0}};\n"
    "ERL_NIF_INIT(lines, functions, NULL, NULL, NULL, NULL)\n";

/* Returns the line of the remark NAME; #line makes the line after it number 1. */
static unsigned line_of(const char *name)
{
    char *remark = th_printf("/* %s */", name);
    const char *end = strstr(source, remark);
    unsigned line = 0;

    assert_non_null(end);
    for (const char *c = source; c < end; c++)
        line += *c == '\n';
    th_free(remark);
    return line;
}

static struct th_library *lines;
static char *lines_path;

static void open_lines(const char *flags)
{
    char *all = th_printf("-O2 -w %s", flags);

    lines_path = compiled_file(NULL, all, source);
    if (th_library_open(lines_path, &lines) != TH_OK ||
        th_library_load(lines, NULL, th_small(0)) != TH_OK)
        fail_msg("%s", th_error_link(0));
    th_code_module_add(lines);
    lines_shown = true;
    th_free(all);
}

static void close_lines(void)
{
    lines_shown = false;
    th_code_module_remove(lines);
    th_library_release(lines);
    unlink(lines_path);
    th_free(lines_path);
}

/* Appends " FUNCTION:LINE", or " FUNCTION" without line, for each entry of `lines` in STACK. */
static void add_lines(struct th_buffer *out, const char *stack)
{
    while ((stack = strstr(stack, "{lines,"))) {
        const char *end = strchr(stack += strlen("{lines,"), ',');
        const char *next = strstr(stack, "{lines,"), *file = strstr(stack, "[{file,\"lines.c\"}");
        th_buffer_printf(out, " %.*s", (int)(end - stack), stack);
        if (file && (!next || file < next))
            th_buffer_printf(out, ":%d", atoi(strstr(file, "{line,") + strlen("{line,")));
    }
}

/* Asserts the stack that party:catches() gets from lines:FUNCTION(ARGUMENTS). */
static void assert_stack(const char *function, const char *arguments, const char *expected)
{
    struct th_buffer text = {0};

    add_lines(&text, call("catches", "[lines,%s,%s]", function, arguments));
    assert_string_equal(th_buffer_text(&text), expected);
    th_buffer_free(&text);
}

#define ASSERT_STACK(function, arguments, ...)            \
    do {                                                  \
        char *expected_ = th_printf(__VA_ARGS__);         \
        assert_stack((function), (arguments), expected_); \
        th_free(expected_);                               \
    } while (0)

static void an_exception_has_the_line_that_raised_it(void **state)
{
    (void)state;
    open_lines("-g");
    ASSERT_STACK("raises", "[x]", " raises:%u", line_of("RAISES"));
    ASSERT_STACK("bad", "[x]", " bad:%u", line_of("BAD"));
    close_lines();
}

/* The stack no longer has a return address in the function, so its first line is shown. */
static void an_exception_without_a_return_address_has_the_first_line(void **state)
{
    (void)state;
    open_lines("-g");
    ASSERT_STACK("jumps", "[x]", " jumps:%u", line_of("JUMPS"));
    ASSERT_STACK("silent", "[x]", " silent:%u", line_of("SILENT"));
    ASSERT_STACK("yields", "[x]", " later:%u", line_of("LATER"));
    close_lines();
}

static void a_waiting_caller_has_the_line_of_its_call(void **state)
{
    (void)state;
    open_lines("-g");
    ASSERT_STACK("calls", "[lines,raises,x]", " raises:%u calls:%u", line_of("RAISES"),
                 line_of("CALLS"));
    ASSERT_STACK("helped", "[lines,jumps,x]", " jumps:%u helped:%u", line_of("JUMPS"),
                 line_of("HELP")); /* the line of the call, in whichever function */
    ASSERT_STACK("waits", "[lines,jumps,x]", " jumps:%u waits:%u", line_of("JUMPS"),
                 line_of("GOES_ON"));
    ASSERT_STACK("calls", "[lines,nowhere,x]", " nowhere calls:%u", line_of("CALLS"));
    close_lines();
}

static void code_without_debug_information_has_no_lines(void **state)
{
    (void)state;
    open_lines("-g0");
    ASSERT_STACK("calls", "[lines,raises,x]", " raises calls");
    close_lines();
}

/* The exception's library is in use while lines are looked up; otherwise lines are left out. */
static void the_exit_reason_of_a_process_has_lines(void **state)
{
    struct th_buffer text = {0};
    char *expected;

    (void)state;
    open_lines("-g");
    call("spawn", "[lines,raises,[why],2]");
    add_lines(&text, message_to(process));
    expected = th_printf(" raises:%u", line_of("RAISES"));
    assert_string_equal(th_buffer_text(&text), expected);
    th_free(expected);
    th_buffer_free(&text);
    close_lines();
}

#define WITH_LINES "[{'_',[],[{message,{caller_line}}]}]"

static void a_caller_has_the_line_of_its_call(void **state)
{
    char *expected;

    (void)state;
    open_lines("-g");
    set("echo", 1, WITH_LINES, TH_BP_GLOBAL);
    call("call", "[lines,calls,[party,echo,1]]");
    expected =
        th_printf("call {party,echo,[1]} {lines,calls,3,{\"lines.c\",%u}}\n", line_of("CALLS"));
    assert_log(expected);
    th_free(expected);
    call("call", "[lines,helped,[party,echo,2]]");
    expected =
        th_printf("call {party,echo,[2]} {lines,helped,3,{\"lines.c\",%u}}\n", line_of("HELPED"));
    assert_log(expected);
    th_free(expected);
    call("echo", "[3]");
    assert_log("call {party,echo,[3]} undefined\n");
    assert_int_equal(th_trace_session_pattern_counts(session).lines_unknown, 0);
    close_lines();
}

static void an_unknown_line_is_counted(void **state)
{
    (void)state;
    open_lines("-g0");
    set("echo", 1, WITH_LINES, TH_BP_GLOBAL);
    call("call", "[lines,calls,[party,echo,1]]");
    assert_log("call {party,echo,[1]} {lines,calls,3,undefined}\n");
    assert_int_equal(th_trace_session_pattern_counts(session).lines_unknown, 1);
    close_lines();
}

static void a_stack_trace_has_lines(void **state)
{
    char *expected;

    (void)state;
    open_lines("-g");
    set("echo", 1, "[{'_',[],[{message,{current_stacktrace}}]}]", TH_BP_GLOBAL);
    call("echo", "[1]");
    assert_log("call {party,echo,[1]} []\n");
    set("echo", 1, "[{'_',[],[{message,{current_stacktrace,1}}]}]", TH_BP_GLOBAL);
    call("call", "[lines,calls,[party,echo,2]]");
    expected = th_printf("call {party,echo,[2]} [{lines,calls,3,[{file,\"lines.c\"},{line,%u}]}]\n",
                         line_of("CALLS"));
    assert_log(expected);
    th_free(expected);
    close_lines();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_exception_has_the_line_that_raised_it),
        TEST(an_exception_without_a_return_address_has_the_first_line),
        TEST(a_waiting_caller_has_the_line_of_its_call),
        TEST(code_without_debug_information_has_no_lines),
        TEST(the_exit_reason_of_a_process_has_lines),
        TEST(a_caller_has_the_line_of_its_call),
        TEST(an_unknown_line_is_counted),
        TEST(a_stack_trace_has_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

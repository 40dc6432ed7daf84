/* Tests the stack in process_dump: waiting functions and handlers, by their addresses. */
#include "traced.h"

#include "host/base/base.h"
#include "tests/support/compiled.h"
#include "tests/support/versions.h"

#include <ctype.h>
#include <unistd.h>

/* outer() waits for guarded(), which catches and waits for calls(), which is on the C stack. */
static const char source[] =
    "#line 1 \"stacked.c\"\n"
    "#include <nif_module.h>\n"
    "static volatile int noted;\n"
    "#define NIF(name) \\\n"
    "    static ERL_NIF_TERM name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])\n"
    "NIF(goes_on)\n"
    "{\n"
    "    return argv[0];\n"
    "}\n"
    "NIF(caught)\n"
    "{\n"
    "    ERL_NIF_TERM class, reason;\n"
    "    return th_catch(env, &class, &reason, 0) ? reason : argv[0];\n"
    "}\n"
    "NIF(outer)\n"
    "{\n"
    "    return th_call_then(env, enif_make_atom(env, \"stacked\"), enif_make_atom(env, "
    "\"guarded\"),\n"
    "                        1, argv, goes_on, 0, 0, 0);\n"
    "}\n"
    "NIF(guarded)\n"
    "{\n"
    "    ERL_NIF_TERM kept[] = {enif_make_int(env, 7), argv[0]};\n"
    "    return th_call_then(env, enif_make_atom(env, \"stacked\"), enif_make_atom(env, "
    "\"calls\"), 1,\n"
    "                        argv, caught, TH_CATCHES, 2, kept);\n"
    "}\n"
    "NIF(calls)\n"
    "{\n"
    "    ERL_NIF_TERM result = th_call(env, enif_make_atom(env, \"party\"),\n"
    "                                  enif_make_atom(env, \"echo\"), 1, argv);\n"
    "    noted++;\n"
    "    return result;\n"
    "}\n"
    "static ErlNifFunc functions[] = {{\"outer\", 1, outer, 0}, {\"guarded\", 1, guarded, 0},\n"
    "                                 {\"calls\", 1, calls, 0}};\n"
    "ERL_NIF_INIT(stacked, functions, NULL, NULL, NULL, NULL)\n";

static struct th_library *stacked;
static char *stacked_path;

static void open_stacked(const char *flags)
{
    char *all = th_printf("-O2 -w %s", flags);

    stacked_path = compiled_file(NULL, all, source);
    if (th_library_open(stacked_path, &stacked) != TH_OK ||
        th_library_load(stacked, NULL, th_small(0)) != TH_OK)
        fail_msg("%s", th_error_link(0));
    th_code_module_add(stacked);
    th_free(all);
}

static void close_stacked(void)
{
    th_code_module_remove(stacked);
    th_library_release(stacked);
    remove(stacked_path);
    th_free(stacked_path);
}

/* Replaces unpredictable numbers with a letter. */
static void add_plain(struct th_buffer *plain, const char *text)
{
    while (*text) {
        size_t digits = 0;
        if (strncmp(text, "0x", 2) == 0 || strncmp(text, "+ ", 2) == 0) {
            th_buffer_add(plain, text, 2);
            text += 2;
            while (isxdigit((unsigned char)text[digits]))
                digits++;
            th_buffer_add_text(plain, digits == 1 && *text == '0' ? "0" : "H");
            text += digits;
        } else if (strncmp(text, "\\n", 2) == 0) {
            th_buffer_add_byte(plain, '\n');
            text += 2;
        } else {
            th_buffer_add_byte(plain, (unsigned char)*text++);
        }
    }
}

/* Returns the stack in the last dump that the tracer got; the caller frees it. */
static char *told_stack(void)
{
    char *log = callbacks(), *stack = strstr(log, "Stack dump:"), *end;
    struct th_buffer plain = {0};

    if (!stack)
        fail_msg("no stack in: %s", log);
    end = strstr(stack, "\">>");
    assert_non_null(end);
    *end = '\0';
    add_plain(&plain, stack);
    free(log);
    stack = th_strdup(th_buffer_text(&plain));
    th_buffer_free(&plain);
    return stack;
}

static void assert_stack(const char *expected)
{
    char *stack = told_stack();

    assert_string_equal(stack, expected);
    th_free(stack);
}

#define DUMPS "[{'_',[],[{message,{process_dump}}]}]"

static void a_dump_shows_functions_lines_and_handlers(void **state)
{
    (void)state;
    open_stacked("-g");
    set("echo", 1, DUMPS, TH_BP_GLOBAL);
    assert_string_equal(call("tail", "[stacked,outer,[x]]"), "x");
    assert_stack("Stack dump:\n"
                 "0xH Return addr 0xH (stacked:calls/1 + H) stacked.c:27\n"
                 "\n"
                 "0xH Return addr 0xH (stacked:caught/3 + 0) stacked.c:10\n"
                 "y(0)     7\n"
                 "y(1)     x\n"
                 "y(2)     Catch 0xH (stacked:caught/3 + 0)\n"
                 "\n"
                 "0xH Return addr 0xH (stacked:goes_on/1 + 0) stacked.c:6\n");
    close_stacked();
}

static void a_dump_without_symbols_has_offsets(void **state)
{
    (void)state;
    open_stacked("-s");
    set("echo", 1, DUMPS, TH_BP_GLOBAL);
    assert_string_equal(call("tail", "[stacked,outer,[{y,\"z\"}]]"), "{y,\"z\"}");
    assert_stack("Stack dump:\n"
                 "0xH Return addr 0xH (stacked+0xH)\n"
                 "\n"
                 "0xH Return addr 0xH (stacked+0xH)\n"
                 "y(0)     7\n"
                 "y(1)     {y,\\\"z\\\"}\n"
                 "y(2)     Catch 0xH (stacked+0xH)\n"
                 "\n"
                 "0xH Return addr 0xH (stacked+0xH)\n");
    close_stacked();
}

static void the_dump_of_an_empty_stack_has_a_header_only(void **state)
{
    (void)state;
    set("echo", 1, DUMPS, TH_BP_GLOBAL);
    assert_string_equal(call("echo", "[1]"), "1");
    assert_stack("Stack dump:\n");
}

/* --- By address ------------------------------------------------------------------------------- */

static uintptr_t number_code(const char *module)
{
    return (uintptr_t)th_code_export_callee(
               th_code_export_get(th_atom(module), th_atom("number"), 0))
        ->code;
}

/* Returns the generation of the code at ADDRESS + INSIDE, which must be number(); 0: no code. */
static uint64_t generation_at(uintptr_t address, uintptr_t inside)
{
    struct th_code_place place;
    uint64_t generation = 0;

    th_progress_enter();
    if (th_code_place(address + inside, &place)) {
        generation = place.instance->generation;
        assert_string_equal(place.function, "number");
        assert_int_equal(place.inside, inside);
    }
    th_progress_leave();
    return generation;
}

/* In each code index, as each load makes another one active. */
static void old_code_is_found_until_it_is_purged(void **state)
{
    static const char *const name = "version_00sd";
    uintptr_t before = 0;

    (void)state;
    for (uint64_t i = 1; i <= 7; i++) {
        uintptr_t now;
        assert_int_equal(version_load(&name, 1, (long)i), TH_OK);
        now = number_code(name);
        assert_int_equal(generation_at(now, 0), i);
        assert_int_equal(generation_at(now, 1), i);
        if (before)
            assert_int_equal(generation_at(before, 0), i - 1);
        before = now;
    }
    assert_int_equal(th_code_delete(th_atom(name), TH_PURGE_SOFT), TH_OK);
    assert_int_equal(generation_at(before, 0), 7);
    assert_int_equal(th_code_purge(th_atom(name), TH_PURGE_SOFT, NULL), TH_OK);
    assert_int_equal(generation_at(before, 0), 0);
    assert_int_equal(generation_at((uintptr_t)&generation_at, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_dump_shows_functions_lines_and_handlers),
        TEST(a_dump_without_symbols_has_offsets),
        TEST(the_dump_of_an_empty_stack_has_a_header_only),
        TEST(old_code_is_found_until_it_is_purged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

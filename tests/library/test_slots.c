/* Tests the function called for each of the 18 slots, in both forms of library. */
#include "files.h"

#include "host/library/library.h"
#include "host/term/term.h"

static struct th_library *open_library(const char *path)
{
    struct th_library *library;

    if (th_library_open(path, &library) != TH_OK)
        fail_msg("%s", error_text());
    return library;
}

/* Returns the slot whose function answers a call of SLOT. */
static enum th_tracer_slot answer_of(const struct th_library *library, enum th_tracer_slot slot)
{
    const struct th_slots *slots = th_library_slots(library);
    const th_term argv[5] = {TH_NIL, TH_NIL, TH_NIL, TH_NIL, TH_NIL};
    th_term answer = slots->functions[slot](NULL, (int)th_library_slot_arity(slot), argv);

    assert_true(th_is_small(answer));
    return (enum th_tracer_slot)th_small_value(answer);
}

/* Asserts that slots in HAS have their own function, others that of `enabled` or `trace`. */
static void assert_filled(const struct th_library *library, const bool has[TH_SLOTS])
{
    const struct th_slots *slots = th_library_slots(library);

    assert_int_equal(th_library_check_tracer(library), TH_OK);
    for (enum th_tracer_slot slot = 0; slot < TH_SLOTS; slot++) {
        enum th_tracer_slot filler = has[slot] ? slot : (enum th_tracer_slot)(slot % 2);
        assert_int_equal(answer_of(library, slot), filler);
        assert_string_equal(slots->filled_by[slot], th_library_slot_name(filler));
        assert_int_equal(th_library_slots_has_own(slots, slot), has[slot]);
    }
}

/* --- With an entry --------------------------------------------------------------------------- */

static void with_entry(const char *variable, const char *name, const bool has[TH_SLOTS])
{
    struct th_library *library;

    setenv(variable, name, 1);
    library = open_library(built("every_slot"));
    unsetenv(variable);
    assert_filled(library, has);
    th_library_release(library);
}

static void each_slot_absent_from_an_entry_has_the_generic_callback(void **state)
{
    (void)state;
    for (enum th_tracer_slot slot = 2; slot < TH_SLOTS; slot++) {
        bool has[TH_SLOTS];
        memset(has, true, sizeof has);
        has[slot] = false;
        with_entry("EVERY_SLOT_OMIT", th_library_slot_name(slot), has);
    }
}

static void each_slot_present_in_an_entry_has_its_own_callback(void **state)
{
    (void)state;
    for (enum th_tracer_slot slot = 2; slot < TH_SLOTS; slot++) {
        bool has[TH_SLOTS] = {true, true};
        has[slot] = true;
        with_entry("EVERY_SLOT_ONLY", th_library_slot_name(slot), has);
    }
}

static void refuse_without(const char *path, const char *name, const char *reason)
{
    struct th_library *library;

    setenv("EVERY_SLOT_OMIT", name, 1);
    library = open_library(path);
    unsetenv("EVERY_SLOT_OMIT");
    assert_int_equal(th_library_check_tracer(library), TH_REFUSED);
    assert_error_has(reason);
    assert_error_has(path);
    th_library_release(library);
}

static void an_entry_without_generic_callbacks_is_refused(void **state)
{
    (void)state;
    refuse_without(built("every_slot"), "enabled",
                   "the library is not a tracer: it lacks enabled/3");
    refuse_without(built("every_slot"), "trace", "the library is not a tracer: it lacks trace/5");
}

/* --- With symbols ---------------------------------------------------------------------------- */

static char object[PATH_MAX + 32];

static int make_object(void **state)
{
    const char *compiler = getenv("CC");
    char *command;
    int failed;

    if (make_folder(state) != 0)
        return -1;
    snprintf(object, sizeof object, "%s/plain.o", folder);
    command = th_printf("%s -DPLAIN -fPIC -Iplugin_api -c -o '%s' tests/tracers/every_slot.c",
                        compiler ? compiler : "cc", object);
    failed = system(command);
    th_free(command);
    return failed;
}

/* Links the object to a library that exports only the callbacks in HAS. */
static struct th_library *link_plain(const bool has[TH_SLOTS])
{
    const char *path = in_folder("plain.so");
    const char *script = in_folder("plain.map");
    struct th_buffer text = {0};
    char *flags = th_printf("-shared '%s' -Wl,--version-script='%s'", object, script);

    th_buffer_add_text(&text, "{ global: none;\n");
    for (enum th_tracer_slot slot = 0; slot < TH_SLOTS; slot++)
        if (has[slot])
            th_buffer_printf(&text, "%s;\n", th_library_slot_name(slot));
    th_buffer_add_text(&text, "local: *; };\n");
    write_file(script, text.data, text.size);
    unlink(path);
    compile(path, flags, "");
    th_buffer_free(&text);
    th_free(flags);
    return open_library(path);
}

static void with_symbols(const bool has[TH_SLOTS])
{
    struct th_library *library = link_plain(has);

    assert_int_equal(th_library_examination(library)->form, TH_LIBRARY_PLAIN);
    assert_term_equal(th_library_name(library), th_atom("plain"));
    assert_filled(library, has);
    th_library_release(library);
}

static void each_slot_absent_from_the_symbols_has_the_generic_callback(void **state)
{
    (void)state;
    for (enum th_tracer_slot slot = 2; slot < TH_SLOTS; slot++) {
        bool has[TH_SLOTS];
        memset(has, true, sizeof has);
        has[slot] = false;
        with_symbols(has);
    }
}

static void each_slot_present_in_the_symbols_has_its_own_callback(void **state)
{
    (void)state;
    for (enum th_tracer_slot slot = 2; slot < TH_SLOTS; slot++) {
        bool has[TH_SLOTS] = {true, true};
        has[slot] = true;
        with_symbols(has);
    }
}

static void a_plain_library_without_enabled_is_refused(void **state)
{
    bool has[TH_SLOTS] = {false, true};
    struct th_library *library = link_plain(has);

    (void)state;
    assert_int_equal(th_library_check_tracer(library), TH_REFUSED);
    assert_error_has("the library is not a tracer: it lacks enabled/3");
    th_library_release(library);
}

/* --- Functions that are never called ---------------------------------------------------------- */

static void misnamed_callbacks_get_remarks(void **state)
{
    struct th_library *library = open_library(built("never_called"));
    const struct th_names *remarks = th_library_remarks(library);

    (void)state;
    assert_int_equal(remarks->count, 4);
    assert_true(th_library_names_contain(remarks, "its module is called never_called_module"));
    assert_true(th_library_names_contain(
        remarks, "enabled_return_to/3 is never called: there is no such callback"));
    assert_true(th_library_names_contain(
        remarks, "trace_spawn/5 is never called: there is no such callback"));
    assert_true(th_library_names_contain(
        remarks, "trace_call/4 is never called: the callback is trace_call/5"));
    th_library_release(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_slot_absent_from_an_entry_has_the_generic_callback),
        cmocka_unit_test(each_slot_present_in_an_entry_has_its_own_callback),
        cmocka_unit_test(an_entry_without_generic_callbacks_is_refused),
        cmocka_unit_test(each_slot_absent_from_the_symbols_has_the_generic_callback),
        cmocka_unit_test(each_slot_present_in_the_symbols_has_its_own_callback),
        cmocka_unit_test(a_plain_library_without_enabled_is_refused),
        cmocka_unit_test(misnamed_callbacks_get_remarks),
    };

    return cmocka_run_group_tests(tests, make_object, remove_folder);
}

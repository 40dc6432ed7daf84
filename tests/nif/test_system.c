/* Tests memory, system information, environment variables, shared objects, names of errors. */
#include "host/base/base.h"
#include "host/nif/nif.h"
#include "tests/support/assertions.h"

#include <errno.h>
#include <stddef.h>

static void memory_of_libraries_is_not_counted_as_the_host_s(void **state)
{
    unsigned long before = th_alloc_count();
    char *memory = enif_alloc(10);

    (void)state;
    assert_non_null(memory);
    memcpy(memory, "abcdefghi", 10);
    memory = enif_realloc(memory, 100000);
    assert_string_equal(memory, "abcdefghi");
    enif_free(memory);
    memory = enif_alloc(0);
    assert_non_null(memory);
    enif_free(memory);
    enif_free(NULL);
    memory = enif_realloc(NULL, 5);
    assert_non_null(memory);
    memory = enif_realloc(memory, 0);
    assert_non_null(memory);
    enif_free(memory);
    assert_int_equal(th_alloc_count(), before);
}

static void system_information_is_written_up_to_the_given_size(void **state)
{
    ErlNifSysInfo info;

    (void)state;
    memset(&info, 0x55, sizeof info);
    enif_system_info(&info, offsetof(ErlNifSysInfo, nif_major_version));
    assert_int_equal(info.nif_major_version, 0x55555555);
    assert_int_equal(info.scheduler_threads, 1);
    enif_system_info(&info, sizeof info);
    assert_int_equal(info.nif_major_version, ERL_NIF_MAJOR_VERSION);
    assert_int_equal(info.nif_minor_version, ERL_NIF_MINOR_VERSION);
    assert_int_equal(info.dirty_scheduler_support, 1);
    assert_true(strlen(info.otp_release) > 0 && strlen(info.erts_version) > 0);
}

static void errno_values_have_names(void **state)
{
    (void)state;
    assert_string_equal(erl_errno_id(ENOENT), "enoent");
    assert_string_equal(erl_errno_id(E2BIG), "e2big");
    assert_string_equal(erl_errno_id(EPROTONOSUPPORT), "eprotonosupport");
    assert_string_equal(erl_errno_id(ENOTSUP), "enotsup");
    assert_string_equal(erl_errno_id(EAGAIN), "eagain");
    assert_string_equal(erl_errno_id(0), "unknown");
    assert_string_equal(erl_errno_id(-1), "unknown");
    assert_string_equal(erl_errno_id(100000), "unknown");
}

static void the_scheduler_id_is_0_outside_of_callbacks(void **state)
{
    (void)state;
    assert_int_equal(enif_scheduler_id(), 0);
}

/* --- Variables --- */

static void environment_variables_can_be_read(void **state)
{
    char value[8] = "-------";
    size_t size = sizeof value;

    (void)state;
    setenv("TEST_SYSTEM", "abc", 1);
    assert_int_equal(enif_getenv("TEST_SYSTEM", value, &size), 0);
    assert_string_equal(value, "abc");
    assert_int_equal(size, 3);
    size = 4;
    assert_int_equal(enif_getenv("TEST_SYSTEM", value, &size), 0);
    setenv("TEST_SYSTEM", "", 1);
    size = 1;
    assert_int_equal(enif_getenv("TEST_SYSTEM", value, &size), 0);
    assert_string_equal(value, "");
    assert_int_equal(size, 0);
    unsetenv("TEST_SYSTEM");
    size = sizeof value;
    assert_order(enif_getenv("TEST_SYSTEM", value, &size), <, 0);
}

static void a_variable_that_does_not_fit_reports_its_size(void **state)
{
    char value[8] = "-------";
    size_t size = 3;

    (void)state;
    setenv("TEST_SYSTEM", "abc", 1);
    assert_order(enif_getenv("TEST_SYSTEM", value, &size), >, 0);
    assert_int_equal(size, 4); /* the required size, with which the call succeeds */
    assert_string_equal(value, "-------");
    assert_int_equal(enif_getenv("TEST_SYSTEM", value, &size), 0);
    size = 0;
    assert_order(enif_getenv("TEST_SYSTEM", NULL, &size), >, 0);
    assert_int_equal(size, 4);
    setenv("TEST_SYSTEM", "", 1);
    size = 0;
    assert_order(enif_getenv("TEST_SYSTEM", NULL, &size), >, 0);
    assert_int_equal(size, 1);
}

/* --- Shared objects --- */

static void note(void *said, const char *message)
{
    snprintf(said, 200, "%s", message);
}

/* Returns the path of a library of the tests, without its suffix. */
static const char *echo_stem(void)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/tests/tracers/echo", getenv("BUILD_DIR"));
    return path;
}

static void a_shared_object_is_opened_and_its_symbols_are_found(void **state)
{
    char said[200] = "";
    void *handle = enif_dlopen(echo_stem(), note, said);

    (void)state;
    assert_string_equal(said, "");
    assert_non_null(handle);
    assert_non_null(enif_dlsym(handle, "enabled", note, said));
    assert_string_equal(said, "");
    assert_null(enif_dlsym(handle, "no_such_function", note, said));
    assert_non_null(strstr(said, "no_such_function"));
    assert_null(enif_dlsym(handle, "no_such_function", NULL, NULL));
}

static void a_shared_object_that_cannot_be_opened_is_reported(void **state)
{
    char said[200] = "";

    (void)state;
    assert_null(enif_dlopen("/nowhere/library", note, said));
    assert_non_null(strstr(said, "/nowhere/library.so"));
    assert_null(enif_dlopen("/nowhere/library", NULL, NULL));
    assert_null(enif_dlopen(NULL, note, said));
    assert_string_equal(said, "no library was named");
    assert_null(enif_dlopen(NULL, NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_libraries_is_not_counted_as_the_host_s),
        cmocka_unit_test(system_information_is_written_up_to_the_given_size),
        cmocka_unit_test(environment_variables_can_be_read),
        cmocka_unit_test(a_variable_that_does_not_fit_reports_its_size),
        cmocka_unit_test(a_shared_object_is_opened_and_its_symbols_are_found),
        cmocka_unit_test(a_shared_object_that_cannot_be_opened_is_reported),
        cmocka_unit_test(errno_values_have_names),
        cmocka_unit_test(the_scheduler_id_is_0_outside_of_callbacks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

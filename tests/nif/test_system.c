/* Memory, mutexes, the system, names of errors. */
#include "host/base/base.h"
#include "host/nif/nif.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 10000 };

static void memory_is_the_library_s_own(void **state)
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

static size_t counted; /* guarded by the mutex of the test */

static void *count(void *mutex)
{
    for (int i = 0; i < ROUNDS; i++) {
        enif_mutex_lock(mutex);
        counted++;
        enif_mutex_unlock(mutex);
    }
    return NULL;
}

static void a_mutex_excludes_others(void **state)
{
    char name[] = "counter";
    ErlNifMutex *mutex = enif_mutex_create(name);
    pthread_t threads[THREADS];

    (void)state;
    name[0] = 'C'; /* the name was copied */
    assert_string_equal(enif_mutex_name(mutex), "counter");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, mutex);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counted, THREADS * ROUNDS);
    enif_mutex_destroy(mutex);
}

static void a_mutex_can_be_tried(void **state)
{
    ErlNifMutex *mutex = enif_mutex_create(NULL);

    (void)state;
    assert_null(enif_mutex_name(mutex));
    assert_int_equal(enif_mutex_trylock(mutex), 0);
    assert_int_equal(enif_mutex_trylock(mutex), EBUSY);
    enif_mutex_unlock(mutex);
    enif_mutex_destroy(mutex);
    enif_mutex_destroy(NULL);
}

static void system_information_keeps_to_the_size_that_is_known(void **state)
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

static void errors_have_names(void **state)
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

static void outside_of_callbacks_there_is_no_scheduler(void **state)
{
    (void)state;
    assert_int_equal(enif_scheduler_id(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_the_library_s_own),
        cmocka_unit_test(a_mutex_excludes_others),
        cmocka_unit_test(a_mutex_can_be_tried),
        cmocka_unit_test(system_information_keeps_to_the_size_that_is_known),
        cmocka_unit_test(errors_have_names),
        cmocka_unit_test(outside_of_callbacks_there_is_no_scheduler),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

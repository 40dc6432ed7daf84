/* Tests the checker: memory, environments and locks that are freed, and that are not. */
#include "host/base/base.h"
#include "tests/support/assertions.h"
#include "tests/support/checked.h"
#include "tests/support/skipping.h"

#include <stddef.h>
#include <stdlib.h>

#if defined(TH_ADDRESS_SANITIZER) || defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR \
    false /* freed memory is not reused at once, so it can be written without harm */
#else
#define OWN_ALLOCATOR true
#endif

#ifdef __SANITIZE_THREAD__
#define OWN_LOCKS false /* the sanitizer reports this itself */
#else
#define OWN_LOCKS true
#endif

/* Allocations between these two calls leak on purpose. */
#ifdef TH_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#else
static void __lsan_disable(void)
{
}

static void __lsan_enable(void)
{
}
#endif

/* --- Freeing ---------------------------------------------------------------------------------- */

static void wrong_frees_of_memory_are_reported(void **state)
{
    (void)state;
    checked_call("free_twice", "[]");
    checked_call("free_of_malloc", "[]");
    checked_expect(3, "sins:free_twice(): calls enif_free() on a block of memory that was already "
                      "given back to enif_free() by sins:free_twice()\nsins:free_twice(): calls "
                      "enif_realloc() on a block of memory that was already given back to "
                      "enif_free() by sins:free_twice()\nsins:free_of_malloc(): calls enif_free() "
                      "on memory that enif_alloc() did not return\n");
}

static void frees_by_libc_and_writes_after_free_are_reported(void **state)
{
    (void)state;
    if (!OWN_ALLOCATOR) {
        th_free(checked_end(&(uint64_t){0}));
        skip_because("the sanitizer has an allocator of its own");
    }
    checked_call("free_by_libc", "[]");
    checked_call("write_after_free", "[]");
    checked_expect(
        2,
        "sins:free_by_libc(): memory that enif_alloc() returned was freed by another function than "
        "enif_free()\nsins:write_after_free(): memory that this call freed was written to later\n");
}

static void wrong_releases_of_binaries_are_reported(void **state)
{
    (void)state;
    checked_call("release_twice", "[]");
    checked_call("release_inspected", "[<<1>>]");
    checked_call("release_made", "[]");
    checked_call("make_released", "[]");
    checked_expect(
        6, "sins:release_twice(): calls enif_release_binary() on a binary that was released "
           "already\nsins:release_twice(): calls enif_release_binary() on a binary that was "
           "already given back to enif_release_binary() by "
           "sins:release_twice()\nsins:release_inspected(<<1>>): calls enif_release_binary() on a "
           "binary that was only inspected\nsins:release_made(): calls enif_release_binary() on a "
           "binary that was given to enif_make_binary()\nsins:release_made(): calls "
           "enif_release_binary() on a binary that was already given back to enif_make_binary() by "
           "sins:release_made()\nsins:make_released(): calls enif_make_binary() on a binary that "
           "was released already\n");
}

static void wrong_frees_of_environments_are_reported(void **state)
{
    (void)state;
    assert_string_equal(checked_call("free_call_env", "[]"), "{ok}");
    checked_call("free_env_twice", "[]");
    checked_expect(3, "sins:free_call_env(): calls enif_clear_env() on the environment of this "
                      "call\nsins:free_call_env(): calls enif_free_env() on the environment of "
                      "this call\nsins:free_env_twice(): calls enif_free_env() on an environment "
                      "that was already given back to enif_free_env() by sins:free_env_twice()\n");
}

static void too_many_releases_of_a_resource_are_reported(void **state)
{
    (void)state;
    checked_call("release_often", "[]");
    checked_expect(1, "sins:release_often(): calls enif_release_resource() on a resource that was "
                      "already given back to enif_release_resource() by sins:release_often()\n");
}

/* --- Locks ----------------------------------------------------------------------------------- */

static void use_of_a_destroyed_lock_is_reported(void **state)
{
    (void)state;
    checked_call("destroy_twice", "[]");
    checked_expect(2,
                   "sins:destroy_twice(): calls enif_mutex_destroy() on a lock that was already "
                   "given back to enif_mutex_destroy() by "
                   "sins:destroy_twice()\nsins:destroy_twice(): calls enif_mutex_lock() on a lock "
                   "that was already given back to enif_mutex_destroy() by sins:destroy_twice()\n");
}

static void a_call_that_returns_with_a_lock_is_reported(void **state)
{
    (void)state;
    checked_call("leave_locked", "[]");
    checked_call("unlock_left", "[]");
    checked_call("unlock_free", "[]");
    checked_expect(
        2, "sins:leave_locked(): returns without unlocking the lock 'left'\nsins:unlock_free(): "
           "calls enif_mutex_unlock() on a lock that no thread holds\n");
}

static void a_thread_that_locks_twice_is_reported(void **state)
{
    (void)state;
    __lsan_disable();
    checked_call("lock_twice", "[]");
    __lsan_enable();
    checked_expect(
        2,
        "sins:lock_twice(): calls enif_mutex_lock() on a lock that this thread holds already: this "
        "is a deadlock\nsins:lock_twice(): calls enif_mutex_destroy() on a lock that is locked\n");
}

static void wrong_use_of_read_write_locks_is_reported(void **state)
{
    (void)state;
    checked_call("unlock_otherwise", "[]");
    checked_expect(3, "sins:unlock_otherwise(): calls enif_rwlock_rwunlock() on a lock that this "
                      "thread holds for reading, not for writing\nsins:unlock_otherwise(): calls "
                      "enif_rwlock_rwlock() on a lock that this thread holds already: this is a "
                      "deadlock\nsins:unlock_otherwise(): calls enif_rwlock_rlock() on a lock that "
                      "this thread holds already: with a waiting writer this is a deadlock\n");
}

static void wrong_use_of_condition_variables_is_reported(void **state)
{
    (void)state;
    checked_call("wait_unlocked", "[]");
    checked_expect(2, "sins:wait_unlocked(): calls enif_cond_wait() on a lock that no thread "
                      "holds\nsins:wait_unlocked(): calls enif_cond_signal() on a lock that was "
                      "already given back to enif_cond_destroy() by sins:wait_unlocked()\n");
}

static void unlocking_the_lock_of_another_thread_is_reported(void **state)
{
    (void)state;
    if (!OWN_LOCKS) {
        th_free(checked_end(&(uint64_t){0}));
        skip_because("the sanitizer has locks of its own");
    }
    checked_call("unlock_others", "[]");
    checked_expect(
        1,
        "a thread of the library: calls enif_mutex_unlock() on a lock that another thread holds\n");
}

/* --- Queues and threads ---------------------------------------------------------------------- */

static void wrong_use_of_queues_and_their_binaries_is_reported(void **state)
{
    (void)state;
    checked_call("queue", "[]");
    checked_expect(
        4, "sins:queue(): calls enif_release_binary() on a binary that was already given back to "
           "enif_ioq_enq_binary() by sins:queue()\nsins:queue(): calls enif_release_binary() on a "
           "binary that was given to enif_ioq_enq_binary()\nsins:queue(): calls enif_ioq_destroy() "
           "on a queue that was already given back to enif_ioq_destroy() by "
           "sins:queue()\nsins:queue(): calls enif_ioq_deq() on a queue that was already given "
           "back to enif_ioq_destroy() by sins:queue()\n");
}

static void leaked_io_vectors_are_reported(void **state)
{
    (void)state;
    __lsan_disable();
    checked_call("vector", "[[<<1,2,3>>]]");
    __lsan_enable();
    checked_expect(1, "leak: 1 I/O vector (3 bytes) that sins:vector/1 got from "
                      "enif_inspect_iovec(), in sins:vector([<<1,2,3>>])\n");
}

static void a_second_join_and_leaked_thread_options_are_reported(void **state)
{
    (void)state;
    assert_string_equal(checked_call("join_twice", "[]"), "1");
    __lsan_disable();
    assert_string_equal(checked_call("leak_options", "[]"), "ok");
    __lsan_enable();
    checked_expect(
        2, "sins:join_twice(): calls enif_thread_join() on a thread that was already given back to "
           "enif_thread_join() by sins:join_twice()\nleak: 1 set of thread options that "
           "sins:leak_options/0 got from enif_thread_opts_create(), in sins:leak_options()\n");
}

/* --- Leaks ----------------------------------------------------------------------------------- */

static void leaks_are_reported_with_the_allocating_function(void **state)
{
    (void)state;
    __lsan_disable();
    for (int i = 3; i < 6; i++) {
        char size[] = {'[', (char)('0' + i), ']', 0};
        checked_call("leak_memory", size);
        checked_call("open_db", "[\"x\"]");
    }
    checked_call("leak_binary", "[]");
    checked_call("leak_environment", "[]");
    checked_call("leak_mutex", "[]");
    __lsan_enable();
    checked_expect(
        5, "leak: 3 blocks of memory (12 bytes) that sins:leak_memory/1 got from enif_alloc(), "
           "first in sins:leak_memory(3)\n"
           "leak: 1 binary (30 bytes) that sins:leak_binary/0 got from enif_alloc_binary(), in "
           "sins:leak_binary()\n"
           "leak: 1 environment that sins:leak_environment/0 got from enif_alloc_env(), in "
           "sins:leak_environment()\n"
           "leak: 3 resources of type 'db' (240 bytes) that sins:open_db/1 got from "
           "enif_alloc_resource(), first in sins:open_db(\"x\")\n"
           "leak: 1 lock 'leaked' that sins:leak_mutex/0 got from enif_mutex_create(), in "
           "sins:leak_mutex()\n");
}

static void leaks_of_load_are_reported_as_leaks_of_load(void **state)
{
    (void)state;
    __lsan_disable();
    checked_begin("leak");
    __lsan_enable();
    checked_expect(
        1, "leak: 1 block of memory (24 bytes) that load of sins.so got from enif_alloc()\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECKED(wrong_frees_of_memory_are_reported),
        CHECKED(frees_by_libc_and_writes_after_free_are_reported),
        CHECKED(wrong_releases_of_binaries_are_reported),
        CHECKED(wrong_frees_of_environments_are_reported),
        CHECKED(too_many_releases_of_a_resource_are_reported),
        CHECKED(use_of_a_destroyed_lock_is_reported),
        CHECKED(a_call_that_returns_with_a_lock_is_reported),
        CHECKED(a_thread_that_locks_twice_is_reported),
        CHECKED(wrong_use_of_read_write_locks_is_reported),
        CHECKED(wrong_use_of_condition_variables_is_reported),
        CHECKED(unlocking_the_lock_of_another_thread_is_reported),
        CHECKED(wrong_use_of_queues_and_their_binaries_is_reported),
        CHECKED(leaked_io_vectors_are_reported),
        CHECKED(a_second_join_and_leaked_thread_options_are_reported),
        CHECKED(leaks_are_reported_with_the_allocating_function),
        cmocka_unit_test_teardown(leaks_of_load_are_reported_as_leaks_of_load, checked_give_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the checker: memory, environments and locks that are freed, and that are not. */
#include "host/base/base.h"
#include "tests/support/checked.h"
#include "tests/support/skipping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

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

static void memory_is_freed_once(void **state)
{
    (void)state;
    checked_call("free_twice", "[]");
    checked_call("free_of_malloc", "[]");
    checked_expect(
        3, "sins:free_twice(): enif_free() of a block of memory that was given back already, to "
           "enif_free() by sins:free_twice()\n"
           "sins:free_twice(): enif_realloc() of a block of memory that was given back already, "
           "to enif_free() by sins:free_twice()\n"
           "sins:free_of_malloc(): enif_free() of memory that enif_alloc() never gave\n");
}

static void memory_is_freed_in_no_other_way(void **state)
{
    (void)state;
    if (!OWN_ALLOCATOR) {
        th_free(checked_end(&(uint64_t){0}));
        skip_because("the sanitizer has an allocator of its own");
    }
    checked_call("free_by_libc", "[]");
    checked_call("write_after_free", "[]");
    checked_expect(
        2, "sins:free_by_libc(): memory that it got from enif_alloc() was freed, but not by "
           "enif_free()\n"
           "sins:write_after_free(): memory that it freed was written to later\n");
}

static void binaries_are_released_once(void **state)
{
    (void)state;
    checked_call("release_twice", "[]");
    checked_call("release_inspected", "[<<1>>]");
    checked_call("release_made", "[]");
    checked_call("make_released", "[]");
    checked_expect(
        6, "sins:release_twice(): enif_release_binary() of a binary that was released already\n"
           "sins:release_twice(): enif_release_binary() of a binary that was given back "
           "already, to enif_release_binary() by sins:release_twice()\n"
           "sins:release_inspected(<<1>>): enif_release_binary() of a binary that it only "
           "inspected\n"
           "sins:release_made(): enif_release_binary() of a binary that was its own until "
           "enif_make_binary()\n"
           "sins:release_made(): enif_release_binary() of a binary that was given back "
           "already, to enif_make_binary() by sins:release_made()\n"
           "sins:make_released(): enif_make_binary() of a binary that was released already\n");
}

static void environments_are_freed_once(void **state)
{
    (void)state;
    assert_string_equal(checked_call("free_call_env", "[]"), "{ok}");
    checked_call("free_env_twice", "[]");
    checked_expect(
        3, "sins:free_call_env(): enif_clear_env() of the environment that it was called with\n"
           "sins:free_call_env(): enif_free_env() of the environment that it was called with\n"
           "sins:free_env_twice(): enif_free_env() of an environment that was given back "
           "already, to enif_free_env() by sins:free_env_twice()\n");
}

static void resources_are_released_as_often_as_kept(void **state)
{
    (void)state;
    checked_call("release_often", "[]");
    checked_expect(
        1, "sins:release_often(): enif_release_resource() of a resource that was given back "
           "already, to enif_release_resource() by sins:release_often()\n");
}

/* --- Locks ----------------------------------------------------------------------------------- */

static void locks_are_destroyed_once(void **state)
{
    (void)state;
    checked_call("destroy_twice", "[]");
    checked_expect(
        2, "sins:destroy_twice(): enif_mutex_destroy() of a lock that was given back already, "
           "to enif_mutex_destroy() by sins:destroy_twice()\n"
           "sins:destroy_twice(): enif_mutex_lock() of a lock that was given back already, to "
           "enif_mutex_destroy() by sins:destroy_twice()\n");
}

static void locks_are_given_up(void **state)
{
    (void)state;
    checked_call("leave_locked", "[]");
    checked_call("unlock_left", "[]");
    checked_call("unlock_free", "[]");
    checked_expect(2, "sins:leave_locked(): returns with the lock 'left' locked\n"
                      "sins:unlock_free(): enif_mutex_unlock() of a lock that nobody has\n");
}

static void nobody_waits_for_himself(void **state)
{
    (void)state;
    __lsan_disable();
    checked_call("lock_twice", "[]");
    __lsan_enable();
    checked_expect(
        2, "sins:lock_twice(): enif_mutex_lock() of a lock that it has already: it would wait "
           "for itself, for ever\n"
           "sins:lock_twice(): enif_mutex_destroy() of a lock that is locked\n");
}

static void read_write_locks_have_two_sides(void **state)
{
    (void)state;
    checked_call("unlock_otherwise", "[]");
    checked_expect(3, "sins:unlock_otherwise(): enif_rwlock_rwunlock() of a lock that it has not "
                      "for writing but for reading\n"
                      "sins:unlock_otherwise(): enif_rwlock_rwlock() of a lock that it has "
                      "already: it would wait for itself, for ever\n"
                      "sins:unlock_otherwise(): enif_rwlock_rlock() of a lock that it has already: "
                      "a writer that waits would be waited for, for ever\n");
}

static void conditions_are_waited_for_with_a_lock(void **state)
{
    (void)state;
    checked_call("wait_unlocked", "[]");
    checked_expect(2, "sins:wait_unlocked(): enif_cond_wait() of a lock that nobody has\n"
                      "sins:wait_unlocked(): enif_cond_signal() of a lock that was given back "
                      "already, to enif_cond_destroy() by sins:wait_unlocked()\n");
}

static void threads_unlock_their_own(void **state)
{
    (void)state;
    if (!OWN_LOCKS) {
        th_free(checked_end(&(uint64_t){0}));
        skip_because("the sanitizer has locks of its own");
    }
    checked_call("unlock_others", "[]");
    checked_expect(
        1, "a thread of the library: enif_mutex_unlock() of a lock that another thread has\n");
}

/* --- Queues and threads ---------------------------------------------------------------------- */

static void queues_take_binaries(void **state)
{
    (void)state;
    checked_call("queue", "[]");
    checked_expect(4, "sins:queue(): enif_release_binary() of a binary that was given back "
                      "already, to enif_ioq_enq_binary() by sins:queue()\n"
                      "sins:queue(): enif_release_binary() of a binary that was its own until "
                      "enif_ioq_enq_binary()\n"
                      "sins:queue(): enif_ioq_destroy() of a queue that was given back already, to "
                      "enif_ioq_destroy() by sins:queue()\n"
                      "sins:queue(): enif_ioq_deq() of a queue that was given back already, to "
                      "enif_ioq_destroy() by sins:queue()\n");
}

static void vectors_without_environment_are_freed(void **state)
{
    (void)state;
    __lsan_disable();
    checked_call("vector", "[[<<1,2,3>>]]");
    __lsan_enable();
    checked_expect(1, "leak: 1 I/O vector (3 bytes) that sins:vector/1 got from "
                      "enif_inspect_iovec(), in sins:vector([<<1,2,3>>])\n");
}

static void threads_are_joined_once(void **state)
{
    (void)state;
    assert_string_equal(checked_call("join_twice", "[]"), "1");
    __lsan_disable();
    assert_string_equal(checked_call("leak_options", "[]"), "ok");
    __lsan_enable();
    checked_expect(2, "sins:join_twice(): enif_thread_join() of a thread that was given back "
                      "already, to enif_thread_join() by sins:join_twice()\n"
                      "leak: 1 set of thread options that sins:leak_options/0 got from "
                      "enif_thread_opts_create(), in sins:leak_options()\n");
}

/* --- Leaks ----------------------------------------------------------------------------------- */

static void leaks_are_told_by_who_made_them(void **state)
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

static void leaks_of_load_are_told_as_such(void **state)
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
        CHECKED(memory_is_freed_once),
        CHECKED(memory_is_freed_in_no_other_way),
        CHECKED(binaries_are_released_once),
        CHECKED(environments_are_freed_once),
        CHECKED(resources_are_released_as_often_as_kept),
        CHECKED(locks_are_destroyed_once),
        CHECKED(locks_are_given_up),
        CHECKED(nobody_waits_for_himself),
        CHECKED(read_write_locks_have_two_sides),
        CHECKED(conditions_are_waited_for_with_a_lock),
        CHECKED(threads_unlock_their_own),
        CHECKED(queues_take_binaries),
        CHECKED(vectors_without_environment_are_freed),
        CHECKED(threads_are_joined_once),
        CHECKED(leaks_are_told_by_who_made_them),
        cmocka_unit_test_teardown(leaks_of_load_are_told_as_such, checked_give_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

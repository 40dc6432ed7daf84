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

static void memory_is_freed_once(void **state)
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
        2,
        "sins:free_by_libc(): memory that enif_alloc() returned was freed by another function than "
        "enif_free()\nsins:write_after_free(): memory that this call freed was written to later\n");
}

static void binaries_are_released_once(void **state)
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

static void environments_are_freed_once(void **state)
{
    (void)state;
    assert_string_equal(checked_call("free_call_env", "[]"), "{ok}");
    checked_call("free_env_twice", "[]");
    checked_expect(3, "sins:free_call_env(): calls enif_clear_env() on the environment of this "
                      "call\nsins:free_call_env(): calls enif_free_env() on the environment of "
                      "this call\nsins:free_env_twice(): calls enif_free_env() on an environment "
                      "that was already given back to enif_free_env() by sins:free_env_twice()\n");
}

static void resources_are_released_as_often_as_kept(void **state)
{
    (void)state;
    checked_call("release_often", "[]");
    checked_expect(1, "sins:release_often(): calls enif_release_resource() on a resource that was "
                      "already given back to enif_release_resource() by sins:release_often()\n");
}

/* --- Locks ----------------------------------------------------------------------------------- */

static void locks_are_destroyed_once(void **state)
{
    (void)state;
    checked_call("destroy_twice", "[]");
    checked_expect(2,
                   "sins:destroy_twice(): calls enif_mutex_destroy() on a lock that was already "
                   "given back to enif_mutex_destroy() by "
                   "sins:destroy_twice()\nsins:destroy_twice(): calls enif_mutex_lock() on a lock "
                   "that was already given back to enif_mutex_destroy() by sins:destroy_twice()\n");
}

static void locks_are_given_up(void **state)
{
    (void)state;
    checked_call("leave_locked", "[]");
    checked_call("unlock_left", "[]");
    checked_call("unlock_free", "[]");
    checked_expect(
        2, "sins:leave_locked(): returns without unlocking the lock 'left'\nsins:unlock_free(): "
           "calls enif_mutex_unlock() on a lock that no thread holds\n");
}

static void nobody_waits_for_himself(void **state)
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

static void read_write_locks_have_two_sides(void **state)
{
    (void)state;
    checked_call("unlock_otherwise", "[]");
    checked_expect(3, "sins:unlock_otherwise(): calls enif_rwlock_rwunlock() on a lock that this "
                      "thread holds for reading, not for writing\nsins:unlock_otherwise(): calls "
                      "enif_rwlock_rwlock() on a lock that this thread holds already: this is a "
                      "deadlock\nsins:unlock_otherwise(): calls enif_rwlock_rlock() on a lock that "
                      "this thread holds already: with a waiting writer this is a deadlock\n");
}

static void conditions_are_waited_for_with_a_lock(void **state)
{
    (void)state;
    checked_call("wait_unlocked", "[]");
    checked_expect(2, "sins:wait_unlocked(): calls enif_cond_wait() on a lock that no thread "
                      "holds\nsins:wait_unlocked(): calls enif_cond_signal() on a lock that was "
                      "already given back to enif_cond_destroy() by sins:wait_unlocked()\n");
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
        1,
        "a thread of the library: calls enif_mutex_unlock() on a lock that another thread holds\n");
}

/* --- Queues and threads ---------------------------------------------------------------------- */

static void queues_take_binaries(void **state)
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
    checked_expect(
        2, "sins:join_twice(): calls enif_thread_join() on a thread that was already given back to "
           "enif_thread_join() by sins:join_twice()\nleak: 1 set of thread options that "
           "sins:leak_options/0 got from enif_thread_opts_create(), in sins:leak_options()\n");
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

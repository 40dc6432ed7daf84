/* Tests mutexes, condition variables, read-write locks and thread-specific data. */
#include "host/nif/nif.h"
#include "tests/support/assertions.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 10000, MANY_KEYS = 5000 };

static pthread_t start(void *(*function)(void *), void *argument)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    return thread;
}

/* --- Mutexes --- */

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

static void a_mutex_excludes_other_threads(void **state)
{
    ErlNifMutex *mutex = enif_mutex_create("counter");
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(count, mutex);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counted, THREADS * ROUNDS);
    enif_mutex_destroy(mutex);
}

static void trylock_on_a_locked_mutex_returns_ebusy(void **state)
{
    ErlNifMutex *mutex = enif_mutex_create(NULL);

    (void)state;
    assert_int_equal(enif_mutex_trylock(mutex), 0);
    assert_int_equal(enif_mutex_trylock(mutex), EBUSY);
    enif_mutex_unlock(mutex);
    assert_int_equal(enif_mutex_trylock(mutex), 0);
    enif_mutex_unlock(mutex);
    enif_mutex_destroy(mutex);
}

/* --- Names --- */

static void names_of_locks_are_copied(void **state)
{
    char name[] = "counter";
    ErlNifMutex *mutex = enif_mutex_create(name);
    ErlNifCond *cond = enif_cond_create(name);
    ErlNifRWLock *rwlock = enif_rwlock_create(name);

    (void)state;
    name[0] = 'C';
    assert_string_equal(enif_mutex_name(mutex), "counter");
    assert_string_equal(enif_cond_name(cond), "counter");
    assert_string_equal(enif_rwlock_name(rwlock), "counter");
    enif_mutex_destroy(mutex);
    enif_cond_destroy(cond);
    enif_rwlock_destroy(rwlock);
}

static void a_lock_without_a_name_is_named_unknown(void **state)
{
    ErlNifMutex *mutex = enif_mutex_create(NULL);
    ErlNifCond *cond = enif_cond_create(NULL);
    ErlNifRWLock *rwlock = enif_rwlock_create(NULL);

    (void)state;
    assert_string_equal(enif_mutex_name(mutex), "unknown");
    assert_string_equal(enif_cond_name(cond), "unknown");
    assert_string_equal(enif_rwlock_name(rwlock), "unknown");
    enif_mutex_destroy(mutex);
    enif_cond_destroy(cond);
    enif_rwlock_destroy(rwlock);
}

static void destroying_null_has_no_effect(void **state)
{
    (void)state;
    enif_mutex_destroy(NULL);
    enif_cond_destroy(NULL);
    enif_rwlock_destroy(NULL);
    assert_null(enif_mutex_name(NULL));
    assert_null(enif_cond_name(NULL));
    assert_null(enif_rwlock_name(NULL));
}

/* --- Condition variables --- */

static struct meeting {
    ErlNifMutex *mutex;
    ErlNifCond *arrived, *go;
    int waiting, gone; /* guarded by the mutex, as is `open` */
    bool open;
} meeting;

static void *wait_to_go(void *unused)
{
    enif_mutex_lock(meeting.mutex);
    meeting.waiting++;
    enif_cond_signal(meeting.arrived);
    while (!meeting.open)
        enif_cond_wait(meeting.go, meeting.mutex);
    meeting.gone++;
    enif_mutex_unlock(meeting.mutex);
    return unused;
}

static void a_broadcast_wakes_all_waiting_threads(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    meeting.mutex = enif_mutex_create("meeting");
    meeting.arrived = enif_cond_create("arrived");
    meeting.go = enif_cond_create("go");
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(wait_to_go, NULL);
    enif_mutex_lock(meeting.mutex);
    while (meeting.waiting < THREADS)
        enif_cond_wait(meeting.arrived, meeting.mutex);
    assert_int_equal(meeting.gone, 0);
    meeting.open = true;
    enif_cond_broadcast(meeting.go);
    enif_mutex_unlock(meeting.mutex);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(meeting.gone, THREADS);
    enif_cond_destroy(meeting.go);
    enif_cond_destroy(meeting.arrived);
    enif_mutex_destroy(meeting.mutex);
}

/* --- Read-write locks --- */

static struct {
    ErlNifRWLock *lock;
    int a, b; /* equal unless the lock is held for writing */
} pair;

static void *read_pairs(void *torn)
{
    for (int i = 0; i < ROUNDS; i++) {
        enif_rwlock_rlock(pair.lock);
        *(int *)torn += pair.a != pair.b;
        enif_rwlock_runlock(pair.lock);
    }
    return NULL;
}

static void *write_pairs(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        enif_rwlock_rwlock(pair.lock);
        pair.a++;
        pair.b++;
        enif_rwlock_rwunlock(pair.lock);
    }
    return unused;
}

static void writers_exclude_readers(void **state)
{
    int torn[THREADS] = {0};
    pthread_t threads[2 * THREADS];

    (void)state;
    pair.lock = enif_rwlock_create("pair");
    for (int i = 0; i < THREADS; i++) {
        threads[i] = start(read_pairs, &torn[i]);
        threads[THREADS + i] = start(write_pairs, NULL);
    }
    for (int i = 0; i < 2 * THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(torn[i], 0);
    assert_int_equal(pair.a, THREADS * ROUNDS);
    enif_rwlock_destroy(pair.lock);
}

static void trylock_of_a_read_write_lock_fails_only_on_conflict(void **state)
{
    ErlNifRWLock *lock = enif_rwlock_create("tried");

    (void)state;
    enif_rwlock_rlock(lock);
    assert_int_equal(enif_rwlock_tryrlock(lock), 0);
    assert_int_equal(enif_rwlock_tryrwlock(lock), EBUSY);
    enif_rwlock_runlock(lock);
    assert_int_equal(enif_rwlock_tryrwlock(lock), EBUSY);
    enif_rwlock_runlock(lock);
    assert_int_equal(enif_rwlock_tryrwlock(lock), 0);
    assert_int_equal(enif_rwlock_tryrlock(lock), EBUSY);
    assert_int_equal(enif_rwlock_tryrwlock(lock), EBUSY);
    enif_rwlock_rwunlock(lock);
    enif_rwlock_destroy(lock);
}

/* --- Thread-specific data --- */

static ErlNifTSDKey key;

static void *set_own(void *data)
{
    void *before = enif_tsd_get(key);

    enif_tsd_set(key, data);
    return before ? before : enif_tsd_get(key);
}

static void each_thread_has_its_own_data(void **state)
{
    int mine, its;
    void *seen;

    (void)state;
    assert_int_equal(enif_tsd_key_create("data", &key), 0);
    assert_null(enif_tsd_get(key));
    enif_tsd_set(key, &mine);
    pthread_join(start(set_own, &its), &seen);
    assert_ptr_equal(seen, &its);
    assert_ptr_equal(enif_tsd_get(key), &mine);
    enif_tsd_set(key, NULL);
    assert_null(enif_tsd_get(key));
    enif_tsd_key_destroy(key);
}

static void keys_do_not_share_data(void **state)
{
    ErlNifTSDKey keys[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(enif_tsd_key_create(NULL, &keys[i]), 0);
        assert_order(keys[i], >, 0);
        enif_tsd_set(keys[i], &keys[i]);
    }
    for (int i = 0; i < THREADS; i++)
        assert_ptr_equal(enif_tsd_get(keys[i]), &keys[i]);
    for (int i = 0; i < THREADS; i++)
        enif_tsd_key_destroy(keys[i]);
    assert_int_equal(enif_tsd_key_create(NULL, &key), 0);
    assert_null(enif_tsd_get(key)); /* not the value of the previous key */
    enif_tsd_key_destroy(key);
}

static void *set_and_read(void *keys_of_main)
{
    ErlNifTSDKey *keys = keys_of_main;
    size_t wrong = 0;

    for (size_t i = 0; i < MANY_KEYS; i++)
        wrong += enif_tsd_get(keys[i]) != NULL;
    for (size_t i = MANY_KEYS; i-- > 0;)
        enif_tsd_set(keys[i], &keys[i]);
    for (size_t i = 0; i < MANY_KEYS; i++)
        wrong += enif_tsd_get(keys[i]) != &keys[i];
    return (void *)(uintptr_t)wrong;
}

static void thousands_of_keys_can_be_created(void **state)
{
    ErlNifTSDKey *keys = calloc(MANY_KEYS, sizeof *keys);
    ErlNifTid thread;
    void *wrong;

    (void)state;
    for (size_t i = 0; i < MANY_KEYS; i++) {
        assert_int_equal(enif_tsd_key_create(NULL, &keys[i]), 0);
        assert_order(keys[i], >, 0);
        enif_tsd_set(keys[i], keys + i + 1);
    }
    assert_int_equal(enif_thread_create("other", &thread, set_and_read, keys, NULL), 0);
    assert_int_equal(enif_thread_join(thread, &wrong), 0);
    assert_null(wrong);
    for (size_t i = 0; i < MANY_KEYS; i++)
        assert_ptr_equal(enif_tsd_get(keys[i]), keys + i + 1);
    for (size_t i = 0; i < MANY_KEYS; i++)
        enif_tsd_key_destroy(keys[i]);
    free(keys);
}

static void an_invalid_key_has_no_data(void **state)
{
    static const ErlNifTSDKey none[] = {0, -1, INT_MAX, INT_MIN, MANY_KEYS * 100};
    ErlNifTSDKey key, next;
    int mine;

    (void)state;
    assert_int_equal(enif_tsd_key_create(NULL, &key), 0);
    enif_tsd_key_destroy(key);
    enif_tsd_key_destroy(key); /* a second time */
    enif_tsd_set(key, &mine);
    assert_null(enif_tsd_get(key));
    assert_int_equal(enif_tsd_key_create(NULL, &next), 0);
    assert_null(enif_tsd_get(next));
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        enif_tsd_key_destroy(none[i]);
        enif_tsd_set(none[i], &mine);
        assert_null(enif_tsd_get(none[i]));
    }
    enif_tsd_key_destroy(next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mutex_excludes_other_threads),
        cmocka_unit_test(trylock_on_a_locked_mutex_returns_ebusy),
        cmocka_unit_test(names_of_locks_are_copied),
        cmocka_unit_test(a_lock_without_a_name_is_named_unknown),
        cmocka_unit_test(destroying_null_has_no_effect),
        cmocka_unit_test(a_broadcast_wakes_all_waiting_threads),
        cmocka_unit_test(writers_exclude_readers),
        cmocka_unit_test(trylock_of_a_read_write_lock_fails_only_on_conflict),
        cmocka_unit_test(each_thread_has_its_own_data),
        cmocka_unit_test(keys_do_not_share_data),
        cmocka_unit_test(thousands_of_keys_can_be_created),
        cmocka_unit_test(an_invalid_key_has_no_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests threads, locks and thread-specific data. */
#include "nif_api.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>

void sleep_ms(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    while (nanosleep(&time, &time) != 0)
        ;
}

bool wait_for(const int *flag)
{
    for (int i = 0; i < 500; i++) {
        if (__atomic_load_n(flag, __ATOMIC_ACQUIRE))
            return true;
        sleep_ms(10);
    }
    return false;
}

/* Runs FUNCTION in a thread and waits for its end. */
static long in_thread(void *(*function)(void *), void *context)
{
    ErlNifTid tid;
    void *result = NULL;

    if (enif_thread_create("a thread", &tid, function, context, NULL) != 0)
        return -1;
    enif_thread_join(tid, &result);
    return (long)(intptr_t)result;
}

static void *try_mutex(void *mutex)
{
    int result = enif_mutex_trylock(mutex);

    if (result == 0)
        enif_mutex_unlock(mutex);
    return (void *)(intptr_t)result;
}

static void *try_read(void *lock)
{
    int result = enif_rwlock_tryrlock(lock);

    if (result == 0)
        enif_rwlock_runlock(lock);
    return (void *)(intptr_t)result;
}

static void *try_write(void *lock)
{
    int result = enif_rwlock_tryrwlock(lock);

    if (result == 0)
        enif_rwlock_rwunlock(lock);
    return (void *)(intptr_t)result;
}

static void say_tries(const char *name, ErlNifRWLock *lock)
{
    begin_row("%s, elsewhere: tryrlock, tryrwlock", name);
    put_int(in_thread(try_read, lock));
    put_int(in_thread(try_write, lock));
    end_row();
}

/* A number that two threads count up, and one of the two locks that guard it. */
struct counter {
    ErlNifMutex *mutex; /* or NULL */
    ErlNifRWLock *lock;
    long value;
};

static void *count_up(void *context)
{
    struct counter *counter = context;

    for (int i = 0; i < 10000; i++) {
        counter->mutex ? enif_mutex_lock(counter->mutex) : enif_rwlock_rwlock(counter->lock);
        counter->value++;
        counter->mutex ? enif_mutex_unlock(counter->mutex) : enif_rwlock_rwunlock(counter->lock);
    }
    return NULL;
}

/* Returns the number that two threads have reached together. */
static long count_in_two_threads(struct counter counter)
{
    ErlNifTid one, other;

    enif_thread_create("one", &one, count_up, &counter, NULL);
    enif_thread_create("other", &other, count_up, &counter, NULL);
    enif_thread_join(one, NULL);
    enif_thread_join(other, NULL);
    return counter.value;
}

static void ask_counting(ErlNifMutex *mutex, ErlNifRWLock *lock)
{
    say_int("enif_mutex_lock: two threads count to 20000",
            count_in_two_threads((struct counter){.mutex = mutex}));
    say_int("enif_mutex_trylock: free after the threads", enif_mutex_trylock(mutex));
    enif_mutex_unlock(mutex);
    say_int("enif_mutex_unlock: once more", in_thread(try_mutex, mutex));
    say_int("enif_rwlock_rwlock: two threads count to 20000",
            count_in_two_threads((struct counter){.lock = lock}));
    say_tries("enif_rwlock_rwunlock: by two threads", lock);
}

static void ask_rwlock(void)
{
    char name[] = "a read-write lock";
    ErlNifRWLock *lock = enif_rwlock_create(name), *nameless = enif_rwlock_create(NULL);

    name[0] = 'X';
    say_text("enif_rwlock_name: the lock's own copy", enif_rwlock_name(lock));
    say_text("none", enif_rwlock_name(nameless));
    say_tries("enif_rwlock_create: is free", lock);
    enif_rwlock_destroy(nameless);
    say_tries("enif_rwlock_destroy: another one is free", lock);
    enif_rwlock_rlock(lock);
    say_int("enif_rwlock_tryrlock: read-locked", enif_rwlock_tryrlock(lock));
    say_tries("enif_rwlock_rlock: twice", lock);
    enif_rwlock_runlock(lock);
    say_tries("enif_rwlock_runlock: one of two", lock);
    say_int("enif_rwlock_tryrwlock: read-locked", enif_rwlock_tryrwlock(lock));
    enif_rwlock_runlock(lock);
    say_tries("enif_rwlock_runlock: the last", lock);
    enif_rwlock_rwlock(lock);
    say_tries("enif_rwlock_rwlock: once", lock);
    enif_rwlock_rwunlock(lock);
    say_tries("enif_rwlock_rwunlock: free again", lock);
    say_int("enif_rwlock_tryrwlock: free", enif_rwlock_tryrwlock(lock));
    say_tries("write-locked by it", lock);
    say_int("enif_rwlock_tryrlock: write-locked", enif_rwlock_tryrlock(lock));
    enif_rwlock_rwunlock(lock);
    say_int("enif_rwlock_tryrlock: free", enif_rwlock_tryrlock(lock));
    say_tries("read-locked by it", lock);
    enif_rwlock_runlock(lock);
    enif_rwlock_rlock(lock);
    say_tries("enif_rwlock_rlock: once", lock);
    enif_rwlock_runlock(lock);
    say_tries("enif_rwlock_runlock: free again", lock);
    enif_rwlock_destroy(lock);
}

ERL_NIF_TERM locks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char name[] = "a mutex";
    ErlNifMutex *mutex = enif_mutex_create(name), *nameless = enif_mutex_create(NULL);
    ErlNifRWLock *lock, *other;

    (void)argc;
    (void)argv;
    name[0] = 'X';
    say_text("enif_mutex_name: the mutex's own copy", enif_mutex_name(mutex));
    say_text("none", enif_mutex_name(nameless));
    say_int("enif_mutex_create: each is another", mutex != nameless);
    say_int("is free", in_thread(try_mutex, mutex));
    say_int("another one is free", in_thread(try_mutex, nameless));
    say_int("enif_mutex_trylock: free", enif_mutex_trylock(mutex));
    say_int("locked, elsewhere", in_thread(try_mutex, mutex));
    say_int("another one, elsewhere", in_thread(try_mutex, nameless));
    enif_mutex_unlock(mutex);
    say_int("enif_mutex_unlock: after trylock", in_thread(try_mutex, mutex));
    enif_mutex_lock(mutex);
    say_int("enif_mutex_lock: locked, elsewhere", in_thread(try_mutex, mutex));
    enif_mutex_unlock(mutex);
    say_int("enif_mutex_unlock: after lock", in_thread(try_mutex, mutex));
    enif_mutex_destroy(nameless);
    say_int("enif_mutex_destroy: another one is free", in_thread(try_mutex, mutex));
    lock = enif_rwlock_create("counting");
    ask_counting(mutex, lock);
    say_text("enif_rwlock_name: a second lock", enif_rwlock_name(lock));
    nameless = enif_mutex_create(NULL);
    enif_mutex_lock(nameless);
    say_int("enif_mutex_lock: another one is free", in_thread(try_mutex, mutex));
    enif_mutex_unlock(nameless);
    enif_mutex_destroy(nameless);
    say_int("enif_mutex_destroy: one that was locked, another one is free",
            in_thread(try_mutex, mutex));
    other = enif_rwlock_create("counting");
    say_int("enif_rwlock_create: each is another", lock != other);
    enif_rwlock_rwlock(other);
    say_tries("enif_rwlock_rwlock: another one is free", lock);
    enif_rwlock_rwunlock(other);
    enif_rwlock_destroy(other);
    say_tries("enif_rwlock_destroy: one that was locked, another one is free", lock);
    enif_rwlock_destroy(lock);
    enif_mutex_destroy(mutex);
    mutex = enif_mutex_create("a second one");
    say_text("enif_mutex_name: after another one", enif_mutex_name(mutex));
    enif_mutex_destroy(mutex);
    ask_rwlock();
    return atom(env, "ok");
}

/* Two threads that take turns, then end together. */
struct turns {
    ErlNifMutex *mutex;
    ErlNifCond *changed;        /* for both */
    ErlNifCond *answered;       /* for their creator */
    int turn, waiting, answers; /* guarded by the mutex */
};

static void *take_turns(void *context)
{
    struct turns *turns = context;

    enif_mutex_lock(turns->mutex);
    for (int i = 0; i < 100; i++) {
        while (turns->turn % 2 == 0)
            enif_cond_wait(turns->changed, turns->mutex);
        turns->turn++;
        turns->answers++;
        enif_cond_signal(turns->answered);
    }
    turns->waiting++;
    while (turns->turn < 1000)
        enif_cond_wait(turns->changed, turns->mutex);
    enif_mutex_unlock(turns->mutex);
    return context;
}

static void *wait_for_end(void *context)
{
    struct turns *turns = context;

    enif_mutex_lock(turns->mutex);
    turns->waiting++;
    while (turns->turn < 1000)
        enif_cond_wait(turns->changed, turns->mutex);
    enif_mutex_unlock(turns->mutex);
    return NULL;
}

static void play(struct turns *turns)
{
    int waiting = 0;

    enif_mutex_lock(turns->mutex);
    for (int i = 0; i < 100; i++) {
        turns->turn++;
        enif_cond_broadcast(turns->changed);
        while (turns->turn % 2 == 1)
            enif_cond_wait(turns->answered, turns->mutex);
    }
    say_int("enif_cond_wait: turns of two threads", turns->turn);
    enif_mutex_unlock(turns->mutex);
    while (waiting < 2) {
        sleep_ms(1);
        enif_mutex_lock(turns->mutex);
        waiting = turns->waiting;
        enif_mutex_unlock(turns->mutex);
    }
    enif_mutex_lock(turns->mutex);
    turns->turn = 1000;
    enif_cond_broadcast(turns->changed);
    enif_mutex_unlock(turns->mutex);
}

ERL_NIF_TERM conditions(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct turns turns = {.mutex = enif_mutex_create("turns"),
                          .changed = enif_cond_create("changed"),
                          .answered = enif_cond_create("answered")};
    char name[] = "a condition";
    ErlNifCond *named = enif_cond_create(name), *nameless = enif_cond_create(NULL);
    void *result = NULL;
    ErlNifTid one, other;

    (void)argc;
    (void)argv;
    name[0] = 'X';
    say_text("enif_cond_name: the condition's own copy", enif_cond_name(named));
    enif_cond_destroy(named);
    say_text("none", enif_cond_name(nameless));
    say_int("enif_cond_create: each is another", turns.changed != turns.answered);
    say_text("a name", enif_cond_name(turns.changed));
    enif_cond_destroy(nameless);
    say_text("enif_cond_destroy: another one stays", enif_cond_name(turns.changed));
    say_int("enif_thread_create: a first", enif_thread_create("1", &one, take_turns, &turns, NULL));
    say_int("a second", enif_thread_create("2", &other, wait_for_end, &turns, NULL));
    play(&turns);
    say_int("enif_thread_join: a first", enif_thread_join(one, &result));
    say_int("its result", result == &turns);
    say_int("a second", enif_thread_join(other, &result));
    say_int("its result", result == NULL);
    say_int("enif_cond_create: each wakes its waiter", turns.turn);
    say_int("enif_cond_broadcast: woke both", turns.waiting);
    say_int("enif_cond_signal: answered", turns.answers);
    enif_cond_signal(turns.changed);
    say_int("without a waiter, the mutex is free", in_thread(try_mutex, turns.mutex));
    enif_cond_broadcast(turns.changed);
    say_int("enif_cond_broadcast: without a waiter, the mutex is free",
            in_thread(try_mutex, turns.mutex));
    say_int("enif_cond_wait: leaves the mutex free", in_thread(try_mutex, turns.mutex));
    enif_cond_destroy(turns.changed);
    enif_cond_destroy(turns.answered);
    enif_mutex_destroy(turns.mutex);
    return atom(env, "ok");
}

static ErlNifTSDKey key; /* set before the thread is created */

static void *look_at_data(void *context)
{
    say_int("enif_tsd_get: in a new thread", enif_tsd_get(key) != NULL);
    enif_tsd_set(key, context);
    say_int("enif_tsd_set: in a new thread", enif_tsd_get(key) == context);
    return NULL;
}

/* Sets more keys than the C library allows. Returns how many could be. */
static int set_many_keys(void)
{
    static ErlNifTSDKey many[5000];
    int right = 0;

    for (size_t i = 0; i < COUNT(many); i++)
        if (enif_tsd_key_create("one of many", &many[i]) == 0)
            enif_tsd_set(many[i], &many[i]);
    for (size_t i = 0; i < COUNT(many); i++)
        right += enif_tsd_get(many[i]) == &many[i];
    for (size_t i = 0; i < COUNT(many); i++)
        enif_tsd_key_destroy(many[i]);
    return right;
}

ERL_NIF_TERM thread_data(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifTSDKey another;
    int here, there;

    (void)argc;
    (void)argv;
    say_int("enif_tsd_key_create: with a name", enif_tsd_key_create("key", &key));
    say_int("without a name", enif_tsd_key_create(NULL, &another));
    say_int("two are one", key == another);
    say_int("enif_tsd_get: not set", enif_tsd_get(key) != NULL);
    enif_tsd_set(key, &here);
    enif_tsd_set(another, &there);
    in_thread(look_at_data, &there);
    say_int("enif_tsd_get: set in another thread, too", enif_tsd_get(key) == &here);
    say_int("of the other key", enif_tsd_get(another) == &there);
    enif_tsd_set(key, NULL);
    say_int("enif_tsd_set: to NULL", enif_tsd_get(key) != NULL);
    say_int("the other key stays", enif_tsd_get(another) == &there);
    enif_tsd_set(another, NULL);
    enif_tsd_key_destroy(another);
    say_int("enif_tsd_key_destroy: then another", enif_tsd_key_create("once more", &another));
    say_int("which is not set", enif_tsd_get(another) != NULL);
    enif_tsd_set(key, &here);
    enif_tsd_key_destroy(another);
    say_int("enif_tsd_key_destroy: another key stays", enif_tsd_get(key) == &here);
    enif_tsd_key_destroy(key);
    say_int("enif_tsd_key_create: keys of 5000", set_many_keys());
    return atom(env, "ok");
}

static void *look_around(void *tid)
{
    ErlNifTid self = enif_thread_self();

    say_int("enif_thread_type: a thread of the library", enif_thread_type());
    say_text("enif_thread_name: of the thread itself", enif_thread_name(self));
    say_int("enif_equal_tids: of the thread itself", enif_equal_tids(self, enif_thread_self()));
    say_int("with its creator", enif_equal_tids(self, *(ErlNifTid *)tid));
    enif_thread_exit(tid);
    say_int("enif_thread_exit: returned", 1);
    return NULL;
}

/* Writes what the creator has seen after the thread has ended, so that lines are in order. */
static void run_named(ErlNifTid *maker, char *name, ErlNifThreadOpts *opts)
{
    char seen[20];
    void *result = NULL;
    ErlNifTid tid;
    int made = enif_thread_create(name, &tid, look_around, maker, opts), joined;

    snprintf(seen, sizeof seen, "%s", enif_thread_name(tid));
    joined = enif_thread_join(tid, &result);
    say_int(opts ? "enif_thread_create: with options" : "enif_thread_create: without", made);
    say_text("enif_thread_name: seen by its creator", seen);
    say_int("enif_thread_join: after enif_thread_exit()", joined);
    say_int("enif_thread_exit: gives the result", result == maker);
}

static void *get_self(void *place)
{
    *(ErlNifTid *)place = enif_thread_self();
    return NULL;
}

ERL_NIF_TERM threads(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifThreadOpts *opts = enif_thread_opts_create("some options"), *others;
    ErlNifTid self = enif_thread_self(), made, seen;

    (void)argc;
    (void)argv;
    say_int("enif_thread_opts_create: stack size", opts->suggested_stack_size);
    others = enif_thread_opts_create(NULL);
    say_int("without a name", others->suggested_stack_size);
    say_int("each is another", opts != others);
    opts->suggested_stack_size = 64;
    enif_thread_opts_destroy(others);
    say_int("enif_thread_opts_destroy: another one stays", opts->suggested_stack_size);
    run_named(&self, "a name", opts);
    run_named(&self, NULL, NULL);
    enif_thread_opts_destroy(opts);
    opts = enif_thread_opts_create("once more");
    say_int("enif_thread_opts_destroy: then others", opts->suggested_stack_size);
    enif_thread_opts_destroy(opts);
    say_int("enif_thread_create: a third", enif_thread_create("3", &made, get_self, &seen, NULL));
    say_int("enif_thread_join: without a place for the result", enif_thread_join(made, NULL));
    say_int("enif_thread_self: as the creator sees it", enif_equal_tids(made, seen));
    say_int("the same each time", enif_equal_tids(self, enif_thread_self()));
    say_int("of another thread", enif_equal_tids(self, seen));
    return atom(env, "ok");
}

/* Results of a thread that sends. */
struct order {
    ErlNifPid to, dead;
};

static void *send_three(void *context)
{
    struct order *order = context;
    ErlNifEnv *env = enif_alloc_env();
    ErlNifPid found;

    for (int i = 0; i < 3; i++) {
        say_int("enif_send: on a thread of the library",
                enif_send(NULL, &order->to, env,
                          enif_make_tuple2(env, enif_make_atom(env, "from_thread"),
                                           enif_make_int(env, i))));
        enif_clear_env(env);
    }
    say_int("to nobody, on a thread of the library",
            enif_send(NULL, &order->dead, env, enif_make_atom(env, "unheard")));
    say_int("enif_is_process_alive: on a thread of the library",
            enif_is_process_alive(NULL, &order->to));
    say_int("a process that never was, on a thread of the library",
            enif_is_process_alive(NULL, &order->dead));
    say_int("enif_whereis_pid: on a thread of the library",
            enif_whereis_pid(NULL, enif_make_atom(env, "some_name"), &found) &&
                enif_compare_pids(&found, &order->to) == 0);
    say_int("a name of nobody, on a thread of the library",
            enif_whereis_pid(NULL, enif_make_atom(env, "nobody_has_this_name"), &found));
    say_differing(env, "enif_monotonic_time: on a thread of the library",
                  enif_make_int(env, enif_monotonic_time(ERL_NIF_NSEC) == ERL_NIF_TIME_ERROR));
    say_differing(env, "enif_time_offset: on a thread of the library",
                  enif_make_int(env, enif_time_offset(ERL_NIF_NSEC) == ERL_NIF_TIME_ERROR));
    enif_free_env(env);
    return NULL;
}

ERL_NIF_TERM sending_thread(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct order order;

    (void)argc;
    (void)argv;
    enif_self(env, &order.to);
    order.dead.pid = dead_pid(env);
    in_thread(send_three, &order);
    return atom(env, "ok");
}

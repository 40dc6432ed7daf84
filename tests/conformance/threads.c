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

static void say_tries(ErlNifRWLock *lock)
{
    say_int("tryrlock elsewhere", in_thread(try_read, lock));
    say_int("tryrwlock elsewhere", in_thread(try_write, lock));
}

static void ask_rwlock(void)
{
    char name[] = "a read-write lock";
    ErlNifRWLock *lock = enif_rwlock_create(name), *nameless = enif_rwlock_create(NULL);

    name[0] = 'X';
    say_text("rwlock_name", enif_rwlock_name(lock));
    say_text("rwlock_name of none", enif_rwlock_name(nameless));
    enif_rwlock_destroy(nameless);
    say_tries(lock);
    enif_rwlock_rlock(lock);
    say_int("tryrlock", enif_rwlock_tryrlock(lock));
    enif_rwlock_runlock(lock);
    say_int("tryrwlock", enif_rwlock_tryrwlock(lock));
    say_tries(lock);
    enif_rwlock_runlock(lock);
    enif_rwlock_rwlock(lock);
    say_tries(lock);
    enif_rwlock_rwunlock(lock);
    say_int("tryrwlock", enif_rwlock_tryrwlock(lock));
    say_int("tryrlock", enif_rwlock_tryrlock(lock));
    enif_rwlock_rwunlock(lock);
    enif_rwlock_destroy(lock);
}

ERL_NIF_TERM locks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char name[] = "a mutex";
    ErlNifMutex *mutex = enif_mutex_create(name), *nameless = enif_mutex_create(NULL);

    (void)argc;
    (void)argv;
    topic("lock");
    name[0] = 'X';
    say_text("mutex_name", enif_mutex_name(mutex));
    say_text("mutex_name of none", enif_mutex_name(nameless));
    enif_mutex_destroy(nameless);
    say_int("trylock", enif_mutex_trylock(mutex));
    say_int("trylock elsewhere", in_thread(try_mutex, mutex));
    enif_mutex_unlock(mutex);
    enif_mutex_lock(mutex);
    say_int("trylock elsewhere", in_thread(try_mutex, mutex));
    enif_mutex_unlock(mutex);
    say_int("trylock elsewhere", in_thread(try_mutex, mutex));
    enif_mutex_destroy(mutex);
    ask_rwlock();
    return atom(env, "ok");
}

/* Two threads that take turns, then end together. */
struct turns {
    ErlNifMutex *mutex;
    ErlNifCond *changed;  /* for both */
    ErlNifCond *answered; /* for their creator */
    int turn, waiting;    /* guarded by the mutex */
};

static void *take_turns(void *context)
{
    struct turns *turns = context;

    enif_mutex_lock(turns->mutex);
    for (int i = 0; i < 100; i++) {
        while (turns->turn % 2 == 0)
            enif_cond_wait(turns->changed, turns->mutex);
        turns->turn++;
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
    say_int("turns", turns->turn);
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
    ErlNifCond *nameless = enif_cond_create(NULL);
    void *result = NULL;
    ErlNifTid one, other;

    (void)argc;
    (void)argv;
    topic("condition");
    say_text("cond_name", enif_cond_name(turns.changed));
    say_text("cond_name of none", enif_cond_name(nameless));
    enif_cond_destroy(nameless);
    say_int("thread_create", enif_thread_create("one", &one, take_turns, &turns, NULL));
    say_int("thread_create", enif_thread_create("other", &other, wait_for_end, &turns, NULL));
    play(&turns);
    say_int("thread_join", enif_thread_join(one, &result));
    say_int("its result", result == &turns);
    say_int("thread_join", enif_thread_join(other, &result));
    say_int("its result", result == NULL);
    enif_cond_destroy(turns.changed);
    enif_cond_destroy(turns.answered);
    enif_mutex_destroy(turns.mutex);
    return atom(env, "ok");
}

static ErlNifTSDKey key; /* set before the thread is created */

static void *look_at_data(void *context)
{
    say_int("tsd_get in a new thread", enif_tsd_get(key) == NULL);
    enif_tsd_set(key, context);
    say_int("tsd_get", enif_tsd_get(key) == context);
    return NULL;
}

ERL_NIF_TERM thread_data(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static ErlNifTSDKey many[5000]; /* more than the C library allows */
    ErlNifTSDKey another;
    int here, there, right = 0;

    (void)argc;
    (void)argv;
    topic("thread data");
    say_int("tsd_key_create", enif_tsd_key_create("key", &key));
    say_int("tsd_key_create", enif_tsd_key_create(NULL, &another));
    say_int("another key", key != another);
    say_int("tsd_get of none", enif_tsd_get(key) == NULL);
    enif_tsd_set(key, &here);
    enif_tsd_set(another, &there);
    in_thread(look_at_data, &there);
    say_int("tsd_get", enif_tsd_get(key) == &here);
    say_int("tsd_get", enif_tsd_get(another) == &there);
    enif_tsd_set(key, NULL);
    say_int("tsd_get", enif_tsd_get(key) == NULL);
    enif_tsd_set(another, NULL);
    enif_tsd_key_destroy(another);
    say_int("tsd_key_create", enif_tsd_key_create("once more", &another));
    say_int("tsd_get", enif_tsd_get(another) == NULL);
    enif_tsd_key_destroy(another);
    enif_tsd_key_destroy(key);
    for (size_t i = 0; i < COUNT(many); i++)
        if (enif_tsd_key_create("one of many", &many[i]) == 0)
            enif_tsd_set(many[i], &many[i]);
    for (size_t i = 0; i < COUNT(many); i++)
        right += enif_tsd_get(many[i]) == &many[i];
    for (size_t i = 0; i < COUNT(many); i++)
        enif_tsd_key_destroy(many[i]);
    say_int("many keys", right);
    return atom(env, "ok");
}

static void *look_around(void *tid)
{
    ErlNifTid self = enif_thread_self();

    say_int("thread_type", enif_thread_type());
    say_text("thread_name", enif_thread_name(self));
    say_int("equal_tids", enif_equal_tids(self, enif_thread_self()));
    say_int("equal_tids with the maker", enif_equal_tids(self, *(ErlNifTid *)tid));
    enif_thread_exit(tid);
    say_int("went on behind thread_exit", 1);
    return NULL;
}

/* Writes what the thread has seen after it has ended, so that lines are in order. */
static void run_named(ErlNifTid *maker, char *name, ErlNifThreadOpts *opts)
{
    char seen[20];
    void *result = NULL;
    ErlNifTid tid;
    int made = enif_thread_create(name, &tid, look_around, maker, opts), joined;

    snprintf(seen, sizeof seen, "%s", enif_thread_name(tid));
    joined = enif_thread_join(tid, &result);
    say_int("thread_create", made);
    say_text("thread_name", seen);
    say_int("thread_join", joined);
    say_int("its result", result == maker);
}

ERL_NIF_TERM threads(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifThreadOpts *opts = enif_thread_opts_create("some options");
    ErlNifTid self = enif_thread_self();

    (void)argc;
    (void)argv;
    topic("thread");
    say_int("suggested_stack_size", opts->suggested_stack_size);
    opts->suggested_stack_size = 64;
    run_named(&self, "a name", opts);
    run_named(&self, NULL, NULL);
    enif_thread_opts_destroy(opts);
    say_int("equal_tids", enif_equal_tids(self, enif_thread_self()));
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

    for (int i = 0; i < 3; i++) {
        say_int("send", enif_send(NULL, &order->to, env,
                                  enif_make_tuple2(env, enif_make_atom(env, "from_thread"),
                                                   enif_make_int(env, i))));
        enif_clear_env(env);
    }
    say_int("send to nobody", enif_send(NULL, &order->dead, env, enif_make_atom(env, "unheard")));
    say_int("is_process_alive", enif_is_process_alive(NULL, &order->to));
    say_int("is_process_alive", enif_is_process_alive(NULL, &order->dead));
    say_meant(env, "enif_monotonic_time: on a thread of the library",
              enif_make_int(env, enif_monotonic_time(ERL_NIF_NSEC) == ERL_NIF_TIME_ERROR));
    say_meant(env, "enif_time_offset: on a thread of the library",
              enif_make_int(env, enif_time_offset(ERL_NIF_NSEC) == ERL_NIF_TIME_ERROR));
    enif_free_env(env);
    return NULL;
}

ERL_NIF_TERM sending_thread(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct order order;

    (void)argc;
    (void)argv;
    topic("sending thread");
    enif_self(env, &order.to);
    order.dead.pid = dead_pid(env);
    in_thread(send_three, &order);
    return atom(env, "ok");
}

/*
 * A library with a function for each violation of the NIF API that a BEAM does not notice, and some
 * correct functions. `volatile` hides some violations from the compiler, which would notice them.
 * // Long because: the functions of a module are in one table, and tests compare whole reports,
 * with this module's name, about calls of several functions.
 */
#include <erl_nif.h>

#include <langinfo.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NIF(name) static ERL_NIF_TERM name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
#define UNUSED (void)env, (void)argc, (void)argv

static ErlNifResourceType *db, *careless;
static ErlNifEnv *own, *kept_env;
static ERL_NIF_TERM kept;
static ErlNifMutex *mutex;
static void *from_load;

static ERL_NIF_TERM ok(ErlNifEnv *env)
{
    return enif_make_atom(env, "ok");
}

/* --- Correct functions ------------------------------------------------------------------------ */

NIF(same)
{
    UNUSED;
    return argv[0];
}

NIF(codeset)
{
    UNUSED;
    return enif_make_atom(env, nl_langinfo(CODESET));
}

NIF(all_kinds)
{
    ErlNifBinary bin;
    ERL_NIF_TERM part, bin_term, map = enif_make_new_map(env);
    void *object = enif_alloc_resource(db, 8);
    ERL_NIF_TERM reference = enif_make_resource(env, object);
    ERL_NIF_TERM bytes = enif_make_resource_binary(env, object, "static", 6);

    UNUSED;
    enif_release_resource(object);
    enif_alloc_binary(100, &bin);
    memset(bin.data, 1, bin.size);
    enif_realloc_binary(&bin, 200);
    memset(bin.data, 2, bin.size);
    part = enif_make_sub_binary(env, enif_make_binary(env, &bin), 1, 3);
    memset(enif_make_new_binary(env, 20, &bin_term), 3, 20);
    part = enif_make_list3(env, part, bin_term, enif_make_sub_binary(env, bin_term, 2, 7));
    for (int i = 0; i < 40; i++)
        enif_make_map_put(env, map, enif_make_int(env, i), enif_make_double(env, i), &map);
    return enif_make_tuple(env, 7, reference, bytes, part, map, enif_make_ref(env),
                           enif_make_uint64(env, ~(ErlNifUInt64)0), argv[0]);
}

NIF(gives_back)
{
    ErlNifBinary bin;
    ErlNifEnv *mine = enif_alloc_env();
    ErlNifMutex *lock = enif_mutex_create("short");
    char *memory = enif_realloc(enif_alloc(10), 1000);
    void *object = enif_alloc_resource(db, 1);
    ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    ErlNifIOVec *iov;
    ERL_NIF_TERM tail;

    UNUSED;
    enif_free(memory);
    enif_free(NULL);
    enif_make_tuple1(mine, enif_make_ref(mine));
    enif_clear_env(mine);
    enif_free_env(mine);
    enif_keep_resource(object);
    enif_release_resource(object);
    enif_release_resource(object);
    enif_mutex_lock(lock);
    enif_mutex_unlock(lock);
    enif_mutex_destroy(lock);
    enif_alloc_binary(1, &bin);
    enif_release_binary(&bin);
    enif_inspect_binary(env, argv[0], &bin);
    enif_ioq_enq_binary(queue, &bin, bin.size);
    enif_ioq_destroy(queue);
    iov = NULL;
    enif_inspect_iovec(NULL, 1, enif_make_list1(env, argv[0]), &tail, &iov);
    enif_free_iovec(iov);
    iov = NULL;
    enif_inspect_iovec(env, 1, enif_make_list1(env, argv[0]), &tail, &iov);
    enif_free_iovec(iov);
    enif_inspect_binary(env, argv[0], &bin);
    enif_realloc_binary(&bin, 3);
    enif_release_binary(&bin);
    return ok(env);
}

static ERL_NIF_TERM went_on(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    UNUSED;
    return enif_make_tuple2(env, enif_make_atom(env, "went_on"), argv[0]);
}

NIF(goes_on)
{
    bool dirty = enif_is_identical(argv[1], enif_make_atom(env, "dirty"));

    UNUSED;
    return enif_schedule_nif(env, "went_on", dirty ? ERL_NIF_DIRTY_JOB_CPU_BOUND : 0, went_on, 1,
                             argv);
}

/* --- Terms ----------------------------------------------------------------------------------- */

NIF(nothing)
{
    UNUSED;
    return 0;
}

NIF(word)
{
    UNUSED;
    return 0x1230;
}

NIF(inner_word)
{
    UNUSED;
    return enif_make_list1(env, enif_make_tuple2(env, ok(env), 0x1B));
}

NIF(nowhere)
{
    static ERL_NIF_TERM words[2];

    UNUSED;
    return ((ERL_NIF_TERM)words) + 2;
}

NIF(inside)
{
    ERL_NIF_TERM big = enif_make_uint64(env, 0x4000000000000088u);

    UNUSED;
    return enif_make_tuple1(env, big + 8);
}

NIF(keep)
{
    UNUSED;
    kept = argv[0];
    kept_env = env;
    return ok(env);
}

/* Keeps the last cell of a list. */
NIF(keep_end)
{
    ERL_NIF_TERM list = argv[0], head;

    UNUSED;
    while (!enif_is_empty_list(env, list)) {
        kept = list;
        enif_get_list_cell(env, list, &head, &list);
    }
    return ok(env);
}

/* Returns how many functions for boxed terms can read the kept term. */
NIF(read_kept)
{
    ErlNifMapIterator iterator;
    const ERL_NIF_TERM *elements;
    ERL_NIF_TERM term, map = enif_make_new_map(env);
    ErlNifSInt64 int64;
    ErlNifUInt64 uint64;
    ErlNifBinary bin;
    unsigned u;
    double d;
    size_t size;
    void *object;
    int i;

    UNUSED;
    return enif_make_int(
        env, enif_get_tuple(env, kept, &i, &elements) + enif_inspect_binary(env, kept, &bin) +
                 enif_get_int(env, kept, &i) + enif_get_uint(env, kept, &u) +
                 enif_get_int64(env, kept, &int64) + enif_get_uint64(env, kept, &uint64) +
                 enif_get_double(env, kept, &d) + enif_get_map_size(env, kept, &size) +
                 enif_get_map_value(env, kept, argv[0], &term) +
                 enif_make_map_put(env, kept, argv[0], argv[0], &term) +
                 enif_make_map_update(env, map, kept, argv[0], &term) +
                 enif_make_map_remove(env, kept, argv[0], &term) +
                 enif_map_iterator_create(env, kept, &iterator, ERL_NIF_MAP_ITERATOR_FIRST) +
                 enif_get_resource(env, kept, db, &object));
}

/* Like read_kept(), for lists. */
NIF(read_kept_list)
{
    ERL_NIF_TERM head, tail;
    ErlNifIOVec *iov = NULL;
    ErlNifBinary bin;
    unsigned length;
    char text[8];

    UNUSED;
    return enif_make_int(env, enif_get_list_cell(env, kept, &head, &tail) +
                                  enif_get_list_length(env, kept, &length) +
                                  enif_get_string(env, kept, text, sizeof text, ERL_NIF_LATIN1) +
                                  enif_inspect_iolist_as_binary(env, kept, &bin) +
                                  enif_inspect_iovec(env, 1, kept, &tail, &iov) +
                                  enif_make_reverse_list(env, kept, &tail));
}

/* Like read_kept(), for functions of any term; the checker replaces the term with `undefined`. */
NIF(read_kept_whole)
{
    ERL_NIF_TERM undefined = enif_make_atom(env, "undefined");
    ErlNifBinary bin;
    char text[16];

    UNUSED;
    enif_snprintf(text, sizeof text, "%T", kept);
    enif_term_to_binary(env, kept, &bin);
    enif_release_binary(&bin);
    return enif_make_int(
        env, (strcmp(text, "undefined") != 0) + (enif_make_copy(env, kept) != undefined) +
                 (enif_compare(kept, undefined) != 0) +
                 (enif_hash(ERL_NIF_PHASH2, kept, 0) != enif_hash(ERL_NIF_PHASH2, undefined, 0)) +
                 !enif_is_identical(undefined, kept));
}

NIF(give_kept)
{
    UNUSED;
    return kept;
}

NIF(give_kept_inside)
{
    UNUSED;
    return enif_make_tuple2(env, argv[0], kept);
}

NIF(goes_on_with_kept)
{
    ERL_NIF_TERM one = enif_make_int(env, 1);

    UNUSED;
    kept = argv[0];
    return enif_schedule_nif(env, "gives_kept_last", 0, give_kept, 1, &one);
}

NIF(raise_kept)
{
    UNUSED;
    return enif_raise_exception(env, kept);
}

NIF(make_in_kept)
{
    UNUSED;
    enif_make_tuple1(kept_env, ok(kept_env));
    return ok(env);
}

NIF(of_own)
{
    UNUSED;
    own = enif_alloc_env();
    return enif_make_tuple1(env, enif_make_tuple1(own, ok(own)));
}

NIF(of_cleared)
{
    ERL_NIF_TERM term;

    UNUSED;
    own = enif_alloc_env();
    term = enif_make_tuple1(own, ok(own));
    enif_clear_env(own);
    return term;
}

NIF(of_freed)
{
    ErlNifEnv *mine = enif_alloc_env();
    ERL_NIF_TERM term = enif_make_tuple1(mine, ok(mine));

    UNUSED;
    enif_free_env(mine);
    return term;
}

NIF(free_own)
{
    UNUSED;
    enif_free_env(own);
    return ok(env);
}

NIF(send_foreign)
{
    ErlNifEnv *mine = enif_alloc_env();
    ErlNifPid to;

    UNUSED;
    enif_get_local_pid(env, argv[0], &to);
    enif_send(env, &to, NULL, argv[1]);
    enif_send(env, &to, mine, enif_make_list1(mine, argv[1]));
    enif_free_env(mine);
    return ok(env);
}

/* send_twice(To, Clears): sends two messages of one environment; `clears` clears in between. */
NIF(send_twice)
{
    ErlNifEnv *mine = enif_alloc_env();
    bool clears = enif_is_identical(argv[1], enif_make_atom(env, "clears"));
    ErlNifPid to;

    UNUSED;
    enif_get_local_pid(env, argv[0], &to);
    enif_send(env, &to, mine, enif_make_tuple1(mine, ok(mine)));
    if (clears)
        enif_clear_env(mine);
    enif_send(env, &to, mine, enif_make_tuple1(mine, ok(mine)));
    enif_free_env(mine);
    return ok(env);
}

NIF(raise_and_return)
{
    UNUSED;
    enif_make_badarg(env);
    return ok(env);
}

NIF(change)
{
    ErlNifBinary bin;

    UNUSED;
    enif_inspect_binary(env, argv[1], &bin);
    bin.data[0]++;
    return ok(env);
}

/* --- Freeing ---------------------------------------------------------------------------------- */

NIF(free_twice)
{
    void *volatile memory = enif_alloc(10);

    UNUSED;
    enif_free(memory);
    enif_free(memory);
    return enif_realloc(memory, 20) ? enif_make_badarg(env) : ok(env);
}

NIF(free_of_malloc)
{
    void *volatile memory = malloc(10);

    UNUSED;
    enif_free(memory);
    free(memory);
    return ok(env);
}

/* The C library returns the same memory for the next request of this size. */
NIF(free_by_libc)
{
    UNUSED;
    for (int i = 0; i < 2; i++) {
        void *volatile memory = enif_alloc(5000);
        if (i == 0)
            free(memory);
        else
            enif_free(memory);
    }
    return ok(env);
}

NIF(write_after_free)
{
    char *volatile memory = enif_alloc(10);

    UNUSED;
    enif_free(memory);
    memory[5] = 1;
    return ok(env);
}

NIF(release_twice)
{
    ErlNifBinary bin, copy;

    UNUSED;
    enif_alloc_binary(10, &bin);
    copy = bin;
    enif_release_binary(&bin);
    enif_release_binary(&bin);
    enif_release_binary(&copy);
    return ok(env);
}

NIF(release_inspected)
{
    ErlNifBinary bin;

    UNUSED;
    enif_inspect_binary(env, argv[0], &bin);
    enif_release_binary(&bin);
    return ok(env);
}

NIF(release_made)
{
    ErlNifBinary bin, copy;
    ERL_NIF_TERM term;

    UNUSED;
    enif_alloc_binary(100, &bin);
    memset(bin.data, 0, 100);
    copy = bin;
    term = enif_make_binary(env, &bin);
    enif_release_binary(&bin);
    enif_release_binary(&copy);
    return term;
}

NIF(make_released)
{
    ErlNifBinary bin;

    UNUSED;
    enif_alloc_binary(100, &bin);
    enif_release_binary(&bin);
    return enif_make_binary(env, &bin);
}

NIF(free_call_env)
{
    UNUSED;
    enif_clear_env(env);
    enif_free_env(env);
    return enif_make_tuple1(env, ok(env));
}

NIF(free_env_twice)
{
    ErlNifEnv *mine = enif_alloc_env();

    UNUSED;
    enif_free_env(mine);
    enif_free_env(mine);
    return ok(env);
}

NIF(release_often)
{
    void *object = enif_alloc_resource(db, 8);
    ERL_NIF_TERM term = enif_make_resource(env, object);

    UNUSED;
    enif_release_resource(object);
    enif_release_resource(object);
    return term;
}

NIF(destroy_twice)
{
    ErlNifMutex *volatile lock = enif_mutex_create("twice");

    UNUSED;
    enif_mutex_destroy(lock);
    enif_mutex_destroy(lock);
    enif_mutex_lock(lock);
    return ok(env);
}

/* --- Locks ----------------------------------------------------------------------------------- */

NIF(leave_locked)
{
    UNUSED;
    mutex = enif_mutex_create("left");
    enif_mutex_lock(mutex);
    return ok(env);
}

NIF(unlock_left)
{
    UNUSED;
    enif_mutex_unlock(mutex);
    enif_mutex_destroy(mutex);
    return ok(env);
}

NIF(lock_twice)
{
    UNUSED;
    mutex = enif_mutex_create(NULL);
    enif_mutex_lock(mutex);
    enif_mutex_lock(mutex);
    enif_mutex_destroy(mutex);
    return ok(env);
}

NIF(unlock_free)
{
    ErlNifMutex *lock = enif_mutex_create("free");

    UNUSED;
    enif_mutex_unlock(lock);
    enif_mutex_lock(lock);
    enif_mutex_unlock(lock);
    enif_mutex_destroy(lock);
    return ok(env);
}

NIF(unlock_otherwise)
{
    ErlNifRWLock *lock = enif_rwlock_create("both");

    UNUSED;
    enif_rwlock_rlock(lock);
    enif_rwlock_rwunlock(lock);
    enif_rwlock_rwlock(lock);
    enif_rwlock_rwlock(lock);
    enif_rwlock_rwunlock(lock);
    enif_rwlock_rwunlock(lock);
    enif_rwlock_rlock(lock);
    enif_rwlock_rlock(lock);
    enif_rwlock_runlock(lock);
    enif_rwlock_runlock(lock);
    enif_rwlock_destroy(lock);
    return ok(env);
}

NIF(wait_unlocked)
{
    ErlNifCond *volatile condition = enif_cond_create("never");
    ErlNifMutex *lock = enif_mutex_create("unlocked");

    UNUSED;
    enif_cond_wait(condition, lock);
    enif_mutex_destroy(lock);
    enif_cond_destroy(condition);
    enif_cond_signal(condition);
    return ok(env);
}

static void *unlock(void *lock)
{
    enif_mutex_unlock(lock);
    return NULL;
}

NIF(unlock_others)
{
    ErlNifMutex *lock = enif_mutex_create("others");
    ErlNifTid thread;

    UNUSED;
    enif_mutex_lock(lock);
    if (enif_thread_create("unlocker", &thread, unlock, lock, NULL) != 0)
        return enif_make_badarg(env);
    enif_thread_join(thread, NULL);
    enif_mutex_destroy(lock);
    return ok(env);
}

/* --- Queues and threads ---------------------------------------------------------------------- */

NIF(queue)
{
    ErlNifIOQueue *volatile waiting = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    ErlNifBinary bin, copy;

    UNUSED;
    enif_alloc_binary(100, &bin);
    memset(bin.data, 0, 100);
    copy = bin;
    enif_ioq_enq_binary(waiting, &bin, 0);
    enif_release_binary(&copy);
    enif_release_binary(&bin);
    enif_ioq_destroy(waiting);
    enif_ioq_destroy(waiting);
    enif_ioq_deq(waiting, 1, NULL);
    return ok(env);
}

NIF(vector)
{
    ErlNifIOVec space, *iov = &space;
    ERL_NIF_TERM tail;

    UNUSED;
    if (!enif_inspect_iovec(NULL, 10, argv[0], &tail, &iov))
        return enif_make_badarg(env);
    space.flags = 0;
    enif_free_iovec(iov);
    return ok(env);
}

static void *end_at_once(void *nothing)
{
    return nothing;
}

NIF(join_twice)
{
    ErlNifTid volatile thread;
    ErlNifTid made;

    UNUSED;
    if (enif_thread_create("joined", &made, end_at_once, NULL, NULL) != 0)
        return enif_make_badarg(env);
    thread = made;
    enif_thread_join(thread, NULL);
    return enif_make_int(env, enif_thread_join(thread, NULL) != 0);
}

NIF(leak_options)
{
    UNUSED;
    return enif_thread_opts_create(NULL) ? ok(env) : enif_make_badarg(env);
}

/* --- Leaks ----------------------------------------------------------------------------------- */

NIF(leak_memory)
{
    int size = 0;

    UNUSED;
    enif_get_int(env, argv[0], &size);
    return enif_alloc((size_t)size) ? ok(env) : enif_make_badarg(env);
}

NIF(leak_binary)
{
    ErlNifBinary bin;

    UNUSED;
    return enif_alloc_binary(30, &bin) ? ok(env) : enif_make_badarg(env);
}

NIF(leak_environment)
{
    UNUSED;
    return enif_alloc_env() ? ok(env) : enif_make_badarg(env);
}

NIF(open_db)
{
    UNUSED;
    return enif_make_resource(env, enif_alloc_resource(db, 80));
}

NIF(leak_careless)
{
    UNUSED;
    return enif_make_resource(env, enif_alloc_resource(careless, 1));
}

NIF(leak_mutex)
{
    UNUSED;
    return enif_mutex_create("leaked") ? ok(env) : enif_make_badarg(env);
}

/* --- Callbacks -------------------------------------------------------------------------------- */

static void *sin_in_thread(void *memory)
{
    enif_free(memory);
    return NULL;
}

NIF(in_thread)
{
    pthread_t thread;
    int local;

    UNUSED;
    if (pthread_create(&thread, NULL, sin_in_thread, &local) != 0)
        return enif_make_badarg(env);
    pthread_join(thread, NULL);
    return ok(env);
}

NIF(in_destructor)
{
    void *object = enif_alloc_resource(careless, 1);

    UNUSED;
    enif_release_resource(object);
    return ok(env);
}

static void destroy_careless(ErlNifEnv *env, void *object)
{
    (void)env;
    enif_release_resource(object);
    enif_free(object);
}

/* INFO: `clean`; `leak`: memory is not freed; `keep`: unload() frees it. */
static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    char word[10] = "";

    (void)private_data;
    db = enif_open_resource_type(env, NULL, "db", NULL, ERL_NIF_RT_CREATE, NULL);
    careless =
        enif_open_resource_type(env, NULL, "careless", destroy_careless, ERL_NIF_RT_CREATE, NULL);
    enif_get_atom(env, info, word, sizeof word, ERL_NIF_LATIN1);
    if (strcmp(word, "clean") != 0)
        from_load = enif_alloc(24);
    if (strcmp(word, "leak") == 0)
        from_load = NULL;
    return 0;
}

static void unload(ErlNifEnv *env, void *private_data)
{
    (void)env;
    (void)private_data;
    if (from_load)
        enif_free(from_load);
}

static ErlNifFunc functions[] = {
    {"same", 1, same, 0},
    {"codeset", 0, codeset, 0},
    {"all_kinds", 1, all_kinds, 0},
    {"gives_back", 1, gives_back, 0},
    {"goes_on", 2, goes_on, 0},
    {"goes_on_with_kept", 1, goes_on_with_kept, 0},
    {"nothing", 0, nothing, 0},
    {"word", 0, word, 0},
    {"inner_word", 0, inner_word, 0},
    {"nowhere", 0, nowhere, 0},
    {"inside", 0, inside, 0},
    {"keep", 1, keep, 0},
    {"keep_end", 1, keep_end, 0},
    {"read_kept", 1, read_kept, 0},
    {"read_kept_list", 0, read_kept_list, 0},
    {"read_kept_whole", 0, read_kept_whole, 0},
    {"give_kept", 0, give_kept, 0},
    {"give_kept_inside", 1, give_kept_inside, 0},
    {"raise_kept", 0, raise_kept, 0},
    {"make_in_kept", 0, make_in_kept, 0},
    {"of_own", 0, of_own, 0},
    {"of_cleared", 0, of_cleared, 0},
    {"of_freed", 0, of_freed, 0},
    {"free_own", 0, free_own, 0},
    {"send_foreign", 2, send_foreign, 0},
    {"send_twice", 2, send_twice, 0},
    {"raise_and_return", 0, raise_and_return, 0},
    {"change", 2, change, 0},
    {"free_twice", 0, free_twice, 0},
    {"free_of_malloc", 0, free_of_malloc, 0},
    {"free_by_libc", 0, free_by_libc, 0},
    {"write_after_free", 0, write_after_free, 0},
    {"release_twice", 0, release_twice, 0},
    {"release_inspected", 1, release_inspected, 0},
    {"release_made", 0, release_made, 0},
    {"make_released", 0, make_released, 0},
    {"free_call_env", 0, free_call_env, 0},
    {"free_env_twice", 0, free_env_twice, 0},
    {"release_often", 0, release_often, 0},
    {"destroy_twice", 0, destroy_twice, 0},
    {"leave_locked", 0, leave_locked, 0},
    {"unlock_left", 0, unlock_left, 0},
    {"lock_twice", 0, lock_twice, 0},
    {"unlock_free", 0, unlock_free, 0},
    {"unlock_otherwise", 0, unlock_otherwise, 0},
    {"wait_unlocked", 0, wait_unlocked, 0},
    {"unlock_others", 0, unlock_others, 0},
    {"queue", 0, queue, 0},
    {"vector", 1, vector, 0},
    {"join_twice", 0, join_twice, 0},
    {"leak_options", 0, leak_options, 0},
    {"leak_memory", 1, leak_memory, 0},
    {"leak_binary", 0, leak_binary, 0},
    {"leak_environment", 0, leak_environment, 0},
    {"open_db", 1, open_db, 0},
    {"leak_careless", 0, leak_careless, 0},
    {"leak_mutex", 0, leak_mutex, 0},
    {"in_thread", 0, in_thread, 0},
    {"in_destructor", 0, in_destructor, 0},
};

ERL_NIF_INIT(sins, functions, load, NULL, NULL, unload)

/*
 * Tests resource types and resources: opening, takeover, rollback; references from the library and
 * from terms; when destructors run, and how they keep the library loaded.
 */
#include "files.h"

#include "host/library/library.h"
#include "host/self/self.h"
#include "host/term/term.h"
#include "tests/tracers/journal.h"

#include <pthread.h>

static th_term info_of(struct journal *journal)
{
    return th_small((int64_t)(uintptr_t)journal / 16);
}

/* Opens an instance; for the loader, each copy of the file is another library. */
static struct th_library *open_instance(const char *name)
{
    const char *path = in_folder(name);
    struct th_library *library;

    copy_file(built("lifecycle"), path);
    if (th_library_open(path, &library) != TH_OK)
        fail_msg("%s", error_text());
    return library;
}

static struct th_library *load_instance(const char *name, struct journal *journal)
{
    struct th_library *library = open_instance(name);

    assert_int_equal(th_library_load(library, NULL, info_of(journal)), TH_OK);
    return library;
}

static struct th_library *upgrade_instance(const char *name, struct th_library *old,
                                           struct journal *journal)
{
    struct th_library *library = open_instance(name);

    assert_int_equal(th_library_load(library, old, info_of(journal)), TH_OK);
    return library;
}

#define CREATE ERL_NIF_RT_CREATE
#define TAKEOVER ERL_NIF_RT_TAKEOVER
#define EITHER ((ErlNifResourceFlags)(CREATE | TAKEOVER))

/* --- Resources ------------------------------------------------------------------------------- */

static void resources_are_aligned_and_have_the_requested_size(void **state)
{
    struct journal journal = {.flags = CREATE};
    struct th_library *library = load_instance("aligned.so", &journal);

    (void)state;
    assert_int_equal(journal.tried, CREATE);
    for (size_t size = 0; size < 100; size += 7) {
        void *object = th_resource_alloc(journal.type, size);
        assert_int_equal((uintptr_t)object % 16, 0);
        assert_int_equal(th_resource_size(object), size);
        memset(object, 0xFF, size);
        th_resource_release(object);
    }
    assert_null(th_resource_alloc(journal.type, SIZE_MAX));
    th_library_release(library);
    assert_string_equal(journal.text, "load unload");
}

static void a_destructor_runs_once_when_no_references_are_left(void **state)
{
    struct journal journal = {.flags = CREATE, .destructor = 1};
    struct th_library *library = load_instance("once.so", &journal);
    void *object = th_resource_alloc(journal.type, 8);

    (void)state;
    th_resource_keep(object);
    th_resource_release(object);
    th_resource_reap();
    assert_string_equal(journal.text, "load");
    th_resource_release(object);
    assert_string_equal(journal.text, "load"); /* not by this thread, which may hold locks */
    th_resource_reap();
    assert_string_equal(journal.text, "load gone");
    th_resource_reap();
    assert_string_equal(journal.text, "load gone");
    assert_null(th_self.library_frame);
    th_library_release(library);
    assert_string_equal(journal.text, "load gone unload");
}

static void terms_hold_references_to_resources(void **state)
{
    struct journal journal = {.flags = CREATE, .destructor = 1};
    struct th_library *library = load_instance("terms.so", &journal);
    void *object = th_resource_alloc(journal.type, 8);
    void *other = th_resource_alloc(journal.type, 8);
    th_env *env = th_env_create(TH_ENV_MESSAGE);
    th_env *second = th_env_create(TH_ENV_MESSAGE);
    th_term term = th_resource_make(env, object);
    th_term copy = th_copy(second, term);
    void *found = NULL;

    (void)state;
    assert_term_identical(term, th_resource_make(second, object));
    assert_false(th_identical(term, th_resource_make(second, other)));
    assert_false(th_identical(term, th_make_new_reference(second)));
    th_resource_release(object);
    th_resource_release(other);
    th_env_free(env);
    assert_true(th_resource_get(copy, journal.type, &found));
    assert_ptr_equal(found, object);
    th_resource_reap();
    assert_string_equal(journal.text, "load");
    th_env_clear(second);
    th_resource_reap();
    assert_string_equal(journal.text, "load gone gone");
    th_env_free(second);
    th_library_release(library);
}

static void a_resource_is_returned_only_for_terms_of_its_type(void **state)
{
    struct journal journal = {.flags = CREATE}, other = {.flags = CREATE};
    struct th_library *library = load_instance("type.so", &journal);
    struct th_library *second = load_instance("type2.so", &other);
    void *object = th_resource_alloc(journal.type, 8);
    th_env *env = th_env_create(TH_ENV_MESSAGE);
    th_term term = th_resource_make(env, object);
    void *found = NULL;

    (void)state;
    assert_ptr_not_equal(journal.type, other.type);
    assert_true(th_resource_get(term, journal.type, &found));
    found = NULL;
    assert_false(th_resource_get(term, other.type, &found));
    assert_false(th_resource_get(th_make_new_reference(env), journal.type, &found));
    assert_false(th_resource_get(th_make_binary(env, "x", 1), journal.type, &found));
    assert_false(th_resource_get(th_small(1), journal.type, &found));
    assert_null(found);
    th_resource_release(object);
    th_env_free(env);
    th_library_release(library);
    th_library_release(second);
}

static void resource_binaries_hold_references_to_resources(void **state)
{
    struct journal journal = {.flags = CREATE, .destructor = 1};
    struct th_library *library = load_instance("binary.so", &journal);
    void *object = th_resource_alloc(journal.type, 100);
    th_env *env = th_env_create(TH_ENV_MESSAGE);
    th_term term;
    const unsigned char *data;
    size_t size;
    void *found;

    (void)state;
    memset(object, 'x', 100);
    term = th_resource_make_binary(env, object, object, 100);
    th_resource_release(object);
    th_resource_reap();
    assert_true(th_get_bytes(term, &data, &size));
    assert_ptr_equal(data, object);
    assert_int_equal(size, 100);
    assert_true(th_resource_get(term, journal.type, &found));
    assert_ptr_equal(found, object);
    assert_string_equal(journal.text, "load");
    th_env_free(env);
    th_resource_reap();
    assert_string_equal(journal.text, "load gone");
    th_library_release(library);
}

/* --- References to libraries ------------------------------------------------------------------ */

static void a_resource_with_a_destructor_keeps_its_library_loaded(void **state)
{
    struct journal journal = {.flags = CREATE, .destructor = 1};
    struct th_library *library = load_instance("kept.so", &journal);
    void *object = th_resource_alloc(journal.type, 8);
    struct th_library *again;

    (void)state;
    th_library_release(library);
    assert_string_equal(journal.text, "load");
    assert_int_equal(th_library_open(in_folder("kept.so"), &again), TH_REFUSED);
    assert_error_has("unloaded when its last resources are freed");
    th_resource_release(object);
    th_resource_reap();
    assert_string_equal(journal.text, "load gone unload");
    assert_int_equal(th_library_open(in_folder("kept.so"), &again), TH_OK);
    th_library_release(again);
}

static void a_resource_without_a_destructor_does_not_keep_its_library(void **state)
{
    struct journal journal = {.flags = CREATE};
    struct th_library *library = load_instance("free.so", &journal);
    void *object = th_resource_alloc(journal.type, 8);

    (void)state;
    th_library_release(library);
    assert_string_equal(journal.text, "load unload");
    assert_int_equal(th_resource_size(object), 8);
    th_resource_release(object);
}

static void released_resources_are_destroyed_before_unload(void **state)
{
    struct journal journal = {.flags = CREATE, .destructor = 1};
    struct th_library *library = load_instance("dying.so", &journal);

    (void)state;
    th_resource_release(th_resource_alloc(journal.type, 8));
    th_library_release(library);
    assert_string_equal(journal.text, "load gone unload");
}

/* --- Opening --------------------------------------------------------------------------------- */

static void a_type_is_created_or_taken_over_only_with_its_flag(void **state)
{
    struct journal first = {.flags = TAKEOVER}, second = {.flags = EITHER};
    struct journal third = {.flags = CREATE};
    struct th_library *a = load_instance("flags1.so", &first);
    struct th_library *b = load_instance("flags2.so", &second);
    struct th_library *c = upgrade_instance("flags3.so", b, &third);

    (void)state;
    assert_null(first.type); /* no type to take over */
    assert_int_equal(first.tried, TAKEOVER);
    assert_non_null(second.type);
    assert_int_equal(second.tried, CREATE);
    assert_null(third.type); /* the type exists */
    assert_int_equal(third.tried, CREATE);
    th_library_release(a);
    th_library_release(b);
    th_library_release(c);
}

static void resource_types_are_opened_only_while_loading(void **state)
{
    struct journal journal = {0};
    struct th_library *library = load_instance("late.so", &journal);
    ErlNifResourceTypeInit init = {0};
    ErlNifResourceFlags tried;

    (void)state;
    assert_null(th_resource_type_open(library, "late", &init, 1, CREATE, &tried));
    assert_null(th_resource_type_open(NULL, "late", &init, 1, CREATE, NULL));
    assert_int_equal(tried, CREATE);
    th_library_release(library);
}

/* The new library's destructor is used for old resources, and the old library can be unloaded. */
static void a_takeover_hands_resources_to_the_new_library(void **state)
{
    struct journal first = {.flags = EITHER, .destructor = 1};
    struct journal second = {.flags = EITHER, .destructor = 1};
    struct th_library *old = load_instance("old.so", &first);
    void *object = th_resource_alloc(first.type, 8);
    struct th_library *new = upgrade_instance("new.so", old, &second);

    (void)state;
    assert_ptr_equal(second.type, first.type);
    assert_int_equal(second.tried, TAKEOVER);
    th_library_release(old);
    assert_string_equal(first.text, "load unload-empty");
    th_resource_release(object);
    th_resource_reap();
    assert_string_equal(second.text, "upgrade gone");
    th_library_release(new);
    assert_string_equal(second.text, "upgrade gone unload");
}

static void a_takeover_can_drop_the_destructor(void **state)
{
    struct journal first = {.flags = EITHER, .destructor = 1}, second = {.flags = EITHER};
    struct th_library *old = load_instance("with.so", &first);
    void *object = th_resource_alloc(first.type, 8);
    struct th_library *new = upgrade_instance("without.so", old, &second);

    (void)state;
    th_library_release(old);
    assert_string_equal(first.text, "load unload-empty");
    th_library_release(new);
    assert_string_equal(second.text, "upgrade unload");
    th_resource_release(object);
    assert_string_equal(second.text, "upgrade unload");
}

static void a_type_that_is_not_taken_over_keeps_the_old_library(void **state)
{
    struct journal first = {.flags = EITHER, .destructor = 1}, second = {0};
    struct th_library *old = load_instance("left.so", &first);
    void *object = th_resource_alloc(first.type, 8);
    struct th_library *new = upgrade_instance("leaving.so", old, &second);

    (void)state;
    th_library_release(old);
    assert_string_equal(first.text, "load");
    th_resource_release(object);
    th_resource_reap();
    /* upgrade() took the private data, so the destructor does not find its journal there */
    assert_string_equal(first.text, "load gone-elsewhere unload-empty");
    th_library_release(new);
}

static void a_failed_load_or_upgrade_undoes_opened_types(void **state)
{
    struct journal first = {.flags = EITHER, .destructor = 1};
    struct journal second = {.flags = EITHER, .destructor = 1, .answer = 1};
    struct journal third = {.flags = EITHER, .destructor = 1, .answer = 1};
    struct th_library *old = load_instance("before.so", &first);
    void *object = th_resource_alloc(first.type, 8);
    struct th_library *new = open_instance("after.so");

    (void)state;
    assert_int_equal(th_library_load(new, old, info_of(&second)), TH_REFUSED);
    assert_ptr_equal(second.type, first.type);
    assert_int_equal(th_library_load(new, NULL, info_of(&third)), TH_REFUSED);
    assert_int_equal(third.tried, CREATE);
    th_library_release(new);
    th_resource_release(object);
    th_resource_reap();
    assert_string_equal(first.text, "load gone");
    assert_string_equal(second.text, "upgrade");
    th_library_release(old);
    assert_string_equal(first.text, "load gone unload");
}

/* --- Threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 2000 };

/* Counts, as the destructor's journal is too small. */
static _Atomic int destroyed;

static void count_destroyed(ErlNifEnv *env, void *object)
{
    (void)env, (void)object;
    atomic_fetch_add_explicit(&destroyed, 1, memory_order_relaxed);
}

/* Each thread creates resources, puts them into terms, copies these, releases all, and reaps. */
static void *churn(void *type)
{
    th_env *env = th_env_create(TH_ENV_MESSAGE);
    th_env *copies = th_env_create(TH_ENV_MESSAGE);

    for (int i = 0; i < ROUNDS; i++) {
        void *object = th_resource_alloc(type, 16);
        th_copy(copies, th_resource_make(env, object));
        th_resource_release(object);
        th_env_clear(env);
        th_env_clear(copies);
        th_resource_reap();
    }
    th_env_free(env);
    th_env_free(copies);
    return NULL;
}

/* All threads compete for the references and the first term of one resource. */
static void *share(void *object)
{
    th_env *env = th_env_create(TH_ENV_MESSAGE);

    for (int i = 0; i < ROUNDS; i++) {
        th_resource_make(env, object);
        th_resource_keep(object);
        th_resource_release(object);
        th_env_clear(env);
        th_resource_reap();
    }
    th_env_free(env);
    th_resource_release(object);
    return NULL;
}

static void in_threads(void *(*work)(void *), void *argument)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, argument), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    th_resource_reap();
}

/* Loads a library whose type "thing" has the destructor above. */
static ErlNifResourceType *counting_type(struct th_library **library, struct journal *journal)
{
    *journal = (struct journal){.flags = CREATE, .counting = count_destroyed};
    *library = load_instance("threads.so", journal);
    return journal->type;
}

static void many_threads_create_and_release_resources(void **state)
{
    struct th_library *library;
    struct journal journal;
    ErlNifResourceType *type = counting_type(&library, &journal);
    void *object;

    (void)state;
    atomic_store(&destroyed, 0);
    in_threads(churn, type);
    assert_int_equal(atomic_load(&destroyed), THREADS * ROUNDS);
    object = th_resource_alloc(type, 16);
    for (int i = 1; i < THREADS; i++)
        th_resource_keep(object);
    in_threads(share, object);
    assert_int_equal(atomic_load(&destroyed), THREADS * ROUNDS + 1);
    th_library_release(library);
    assert_string_equal(journal.text, "load unload");
}

static void threads_destroy_resources_during_takeovers(void **state)
{
    struct journal journals[20] = {{.flags = EITHER, .counting = count_destroyed}};
    struct th_library *library = load_instance("chain0.so", &journals[0]);
    pthread_t threads[2];

    (void)state;
    atomic_store(&destroyed, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, journals[0].type), 0);
    for (int i = 1; i < 20; i++) {
        char name[32];
        struct th_library *old = library;
        journals[i] = (struct journal){.flags = EITHER, .counting = count_destroyed};
        snprintf(name, sizeof name, "chain%d.so", i);
        library = upgrade_instance(name, old, &journals[i]);
        assert_ptr_equal(journals[i].type, journals[0].type);
        th_library_release(old);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    th_resource_reap();
    assert_int_equal(atomic_load(&destroyed), 2 * ROUNDS);
    assert_string_equal(journals[18].text, "upgrade unload-empty");
    th_library_release(library);
    assert_string_equal(journals[19].text, "upgrade unload");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resources_are_aligned_and_have_the_requested_size),
        cmocka_unit_test(a_destructor_runs_once_when_no_references_are_left),
        cmocka_unit_test(terms_hold_references_to_resources),
        cmocka_unit_test(a_resource_is_returned_only_for_terms_of_its_type),
        cmocka_unit_test(resource_binaries_hold_references_to_resources),
        cmocka_unit_test(a_resource_with_a_destructor_keeps_its_library_loaded),
        cmocka_unit_test(a_resource_without_a_destructor_does_not_keep_its_library),
        cmocka_unit_test(released_resources_are_destroyed_before_unload),
        cmocka_unit_test(a_type_is_created_or_taken_over_only_with_its_flag),
        cmocka_unit_test(resource_types_are_opened_only_while_loading),
        cmocka_unit_test(a_takeover_hands_resources_to_the_new_library),
        cmocka_unit_test(a_takeover_can_drop_the_destructor),
        cmocka_unit_test(a_type_that_is_not_taken_over_keeps_the_old_library),
        cmocka_unit_test(a_failed_load_or_upgrade_undoes_opened_types),
        cmocka_unit_test(many_threads_create_and_release_resources),
        cmocka_unit_test(threads_destroy_resources_during_takeovers),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

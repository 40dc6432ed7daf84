/* Tests resources and private data, with types that the library `keeper` opens. */
#include "host/base/base.h"
#include "host/library/library.h"
#include "host/nif/nif.h"
#include "tests/support/assertions.h"
#include "tests/tracers/keeper.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static struct th_library *library;
static struct keeper *keeper;
static ErlNifEnv *env;

static int load_keeper(void **state)
{
    char *path = th_printf("%s/tests/tracers/keeper.so", getenv("BUILD_DIR"));

    (void)state;
    if (th_library_open(path, &library) != TH_OK || th_library_load(library, NULL, TH_NIL) != TH_OK)
        fail_msg("%s", th_error_link(0));
    th_free(path);
    keeper = th_library_private_data(library);
    return 0;
}

static int unload_keeper(void **state)
{
    (void)state;
    if (library)
        th_library_release(library);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    env = enif_alloc_env();
    keeper->destroyed = 0;
    keeper->releases = false;
    return 0;
}

static int end(void **state)
{
    (void)state;
    enif_free_env(env);
    th_resource_reap();
    return 0;
}

/* Creates a resource of the first type that holds I. */
static int *new_resource(int i)
{
    int *object = enif_alloc_resource(keeper->types[0], sizeof i);

    *object = i;
    return object;
}

static unsigned destroyed(void)
{
    th_resource_reap();
    return keeper->destroyed;
}

static void three_functions_open_resource_types(void **state)
{
    (void)state;
    for (int i = 0; i < KEEPER_TYPES; i++) {
        assert_non_null(keeper->types[i]);
        assert_int_equal(keeper->tried[i], ERL_NIF_RT_CREATE);
    }
}

static void resource_types_are_opened_only_while_loading(void **state)
{
    ErlNifResourceTypeInit init = {.members = 0};
    ErlNifResourceFlags tried;
    th_env call;

    (void)state;
    th_env_init(&call, TH_ENV_CALLBACK);
    for (int i = 0; i < 2; i++) {
        assert_null(enif_open_resource_type(&call, NULL, "late", NULL, ERL_NIF_RT_CREATE, &tried));
        assert_null(enif_open_resource_type_x(&call, "late", &init, ERL_NIF_RT_CREATE, NULL));
        assert_null(enif_init_resource_type(&call, "late", &init, ERL_NIF_RT_CREATE, &tried));
        call.library = library;
    }
    th_env_release(&call);
}

static void private_data_is_the_data_that_load_has_set(void **state)
{
    th_env call;

    (void)state;
    th_env_init(&call, TH_ENV_CALLBACK);
    assert_null(enif_priv_data(&call));
    call.library = library;
    assert_ptr_equal(enif_priv_data(&call), keeper);
    th_env_release(&call);
}

static void the_last_released_reference_destroys_a_resource(void **state)
{
    int *object = new_resource(1);

    (void)state;
    assert_int_equal(enif_sizeof_resource(object), sizeof(int));
    enif_keep_resource(object);
    enif_release_resource(object);
    assert_int_equal(destroyed(), 0);
    enif_release_resource(object);
    assert_int_equal(destroyed(), 1);
    assert_int_equal(keeper->last, 1);
}

static void terms_hold_references_to_resources(void **state)
{
    ErlNifEnv *other = enif_alloc_env();
    int *object = new_resource(2);
    ERL_NIF_TERM term = enif_make_resource(env, object);
    ERL_NIF_TERM copy = enif_make_copy(other, enif_make_list1(env, term));
    ERL_NIF_TERM head, tail;
    void *found;

    (void)state;
    enif_release_resource(object);
    enif_clear_env(env);
    assert_int_equal(destroyed(), 0);
    assert_true(enif_get_list_cell(other, copy, &head, &tail));
    assert_true(enif_get_resource(other, head, keeper->types[0], &found));
    assert_ptr_equal(found, object);
    enif_free_env(other);
    assert_int_equal(destroyed(), 1);
    assert_int_equal(keeper->last, 2);
}

static void a_resource_term_is_a_reference(void **state)
{
    int *object = new_resource(3);
    ERL_NIF_TERM term = enif_make_resource(env, object);
    ERL_NIF_TERM again = enif_make_resource(env, object);
    int *other = new_resource(3);

    (void)state;
    assert_true(enif_is_ref(env, term));
    assert_int_equal(enif_term_type(env, term), ERL_NIF_TERM_TYPE_REFERENCE);
    assert_true(enif_is_identical(term, again));
    assert_false(enif_is_identical(term, enif_make_resource(env, other)));
    enif_release_resource(object);
    enif_release_resource(other);
}

static void a_resource_is_returned_only_for_its_own_type(void **state)
{
    int *object = new_resource(4);
    ERL_NIF_TERM term = enif_make_resource(env, object);
    ERL_NIF_TERM others[] = {TH_NIL, enif_make_ref(env), enif_make_tuple1(env, term)};
    void *found = &found;

    (void)state;
    assert_false(enif_get_resource(env, term, keeper->types[1], &found));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(enif_get_resource(env, others[i], keeper->types[0], &found));
    assert_ptr_equal(found, &found);
    enif_release_resource(object);
}

static void a_resource_binary_keeps_its_resource_alive(void **state)
{
    static const char bytes[] = "bytes of the resource";
    int *object = new_resource(5);
    ERL_NIF_TERM term = enif_make_resource_binary(env, object, bytes, 5);
    ErlNifBinary bin;
    void *found;

    (void)state;
    enif_release_resource(object);
    assert_true(enif_inspect_binary(env, term, &bin));
    assert_int_equal(bin.size, 5);
    assert_ptr_equal(bin.data, bytes);
    assert_true(enif_get_resource(env, term, keeper->types[0], &found));
    assert_ptr_equal(found, object);
    assert_int_equal(destroyed(), 0);
    enif_clear_env(env);
    assert_int_equal(destroyed(), 1);
}

/* Returns the resource that BYTES decode to; NULL: they decode to a plain reference. */
static void *decoded(const ErlNifBinary *bytes, ERL_NIF_TERM *term)
{
    void *object = NULL;

    assert_int_equal(enif_binary_to_term(env, bytes->data, bytes->size, term, 0), bytes->size);
    assert_true(enif_is_ref(env, *term));
    return enif_get_resource(env, *term, keeper->types[0], &object) ? object : NULL;
}

static void encoded_resources_are_decoded_while_they_exist(void **state)
{
    int *object = new_resource(1), *other = new_resource(2);
    ERL_NIF_TERM term = enif_make_resource(env, object), back;
    ErlNifBinary bytes;

    (void)state;
    enif_make_resource(env, other);
    assert_true(enif_term_to_binary(env, enif_make_list1(env, term), &bytes));
    enif_release_binary(&bytes);
    assert_true(enif_term_to_binary(env, term, &bytes));
    assert_ptr_equal(decoded(&bytes, &back), object);
    assert_true(enif_is_identical(term, back));
    enif_release_resource(object);
    enif_release_resource(other);
    enif_clear_env(env);
    th_resource_reap();
    assert_int_equal(keeper->destroyed, 2);
    assert_null(decoded(&bytes, &back));
    enif_release_binary(&bytes);
}

static void a_decoded_resource_term_keeps_the_resource(void **state)
{
    int *object = new_resource(1);
    ErlNifEnv *first = enif_alloc_env();
    ERL_NIF_TERM back;
    ErlNifBinary bytes;

    (void)state;
    assert_true(enif_term_to_binary(first, enif_make_resource(first, object), &bytes));
    assert_ptr_equal(decoded(&bytes, &back), object);
    enif_release_resource(object);
    enif_free_env(first);
    th_resource_reap();
    assert_int_equal(keeper->destroyed, 0);
    assert_ptr_equal(decoded(&bytes, &back), object);
    enif_release_binary(&bytes);
}

enum { ROUNDS = 200 };

/* Decodes a term of a resource that is about to be destroyed, or has been. */
static void *decode_again(void *context)
{
    const ErlNifBinary *bytes = context;
    ErlNifEnv *own = enif_alloc_env();
    ERL_NIF_TERM term;

    for (int i = 0; i < 10; i++)
        if (enif_binary_to_term(own, bytes->data, bytes->size, &term, 0) == 0)
            abort();
    enif_free_env(own);
    return NULL;
}

static void a_resource_may_be_destroyed_while_it_is_decoded(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        int *object = new_resource(i);
        ErlNifBinary bytes;
        pthread_t thread;
        assert_true(enif_term_to_binary(env, enif_make_resource(env, object), &bytes));
        assert_int_equal(pthread_create(&thread, NULL, decode_again, &bytes), 0);
        enif_clear_env(env);
        enif_release_resource(object);
        th_resource_reap();
        pthread_join(thread, NULL);
        enif_release_binary(&bytes);
    }
    th_resource_reap();
    assert_int_equal(keeper->destroyed, ROUNDS);
}

static void a_destructor_that_releases_its_resource_is_called_once(void **state)
{
    (void)state;
    keeper->releases = true;
    for (int i = 0; i < 100; i++)
        enif_release_resource(new_resource(i));
    assert_int_equal(destroyed(), 100);
    assert_int_equal(destroyed(), 100);
    assert_int_equal(keeper->last, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(three_functions_open_resource_types, begin, end),
        cmocka_unit_test_setup_teardown(resource_types_are_opened_only_while_loading, begin, end),
        cmocka_unit_test_setup_teardown(private_data_is_the_data_that_load_has_set, begin, end),
        cmocka_unit_test_setup_teardown(the_last_released_reference_destroys_a_resource, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_destructor_that_releases_its_resource_is_called_once,
                                        begin, end),
        cmocka_unit_test_setup_teardown(terms_hold_references_to_resources, begin, end),
        cmocka_unit_test_setup_teardown(a_resource_term_is_a_reference, begin, end),
        cmocka_unit_test_setup_teardown(a_resource_is_returned_only_for_its_own_type, begin, end),
        cmocka_unit_test_setup_teardown(a_resource_binary_keeps_its_resource_alive, begin, end),
        cmocka_unit_test_setup_teardown(encoded_resources_are_decoded_while_they_exist, begin, end),
        cmocka_unit_test_setup_teardown(a_decoded_resource_term_keeps_the_resource, begin, end),
        cmocka_unit_test_setup_teardown(a_resource_may_be_destroyed_while_it_is_decoded, begin,
                                        end),
    };

    return cmocka_run_group_tests(tests, load_keeper, unload_keeper);
}

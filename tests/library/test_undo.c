/* Tests the ways to undo a load: unloading again, handing back; and the check before an upgrade. */
#include "files.h"

#include "host/library/library.h"
#include "host/self/self.h"
#include "tests/tracers/journal.h"

#include <pthread.h>

static th_term info_of(struct journal *journal)
{
    return th_small((int64_t)(uintptr_t)journal / 16);
}

static struct th_library *open_private(const char *path)
{
    struct th_library *library;

    if (th_library_open_copy(path, &library) != TH_OK)
        fail_msg("%s", error_text());
    return library;
}

/* Loads a library, or upgrades OLD to it. */
static struct th_library *loaded(struct th_library *old, struct journal *journal)
{
    struct th_library *library = open_private(built("lifecycle"));

    assert_int_equal(th_library_load(library, old, info_of(journal)), TH_OK);
    return library;
}

/* Creates a resource with a reference. */
static void *make_thing(ErlNifResourceType *type)
{
    void *object = th_resource_alloc(type, 8);

    assert_non_null(object);
    return object;
}

static void drop_thing(void *object)
{
    th_resource_release(object);
    th_resource_reap();
}

#define CREATE ERL_NIF_RT_CREATE
#define TAKEOVER ERL_NIF_RT_TAKEOVER

/* --- Unloading again ------------------------------------------------------------------------- */

static void an_undone_load_calls_unload_and_allows_another_load(void **state)
{
    struct journal journal = {0};
    struct th_library *library = loaded(NULL, &journal);

    (void)state;
    th_library_undo_load(library);
    assert_string_equal(journal.text, "load unload");
    assert_null(th_library_private_data(library));
    th_library_undo_load(library); /* not loaded: no effect */
    assert_string_equal(journal.text, "load unload");
    assert_int_equal(th_library_load(library, NULL, info_of(&journal)), TH_OK);
    assert_ptr_equal(th_library_private_data(library), &journal);
    th_library_undo_load(library);
    th_library_release(library);
    assert_string_equal(journal.text, "load unload load unload");
}

static void an_undone_load_forgets_resource_types(void **state)
{
    struct journal journal = {.flags = CREATE, .destructor = 1};
    struct th_library *library = loaded(NULL, &journal);
    void *dying = make_thing(journal.type), *staying = make_thing(journal.type);

    (void)state;
    th_resource_release(dying);
    th_library_undo_load(library);
    assert_string_equal(journal.text, "load gone unload");
    assert_int_equal(th_library_load(library, NULL, info_of(&journal)), TH_OK); /* a new type */
    assert_int_equal(journal.tried, CREATE);
    th_library_release(library);
    assert_string_equal(journal.text, "load gone unload load unload"); /* no reference left */
    drop_thing(staying);
    assert_string_equal(journal.text, "load gone unload load unload");
}

static _Atomic int slow; /* 1: a destructor has started, 2: it has ended */

static void destroy_slowly(ErlNifEnv *env, void *object)
{
    (void)env, (void)object;
    slow = 1;
    usleep(30000);
    slow = 2;
}

static void *drop_in_thread(void *object)
{
    drop_thing(object);
    return NULL;
}

static void an_undone_load_waits_for_callbacks_in_other_threads(void **state)
{
    struct journal journal = {.flags = CREATE, .counting = destroy_slowly};
    struct th_library *library = loaded(NULL, &journal);
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, drop_in_thread, make_thing(journal.type)), 0);
    while (slow == 0)
        usleep(50);
    th_library_undo_load(library);
    assert_int_equal(slow, 2);
    pthread_join(thread, NULL);
    th_library_release(library);
}

/* --- Handing back ---------------------------------------------------------------------------- */

static void private_data_is_handed_back_to_the_old_library(void **state)
{
    struct journal first = {0}, second = {0}, third = {0};
    struct th_library *old = loaded(NULL, &first);
    struct th_library *new_ = loaded(old, &second);

    (void)state;
    assert_null(th_library_private_data(old));
    assert_int_equal(th_library_hand_back(old, new_, info_of(&third)), TH_OK);
    assert_string_equal(third.text, "upgrade");
    assert_ptr_equal(third.old_private_data, &second);
    assert_ptr_equal(th_library_private_data(old), &third);
    assert_string_equal(second.text, "upgrade unload-empty");
    assert_null(th_library_private_data(new_));
    /* The library stays open, and can be loaded again. */
    assert_int_equal(th_library_load(new_, old, info_of(&second)), TH_OK);
    assert_int_equal(th_library_hand_back(old, new_, info_of(&third)), TH_OK);
    th_library_release(new_);
    assert_string_equal(second.text, "upgrade unload-empty upgrade unload-empty");
    th_library_release(old);
    assert_string_equal(third.text, "upgrade upgrade unload");
    assert_string_equal(first.text, "load");
}

/* Hands the types back: OLD's upgrade() opens them with FLAGS; its destructor writes into LAST. */
static void types_come_back(ErlNifResourceFlags flags)
{
    struct journal first = {.flags = CREATE, .destructor = 1};
    struct journal second = {.flags = TAKEOVER, .destructor = 1};
    struct journal last = {.flags = flags, .destructor = 1};
    struct th_library *old = loaded(NULL, &first), *new_;
    void *objects[3];

    for (int i = 0; i < 3; i++)
        objects[i] = make_thing(first.type);
    new_ = loaded(old, &second);
    assert_int_equal(second.tried, TAKEOVER);
    drop_thing(objects[0]);
    assert_string_equal(second.text, "upgrade gone");
    assert_int_equal(th_library_hand_back(old, new_, info_of(&last)), TH_OK);
    assert_string_equal(second.text, "upgrade gone unload-empty");
    drop_thing(objects[1]);
    assert_string_equal(last.text, "upgrade gone");
    th_library_release(new_);
    drop_thing(objects[2]);
    assert_string_equal(last.text, "upgrade gone gone");
    th_library_release(old);
    assert_string_equal(last.text, "upgrade gone gone unload");
    assert_string_equal(second.text, "upgrade gone unload-empty");
}

static void types_are_handed_back_if_upgrade_takes_them_over(void **state)
{
    (void)state;
    types_come_back(TAKEOVER);
}

static void types_are_handed_back_if_upgrade_opens_no_type(void **state)
{
    (void)state;
    types_come_back(0);
}

/* The destructor of the new library is not called for a resource that is still referenced. */
static void types_created_by_the_new_library_are_forgotten(void **state)
{
    struct journal first = {0}, second = {.flags = CREATE, .destructor = 1}, third = {0};
    struct th_library *old = loaded(NULL, &first);
    struct th_library *new_ = loaded(old, &second);
    void *object = make_thing(second.type);

    (void)state;
    assert_int_equal(th_library_hand_back(old, new_, info_of(&third)), TH_OK);
    th_library_release(new_);
    assert_string_equal(second.text, "upgrade unload-empty");
    drop_thing(object);
    assert_string_equal(second.text, "upgrade unload-empty");
    th_library_release(old);
}

static void a_refused_hand_back_leaves_all_with_the_new_library(void **state)
{
    struct journal first = {.flags = CREATE, .destructor = 1};
    struct journal second = {.flags = TAKEOVER, .destructor = 1};
    struct journal third = {.flags = TAKEOVER, .destructor = 1, .answer = 5};
    struct th_library *old = loaded(NULL, &first);
    void *object = make_thing(first.type);
    struct th_library *new_ = loaded(old, &second);

    (void)state;
    assert_int_equal(th_library_hand_back(old, new_, info_of(&third)), TH_REFUSED);
    assert_error_has("upgrade() returned 5");
    assert_error_has("cannot hand private data and resource types back");
    assert_ptr_equal(th_library_private_data(new_), &second);
    assert_null(th_library_private_data(old));
    drop_thing(object);
    assert_string_equal(second.text, "upgrade gone");
    th_library_release(old);
    th_library_release(new_);
    assert_string_equal(second.text, "upgrade gone unload");
}

/* --- The upgrade check ------------------------------------------------------------------------ */

#define MODULE                                                                               \
    "static ErlNifFunc functions[] = {{\"f\", 0, f, 0}};\n"                                  \
    "static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)\n"                      \
    "{ static int answer; (void)env; answer = (int)(info >> 4); *data = &answer; return 0; " \
    "}\n"                                                                                    \
    "static int upgrade(ErlNifEnv *env, void **data, void **old, ERL_NIF_TERM info)\n"       \
    "{ (void)old; return load(env, data, info); }\n"

#define BEGIN                                                                     \
    "#include <nif_module.h>\n"                                                   \
    "static ERL_NIF_TERM f(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)\n" \
    "{ (void)env, (void)argc, (void)argv; return 0x3b; }\n"
#define CHECK                                                              \
    "int th_upgrade_check(ErlNifEnv *env, void *old, ERL_NIF_TERM info)\n" \
    "{ return *(int *)old + (int)(info >> 4) + 100 * (enif_priv_data(env) != 0); }\n"

static struct th_library *made_from(const char *name, const char *flags, const char *source)
{
    char *shared = th_printf("-shared -Wall -Wextra -Werror %s", flags);

    compile(in_folder(name), shared, source);
    th_free(shared);
    return open_private(in_folder(name));
}

static void the_upgrade_check_can_refuse_an_upgrade(void **state)
{
    struct th_library *old =
        made_from("asked.so", "", BEGIN MODULE "ERL_NIF_INIT(m, functions, load, 0, upgrade, 0)\n");
    struct th_library *new_ =
        made_from("asks.so", "-fvisibility=hidden",
                  BEGIN CHECK MODULE "ERL_NIF_INIT(m, functions, load, 0, upgrade, 0)\n");

    (void)state;
    assert_int_equal(th_library_load(old, NULL, th_small(3)), TH_OK);
    assert_int_equal(th_library_upgrade_check(new_, old, th_small(4)), TH_REFUSED);
    assert_error_has("th_upgrade_check() returned 7");
    assert_error_has("asks.so was refused");
    assert_null(th_self.library_frame);
    assert_int_equal(th_library_upgrade_check(new_, old, th_small(-3)), TH_OK);
    assert_int_equal(th_library_load(new_, old, th_small(0)), TH_OK);
    assert_int_equal(th_library_upgrade_check(old, new_, th_small(0)), TH_OK); /* it has no check */
    th_library_release(new_);
    th_library_release(old);
}

static void the_upgrade_check_of_a_dependency_is_ignored(void **state)
{
    char *flags = th_printf("-Wl,--no-as-needed -L'%s' -lcheck -Wl,-rpath,'%s'", folder, folder);
    struct th_library *old, *new_;

    (void)state;
    compile(in_folder("libcheck.so"), "-shared", "int th_upgrade_check(void) { return 1; }\n");
    old =
        made_from("first.so", "", BEGIN MODULE "ERL_NIF_INIT(m, functions, load, 0, upgrade, 0)\n");
    new_ = made_from("depends.so", flags,
                     BEGIN MODULE "ERL_NIF_INIT(m, functions, load, 0, upgrade, 0)\n");
    assert_int_equal(th_library_load(old, NULL, th_small(3)), TH_OK);
    assert_int_equal(th_library_upgrade_check(new_, old, th_small(4)), TH_OK);
    th_library_release(new_);
    th_library_release(old);
    th_free(flags);
}

static void the_check_refuses_another_module_or_a_missing_upgrade(void **state)
{
    struct th_library *old =
        made_from("without.so", "",
                  BEGIN CHECK MODULE "void *unused = upgrade;\n"
                                     "ERL_NIF_INIT(m, functions, load, 0, 0, 0)\n");
    struct th_library *other = made_from(
        "other.so", "", BEGIN CHECK MODULE "ERL_NIF_INIT(n, functions, load, 0, upgrade, 0)\n");
    struct th_library *next =
        made_from("next.so", "", BEGIN MODULE "ERL_NIF_INIT(m, functions, load, 0, upgrade, 0)\n");

    (void)state;
    assert_int_equal(th_library_load(old, NULL, th_small(0)), TH_OK);
    assert_int_equal(th_library_upgrade_check(other, old, th_small(0)), TH_REFUSED);
    assert_error_has("module is n, so it cannot replace m");
    assert_int_equal(th_library_load(next, old, th_small(0)), TH_OK);
    assert_int_equal(th_library_upgrade_check(old, next, th_small(0)), TH_REFUSED);
    assert_error_has("the library has no upgrade(), so it cannot replace");
    assert_int_equal(th_library_hand_back(old, next, th_small(0)), TH_REFUSED);
    assert_error_has("the library has no upgrade(), so it cannot replace");
    th_library_release(next);
    th_library_release(other);
    th_library_release(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_undone_load_calls_unload_and_allows_another_load),
        cmocka_unit_test(an_undone_load_forgets_resource_types),
        cmocka_unit_test(an_undone_load_waits_for_callbacks_in_other_threads),
        cmocka_unit_test(private_data_is_handed_back_to_the_old_library),
        cmocka_unit_test(types_are_handed_back_if_upgrade_takes_them_over),
        cmocka_unit_test(types_are_handed_back_if_upgrade_opens_no_type),
        cmocka_unit_test(types_created_by_the_new_library_are_forgotten),
        cmocka_unit_test(a_refused_hand_back_leaves_all_with_the_new_library),
        cmocka_unit_test(the_upgrade_check_can_refuse_an_upgrade),
        cmocka_unit_test(the_upgrade_check_of_a_dependency_is_ignored),
        cmocka_unit_test(the_check_refuses_another_module_or_a_missing_upgrade),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

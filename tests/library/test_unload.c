/* Tests that a library whose code may still run stays in memory, while others are closed. */
#include "copied.h"

#include "host/library/library_internal.h"
#include "tests/support/loaded.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

/* Data shared by a library and the test; the load info is its address / 16. */
struct shared {
    _Alignas(16) _Atomic int beats; /* increased by the library's thread */
    _Atomic int stop;               /* read by the library's thread */
    int end;                        /* 1: unload() ends the thread */
    int unloads;                    /* number of calls of unload() */
};

/* FUNCTION is the body of f/0, START that of load(). */
#define SHARED                                                                                  \
    "#include <nif_module.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n" \
    "#include <unistd.h>\n"                                                                     \
    "struct shared { _Atomic int beats, stop; int end, unloads; } *shared;\n"                   \
    "extern void *__dso_handle;\nint __cxa_thread_atexit_impl(void (*)(void *), void *, void "  \
    "*);\n"                                                                                     \
    "static pthread_t thread; static ErlNifTid nif_thread;\n"                                   \
    "static inline void *beat(void *unused)\n"                                                  \
    "{ while (!shared) usleep(100); while (!shared->stop) { shared->beats++; usleep(100); }\n"  \
    "  return unused; }\n"                                                                      \
    "static ERL_NIF_TERM f(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)\n"               \
    "{ (void)argc, (void)argv; FUNCTION; return enif_make_int(env, nif_thread != 0); }\n"       \
    "static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)\n"                         \
    "{ unsigned long at; *data = 0; enif_get_ulong(env, info, &at);\n"                          \
    "  shared = (struct shared *)(at * 16); START; return 0; }\n"                               \
    "static int upgrade(ErlNifEnv *env, void **data, void **old, ERL_NIF_TERM info)\n"          \
    "{ (void)old; return load(env, data, info); }\n"                                            \
    "static void unload(ErlNifEnv *env, void *data)\n"                                          \
    "{ (void)env, (void)data; shared->unloads++;\n"                                             \
    "  if (shared->end) { shared->stop = 1; pthread_join(thread, 0); } }\n"                     \
    "void join_thread(void)\n"                                                                  \
    "{ shared->stop = 1; if (nif_thread) enif_thread_join(nif_thread, 0);\n"                    \
    "  else pthread_join(thread, 0); }\n"                                                       \
    "static ErlNifFunc functions[] = {{\"f\", 0, f, 0}};\n"

#define STARTS "-DFUNCTION= -DSTART='pthread_create(&thread, 0, beat, 0)'"
#define DETACHES "-DFUNCTION= -DSTART='pthread_create(&thread, 0, beat, 0), pthread_detach(thread)'"

/* Compiles and opens NAME, a library of the module NAME without ".so". */
static struct th_library *made_with(const char *name, const char *flags, const char *more)
{
    char *all =
        th_printf("-shared -pthread %s %s", strstr(flags, "-DSTART=") ? "" : "-DSTART=", flags);
    char *source = th_printf("%s%s\nERL_NIF_INIT(%.*s, functions, load, NULL, upgrade, unload)\n",
                             SHARED, more, (int)strcspn(name, "."), name);

    compile(in_folder(name), all, source);
    th_free(source);
    th_free(all);
    return open_private(in_folder(name));
}

static void load(struct th_library *library, struct shared *shared)
{
    assert_int_equal(th_library_load(library, NULL, th_small((int64_t)(uintptr_t)shared / 16)),
                     TH_OK);
}

static void call(struct th_library *library)
{
    th_env *env = th_env_create(TH_ENV_CALLBACK);

    th_library_entry(library)->functions[0].fptr(env, 0, NULL);
    th_env_free(env);
}

static void (*join_thread)(void); /* of the last library that was pinned */

/* Releases LIBRARY: unload() is called; the library stays in memory because of WHY, and its file
 * stays for debuggers. No warning is logged, as no new version has replaced the library. */
static void expect_pinned(struct th_library *library, const struct shared *shared, const char *why)
{
    unsigned long warnings = th_warnings();

    join_thread = (void (*)(void))(uintptr_t)dlsym(library->handle, "join_thread");
    th_library_release(library);
    assert_int_equal(shared->unloads, 1);
    assert_non_null(strstr(library->pinned, why));
    assert_true(is_mapped(th_library_file(library)));
    assert_int_equal(access(th_library_file(library), R_OK), 0);
    assert_false(th_library_is_open(th_library_path(library)));
    assert_int_equal(th_warnings(), warnings);
}

static void expect_gone(struct th_library *library, const struct shared *shared)
{
    char *file = th_strdup(th_library_file(library));

    assert_null(library->pinned);
    th_library_release(library);
    assert_int_equal(shared->unloads, 1);
    assert_false(is_mapped(file));
    assert_int_equal(access(file, F_OK), -1);
    th_free(file);
}

/* Asserts that the library's thread runs on, which would crash without the code. */
static void expect_beats(struct shared *shared)
{
    int before = shared->beats;

    while (shared->beats < before + 3)
        usleep(100);
}

/* --- Functions at the end of the library or the program --------------------------------------- */

static void a_library_linked_with_nodelete_is_pinned(void **state)
{
    static struct shared shared;
    struct th_library *library = made_with("nodelete.so", "-Wl,-z,nodelete -DFUNCTION=", "");

    (void)state;
    assert_true(has_remark(library, "cannot be unloaded: it was linked with -z nodelete"));
    load(library, &shared);
    expect_pinned(library, &shared, "the loader never closes it");
}

static void a_library_that_uses_on_exit_is_pinned(void **state)
{
    static struct shared shared;
    struct th_library *library = made_with(
        "on_exit.so", "-D_GNU_SOURCE -DFUNCTION='extern void hook(int, void *); on_exit(hook, 0)'",
        "void hook(int status, void *unused) { (void)status, (void)unused; shared->beats++; }\n");

    (void)state;
    load(library, &shared);
    call(library); /* the function runs at the end of this test */
    expect_pinned(library, &shared, "the library uses on_exit: ");
}

static void a_library_that_uses_atexit_is_not_pinned(void **state)
{
    static struct shared shared;
    struct th_library *library =
        made_with("atexit.so", "-DFUNCTION='extern void hook(void); atexit(hook)'",
                  "void hook(void) { shared->beats++; }\n");

    (void)state;
    load(library, &shared);
    call(library);
    expect_gone(library, &shared);
    assert_int_equal(shared.beats, 1); /* the function ran when the library was closed */
}

/* --- Threads --------------------------------------------------------------------------------- */

static void a_library_with_a_running_thread_is_pinned(void **state)
{
    static struct shared shared;
    struct th_library *library = made_with("starts.so", STARTS, "");

    (void)state;
    load(library, &shared);
    expect_beats(&shared);
    expect_pinned(library, &shared,
                  "the library uses pthread_create: a thread of the library may still run");
    expect_beats(&shared);
    join_thread();
}

/* The host cannot know that it was the only thread. */
static void a_library_that_ends_its_thread_in_unload_is_pinned(void **state)
{
    static struct shared shared = {.end = 1};
    struct th_library *library = made_with("ends.so", STARTS, "");

    (void)state;
    load(library, &shared);
    expect_beats(&shared);
    expect_pinned(library, &shared, "pthread_create");
    assert_int_equal(shared.stop, 1);
}

static void a_library_with_a_thread_of_its_constructor_is_pinned(void **state)
{
    static struct shared shared;
    struct th_library *library = made_with("constructs.so", "-DFUNCTION=",
                                           "__attribute__((constructor)) static void start(void)\n"
                                           "{ pthread_create(&thread, 0, beat, 0); }\n");

    (void)state;
    load(library, &shared);
    expect_beats(&shared);
    expect_pinned(library, &shared, "pthread_create");
    expect_beats(&shared);
    join_thread();
}

static void a_library_with_a_thread_of_enif_thread_create_is_pinned(void **state)
{
    static struct shared shared;
    struct th_library *library = made_with(
        "creates.so", "-DFUNCTION='enif_thread_create(\"beat\", &nif_thread, beat, 0, 0)'", "");

    (void)state;
    load(library, &shared);
    call(library);
    expect_beats(&shared);
    expect_pinned(library, &shared, "by enif_thread_create() still run");
    expect_beats(&shared);
    join_thread();
}

static void ended_threads_of_enif_thread_create_pin_no_library(void **state)
{
    static struct shared shared = {.stop = 1};
    struct th_library *library =
        made_with("joins.so",
                  "-DFUNCTION='extern void *leave(void *); for (int i = 0; i < 20; i++) { "
                  "enif_thread_create(\"beat\", &nif_thread, i % 2 ? leave : beat, 0, 0); "
                  "enif_thread_join(nif_thread, 0); }'",
                  "void *leave(void *unused) { enif_thread_exit(unused); return 0; }\n");

    (void)state;
    load(library, &shared);
    call(library);
    expect_gone(library, &shared);
}

static void a_refused_library_with_a_running_thread_stays_mapped(void **state)
{
    const char *path = in_folder("refused.so");
    struct th_library *library;

    (void)state;
    compile(path, "-shared -pthread",
            "#include <pthread.h>\n#include <unistd.h>\n"
            "static void *stay(void *unused) { for (;;) usleep(100); return unused; }\n"
            "void *nif_init(void) { pthread_t t; pthread_create(&t, 0, stay, 0); return 0; }\n");
    assert_int_equal(th_library_open_copy(path, &library), TH_REFUSED);
    assert_error_has("nif_init() returned NULL");
    assert_true(is_mapped("refused."));
    usleep(2000);
}

/* A dependency of the library has created the thread, which calls the library. */
static void a_library_with_a_thread_of_its_dependency_is_pinned(void **state)
{
    static struct shared shared;
    char *flags = th_printf("-DFUNCTION= -DSTART='extern void between(void *(*)(void *));"
                            "between(beat)' -L'%s' -lbetween -Wl,-rpath,'$ORIGIN'",
                            folder);
    char *linked = th_printf("-shared -Wl,-soname,libbetween.so -L'%s' -lstarts "
                             "-Wl,-rpath,'$ORIGIN'",
                             folder);
    struct th_library *library;

    (void)state;
    compile(
        in_folder("libstarts.so"), "-shared -pthread -Wl,-soname,libstarts.so",
        "#include <pthread.h>\nstatic pthread_t thread;\nvoid start(void *(*function)(void *))\n"
        "{ pthread_create(&thread, 0, function, 0); pthread_detach(thread); }\n");
    compile(in_folder("libbetween.so"), linked,
            "extern void start(void *(*)(void *));\n"
            "void between(void *(*function)(void *)) { start(function); }\n");
    library = made_with("needs.so", flags, "");
    load(library, &shared);
    expect_beats(&shared);
    expect_pinned(library, &shared,
                  "the library needs libstarts.so, which uses pthread_create: a thread");
    expect_beats(&shared);
    shared.stop = 1;
    th_free(linked);
    th_free(flags);
}

/* --- Others ---------------------------------------------------------------------------------- */

static void a_signal_handler_of_a_pinned_library_is_called(void **state)
{
    static struct shared shared;
    struct th_library *library =
        made_with("handles.so", "-DFUNCTION='extern void hook(int); signal(SIGUSR2, hook)'",
                  "void hook(int number) { shared->beats = number; }\n");

    (void)state;
    load(library, &shared);
    call(library);
    expect_pinned(library, &shared, "the library uses signal: ");
    raise(SIGUSR2);
    assert_int_equal(shared.beats, SIGUSR2);
    signal(SIGUSR2, SIG_DFL);
}

static _Atomic int step;

static void *call_and_wait(void *library)
{
    call(library);
    step = 1;
    while (step == 1)
        usleep(100);
    return NULL;
}

/* A destructor of thread-specific data runs when its thread ends, after the release. */
static void expect_destructor(const char *name, const char *function, const char *more,
                              struct shared *shared)
{
    char *flags = th_printf("-DFUNCTION='%s'", function);
    struct th_library *library = made_with(name, flags, more);
    pthread_t thread;

    load(library, shared);
    step = 0;
    assert_int_equal(pthread_create(&thread, NULL, call_and_wait, library), 0);
    while (step == 0)
        usleep(100);
    expect_pinned(library, shared, "a destructor of thread-local data");
    step = 2;
    pthread_join(thread, NULL);
    assert_int_equal(shared->beats, 9);
    th_free(flags);
}

#define GONE "void gone(void *unused) { (void)unused; shared->beats = 9; }\n"

static void thread_local_destructors_of_a_pinned_library_run(void **state)
{
    static struct shared shared;

    (void)state;
    expect_destructor("local.so",
                      "extern void gone(void *); __cxa_thread_atexit_impl(gone, 0, &__dso_handle)",
                      GONE, &shared);
}

static void pthread_key_destructors_of_a_pinned_library_run(void **state)
{
    static struct shared shared;

    (void)state;
    expect_destructor("key.so",
                      "extern void gone(void *); pthread_key_t key; "
                      "pthread_key_create(&key, gone); pthread_setspecific(key, &shared)",
                      GONE, &shared);
}

/* --- Messages --------------------------------------------------------------------------------- */

static void a_pinned_library_that_is_replaced_is_logged_once(void **state)
{
    static struct shared shared[4];
    struct th_library *library = made_with("replaced.so", DETACHES, ""), *next;
    unsigned long warnings = th_warnings();

    (void)state;
    load(library, &shared[0]);
    for (int i = 1; i <= 2; i++) {
        next = open_private(in_folder("replaced.so"));
        assert_int_equal(
            th_library_load(next, library, th_small((int64_t)(uintptr_t)&shared[i] / 16)), TH_OK);
        th_library_release(library);
        assert_int_equal(th_warnings(), warnings + 1);
        expect_beats(&shared[i - 1]);
        library = next;
    }
    th_library_release(library);
    assert_int_equal(th_warnings(), warnings + 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(shared[i].unloads, 1);
        shared[i].stop = 1;
    }
}

static void *open_and_close(void *unused)
{
    th_library_release(loaded_open("lib/tracehost/tracers/text.so"));
    return unused;
}

/* For the thread sanitizer: the next library has the same address, with locks that are free. */
static void a_tracer_holds_no_lock_when_it_is_closed(void **state)
{
    pthread_t thread;

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, open_and_close, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_linked_with_nodelete_is_pinned),
        cmocka_unit_test(a_library_that_uses_on_exit_is_pinned),
        cmocka_unit_test(a_library_that_uses_atexit_is_not_pinned),
        cmocka_unit_test(a_library_with_a_running_thread_is_pinned),
        cmocka_unit_test(a_library_that_ends_its_thread_in_unload_is_pinned),
        cmocka_unit_test(a_library_with_a_thread_of_its_constructor_is_pinned),
        cmocka_unit_test(a_library_with_a_thread_of_enif_thread_create_is_pinned),
        cmocka_unit_test(ended_threads_of_enif_thread_create_pin_no_library),
        cmocka_unit_test(a_refused_library_with_a_running_thread_stays_mapped),
        cmocka_unit_test(a_library_with_a_thread_of_its_dependency_is_pinned),
        cmocka_unit_test(a_signal_handler_of_a_pinned_library_is_called),
        cmocka_unit_test(thread_local_destructors_of_a_pinned_library_run),
        cmocka_unit_test(pthread_key_destructors_of_a_pinned_library_run),
        cmocka_unit_test(a_pinned_library_that_is_replaced_is_logged_once),
        cmocka_unit_test(a_tracer_holds_no_lock_when_it_is_closed),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

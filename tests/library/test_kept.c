/* Libraries that stay in memory when nobody uses them, and those that do not. */
#include "copied.h"

#include "host/library/instance.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

/* What the libraries share with the test: the load info is its address / 16. */
struct shared {
    _Alignas(16) _Atomic int beats; /* by its thread */
    _Atomic int stop;               /* for its thread */
    int start, end;                 /* 1: in load(), in unload() */
};

#define SHARED                                                                                     \
    "#include <nif_module.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n"    \
    "#include <unistd.h>\n"                                                                        \
    "struct shared { _Atomic int beats, stop; int start, end; } *shared;\n"                        \
    "extern void *__dso_handle;\nint __cxa_thread_atexit_impl(void (*)(void *), void *, void "     \
    "*);\n"                                                                                        \
    "static pthread_t thread; static ErlNifTid nif_thread;\n"                                      \
    "static void *beat(void *unused)\n"                                                            \
    "{ while (!shared) usleep(100); while (!shared->stop) { shared->beats++; usleep(100); }\n"     \
    "  return unused; }\n"                                                                         \
    "static ERL_NIF_TERM f(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)\n"                  \
    "{ (void)argc, (void)argv; FUNCTION; return enif_make_int(env, nif_thread != 0); }\n"          \
    "static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)\n"                            \
    "{ unsigned long at; *data = 0; enif_get_ulong(env, info, &at);\n"                             \
    "  shared = (struct shared *)(at * 16);\n"                                                     \
    "  if (shared->start) pthread_create(&thread, 0, beat, 0); return 0; }\n"                      \
    "static void unload(ErlNifEnv *env, void *data)\n"                                             \
    "{ (void)env, (void)data; if (shared->end) { shared->stop = 1; pthread_join(thread, 0); } }\n" \
    "void join_thread(void)\n"                                                                     \
    "{ shared->stop = 1; if (nif_thread) enif_thread_join(nif_thread, 0);\n"                       \
    "  else pthread_join(thread, 0); }\n"                                                          \
    "static ErlNifFunc functions[] = {{\"f\", 0, f, 0}};\n"                                        \
    "ERL_NIF_INIT(m, functions, load, NULL, NULL, unload)\n"

static struct th_library *made_with(const char *name, const char *flags, const char *more)
{
    char *all = th_printf("-shared -pthread %s", flags);
    char *source = th_printf("%s%s", SHARED, more);

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

struct search {
    const char *path, *why;
    size_t count;
};

static void note_kept(const struct th_library *library, const char *why, void *context)
{
    struct search *search = context;

    search->count +=
        strcmp(th_library_path(library), search->path) == 0 && strstr(why, search->why);
}

static size_t count_kept(const char *name, const char *why)
{
    struct search search = {in_folder(name), why, 0};

    th_library_for_kept(note_kept, &search);
    return search.count;
}

static void (*join_thread)(void); /* of the library that was kept last */

/* Releases it: it stays, for that reason, with a warning, and where debuggers find it. */
static void expect_kept(struct th_library *library, const char *name, const char *why)
{
    char *file = th_strdup(th_library_file(library));
    unsigned long warnings = th_warnings();

    join_thread = (void (*)(void))(uintptr_t)dlsym(library->handle, "join_thread");
    th_library_release(library);
    assert_int_equal(count_kept(name, why), 1);
    assert_int_equal(th_warnings(), warnings + 1);
    assert_true(is_mapped(file));
    assert_int_equal(access(file, R_OK), 0);
    th_free(file);
}

static void expect_gone(struct th_library *library, const char *name)
{
    char *file = th_strdup(th_library_file(library));

    th_library_release(library);
    assert_int_equal(count_kept(name, ""), 0);
    assert_false(is_mapped(file));
    assert_int_equal(access(file, F_OK), -1);
    th_free(file);
}

/* It runs, and so does not crash. */
static void expect_beats(struct shared *shared)
{
    int before = shared->beats;

    while (shared->beats < before + 3)
        usleep(100);
}

/* --- What the file tells --------------------------------------------------------------------- */

static void what_the_loader_keeps_is_told(void **state)
{
    static struct shared shared;
    struct th_library *library = made_with("nodelete.so", "-Wl,-z,nodelete -DFUNCTION=", "");
    unsigned long warnings;

    (void)state;
    assert_non_null(strstr(th_library_kept(library), "nodelete"));
    load(library, &shared);
    expect_kept(library, "nodelete.so", "nodelete");
    warnings = th_warnings();
    th_library_release(open_private(in_folder("nodelete.so")));
    assert_int_equal(count_kept("nodelete.so", "nodelete"), 2);
    assert_int_equal(th_warnings(), warnings); /* once is enough */
}

static void hooks_that_cannot_be_taken_back_keep_it(void **state)
{
    static struct shared shared;
    struct th_library *library = made_with(
        "on_exit.so", "-D_GNU_SOURCE -DFUNCTION='extern void hook(int, void *); on_exit(hook, 0)'",
        "void hook(int status, void *unused) { (void)status, (void)unused; shared->beats++; }\n");

    (void)state;
    assert_non_null(strstr(th_library_kept(library), "on_exit()"));
    assert_true(has_remark(library, "cannot be unloaded: it calls on_exit()"));
    load(library, &shared);
    call(library); /* the hook is called when this test ends */
    expect_kept(library, "on_exit.so", "on_exit()");
}

static void hooks_of_its_own_do_not(void **state)
{
    static struct shared shared;
    struct th_library *library =
        made_with("atexit.so", "-DFUNCTION='extern void hook(void); atexit(hook)'",
                  "void hook(void) { shared->beats++; }\n");

    (void)state;
    assert_null(th_library_kept(library));
    load(library, &shared);
    call(library);
    expect_gone(library, "atexit.so");
    assert_int_equal(shared.beats, 1);
}

/* --- Threads --------------------------------------------------------------------------------- */

static void threads_that_load_started_keep_it(void **state)
{
    static struct shared shared = {.start = 1};
    struct th_library *library = made_with("starts.so", "-DFUNCTION=", "");

    (void)state;
    assert_null(th_library_kept(library));
    load(library, &shared);
    expect_beats(&shared);
    expect_kept(library, "starts.so", "threads that it has started still run");
    expect_beats(&shared);
    join_thread();
}

static void threads_that_unload_ends_do_not(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        static struct shared shared;
        struct th_library *library =
            i ? open_private(in_folder("ends.so")) : made_with("ends.so", "-DFUNCTION=", "");
        shared = (struct shared){.start = 1, .end = 1};
        load(library, &shared);
        expect_beats(&shared);
        expect_gone(library, "ends.so");
    }
}

#define CONSTRUCTOR                                          \
    "__attribute__((constructor)) static void start(void)\n" \
    "{ pthread_create(&thread, 0, beat, 0); }\n"

static void threads_of_constructors_keep_it(void **state)
{
    static struct shared shared;
    struct th_library *library = made_with("constructs.so", "-DFUNCTION=", CONSTRUCTOR);

    (void)state;
    load(library, &shared);
    expect_beats(&shared);
    expect_kept(library, "constructs.so", "threads that it has started still run");
    expect_beats(&shared);
    join_thread();
}

static void threads_that_a_destructor_ends_do_not(void **state)
{
    static struct shared shared;
    struct th_library *library =
        made_with("destructs.so", "-DFUNCTION=",
                  CONSTRUCTOR "__attribute__((destructor)) static void end(void)\n"
                              "{ shared->stop = 1; pthread_join(thread, 0); }\n");

    (void)state;
    load(library, &shared);
    expect_beats(&shared);
    expect_gone(library, "destructs.so");
}

/* In a function, which nobody watches. */
static void threads_of_enif_thread_create_keep_it(void **state)
{
    static struct shared shared;
    struct th_library *library = made_with(
        "creates.so", "-DFUNCTION='enif_thread_create(\"beat\", &nif_thread, beat, 0, 0)'", "");

    (void)state;
    load(library, &shared);
    call(library);
    expect_beats(&shared);
    expect_kept(library, "creates.so", "threads that it has started still run");
    expect_beats(&shared);
    join_thread();
}

static void threads_that_were_joined_do_not(void **state)
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
    expect_gone(library, "joins.so");
}

static void threads_of_what_was_refused_do_no_harm(void **state)
{
    const char *path = in_folder("refused.so");
    struct th_library *library;

    (void)state;
    compile(path, "-shared -pthread",
            "#include <pthread.h>\n#include <unistd.h>\n"
            "static void *stay(void *unused) { for (;;) usleep(100); return unused; }\n"
            "void *nif_init(void) { pthread_t t; pthread_create(&t, 0, stay, 0); return 0; }\n");
    assert_int_equal(th_library_open_copy(path, &library), TH_REFUSED);
    assert_error_has("its nif_init() returned NULL");
    assert_int_equal(count_kept("refused.so", "threads that it has started still run"), 1);
    usleep(2000);
}

/* --- Others ---------------------------------------------------------------------------------- */

static void a_handler_of_a_signal_keeps_it(void **state)
{
    static struct shared shared;
    struct th_library *library =
        made_with("handles.so", "-DFUNCTION='extern void hook(int); signal(SIGUSR2, hook)'",
                  "void hook(int number) { shared->beats = number; }\n");

    (void)state;
    load(library, &shared);
    call(library);
    expect_kept(library, "handles.so", "its handler of signal");
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

/* Until that thread has ended, and something else is released. */
static void thread_local_objects_keep_it_for_a_while(void **state)
{
    static struct shared shared;
    struct th_library *library = made_with(
        "local.so",
        "-DFUNCTION='extern void gone(void *); __cxa_thread_atexit_impl(gone, 0, &__dso_handle)'",
        "void gone(void *unused) { (void)unused; shared->beats = 9; }\n");
    char *file = th_strdup(th_library_file(library));
    pthread_t thread;

    (void)state;
    load(library, &shared);
    assert_int_equal(pthread_create(&thread, NULL, call_and_wait, library), 0);
    while (step == 0)
        usleep(100);
    expect_kept(library, "local.so", "the loader has not let go of it");
    step = 2;
    pthread_join(thread, NULL);
    assert_int_equal(shared.beats, 9);
    for (int i = 0; i < 2; i++) /* the first has the loader look, the second sees it */
        th_library_release(open_private(in_folder("ends.so")));
    assert_int_equal(count_kept("local.so", ""), 0);
    assert_false(is_mapped(file));
    assert_int_equal(access(file, F_OK), -1);
    th_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_loader_keeps_is_told),
        cmocka_unit_test(hooks_that_cannot_be_taken_back_keep_it),
        cmocka_unit_test(hooks_of_its_own_do_not),
        cmocka_unit_test(threads_that_load_started_keep_it),
        cmocka_unit_test(threads_that_unload_ends_do_not),
        cmocka_unit_test(threads_of_constructors_keep_it),
        cmocka_unit_test(threads_that_a_destructor_ends_do_not),
        cmocka_unit_test(threads_of_enif_thread_create_keep_it),
        cmocka_unit_test(threads_that_were_joined_do_not),
        cmocka_unit_test(threads_of_what_was_refused_do_no_harm),
        cmocka_unit_test(a_handler_of_a_signal_keeps_it),
        cmocka_unit_test(thread_local_objects_keep_it_for_a_while),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

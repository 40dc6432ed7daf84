/* Tests which threads are attributed to a library when it is opened. */
#include "made.h"

#include <dlfcn.h>
#include <pthread.h>

#define STARTS                                                                     \
    "#include <pthread.h>\n#include <unistd.h>\n#include <sys/prctl.h>\n"          \
    "static int over[2];\nstatic pthread_t thread;\n"                              \
    "static void *wait_there(void *unused)\n"                                      \
    "{ char end; prctl(PR_SET_NAME, \"a thread\"); return read(over[0], &end, 1) " \
    "< 0 ? unused : 0; }\n"                                                        \
    "__attribute__((constructor)) static void start(void)\n"                       \
    "{ if (pipe(over) == 0) pthread_create(&thread, 0, wait_there, 0); }\n"        \
    "__attribute__((destructor)) static void end(void)\n"                          \
    "{ close(over[1]); pthread_join(thread, 0); close(over[0]); }\n"

static void threads_started_by_constructors_are_detected(void **state)
{
    struct th_library *library;

    (void)state;
    for (int i = 0; i < 3; i++) {
        library = made("starts.so", NULL, "-O2 -pthread", PLUGIN STARTS, NULL);
        assert_true(th_library_code_map(library)->threads_started);
        th_library_release(library);
        library = made("starts_not.so", NULL, "-O2", PLUGIN, NULL);
        assert_false(th_library_code_map(library)->threads_started);
        th_library_release(library);
    }
}

static _Atomic bool others_stop;
static _Atomic unsigned long others_made;

static void *rest(void *unused)
{
    usleep(300);
    return unused;
}

/* A thread of the program that keeps creating threads while libraries are opened. */
static void *make_others(void *unused)
{
    while (!others_stop) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, rest, NULL), 0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        others_made += 4;
    }
    return unused;
}

static void threads_of_the_program_are_not_attributed_to_a_library(void **state)
{
    struct th_library *library;
    pthread_t others;
    unsigned long before;

    (void)state;
    library = made("among_others.so", NULL, "-O2", PLUGIN, NULL);
    th_library_release(library);
    assert_int_equal(pthread_create(&others, NULL, make_others, NULL), 0);
    for (int i = 0; i < 100; i++) {
        before = others_made;
        while (others_made == before)
            usleep(50);
        library = open_library(in_folder("among_others.so"));
        assert_false(th_library_code_map(library)->threads_started);
        th_library_release(library);
    }
    others_stop = true;
    pthread_join(others, NULL);
}

static void a_library_already_in_memory_may_have_started_threads(void **state)
{
    struct th_library *library = made("before.so", NULL, "-O2", PLUGIN, NULL);
    void *handle;

    (void)state;
    th_library_release(library);
    handle = dlopen(in_folder("before.so"), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    library = open_library(in_folder("before.so"));
    assert_true(th_library_code_map(library)->threads_started);
    th_library_release(library);
    dlclose(handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_started_by_constructors_are_detected),
        cmocka_unit_test(threads_of_the_program_are_not_attributed_to_a_library),
        cmocka_unit_test(a_library_already_in_memory_may_have_started_threads),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

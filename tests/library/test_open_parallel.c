/* Tests many threads that open libraries at once. */
#include "copied.h"

#include <pthread.h>

#define STARTS                                                              \
    "#include <pthread.h>\n#include <unistd.h>\n"                           \
    "static int over[2];\nstatic pthread_t thread;\n"                       \
    "static void *wait_there(void *unused)\n"                               \
    "{ char end; return read(over[0], &end, 1) < 0 ? unused : 0; }\n"       \
    "__attribute__((constructor)) static void start(void)\n"                \
    "{ if (pipe(over) == 0) pthread_create(&thread, 0, wait_there, 0); }\n" \
    "__attribute__((destructor)) static void end(void)\n"                   \
    "{ close(over[1]); pthread_join(thread, 0); close(over[0]); }\n"

enum { THREADS = 12, ROUNDS = 25 };

static pthread_barrier_t together;
static enum { IN_PLACE, COPIES } how;
static char *quiet, *busy; /* libraries without and with a thread of their own */
static _Atomic int wrong;  /* failures in the threads, which cannot fail the test */
static _Atomic int watched, watching, most_watching;

static struct th_library *opened(const char *path)
{
    struct th_library *library;
    enum th_status status =
        how == COPIES ? th_library_open_copy(path, &library) : th_library_open(path, &library);

    /* The last user has just released the library. */
    if (status && how == IN_PLACE && th_error_link(1) &&
        strstr(th_error_link(1), "unloaded when its last resources"))
        return NULL;
    if (!status)
        return library;
    th_error_print(stderr, "open");
    wrong++;
    return NULL;
}

static void expect(bool right)
{
    wrong += !right;
}

static void watch(const struct th_library *library)
{
    int now = ++watching;

    if (now > most_watching)
        most_watching = now;
    watched += th_library_path(library) != NULL;
    watching--;
}

/* A library that starts a thread is noticed; one without is not taken for such a library, even
 * while others start threads. */
static void *open_and_release(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct th_library *first, *second;
        pthread_barrier_wait(&together);
        first = opened(i % 2 ? quiet : busy);
        second = opened(i % 2 ? busy : quiet);
        if (how == COPIES) {
            expect(first && th_library_code_map(first)->threads_started == (i % 2 == 0));
            expect(second && th_library_code_map(second)->threads_started == (i % 2 != 0));
        }
        expect(!first || first != second);
        if (first)
            th_library_release(first);
        if (second)
            th_library_release(second);
    }
    return unused;
}

static void in_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&together, NULL, THREADS);
    wrong = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&together);
    assert_int_equal(wrong, 0);
}

static void several_threads_open_private_copies_at_the_same_time(void **state)
{
    (void)state;
    how = COPIES;
    watched = 0;
    th_library_watch_opened(watch);
    in_threads(open_and_release);
    th_library_watch_opened(NULL);
    assert_int_equal(watched, 2 * THREADS * ROUNDS);
    assert_int_equal(most_watching, 1);
    assert_false(th_library_is_open(quiet));
    assert_false(th_library_is_open(busy));
}

static void several_threads_open_files_in_place_at_the_same_time(void **state)
{
    (void)state;
    how = IN_PLACE;
    in_threads(open_and_release);
    assert_false(th_library_is_open(quiet));
    assert_false(th_library_is_open(busy));
}

static struct th_library *_Atomic found[THREADS];
static _Atomic int next;

/* All threads get the same library, until each has it. */
static void *open_same(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        int mine;
        pthread_barrier_wait(&together);
        mine = next++ % THREADS;
        found[mine] = opened(quiet);
        pthread_barrier_wait(&together);
        expect(found[mine] && found[mine] == found[0]);
        pthread_barrier_wait(&together);
        if (found[mine])
            th_library_release(found[mine]);
    }
    return unused;
}

static void all_threads_get_the_same_instance_of_a_file(void **state)
{
    (void)state;
    how = IN_PLACE;
    in_threads(open_same);
    assert_false(th_library_is_open(quiet));
}

/* --- Opening in constructors ------------------------------------------------------------------ */

/* The constructor calls this function, whose address it gets. */
static enum th_status nested;
static const char *nested_path;

static void open_nested(void)
{
    struct th_library *library;

    nested = th_library_open(nested_path, &library);
    if (nested == TH_OK)
        th_library_release(library);
}

static void a_constructor_may_open_other_libraries_but_not_its_own(void **state)
{
    char *flags = th_printf("-shared -DNUMBER=1 -DCALL='((void (*)(void))%pL)'",
                            (void *)(uintptr_t)open_nested);
    char *path = th_strdup(in_folder("nests.so"));
    struct th_library *library;

    (void)state;
    compile(path, flags,
            NUMBERED "__attribute__((constructor)) static void start(void) { CALL(); }\n");
    how = IN_PLACE;
    nested_path = quiet;
    nested = TH_FAILED;
    library = opened(path);
    assert_int_equal(nested, TH_OK);
    th_library_release(library);
    nested_path = path;
    library = opened(path);
    assert_int_equal(nested, TH_REFUSED);
    assert_error_has("opened by this thread already");
    th_library_release(library);
    th_free(path);
    th_free(flags);
}

static int make_all(void **state)
{
    if (make_folder(state) != 0)
        return -1;
    make_number("quiet.so", 1);
    compile(in_folder("busy.so"), "-shared -pthread -DNUMBER=2", NUMBERED STARTS);
    quiet = th_strdup(in_folder("quiet.so"));
    busy = th_strdup(in_folder("busy.so"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_threads_open_private_copies_at_the_same_time),
        cmocka_unit_test(several_threads_open_files_in_place_at_the_same_time),
        cmocka_unit_test(all_threads_get_the_same_instance_of_a_file),
        cmocka_unit_test(a_constructor_may_open_other_libraries_but_not_its_own),
    };

    return cmocka_run_group_tests(tests, make_all, remove_folder);
}

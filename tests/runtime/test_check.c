/* The checker: what the functions of `sins` do, called as a scheduler calls them. */
#include "host/runtime/check.h"
#include "host/runtime/runtime.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(TH_ADDRESS_SANITIZER) || defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR \
    false /* what was freed is not given out again at once, nor to be written to */
#else
#define OWN_ALLOCATOR true
#endif

/* What is made between these two is meant to leak. */
#ifdef TH_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#else
static void __lsan_disable(void)
{
}

static void __lsan_enable(void)
{
}
#endif

static struct th_library *library;
static int saved_stderr = -1;
static FILE *said;

static void begin(const char *info)
{
    char *path = th_printf("%s/tests/plugins/sins.so", getenv("BUILD_DIR"));

    said = tmpfile();
    assert_non_null(said);
    saved_stderr = dup(2);
    dup2(fileno(said), 2);
    th_check_start();
    if (th_library_open(path, &library) != TH_OK ||
        th_library_load(library, NULL, th_atom(info)) != TH_OK)
        fail_msg("%s", th_error_link(0));
    th_free(path);
}

static int begin_clean(void **state)
{
    (void)state;
    begin("clean");
    return 0;
}

/* Writes addresses, which differ each time, as 0x_. */
static void hide_addresses(char *line)
{
    char *number = line;

    while ((number = strstr(number, "0x"))) {
        size_t digits = strspn(number += 2, "0123456789abcdef");
        if (digits < 8)
            continue;
        *number = '_';
        memmove(number + 1, number + digits, strlen(number + digits) + 1);
    }
}

/* Ends the run; all that was said, without what stands at the beginning of each line. The caller
 * frees it. */
static char *end(uint64_t *findings)
{
    static const char prefix[] = "tracehost: check: ";
    struct th_buffer text = {0};
    char line[1000];
    char *copy;

    th_library_release(library);
    *findings = th_check_end();
    dup2(saved_stderr, 2);
    close(saved_stderr);
    saved_stderr = -1;
    rewind(said);
    while (fgets(line, sizeof line, said)) {
        assert_memory_equal(line, prefix, strlen(prefix));
        hide_addresses(line);
        th_buffer_add_text(&text, line + strlen(prefix));
    }
    fclose(said);
    copy = th_strdup(th_buffer_text(&text));
    th_buffer_free(&text);
    return copy;
}

static int give_up(void **state)
{
    (void)state;
    if (saved_stderr >= 0)
        dup2(saved_stderr, 2);
    return 0;
}

/* The run ends, and exactly LINES were said, COUNT findings. */
static void expect(uint64_t count, const char *lines)
{
    uint64_t findings;
    char *text = end(&findings);

    assert_string_equal(text, lines);
    assert_int_equal(findings, count);
    th_free(text);
}

/* Calls sins:FUNCTION(ARGUMENTS), these as a list, as a function called NAME, and appends what came
 * to TEXT: the result, or `raised` and the reason. */
static void perform(const char *function, const char *list, const char *name,
                    struct th_buffer *text)
{
    th_env *env = th_env_create(TH_ENV_CALLBACK);
    th_term arguments = TH_NIL, answer, argv[4];
    struct th_callee callee = {.library = library};
    struct th_call call = {.callee = &callee, .function = name, .argv = argv, .env = env};
    char *full_name;

    assert_int_equal(th_text_parse(env, list, strlen(list), &arguments), TH_OK);
    for (; th_is_list(arguments); arguments = th_cell(arguments)[1])
        argv[call.argc++] = th_cell(arguments)[0];
    callee.function = th_entry_function(th_library_entry(library), function, (unsigned)call.argc);
    assert_non_null(callee.function);
    callee.name = full_name = th_printf("sins:%s/%d", function, call.argc);
    env->library = library;

    th_check_begin(&call);
    answer = callee.function->fptr(env, call.argc, argv);
    answer = th_check_answer(&call, answer, false);
    if (answer == TH_NONE)
        th_buffer_add_text(text, "raised ");
    th_text_print(text, answer == TH_NONE ? env->exception : answer);
    th_check_retire(env);
    th_free(full_name);
    th_resource_reap();
}

/* The same; what came is valid until the next call. */
static const char *call_as(const char *function, const char *list, const char *name)
{
    static char came[1000];
    struct th_buffer text = {0};

    perform(function, list, name, &text);
    snprintf(came, sizeof came, "%s", th_buffer_text(&text));
    th_buffer_free(&text);
    return came;
}

static const char *call(const char *function, const char *list)
{
    return call_as(function, list, function);
}

/* --- Innocent -------------------------------------------------------------------------------- */

static void innocence_is_found_innocent(void **state)
{
    (void)state;
    assert_string_equal(call("same", "[{[a|b],\"str\",<<1,2:3>>,#{a=>1.5},123456789012345678901}]"),
                        "{[a|b],\"str\",<<1,2:3>>,#{a => 1.5},123456789012345678901}");
    for (int i = 0; i < 100; i++) {
        call("all_kinds", "[[#{1=>fun a:b/1,2=><0.1.0>,3=>-12345678901234567890}]]");
        assert_string_equal(call("gives_back", "[<<1,2,3,4>>]"), "ok");
    }
    assert_string_equal(call("same", "[[]]"), "[]");
    expect(0, "");
}

static void what_load_makes_unload_may_free(void **state)
{
    (void)state;
    begin("keep");
    expect(0, "");
}

/* --- Terms ----------------------------------------------------------------------------------- */

static void results_are_terms(void **state)
{
    (void)state;
    assert_string_equal(call("nothing", "[]"), "undefined");
    assert_string_equal(call("word", "[]"), "undefined");
    assert_string_equal(call("inner_word", "[]"), "undefined");
    assert_string_equal(call("nowhere", "[]"), "undefined");
    assert_string_equal(call("inside", "[]"), "undefined");
    expect(5, "sins:nothing(): returns 0: neither a term nor an exception\n"
              "sins:word(): returns 0x1230, which is no term\n"
              "sins:inner_word(): returns a term with 0x1b in it, which is none\n"
              "sins:nowhere(): returns a term at 0x_, which is in no environment\n"
              "sins:inside(): returns a term that is broken: at 0x_ is none\n");
}

static void terms_of_earlier_calls_are_known(void **state)
{
    (void)state;
    call("keep", "[{\"first\",1}]");
    assert_string_equal(call("give_kept", "[]"), "undefined");
    assert_string_equal(call("give_kept_inside", "[x]"), "undefined");
    assert_string_equal(call("raise_kept", "[]"), "raised undefined");
    call("keep", "[atom]");
    assert_string_equal(call("give_kept", "[]"), "atom");
    expect(3, "sins:give_kept(): returns a term of the environment of an earlier call, "
              "sins:keep({\"first\",1})\n"
              "sins:give_kept_inside(x): returns a term with a part of the environment of an "
              "earlier call, sins:keep({\"first\",1})\n"
              "sins:raise_kept(): raises a term of the environment of an earlier call, "
              "sins:keep({\"first\",1})\n");
}

static void environments_of_earlier_calls_are_known(void **state)
{
    (void)state;
    call("keep", "[1]");
    assert_string_equal(call("make_in_kept", "[]"), "ok");
    expect(1, "sins:make_in_kept(): makes a term in the environment of an earlier call, "
              "sins:keep(1)\n");
}

static void terms_of_own_environments_are_known(void **state)
{
    (void)state;
    assert_string_equal(call("of_own", "[]"), "undefined");
    call("free_own", "[]");
    assert_string_equal(call("of_cleared", "[]"), "undefined");
    call("free_own", "[]");
    assert_string_equal(call("of_freed", "[]"), "undefined");
    expect(3, "sins:of_own(): returns a term with a part of the environment that enif_alloc_env() "
              "gave to sins:of_own()\n"
              "sins:of_cleared(): returns a term of an environment as it was before it was cleared "
              "by sins:of_cleared()\n"
              "sins:of_freed(): returns a term of an environment that was freed by "
              "sins:of_freed()\n");
}

static void an_exception_counts(void **state)
{
    (void)state;
    assert_string_equal(call("raise_and_return", "[]"), "raised badarg");
    expect(1, "sins:raise_and_return(): returns a term after it raised an exception, which "
              "counts\n");
}

static void arguments_stay_as_they_are(void **state)
{
    (void)state;
    call("change", "[1,<<\"bytes\">>]");
    expect(1, "sins:change(1,<<\"bytes\">>): changed the bytes of a binary in argument 2\n");
}

/* --- Giving back ----------------------------------------------------------------------------- */

static void memory_is_freed_once(void **state)
{
    (void)state;
    call("free_twice", "[]");
    call("free_of_malloc", "[]");
    expect(3, "sins:free_twice(): enif_free() of a block of memory that was given back already, to "
              "enif_free() by sins:free_twice()\n"
              "sins:free_twice(): enif_realloc() of a block of memory that was given back already, "
              "to enif_free() by sins:free_twice()\n"
              "sins:free_of_malloc(): enif_free() of memory that enif_alloc() never gave\n");
}

static void memory_is_freed_in_no_other_way(void **state)
{
    (void)state;
    if (!OWN_ALLOCATOR) {
        th_free(end(&(uint64_t){0}));
        skip();
    }
    call("free_by_libc", "[]");
    call("write_after_free", "[]");
    expect(2, "sins:free_by_libc(): memory that it got from enif_alloc() was freed, but not by "
              "enif_free()\n"
              "sins:write_after_free(): memory that it freed was written to later\n");
}

static void binaries_are_released_once(void **state)
{
    (void)state;
    call("release_twice", "[]");
    call("release_inspected", "[<<1>>]");
    call("release_made", "[]");
    call("make_released", "[]");
    expect(6, "sins:release_twice(): enif_release_binary() of a binary that was released already\n"
              "sins:release_twice(): enif_release_binary() of a binary that was given back "
              "already, to enif_release_binary() by sins:release_twice()\n"
              "sins:release_inspected(<<1>>): enif_release_binary() of a binary that it only "
              "inspected\n"
              "sins:release_made(): enif_release_binary() of a binary that it made a term of\n"
              "sins:release_made(): enif_release_binary() of a binary that was given back "
              "already, to enif_make_binary() by sins:release_made()\n"
              "sins:make_released(): enif_make_binary() of a binary that was released already\n");
}

static void environments_are_freed_once(void **state)
{
    (void)state;
    assert_string_equal(call("free_call_env", "[]"), "{ok}");
    call("free_env_twice", "[]");
    expect(3, "sins:free_call_env(): enif_clear_env() of the environment that it was called with\n"
              "sins:free_call_env(): enif_free_env() of the environment that it was called with\n"
              "sins:free_env_twice(): enif_free_env() of an environment that was given back "
              "already, to enif_free_env() by sins:free_env_twice()\n");
}

static void resources_are_released_as_often_as_kept(void **state)
{
    (void)state;
    call("release_often", "[]");
    expect(1, "sins:release_often(): enif_release_resource() of a resource that was given back "
              "already, to enif_release_resource() by sins:release_often()\n");
}

/* --- Locks ----------------------------------------------------------------------------------- */

static void locks_are_destroyed_once(void **state)
{
    (void)state;
    call("destroy_twice", "[]");
    expect(2, "sins:destroy_twice(): enif_mutex_destroy() of a lock that was given back already, "
              "to enif_mutex_destroy() by sins:destroy_twice()\n"
              "sins:destroy_twice(): enif_mutex_lock() of a lock that was given back already, to "
              "enif_mutex_destroy() by sins:destroy_twice()\n");
}

static void locks_are_given_up(void **state)
{
    (void)state;
    call("leave_locked", "[]");
    call("unlock_left", "[]");
    call("unlock_free", "[]");
    expect(2, "sins:leave_locked(): returns with the lock 'left' locked\n"
              "sins:unlock_free(): enif_mutex_unlock() of a lock that nobody has\n");
}

static void nobody_waits_for_himself(void **state)
{
    (void)state;
    __lsan_disable();
    call("lock_twice", "[]");
    __lsan_enable();
    expect(2, "sins:lock_twice(): enif_mutex_lock() of a lock that it has already: it would wait "
              "for itself, for ever\n"
              "sins:lock_twice(): enif_mutex_destroy() of a lock that is locked\n");
}

/* --- Leaks ----------------------------------------------------------------------------------- */

static void leaks_are_told_by_who_made_them(void **state)
{
    (void)state;
    __lsan_disable();
    for (int i = 3; i < 6; i++) {
        char size[] = {'[', (char)('0' + i), ']', 0};
        call("leak_memory", size);
        call("open_db", "[\"x\"]");
    }
    call("leak_binary", "[]");
    call("leak_environment", "[]");
    call("leak_mutex", "[]");
    __lsan_enable();
    expect(5, "leak: 3 blocks of memory (12 bytes) that sins:leak_memory/1 got from enif_alloc(), "
              "first in sins:leak_memory(3)\n"
              "leak: 1 binary (30 bytes) that sins:leak_binary/0 got from enif_alloc_binary(), in "
              "sins:leak_binary()\n"
              "leak: 1 environment that sins:leak_environment/0 got from enif_alloc_env(), in "
              "sins:leak_environment()\n"
              "leak: 3 resources of type 'db' (240 bytes) that sins:open_db/1 got from "
              "enif_alloc_resource(), first in sins:open_db(\"x\")\n"
              "leak: 1 lock 'leaked' that sins:leak_mutex/0 got from enif_mutex_create(), in "
              "sins:leak_mutex()\n");
}

static void leaks_of_load_are_told_as_such(void **state)
{
    (void)state;
    __lsan_disable();
    begin("leak");
    __lsan_enable();
    expect(1, "leak: 1 block of memory (24 bytes) that load of sins.so got from enif_alloc()\n");
}

/* --- Who it was ------------------------------------------------------------------------------ */

static void not_only_calls_sin(void **state)
{
    (void)state;
    call("in_thread", "[]");
    call("in_destructor", "[]");
    expect(2, "a thread of the library: enif_free() of memory that enif_alloc() never gave\n"
              "the destructor of careless of sins.so: enif_free() of memory that enif_alloc() "
              "never gave\n");
}

static void continuations_are_told_with_what_was_called(void **state)
{
    (void)state;
    call_as("nothing", "[]", "next step");
    expect(1, "sins:'next step'(), scheduled by sins:nothing/0: returns 0: neither a term nor an "
              "exception\n");
}

static void what_goes_on_and_on_is_told_ten_times(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        call("nothing", "[]");
        if (i == 9) {
            fflush(stderr);
            assert_int_equal(ftruncate(fileno(said), 0), 0);
            lseek(2, 0, SEEK_SET);
        }
    }
    expect(1000, "sins:nothing/0: 990 times more: returns 0: neither a term nor an exception\n");
}

enum { THREADS = 4, CALLS = 3000 };

static void *call_often(void *unused)
{
    struct th_buffer text = {0};

    for (int i = 0; i < CALLS; i++) {
        perform("all_kinds", "[{1.5,\"argument\"}]", "all_kinds", &text);
        perform("gives_back", "[<<1>>]", "gives_back", &text);
        text.size = 0;
        if (i % 100 == 0)
            perform("free_env_twice", "[]", "free_env_twice", &text);
    }
    th_buffer_free(&text);
    return unused;
}

/* More than is kept of what is gone. */
static void threads_call_at_once(void **state)
{
    pthread_t threads[THREADS];
    uint64_t findings;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    th_free(end(&findings));
    assert_int_equal(findings, THREADS * CALLS / 100);
}

static void long_arguments_are_cut(void **state)
{
    (void)state;
    call("release_inspected", "[<<\"a binary that is so long that nobody wants to read all of it "
                              "in a line that has something to say besides that\">>]");
    expect(1,
           "sins:release_inspected(<<\"a binary that is so long that nobody wants to read all of "
           "it in a line that has ...): enif_release_binary() of a binary that it only "
           "inspected\n");
}

static void while_off_nothing_is_noted(void **state)
{
    void *memory = malloc(1);

    (void)state;
    assert_false(th_check_on());
    th_check_got(TH_CHECK_MEMORY, memory, 1, NULL, "enif_alloc");
    assert_true(th_check_gave(TH_CHECK_MEMORY, &memory, "enif_free"));
    assert_true(th_check_locks(memory, false, "enif_mutex_lock"));
    assert_true(th_check_unlocks(memory, "enif_mutex_unlock"));
    assert_int_equal(th_check_term(NULL, 0x10, "enif_send"), 0x10);
    assert_int_equal(th_check_end(), 0);
    free(memory);
}

#define CLEAN(test) cmocka_unit_test_setup_teardown(test, begin_clean, give_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_off_nothing_is_noted),
        CLEAN(innocence_is_found_innocent),
        cmocka_unit_test_teardown(what_load_makes_unload_may_free, give_up),
        CLEAN(results_are_terms),
        CLEAN(terms_of_earlier_calls_are_known),
        CLEAN(environments_of_earlier_calls_are_known),
        CLEAN(terms_of_own_environments_are_known),
        CLEAN(an_exception_counts),
        CLEAN(arguments_stay_as_they_are),
        CLEAN(memory_is_freed_once),
        CLEAN(memory_is_freed_in_no_other_way),
        CLEAN(binaries_are_released_once),
        CLEAN(environments_are_freed_once),
        CLEAN(resources_are_released_as_often_as_kept),
        CLEAN(locks_are_destroyed_once),
        CLEAN(locks_are_given_up),
        CLEAN(nobody_waits_for_himself),
        CLEAN(leaks_are_told_by_who_made_them),
        cmocka_unit_test_teardown(leaks_of_load_are_told_as_such, give_up),
        CLEAN(not_only_calls_sin),
        CLEAN(continuations_are_told_with_what_was_called),
        CLEAN(what_goes_on_and_on_is_told_ten_times),
        CLEAN(long_arguments_are_cut),
        CLEAN(threads_call_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

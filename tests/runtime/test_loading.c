/* Tests modules that are loaded, replaced and removed while processes call them. */
#include "host/base/base.h"
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/lines.h"
#include "tests/support/versions.h"

#include "host/runtime/runtime_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>
#include <sys/stat.h>

static const char a[] = "version_000a", b[] = "version_000b", c[] = "version_000c";
static struct th_process *process;

static int start(void **state)
{
    static const struct th_runtime_setup setup = {.schedulers = 2};

    (void)state;
    th_runtime_start(&setup);
    process = th_runtime_run_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    th_runtime_kill_all();
    th_code_end();
    th_runtime_stop();
    return 0;
}

/* Makes BY call MODULE:FUNCTION with the elements of the list ARGUMENTS. Returns the result as
 * text, valid until the next call. */
static const char *call_by(struct th_process *by, const char *module, const char *function,
                           const char *arguments)
{
    static const char *const prefixes[] = {"", "error: ", "throw: ", "exit: ", "ended: "};
    static _Thread_local char shown[1024];
    struct th_buffer text = {0};
    th_term argv[8], list, result;
    enum th_call_end end;
    unsigned argc = 0;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, arguments, strlen(arguments), &list), TH_OK);
    for (; th_is_list(list); list = th_cell(list)[1])
        argv[argc++] = th_cell(list)[0];
    end =
        th_runtime_run_call_export(by, th_code_export_get(th_atom(module), th_atom(function), argc),
                                   argv, &env, &result, NULL);
    th_buffer_add_text(&text, prefixes[end]);
    th_text_print(&text, result);
    snprintf(shown, sizeof shown, "%s", th_buffer_text(&text));
    th_buffer_free(&text);
    th_env_release(&env);
    return shown;
}

static const char *call(const char *module, const char *function, const char *arguments)
{
    return call_by(process, module, function, arguments);
}

static void load(const char *name, long number)
{
    assert_int_equal(version_load(&name, 1, number), TH_OK);
}

static enum th_status purge(const char *name)
{
    bool had;

    return th_code_purge(th_atom(name), TH_PURGE_SOFT, &had);
}

/* Returns the generations of NAME, as "2 old 1", with users in parentheses if there are any. */
static const char *seen(const char *name)
{
    static char text[128];
    struct th_module_code *list;
    size_t count = th_code_list(&list), length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (list[i].name != th_atom(name))
            continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s%d", length ? " " : "",
                                   list[i].old ? "old " : "", (int)list[i].generation);
        if (list[i].users)
            length +=
                (size_t)snprintf(text + length, sizeof text - length, " (%d)", (int)list[i].users);
    }
    th_code_list_free(list, count);
    return text;
}

/* --- One module ------------------------------------------------------------------------------- */

static void calls_reach_the_current_code(void **state)
{
    (void)state;
    assert_string_equal(call(a, "number", "[]"), "error: undef");
    load(a, 1);
    assert_string_equal(call(a, "number", "[]"), "1");
    load(a, 2);
    assert_string_equal(call(a, "number", "[]"), "2");
    assert_string_equal(call(a, "number_inside", "[]"), "2");
    assert_string_equal(seen(a), "2 old 1");
    load(a, 3);
    assert_string_equal(seen(a), "3 old 2");
    assert_string_equal(call(a, "upgrades", "[]"), "2");
    assert_int_equal(th_code_delete(th_atom(a), TH_PURGE_SOFT), TH_OK);
    assert_string_equal(call(a, "number", "[]"), "error: undef");
    assert_string_equal(seen(a), "old 3");
    assert_int_equal(th_code_delete(th_atom(a), TH_PURGE_SOFT), TH_USAGE);
    assert_int_equal(purge(a), TH_OK);
    assert_string_equal(seen(a), "");
    assert_int_equal(purge(a), TH_OK);
    load(a, 4);
    assert_string_equal(call(a, "number", "[]"), "4");
    assert_string_equal(call(a, "upgrades", "[]"), "0");
}

static struct th_process *waiter;
static const char *waited;

static void *wait_in_code(void *module)
{
    char arguments[32];

    snprintf(arguments, sizeof arguments, "[%s]", (char *)module);
    waited = th_strdup(call_by(waiter, module, "wait_for", arguments));
    return NULL;
}

static bool is_seen(const char *name, const char *text)
{
    for (int i = 0; i < 10000; i++) {
        if (strcmp(seen(name), text) == 0)
            return true;
        usleep(1000);
    }
    return false;
}

static pthread_t begin_to_wait(const char *module)
{
    pthread_t thread;

    waiter = th_runtime_run_start();
    assert_int_equal(pthread_create(&thread, NULL, wait_in_code, (void *)module), 0);
    return thread;
}

static void send_done(void)
{
    th_process_send(th_runtime_run_pid(waiter), th_atom("done"));
}

static const char *end_of(pthread_t thread)
{
    static char text[1024];

    pthread_join(thread, NULL);
    snprintf(text, sizeof text, "%s", waited);
    th_free((char *)waited);
    th_runtime_run_exit(waiter, TH_AM(normal));
    return text;
}

/* A waiting frame and the function that it waits for are both in old code; both are counted. */
static void old_code_in_use_is_not_purged(void **state)
{
    pthread_t thread;

    (void)state;
    load(b, 1);
    thread = begin_to_wait(b);
    assert_true(is_seen(b, "1 (2)"));
    load(b, 2);
    assert_string_equal(seen(b), "2 old 1 (2)");
    assert_int_equal(purge(b), TH_REFUSED);
    assert_int_equal(version_load(&(const char *){b}, 1, 3), TH_REFUSED);
    assert_non_null(strstr(th_error_link(1), "not_purged: 2 calls or continuations"));
    assert_non_null(strstr(th_error_link(1), "have not ended: <"));
    assert_non_null(
        strstr(th_error_link(1), "> in version_000b:wait_here/0; purge the module hard"));
    assert_int_equal(th_code_delete(th_atom(b), TH_PURGE_SOFT), TH_REFUSED);
    assert_string_equal(call(b, "number", "[]"), "2");
    send_done();
    assert_string_equal(end_of(thread), "{{done,1},1}");
    assert_true(is_seen(b, "2 old 1"));
    assert_int_equal(purge(b), TH_OK);
    assert_string_equal(seen(b), "2");
}

static void a_hard_purge_kills_the_processes_in_old_code(void **state)
{
    pthread_t thread;

    (void)state;
    load(c, 1);
    thread = begin_to_wait(c);
    assert_true(is_seen(c, "1 (2)"));
    load(c, 2);
    assert_int_equal(th_code_purge(th_atom(c), TH_PURGE_HARD, NULL), TH_OK);
    assert_string_equal(end_of(thread), "ended: killed");
    assert_string_equal(seen(c), "2");
}

static char pipe_path[] = "/tmp/test_loading.XXXXXX/pipe";

static void *read_in_code(void *module)
{
    char arguments[64];

    snprintf(arguments, sizeof arguments, "[\"%s\"]", pipe_path);
    waited = th_strdup(call_by(waiter, module, "read_here", arguments));
    return NULL;
}

static void make_pipe(void)
{
    char *name = strrchr(pipe_path, '/');

    *name = '\0';
    assert_non_null(mkdtemp(pipe_path));
    *name = '/';
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
}

/* Opens the pipe's other end, so the operation ends, and removes the pipe. */
static void end_pipe(void)
{
    close(open(pipe_path, O_WRONLY));
    unlink(pipe_path);
    *strrchr(pipe_path, '/') = '\0';
    assert_int_equal(rmdir(pipe_path), 0);
}

/* Sets *CONTEXT if an operation on a file is executing. */
static void note_running(void *context, const char *what)
{
    if (strncmp(what, "file operation", 14) == 0)
        *(bool *)context = true;
}

/* A continuation that waits for an operation on a file counts, too. An executing operation ends by
 * itself; a queued one is dropped with its process. */
static void a_wait_for_a_file_keeps_old_code_in_use(void **state)
{
    static const char name[] = "version_000d";
    bool running = false;
    pthread_t thread;

    (void)state;
    make_pipe();
    load(name, 1);
    waiter = th_runtime_run_start();
    assert_int_equal(pthread_create(&thread, NULL, read_in_code, (void *)name), 0);
    for (; !running; usleep(1000))
        th_runtime_each_running(note_running, &running);
    load(name, 2);
    assert_int_equal(purge(name), TH_REFUSED);
    assert_non_null(
        strstr(th_error_link(1), "> in version_000d:read_here/1; purge the module hard"));
    assert_int_equal(th_code_purge(th_atom(name), TH_PURGE_HARD, NULL), TH_OK);
    assert_string_equal(end_of(thread), "ended: killed");
    assert_string_equal(seen(name), "2");
    end_pipe();
}

/* --- Several modules at once ------------------------------------------------------------------ */

static const char *const all[] = {a, b, c};

static enum th_status load_all(const char *info)
{
    return version_load_info(all, 3, info);
}

/* Returns FUNCTION's results of the three modules, as "1 2 3". */
static const char *of_all(const char *function)
{
    static char text[256];
    size_t length = 0;

    for (int i = 0; i < 3; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i ? " " : "",
                                   call(all[i], function, "[]"));
    return text;
}

static void a_list_of_modules_becomes_visible_at_once(void **state)
{
    struct th_instance *twice[2];
    struct th_finish finish = {.prepared = twice, .count = 2, .info = th_small(9)};

    (void)state;
    assert_int_equal(load_all("1"), TH_OK);
    assert_string_equal(of_all("number"), "1 1 1");
    assert_int_equal(load_all("2"), TH_OK);
    assert_string_equal(of_all("number"), "2 2 2");
    assert_string_equal(of_all("upgrades"), "1 1 1");
    for (int i = 0; i < 2; i++)
        twice[i] = version_prepare(a);
    assert_int_equal(th_code_finish(&finish), TH_USAGE);
    for (int i = 0; i < 2; i++)
        th_code_prepared_drop(twice[i]);
    assert_string_equal(of_all("number"), "2 2 2");
}

static void assert_refused(const char *info, const char *why)
{
    assert_int_equal(load_all(info), TH_REFUSED);
    for (size_t i = 0;; i++) {
        if (!th_error_link(i))
            fail_msg("no link has '%s'; the first is '%s'", why, th_error_link(0));
        if (strstr(th_error_link(i), why))
            return;
    }
}

static void a_refused_load_leaves_all_modules_unchanged(void **state)
{
    (void)state;
    assert_refused("{1,[{version_000b,load}]}", "load() returned 1");
    assert_string_equal(of_all("number"), "error: undef error: undef error: undef");
    assert_int_equal(load_all("1"), TH_OK);
    assert_refused("{2,[{version_000b,check}]}", "th_upgrade_check() returned 3");
    assert_string_equal(of_all("number"), "1 1 1");
    assert_string_equal(of_all("upgrades"), "0 0 0");
    assert_refused("{2,[{version_000c,upgrade}]}", "upgrade() returned 2");
    assert_string_equal(of_all("number"), "1 1 1");
    assert_string_equal(of_all("upgrades"), "0 0 0");
    assert_int_equal(load_all("2"), TH_OK);
    assert_string_equal(of_all("number"), "2 2 2");
    assert_string_equal(of_all("upgrades"), "1 1 1");
}

/* The third module is new, so a refused upgrade of the second one unloads it. */
static void a_refused_upgrade_unloads_new_modules(void **state)
{
    (void)state;
    assert_int_equal(version_load(all, 2, 1), TH_OK);
    assert_refused("{2,[{version_000b,upgrade}]}", "upgrade() returned 2");
    assert_string_equal(of_all("number"), "1 1 error: undef");
    assert_string_equal(call(a, "upgrades", "[]"), "0");
    assert_int_equal(load_all("3"), TH_OK);
    assert_string_equal(of_all("number"), "3 3 3");
    assert_string_equal(of_all("upgrades"), "1 1 0");
}

static void a_deleted_module_passes_its_data_to_the_next_load(void **state)
{
    (void)state;
    load(a, 1);
    load(a, 2);
    assert_int_equal(th_code_delete(th_atom(a), TH_PURGE_SOFT), TH_OK);
    load(a, 3);
    assert_string_equal(call(a, "number", "[]"), "3");
    assert_string_equal(call(a, "upgrades", "[]"), "2");
    assert_non_null(strstr(seen(a), " old "));
    assert_int_equal(th_code_delete(th_atom(a), TH_PURGE_SOFT), TH_OK);
    assert_refused("{4,[{version_000a,upgrade}]}", "upgrade() returned");
    assert_ptr_equal(strstr(seen(a), "old "), seen(a));
    load(a, 5);
    assert_string_equal(call(a, "upgrades", "[]"), "3");
    assert_int_equal(purge(a), TH_OK);
    assert_null(strstr(seen(a), "old"));
    assert_string_equal(call(a, "number", "[]"), "5");
}

static void a_module_whose_upgrade_cannot_be_undone_is_deleted(void **state)
{
    (void)state;
    assert_int_equal(load_all("{1,[{version_000a,back}]}"), TH_OK);
    assert_refused("{2,[{version_000c,upgrade}]}", "module version_000a is deleted");
    assert_string_equal(of_all("number"), "error: undef 1 1");
    assert_string_equal(call(b, "upgrades", "[]"), "0");
    assert_int_equal(purge(a), TH_OK);
    assert_int_equal(load_all("3"), TH_OK);
    assert_string_equal(of_all("number"), "3 3 3");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(calls_reach_the_current_code),
        TEST(old_code_in_use_is_not_purged),
        TEST(a_hard_purge_kills_the_processes_in_old_code),
        TEST(a_list_of_modules_becomes_visible_at_once),
        TEST(a_refused_load_leaves_all_modules_unchanged),
        TEST(a_refused_upgrade_unloads_new_modules),
        TEST(a_deleted_module_passes_its_data_to_the_next_load),
        TEST(a_module_whose_upgrade_cannot_be_undone_is_deleted),
        TEST(a_wait_for_a_file_keeps_old_code_in_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests processes that wait for operations on files: results, ends during a wait, owners of open
 * files. The only I/O thread is blocked by the opening of a pipe without a writer. */
#include "parties.h"

#include "host/base/base.h"
#include "host/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct th_process *process;
static struct th_library *filing;
static char folder[PATH_MAX];
static char *self;

#define call(...) call_in(process, __VA_ARGS__)

/* Calls filing:NAME; ARGUMENTS is a format of printf(). */
static const char *file(const char *name, const char *arguments, ...)
    __attribute__((format(printf, 2, 3)));
static const char *file(const char *name, const char *arguments, ...)
{
    char text[2 * PATH_MAX];
    va_list more;

    va_start(more, arguments);
    vsnprintf(text, sizeof text, arguments, more);
    va_end(more);
    return call_module(process, "filing", name, text);
}

static bool is_there(const char *name)
{
    char path[PATH_MAX + 64];
    struct stat info;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &info) == 0;
}

static unsigned count_descriptors(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void pause_a_moment(void)
{
    nanosleep(&(const struct timespec){0, 100000}, NULL);
}

static void await_no_operations(void)
{
    while (th_file_pool_operations() > 0)
        pause_a_moment();
}

/* --- Results ---------------------------------------------------------------------------------- */

static void functions_continue_with_the_results_of_operations(void **state)
{
    (void)state;
    assert_string_equal(file("mkdir", "[\"%s/made\"]", folder), "ok");
    assert_string_equal(file("mkdir", "[\"%s/made\"]", folder), "{error,eexist}");
    assert_string_equal(file("readdir", "[\"%s\"]", folder), "{ok,[<<\"made\">>]}");
    assert_string_equal(file("rename", "[\"%s/made\",<<\"%s/renamed\">>]", folder, folder), "ok");
    assert_string_equal(file("rmdir", "[\"%s/renamed\"]", folder), "ok");
    assert_non_null(
        strstr(file("keeps", "[\"%s/none\",{a,\"b\"},3.5]", folder), "/none\",{a,\"b\"},3.5}"));
}

static void invalid_arguments_are_refused(void **state)
{
    (void)state;
    assert_string_equal(file("mkdir", "[a]"), "error: badarg");
    assert_string_equal(file("mkdir", "[[0]]"), "error: badarg");
    assert_string_equal(file("rename", "[\"a\",{}]"), "error: badarg");
    assert_string_equal(file("read", "[a,1]"), "error: badarg");
    assert_string_equal(file("write", "[%s,1]", self), "error: badarg");
    assert_string_equal(file("pwritev", "[%s,[{0,1}]]", self), "error: badarg");
    assert_string_equal(file("read", "[%s,-1]", self), "error: badarg");
    assert_string_equal(file("ipread", "[%s,-1,1]", self), "error: badarg");
    assert_string_equal(file("fadvise", "[%s,0,-1,0]", self), "error: badarg");
    await_no_operations();
}

/* The last request counts, as for other requests that are executed after the function's return. */
static void the_last_act_of_a_function_decides_its_result(void **state)
{
    (void)state;
    assert_string_equal(file("last_counts", "[\"%s/one\",\"%s/two\"]", folder, folder), "ok");
    assert_false(is_there("one"));
    assert_true(is_there("two"));
    assert_string_equal(file("says_else", "[\"%s/one\"]", folder), "else");
    assert_non_null(strstr(file("raises", "[\"%s/one\"]", folder), "error: "));
    assert_string_equal(file("nested", "[\"%s/one\"]", folder), "error: nested_await");
    assert_false(is_there("one"));
    file("rmdir", "[\"%s/two\"]", folder);
}

static void each_operation_has_a_name(void **state)
{
    const char *told;
    int command, thread, tag, error, next;

    (void)state;
    assert_string_equal(file("last", "[]"), "none");
    file("rename", "[\"%s/old\",\"%s/new\"]", folder, folder);
    told = file("last", "[]");
    assert_int_equal(sscanf(told, "{%d,%d,%d,%d}", &command, &thread, &tag, &error), 4);
    assert_int_equal(command, 12);
    assert_int_equal(thread, 1);
    assert_int_equal(error, ENOENT);
    file("pwd", "[]");
    assert_int_equal(sscanf(file("last", "[]"), "{%d,%d,%d,%d}", &command, &thread, &next, &error),
                     4);
    assert_int_equal(command, 6);
    assert_int_equal(next, tag + 1);
    assert_int_equal(error, 0);
}

/* Large and small results, with garbage collections in between. */
static void many_results_are_returned(void **state)
{
    char path[PATH_MAX + 16];
    FILE *large;

    (void)state;
    snprintf(path, sizeof path, "%s/large", folder);
    large = fopen(path, "w");
    for (int i = 0; i < 700; i++)
        fputs("0123456789", large);
    fclose(large);
    assert_non_null(strstr(file("many", "[2000,\"%s\"]", path), "{ok,<<"));
    assert_string_equal(file("many", "[2000,\"%s/none\"]", folder), "{error,enoent}");
    unlink(path);
}

/* --- Files ------------------------------------------------------------------------------------ */

static void open_files_are_ports(void **state)
{
    unsigned before = count_descriptors();
    char *port = th_strdup(file("open", "[\"%s/file\",3]", folder));
    char *end = strchr(port, '}');

    (void)state;
    *end = '\0';
    memmove(port, port + 4, strlen(port + 4) + 1);
    assert_int_equal(strncmp(port, "#Port<", 6), 0);
    assert_string_equal(file("write", "[%s,[\"two\\nlines\",10]]", port), "ok");
    assert_string_equal(file("lseek", "[%s,0,0]", port), "{ok,0}");
    assert_string_equal(file("read_line", "[%s]", port), "{ok,<<\"two\\n\">>}");
    assert_string_equal(file("read", "[%s,100]", port), "{ok,<<\"lines\\n\">>}");
    assert_string_equal(file("pwritev", "[%s,[{0,\"T\"}]]", port), "ok");
    assert_string_equal(file("preadv", "[%s,[{0,3},{100,1}]]", port), "{ok,[<<\"Two\">>,eof]}");
    assert_non_null(strstr(file("fstat", "[%s]", port), "size => 10"));
    assert_string_equal(file("setopt", "[%s,1,100]", port), "ok");
    assert_string_equal(file("ipread", "[%s,0,10]", port), "eof");
    assert_string_equal(file("fadvise", "[%s,0,0,0]", port), "ok");
    assert_string_equal(file("fsync", "[%s]", port), "ok");
    assert_string_equal(file("fdatasync", "[%s]", port), "ok");
    assert_string_equal(file("lseek", "[%s,2,0]", port), "{ok,2}");
    assert_string_equal(file("truncate", "[%s]", port), "ok");
    assert_string_equal(file("close", "[%s]", port), "ok");
    assert_string_equal(file("close", "[%s]", port), "{error,ebadf}");
    assert_string_equal(file("read_file", "[\"%s/file\"]", folder), "{ok,<<\"Tw\">>}");
    assert_string_equal(file("symlink", "[\"file\",\"%s/link\"]", folder), "ok");
    assert_string_equal(file("readlink", "[\"%s/link\"]", folder), "{ok,<<\"file\">>}");
    assert_non_null(strstr(file("lstat", "[\"%s/link\"]", folder), "type => symlink"));
    assert_string_equal(file("link", "[\"%s/file\",\"%s/hard\"]", folder, folder), "ok");
    assert_string_equal(file("write_info", "[\"%s/file\",8#600,-1,-1]", folder), "ok");
    assert_string_equal(file("altname", "[\"%s/file\"]", folder), "{error,enotsup}");
    assert_string_equal(file("chdir", "[\"%s/none\"]", folder), "{error,enoent}");
    for (int i = 0; i < 3; i++)
        file("delete", "[\"%s/%s\"]", folder, (const char *[]){"file", "link", "hard"}[i]);
    assert_int_equal(count_descriptors(), before);
    th_free(port);
}

/* Another process may use the file meanwhile. */
static void files_are_closed_with_their_process(void **state)
{
    unsigned before = count_descriptors();
    char *pid = th_strdup((call("spawn", "[filing,holds,[\"%s/held\",2,%s],0]", folder, self)));
    char *port = th_strdup(message_to(process));

    (void)state;
    assert_int_equal(strncmp(port, "#Port<", 6), 0);
    assert_string_equal(file("write", "[%s,\"x\"]", port), "ok");
    call("monitor", "[%s]", pid);
    call("signal", "[%s,kill]", pid);
    assert_non_null(strstr(message_to(process), "'DOWN'"));
    assert_string_equal(file("write", "[%s,\"x\"]", port), "{error,ebadf}");
    await_no_operations();
    assert_int_equal(th_file_open_files(), 0);
    assert_int_equal(count_descriptors(), before);
    file("delete", "[\"%s/held\"]", folder);
    th_free(port);
    th_free(pid);
}

/* --- Ends during a wait ----------------------------------------------------------------------- */

static char pipe_path[PATH_MAX + 16];
static char *holder; /* the process that has requested the pipe */

/* Sets *CONTEXT if an operation is executing. */
static void note_running(void *context, const char *what)
{
    if (strncmp(what, "file operation", 14) == 0)
        *(bool *)context = true;
}

static void hold_up(void)
{
    bool running = false;

    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    holder = th_strdup(call("spawn", "[filing,holds,[\"%s\",1,%s],0]", pipe_path, self));
    while (!running) {
        th_runtime_each_running(note_running, &running);
        pause_a_moment();
    }
}

static void let_go(void)
{
    close(open(pipe_path, O_WRONLY));
    unlink(pipe_path);
    th_free(holder);
}

static void kill_and_wait(const char *pid)
{
    call("monitor", "[%s]", pid);
    call("signal", "[%s,kill]", pid);
    assert_non_null(strstr(message_to(process), "killed}"));
}

static void a_queued_operation_is_dropped_with_its_process(void **state)
{
    char *asking;

    (void)state;
    hold_up();
    asking = th_strdup(call("spawn", "[filing,mkdir,[\"%s/never\"],0]", folder));
    while (th_file_pool_operations() < 2)
        pause_a_moment();
    kill_and_wait(asking);
    assert_int_equal(th_file_pool_operations(), 1);
    let_go();
    assert_int_equal(strncmp(message_to(process), "#Port<", 6), 0);
    await_no_operations();
    assert_false(is_there("never"));
    th_free(asking);
}

static void an_executing_operation_outlives_its_killed_process(void **state)
{
    unsigned before = count_descriptors();

    (void)state;
    hold_up();
    kill_and_wait(holder);
    assert_int_equal(th_file_pool_operations(), 1);
    let_go();
    await_no_operations();
    assert_int_equal(th_file_open_files(), 0);
    assert_int_equal(count_descriptors(), before);
}

/* A close takes effect when it is requested; operations queued before it come too late. */
static void an_operation_queued_before_a_close_fails(void **state)
{
    char *writer, *port, *closer;

    (void)state;
    writer = th_strdup(call("spawn", "[filing,holds,[\"%s/file\",2,%s],0]", folder, self));
    port = th_strdup(message_to(process));
    hold_up();
    closer = th_strdup(call("spawn", "[filing,write,[%s,\"late\"],0]", port));
    while (th_file_pool_operations() < 2)
        pause_a_moment();
    call("spawn", "[filing,close,[%s],0]", port);
    while (th_file_pool_operations() < 3)
        pause_a_moment();
    assert_int_equal(th_file_open_files(), 0);
    let_go();
    assert_int_equal(strncmp(message_to(process), "#Port<", 6), 0);
    await_no_operations();
    assert_string_equal(file("read_file", "[\"%s/file\"]", folder), "{ok,<<>>}");
    file("delete", "[\"%s/file\"]", folder);
    th_free(closer);
    th_free(writer);
    th_free(port);
}

static int scheduled; /* times that filing:mkdir/1 was scheduled in; relaxed: read after the end */

static void note_scheduled(const struct th_probe *probe, const union th_probe_value *values)
{
    (void)probe;
    if (strcmp(values[1].string, "filing:mkdir/1") == 0)
        __atomic_fetch_add(&scheduled, 1, __ATOMIC_RELAXED);
}

/* The process is scheduled in twice, both times in the function that made the request. */
static void a_waiting_process_is_scheduled_in_the_requesting_function(void **state)
{
    const struct th_probe *probe = th_probe_find("process__scheduled");
    char *asking;

    (void)state;
    th_probe_watch(note_scheduled);
    th_probe_raise(probe);
    hold_up();
    asking = th_strdup(call("spawn", "[filing,mkdir,[\"%s/made\"],2]", folder));
    while (th_file_pool_operations() < 2)
        pause_a_moment();
    let_go();
    assert_non_null(strstr(call("select", "['DOWN',10000]"), "normal}"));
    th_probe_lower(probe);
    th_probe_watch(NULL);
    assert_int_equal(__atomic_load_n(&scheduled, __ATOMIC_RELAXED), 2);
    assert_int_equal(strncmp(message_to(process), "#Port<", 6), 0);
    file("rmdir", "[\"%s/made\"]", folder);
    th_free(asking);
}

/* Messages during the wait stay queued; exit signals of links take effect. */
static void signals_arrive_while_a_process_waits_for_a_file(void **state)
{
    char *asking;

    (void)state;
    hold_up();
    asking = th_strdup(call("spawn", "[filing,mkdir,[\"%s/made\"],2]", folder));
    while (th_file_pool_operations() < 2)
        pause_a_moment();
    *strchr(asking, ',') = '\0';
    call("sends", "[%s,[a,b,c]]", asking + 1);
    call("signal", "[%s,normal]", asking + 1);
    let_go();
    assert_non_null(strstr(call("select", "['DOWN',10000]"), "normal}"));
    assert_true(is_there("made"));
    assert_int_equal(strncmp(message_to(process), "#Port<", 6), 0);
    file("rmdir", "[\"%s/made\"]", folder);
    th_free(asking);
}

/* The runtime stops: executing operations are waited for, queued ones are dropped. */
static void many_processes_end_while_they_wait_for_files(void **state)
{
    unsigned before = count_descriptors();

    (void)state;
    for (int i = 0; i < 200; i++)
        call("spawn", "[filing,holds,[\"%s/many\",3,%s],0]", folder, self);
    call("spawn", "[filing,many,[100000000,\"%s/many\"],0]", folder);
    for (int i = 0; i < 50; i++)
        assert_int_equal(strncmp(message_to(process), "#Port<", 6), 0);
    th_runtime_kill_all();
    assert_int_equal(th_file_pool_operations(), 0);
    assert_int_equal(th_file_open_files(), 0);
    assert_int_equal(count_descriptors(), before);
    file("delete", "[\"%s/many\"]", folder);
}

/* --- The group -------------------------------------------------------------------------------- */

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_file_wait.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    party_setup.async = 1;
    start_party(1);
    filing = loaded_plugin("tests/plugins/filing.so", th_small(0));
    th_code_module_add(filing);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_runtime_kill_all();
    th_code_module_remove(filing);
    th_library_release(filing);
    stop_party();
    return rmdir(folder);
}

static int start(void **state)
{
    (void)state;
    process = th_runtime_run_start();
    self = text_of_pid(th_runtime_run_pid(process));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    th_runtime_kill_all();
    th_free(self);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(functions_continue_with_the_results_of_operations),
        TEST(invalid_arguments_are_refused),
        TEST(the_last_act_of_a_function_decides_its_result),
        TEST(each_operation_has_a_name),
        TEST(many_results_are_returned),
        TEST(open_files_are_ports),
        TEST(files_are_closed_with_their_process),
        TEST(a_queued_operation_is_dropped_with_its_process),
        TEST(an_executing_operation_outlives_its_killed_process),
        TEST(an_operation_queued_before_a_close_fails),
        TEST(a_waiting_process_is_scheduled_in_the_requesting_function),
        TEST(signals_arrive_while_a_process_waits_for_a_file),
        TEST(many_processes_end_while_they_wait_for_files),
    };

    return cmocka_run_group_tests(tests, begin, end);
}

/* Tests the control socket's server: requests and answers, bad clients, owner of the socket. */
#include "served.h"

#include "host/base/base.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* Returns a text of the length that the client requests. */
static enum th_status shout(void *context, int count, char **arguments, json_t **result)
{
    size_t size = count ? (size_t)atol(arguments[0]) : 0;
    char *text = th_alloc(size + 1);

    (void)context;
    memset(text, 'a', size);
    *result = json_stringn(text, size);
    th_free(text);
    return TH_OK;
}

static const struct th_control_command commands[] = {
    {.name = "say", .arguments = any_words, .help = "", .carry_out = say},
    {.name = "fail", .arguments = any_words, .help = "", .carry_out = fail_always},
    {.name = "shout", .arguments = any_words, .help = "", .carry_out = shout},
};
static const struct th_control_command *const command_list[] = {&commands[0], &commands[1],
                                                                &commands[2], NULL};

static void the_server_greets_each_client_first(void **state)
{
    int fd = open_socket();
    char *expected = th_printf(
        "{\"tracehost\":\"1.2.3\",\"protocol\":1,\"program\":\"test\",\"pid\":%d}", (int)getpid());

    (void)state;
    assert_string_equal(get(fd), expected);
    th_free(expected);
    close(fd);
}

static void requests_are_answered(void **state)
{
    (void)state;
    assert_answer("{\"id\":1,\"command\":\"say\",\"arguments\":[\"a\",\"\xc3\xa4\"]}",
                  "{\"id\":1,\"ok\":true,\"result\":[\"a\",\"\xc3\xa4\"]}");
    assert_answer("{\"command\":\"say\"}", "{\"id\":null,\"ok\":true,\"result\":[]}");
    assert_answer("{\"id\":{\"any\":[1]},\"command\":\"fail\"}",
                  "{\"id\":{\"any\":[1]},\"ok\":false,\"status\":5,"
                  "\"error\":[\"what was tried\",\"the cause ?\"]}");
    assert_answer("{\"id\":2,\"command\":\"dance\"}",
                  "{\"id\":2,\"ok\":false,\"status\":2,"
                  "\"error\":[\"there is no command 'dance'; `help` lists them\"]}");
}

static void malformed_requests_are_refused_with_a_reason(void **state)
{
    static const char *const lines[][2] = {
        {"nonsense", "the line is not JSON: column 8: "},
        {"[1]", "a request must be an object"},
        {"{}", "a request must have a "},
        {"{\"id\":3,\"command\":1}", "a request must have a "},
        {"{\"command\":\"say\",\"argument\":[]}", "a request has no member "},
        {"{\"command\":\"say\",\"arguments\":\"x\"}", "\\\"arguments\\\" must be an array"},
        {"{\"command\":\"say\",\"arguments\":[\"a\",1]}", "argument 2 must be a string"},
        {"{\"command\":\"say\",\"command\":\"say\"}", "the line is not JSON"},
        {"\xff\xfe", "the line is not JSON"},
    };
    int fd = open_socket();

    (void)state;
    get(fd);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        put(fd, lines[i][0]);
        put(fd, "\n");
        assert_non_null(strstr(get(fd), lines[i][1]));
    }
    put(fd, "\n\n{\"command\":\"say\"}\n"); /* the client is still served */
    assert_non_null(strstr(get(fd), "\"ok\":true"));
    close(fd);
    assert_int_equal(th_control_counts(control).malformed, sizeof lines / sizeof *lines);
    assert_int_equal(th_control_counts(control).requests, 1);
}

/* Requests of TH_CONTROL_LINE bytes with the newline, and of one byte more. */
static void the_limit_of_a_request_line_is_exact(void **state)
{
    static const char begin[] = "{\"command\":\"absent\",\"arguments\":[\"", last[] = "\"]}\n";
    char *line = th_alloc(TH_CONTROL_LINE + 2);

    (void)state;
    for (size_t more = 0; more < 2; more++) {
        size_t size = TH_CONTROL_LINE + more, ends = size - (sizeof last - 1);
        int fd = open_socket();
        get(fd);
        memset(line, 'x', size);
        memcpy(line, begin, sizeof begin - 1);
        memcpy(line + ends, last, sizeof last);
        put(fd, line);
        assert_non_null(
            strstr(get(fd), more ? "the line is too long" : "there is no command 'absent'"));
        close(fd);
    }
    th_free(line);
}

static void a_request_line_that_is_too_long_is_skipped(void **state)
{
    enum { LONG = 3 * TH_CONTROL_LINE };
    char *line = th_alloc(LONG + 1);
    int fd = open_socket();

    (void)state;
    get(fd);
    memset(line, 'x', LONG);
    line[LONG] = 0;
    put(fd, line);
    put(fd, "\n{\"command\":\"say\"}\n");
    assert_non_null(strstr(get(fd), "the line is too long"));
    assert_non_null(strstr(get(fd), "\"ok\":true"));
    assert_int_equal(th_control_counts(control).malformed, 1);
    close(fd);
    th_free(line);
}

/* The client shuts its side down after the last request. */
static void pipelined_requests_are_answered_in_order(void **state)
{
    enum { MANY = 2000 };
    char text[64];
    int fd = open_socket();

    (void)state;
    get(fd);
    if (fork() == 0) {
        for (int i = 0; i < MANY; i++) {
            snprintf(text, sizeof text, "{\"id\":%d,\"command\":\"say\"}\n", i);
            put(fd, text);
        }
        shutdown(fd, SHUT_WR);
        _exit(0);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "{\"id\":%d,\"ok\":true,\"result\":[]}", i);
        assert_string_equal(get(fd), text);
    }
    assert_string_equal(get(fd), "");
    close(fd);
    wait(NULL);
}

/* Other clients are served meanwhile, and the host needs the memory of one answer. */
static void the_server_stops_reading_from_a_client_that_does_not_read(void **state)
{
    int fd = open_socket(), sent = 0;

    (void)state;
    get(fd);
    while (send(fd, "{\"command\":\"shout\",\"arguments\":[\"500000\"]}\n", 43,
                MSG_DONTWAIT | MSG_NOSIGNAL) == 43)
        sent++;
    assert_order(sent, >, 100);
    assert_answer("{\"command\":\"say\"}", "{\"id\":null,\"ok\":true,\"result\":[]}");
    assert_order(th_control_counts(control).requests, <=, 3);
    close(fd);
}

static void the_server_survives_clients_that_disconnect(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        int fd = open_socket();
        if (i % 4 == 1)
            put(fd, "{\"command\":\"say\"");
        if (i % 4 == 2)
            put(fd, "{\"command\":\"shout\",\"arguments\":[\"100000\"]}\n");
        if (i % 4 == 3)
            put(fd, "\x01\x02\n\n\n}{\n");
        close(fd);
    }
    assert_answer("{\"command\":\"say\"}", "{\"id\":null,\"ok\":true,\"result\":[]}");
}

static const char ask[] = "{\"command\":\"say\"}\n";
static const char said[] = "{\"id\":null,\"ok\":true,\"result\":[]}";

static int open_greeted(void)
{
    int fd = open_socket();

    assert_non_null(strstr(get(fd), "protocol"));
    return fd;
}

static void a_new_client_replaces_the_longest_idle_client(void **state)
{
    int fds[TH_CONTROL_CLIENTS], late;

    (void)state;
    for (int i = 0; i < TH_CONTROL_CLIENTS; i++)
        fds[i] = open_greeted();
    put(fds[0], ask); /* makes the next client idle for longer */
    assert_string_equal(get(fds[0]), said);
    late = open_greeted();
    assert_string_equal(get(fds[1]), "");
    for (int i = 0; i < TH_CONTROL_CLIENTS; i++) {
        if (i != 1) {
            put(fds[i], ask);
            assert_string_equal(get(fds[i]), said);
        }
        close(fds[i]);
    }
    assert_int_equal(th_control_counts(control).dropped, 1);
    assert_int_equal(th_control_counts(control).refused, 0);
    close(late);
}

static void limit_descriptors(rlim_t most)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = most;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Forks a child, so that its descriptors do not count here. The child connects COUNT times, writes
 * a byte to TOLD, waits until the last connection is greeted, and writes another byte. LIMIT is the
 * child's limit of descriptors. */
static pid_t connect_elsewhere(int count, int told, rlim_t limit)
{
    pid_t child = fork();
    int fd = -1;

    if (child != 0)
        return child;
    limit_descriptors(limit);
    for (int i = 0; i < count; i++)
        fd = open_socket();
    if (write(told, "c", 1) != 1 || !strstr(get(fd), "protocol") || write(told, "g", 1) != 1)
        _exit(1);
    _exit(0);
}

static double processor_time(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* The server uses no processor time meanwhile. */
static void a_client_waits_while_no_descriptors_are_free(void **state)
{
    struct rlimit before;
    double used;
    pid_t child;
    int pipes[2], highest, status;
    char byte;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(pipe(pipes), 0);
    highest = dup(0); /* all lower descriptors are in use */
    close(highest);
    limit_descriptors((rlim_t)highest);
    child = connect_elsewhere(1, pipes[1], before.rlim_cur);
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    used = processor_time();
    usleep(300000); /* long enough to notice a busy loop */
    assert_true(processor_time() - used < 0.1);
    limit_descriptors(before.rlim_cur);
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(pipes[0]);
    close(pipes[1]);
}

/* There are fewer descriptors than places for clients. */
static void idle_clients_are_dropped_when_descriptors_are_few(void **state)
{
    struct rlimit before;
    int pipes[2], status, highest;
    pid_t child;
    char byte;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(pipe(pipes), 0);
    highest = dup(0);
    close(highest);
    limit_descriptors((rlim_t)highest + 4);
    child = connect_elsewhere(40, pipes[1], before.rlim_cur);
    for (int i = 0; i < 2; i++)
        assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    limit_descriptors(before.rlim_cur);
    close(pipes[0]);
    close(pipes[1]);
}

/* --- The client's end ------------------------------------------------------------------------- */

static void the_client_sends_commands_and_gets_answers(void **state)
{
    struct th_control_client *client;
    const json_t *greeting;
    char *arguments[] = {"one", "two"};
    json_t *answer;

    (void)state;
    assert_int_equal(th_control_connect(path, &client, &greeting), TH_OK);
    assert_string_equal(json_string_value(json_object_get(greeting, "program")), "test");
    assert_int_equal(th_control_ask(client, "say", 2, arguments, NULL, &answer), TH_OK);
    assert_int_equal(json_array_size(json_object_get(answer, "result")), 2);
    json_decref(answer);
    assert_int_equal(th_control_ask(client, "fail", 0, NULL, NULL, &answer), TH_OK);
    assert_int_equal(json_integer_value(json_object_get(answer, "status")), TH_REFUSED);
    json_decref(answer);
    assert_int_equal(th_control_ask(client, "shout", 1, (char *[]){"3000000"}, NULL, &answer),
                     TH_OK);
    assert_int_equal(json_string_length(json_object_get(answer, "result")), 3000000);
    json_decref(answer);
    assert_int_equal(th_control_ask(client, "say", 1, (char *[]){"\xff"}, NULL, &answer), TH_USAGE);
    th_control_disconnect(client);
}

static void connecting_without_a_server_fails_with_advice(void **state)
{
    struct th_control_client *client;
    const json_t *greeting;

    (void)state;
    assert_int_equal(th_control_connect("/tmp/there/is/no/such", &client, &greeting), TH_USAGE);
    assert_non_null(
        strstr(th_error_link(0), "start `tracehost run` or `tracehost replay` with --control="));
}

/* --- The owner of the socket ------------------------------------------------------------------ */

static void only_the_owner_can_access_the_socket(void **state)
{
    struct stat is;

    (void)state;
    assert_int_equal(lstat(path, &is), 0);
    assert_int_equal(is.st_mode & 0777, 0600);
}

static void a_second_server_on_the_same_path_is_refused(void **state)
{
    struct th_control *second;
    char pid[32];

    (void)state;
    snprintf(pid, sizeof pid, "process %d ", (int)getpid());
    assert_int_equal(th_control_begin(&setup, &second), TH_USAGE);
    assert_non_null(strstr(th_error_link(0), pid));
    assert_answer("{\"command\":\"say\"}", "{\"id\":null,\"ok\":true,\"result\":[]}");
}

static void the_socket_of_an_ended_process_is_replaced(void **state)
{
    struct th_control *second;
    pid_t child;

    (void)state;
    th_control_end(control);
    child = fork();
    if (child == 0) {
        th_control_begin(&setup, &second);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(th_control_begin(&setup, &control), TH_OK);
    assert_answer("{\"command\":\"say\"}", "{\"id\":null,\"ok\":true,\"result\":[]}");
}

static void a_file_that_is_not_a_socket_is_not_replaced(void **state)
{
    struct th_control_setup other = setup;
    struct th_control *second;
    FILE *file;

    (void)state;
    other.path = th_printf("%s/file", folder);
    file = fopen(other.path, "w");
    fclose(file);
    assert_int_equal(th_control_begin(&other, &second), TH_USAGE);
    assert_non_null(strstr(th_error_link(0), "is not a socket"));
    assert_int_equal(unlink(other.path), 0);
    th_free((char *)other.path);
}

static void a_folder_that_other_users_can_write_to_is_refused(void **state)
{
    struct th_control_setup other = setup;
    struct th_control *second;
    char *open_folder = th_printf("%s/open", folder);

    (void)state;
    assert_int_equal(mkdir(open_folder, 0700), 0);
    assert_int_equal(chmod(open_folder, 0777), 0);
    other.path = th_printf("%s/socket", open_folder);
    assert_int_equal(th_control_begin(&other, &second), TH_USAGE);
    assert_non_null(strstr(th_error_link(0), "other users can write to the folder"));
    assert_int_equal(chmod(open_folder, 01777), 0);
    assert_int_equal(th_control_begin(&other, &second), TH_OK);
    th_control_end(second);
    rmdir(open_folder);
    th_free(open_folder);
    th_free((char *)other.path);
}

static void a_path_that_is_too_long_or_empty_is_refused(void **state)
{
    struct th_control_setup other = setup;
    struct th_control *second;
    char text[200];

    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    other.path = text;
    assert_int_equal(th_control_begin(&other, &second), TH_USAGE);
    other.path = "";
    assert_int_equal(th_control_begin(&other, &second), TH_USAGE);
}

static void the_server_end_keeps_a_file_that_replaced_the_socket(void **state)
{
    struct stat is;

    (void)state;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    th_control_end(control);
    control = NULL;
    assert_int_equal(lstat(path, &is), 0);
    rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_server_greets_each_client_first, begin, end),
        cmocka_unit_test_setup_teardown(requests_are_answered, begin, end),
        cmocka_unit_test_setup_teardown(malformed_requests_are_refused_with_a_reason, begin, end),
        cmocka_unit_test_setup_teardown(the_limit_of_a_request_line_is_exact, begin, end),
        cmocka_unit_test_setup_teardown(a_request_line_that_is_too_long_is_skipped, begin, end),
        cmocka_unit_test_setup_teardown(pipelined_requests_are_answered_in_order, begin, end),
        cmocka_unit_test_setup_teardown(the_server_stops_reading_from_a_client_that_does_not_read,
                                        begin, end),
        cmocka_unit_test_setup_teardown(the_server_survives_clients_that_disconnect, begin, end),
        cmocka_unit_test_setup_teardown(a_new_client_replaces_the_longest_idle_client, begin, end),
        cmocka_unit_test_setup_teardown(a_client_waits_while_no_descriptors_are_free, begin, end),
        cmocka_unit_test_setup_teardown(idle_clients_are_dropped_when_descriptors_are_few, begin,
                                        end),
        cmocka_unit_test_setup_teardown(the_client_sends_commands_and_gets_answers, begin, end),
        cmocka_unit_test_setup_teardown(connecting_without_a_server_fails_with_advice, begin, end),
        cmocka_unit_test_setup_teardown(only_the_owner_can_access_the_socket, begin, end),
        cmocka_unit_test_setup_teardown(a_second_server_on_the_same_path_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(the_socket_of_an_ended_process_is_replaced, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_is_not_a_socket_is_not_replaced, begin, end),
        cmocka_unit_test_setup_teardown(a_folder_that_other_users_can_write_to_is_refused, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_path_that_is_too_long_or_empty_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(the_server_end_keeps_a_file_that_replaced_the_socket, begin,
                                        end),
    };

    setup.commands = command_list;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
